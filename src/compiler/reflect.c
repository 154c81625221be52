/* reflect.c - what a launch must know of a kernel's parameters. */
#include <string.h>

#include "base/status.h"
#include "compiler/compiler.h"

static void copy_text(char *field, size_t capacity, const char *text) {
  size_t length = text ? strnlen(text, capacity - 1) : 0;
  if (length > 0) memcpy(field, text, length);
  field[length] = '\0';
}

static uint32_t kind_of_pointer(ir_space space) { return space == IR_LOCAL ? QN_ARGUMENT_LOCAL : QN_ARGUMENT_BUFFER; }

/* The type that is passed, or that is pointed to. Structs and unions by value are pointers to a private copy in the IR. */
static void describe_type(const ir_param *param, qn_argument_info *out) {
  const ir_type *type = param->type;
  bool is_pointer = type->kind == IR_POINTER && !param->byval;
  const ir_type *told = type->kind == IR_POINTER ? type->elem : type;
  bool is_void = told->kind == IR_VOID;
  out->kind = is_pointer ? kind_of_pointer(type->space) : QN_ARGUMENT_VALUE;
  out->address_space = is_pointer ? (uint32_t)type->space : QN_SPACE_PRIVATE;
  out->element_type = param->element_type;
  out->vector_width = ir_lanes_of(told);
  out->element_bytes = is_void ? 1 : (uint32_t)told->size;
  out->element_align = is_void ? 1 : (uint32_t)told->align;
}

qn_status qn_reflect_argument(const ir_function *kernel, uint32_t index, qn_argument_info *out) {
  if (index >= kernel->param_count)
    QN_FAIL(QN_ERROR_NOT_FOUND, "kernel '%s' has %u arguments, there is no number %u", kernel->name,
            kernel->param_count, index);
  const ir_param *param = &kernel->params[index];
  *out = (qn_argument_info){.struct_size = sizeof *out,
                            .access = param->access,
                            .is_const = param->is_const,
                            .is_restrict = param->is_restrict,
                            .is_volatile = param->is_volatile};
  describe_type(param, out);
  copy_text(out->name, sizeof out->name, param->name);
  copy_text(out->type_name, sizeof out->type_name, param->type_name);
  return QN_OK;
}

static bool note_dimension(void *user, ir_inst *inst) {
  uint32_t *most = user;
  bool asks = inst->op == IR_GLOBAL_ID || inst->op == IR_LOCAL_ID || inst->op == IR_GROUP_ID;
  if (asks && inst->imm + 1 > *most) *most = (uint32_t)inst->imm + 1;
  return true;
}

uint32_t qn_reflect_dimensions(const ir_function *f) {
  uint32_t most = 0;
  (void)ir_walk(f->body, note_dimension, &most);
  return most;
}
