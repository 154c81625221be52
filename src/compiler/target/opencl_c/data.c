/* data.c - constants of program scope: written as the source has them, or as words where a driver or the language could not
 * be trusted with that. */
#include <inttypes.h>

#include "compiler/ir/float.h"
#include "compiler/ir/text.h"
#include "compiler/target/opencl_c/emit.h"
#include "compiler/target/text/words.h"

static void put_initialiser(emitter *e, const ir_inst *init, bool is_signed);

/* The address of another constant: of it, or of a byte within. */
static void put_address(emitter *e, const ir_inst *leaf, bool is_signed) {
  const char *name = constant_name(e, leaf->u.var);
  put(e, "(");
  put_pointer_type(e, leaf->type, is_signed, "");
  putf(e, leaf->imm ? ")((constant char *)&%s + %" PRIu64 ")" : ")&%s", name, leaf->imm);
}

static bool is_half_bits(const emitter *e, const ir_type *elem) {
  return elem->kind == IR_FLOAT && elem->bits == 16 && !e->m->model.has_half;
}

/* A number as memory has it: bools and, where there are no halves, halves are integers. */
static void put_stored_scalar(emitter *e, const ir_inst *scalar, bool is_signed) {
  if (scalar->type->kind == IR_BOOL || is_half_bits(e, scalar->type))
    putf(e, "%" PRIu64, constant_bits(scalar));
  else
    put_constant(e, scalar, (want){.sign = sign_of(is_signed)});
}

static void put_stored_vector(emitter *e, const ir_inst *init, bool is_signed) {
  put(e, "(");
  put_memory_type(e, init->type, is_signed);
  put(e, ")(");
  for (uint32_t i = 0; i < init->type->count; i++) {
    if (i) put(e, ", ");
    put_stored_scalar(e, constant_lane(e, init, i), is_signed);
  }
  put(e, ")");
}

/* Every part, each in braces of its own; what is missing at the end is zero in C too. */
static void put_parts(emitter *e, const ir_inst *init, bool is_signed) {
  const ir_type *type = init->type;
  bool is_struct = type->kind == IR_STRUCT;
  put(e, "{");
  for (uint32_t i = 0; i < init->arg_count; i++) {
    if (i) put(e, i % 8 ? ", " : ",\n    ");
    uint32_t field = is_struct && type->is_union ? ir_union_field(type, init->args[i]->type) : i;
    if (is_struct && type->is_union) putf(e, ".%s = ", field_name(e, type, field));
    put_initialiser(e, init->args[i], is_struct ? text_field_is_signed(&e->signs, type, field) : is_signed);
  }
  put(e, "}");
}

/* All of it, by its first scalar or vector. */
static void put_zero(emitter *e, const ir_type *type) {
  if (type->kind == IR_VECTOR) {
    put(e, "(");
    put_memory_type(e, type, true);
    put(e, ")(0)");
  } else if (type->kind != IR_ARRAY && type->kind != IR_STRUCT) {
    put(e, "0");
  } else {
    put(e, "{");
    if (type->kind == IR_ARRAY || type->field_count)
      put_zero(e, type->kind == IR_ARRAY ? type->elem : type->fields[0].type);
    put(e, "}");
  }
}

static void put_initialiser(emitter *e, const ir_inst *init, bool is_signed) {
  const ir_type *type = init->type;
  bool has_parts = type->kind == IR_ARRAY || type->kind == IR_STRUCT;
  if (init->op == IR_ADDRESS)
    put_address(e, init, is_signed);
  else if (has_parts && init->op == IR_AGGREGATE && init->arg_count)
    put_parts(e, init, is_signed);
  else if (has_parts || type->kind == IR_POINTER)
    put_zero(e, type);
  else if (type->kind == IR_VECTOR)
    put_stored_vector(e, init, is_signed);
  else
    put_stored_scalar(e, init, is_signed);
}

/* ---- Data as words ---- */

static bool holds_three(const ir_type *type) {
  if (type->kind == IR_VECTOR) return type->count == 3;
  if (type->kind == IR_ARRAY) return holds_three(type->elem);
  for (uint32_t i = 0; type->kind == IR_STRUCT && i < type->field_count; i++)
    if (holds_three(type->fields[i].type)) return true;
  return false;
}

static bool is_odd_nan(const ir_inst *init) {
  const ir_type *type = init->type;
  bool is_float = init->op == IR_CONST && type->kind == IR_FLOAT;
  return is_float && ir_float_is_nan(init->imm, type->bits) && init->imm != ir_float_nan(type->bits);
}

/* NVIDIA's compiler (driver 580) lays out data with 3-vectors as if they were 12 bytes; and no literal is a NaN with bits of
 * its own. */
static bool is_in_words(const ir_var *var) {
  return (holds_three(var->type) || text_holds(var->init, is_odd_nan)) && !text_holds(var->init, text_is_address);
}

static void put_words(emitter *e, const ir_var *var, const char *name) {
  uint64_t count = (var->type->size + 3) / 4, align = var->align ? var->align : var->type->align;
  putf(e, "constant uint %s[%" PRIu64 "] __attribute__((aligned(%" PRIu64 "))) = {", name, count,
       align < 4 ? 4 : align);
  e->failed |= !text_put_words(e->out, e->arena, var->init, count, "", 2);
  put(e, "};\n");
}

/* ---- All data ---- */

static void put_data(emitter *e, const ir_var *var, const char *name) {
  bool is_signed = text_var_is_signed(&e->signs, var);
  put_variable_declaration(e, var->type, is_signed, IR_CONSTANT, name, var->align);
  put(e, " = ");
  put_initialiser(e, var->init, is_signed);
  put(e, ";\n");
}

bool put_word_place(emitter *e, const ir_var *var, bool as_pointer) {
  if (var->function || !is_in_words(var)) return false;
  const ir_type *type = var->type;
  bool is_array = type->kind == IR_ARRAY && !as_pointer; /* its name is a pointer to its first element */
  if (!as_pointer) put(e, is_array ? "(" : "(*");
  put(e, "(constant ");
  put_memory_type(e, is_array ? type->elem : type, text_var_is_signed(&e->signs, var));
  putf(e, " *)%s%s", constant_name(e, var), as_pointer ? "" : ")");
  return true;
}

/* Written apart: a constant whose address stands in it is put in front. */
const char *constant_name(emitter *e, const ir_var *var) {
  if (e->constants[var->id]) return e->constants[var->id];
  bool was_in_data = e->in_data;
  qn_bytes definition = {0}, *out = e->out;
  const char *name = e->constants[var->id] = text_name_global(&e->names, var->name);
  e->out = &definition;
  e->in_data = true;
  if (is_in_words(var))
    put_words(e, var, name);
  else
    put_data(e, var, name);
  e->in_data = was_in_data;
  e->out = out;
  qn_bytes_append_sv(&e->data, qn_bytes_view(&definition));
  e->failed |= definition.failed;
  qn_bytes_free(&definition);
  return name;
}
