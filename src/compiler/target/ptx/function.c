/* function.c - entries and functions: parameters, memory of their own, the registers that their body took. */
#include <inttypes.h>

#include "compiler/target/ptx/emit.h"
#include "quern/adapter.h"

static ptx_ref symbol(ptx_bank bank, const char *name) {
  return (ptx_ref){.kind = PTX_SYMBOL, .bank = (uint8_t)bank, .symbol = name};
}

static const char *numbered(emitter *e, const char *prefix, uint32_t number) {
  const char *name = qn_arena_printf(e->arena, "%s%" PRIu32, prefix, number);
  e->failed |= !name;
  return name ? name : prefix;
}

/* ---- Memory of its own ---- */

static uint64_t align_of(const ir_var *var) { return var->align > var->type->align ? var->align : var->type->align; }

/* Where there is room for accesses of 16 bytes, they are possible. */
static void declare_memory(emitter *e, const char *space, const ir_var *var, const char *name) {
  uint64_t size = var->type->size ? var->type->size : 1, align = align_of(var);
  if (size >= 16 && align < 16) align = 16;
  putf(e, "  %s .align %" PRIu64 " .b8 %s[%" PRIu64 "];\n", space, align, name, size);
}

static void place_privates(emitter *e) {
  uint32_t count = 0;
  for (const ir_var *v = e->function->f->vars; v; v = v->next) {
    if (ptx_var_lanes(e, v)) continue;
    const char *name = numbered(e, "$var", count++);
    e->places[v->id - e->function->first] = symbol(PTX_32, name);
    declare_memory(e, ".local", v, name);
  }
}

/* Static local memory has names of its own, which tells the assembler what doesn't overlap, unless there is more of it
 * than it takes so. */
static void place_locals(emitter *e) {
  const ir_function *f = e->function->f;
  bool is_dynamic = f->static_local_bytes > QN_PTX_STATIC_LOCAL;
  uint32_t count = 0;
  for (const ir_var *v = f->locals; v; v = v->next) {
    ptx_ref *place = &e->places[v->id - e->function->first];
    if (is_dynamic) {
      e->uses_dynamic = true;
      *place = symbol(PTX_32, "$shared");
      place->bits = v->offset;
    } else {
      *place = symbol(PTX_32, numbered(e, "$local", count++));
      declare_memory(e, ".shared", v, place->symbol);
    }
  }
}

/* ---- Parameters of entries ---- */

static const char *number_word(uint64_t size) {
  return size == 1 ? ".b8" : size == 2 ? ".b16" : size == 4 ? ".b32" : ".b64";
}

static void declare_parameter(emitter *e, const ir_param *p, uint32_t i) {
  const ir_type *type = p->byval ? p->type->elem : p->type;
  if (p->type->kind == IR_POINTER && !p->byval) {
    if (p->type->space == IR_LOCAL)
      putf(e, "  .param .u32 $arg%" PRIu32, i);
    else
      putf(e, "  .param .u64 .ptr .global .align %" PRIu64 " $arg%" PRIu32, p->type->elem->align, i);
  } else if (ir_is_scalar(type)) {
    putf(e, "  .param %s $arg%" PRIu32, number_word(type->size), i);
  } else {
    putf(e, "  .param .align %" PRIu64 " .b8 $arg%" PRIu32 "[%" PRIu64 "]", type->align, i,
         type->size ? type->size : 1);
  }
  put(e, ",\n");
}

static ptx_ref local_argument(emitter *e, ptx_ref argument) {
  ptx_ref offset, base = symbol(PTX_32, "$shared");
  e->uses_dynamic = true;
  ptx_read(e, "ld.param", argument, ir_int(e->m, 32), 1, 4, &offset);
  return ptx_made2(e, "add", ".s32", PTX_32, ptx_plain(e, base), offset);
}

static void take_parameter(emitter *e, const ir_param *p, uint32_t i) {
  ptx_ref argument = symbol(PTX_64, numbered(e, "$arg", i));
  ptx_ref *lanes = ptx_define(e, p->value);
  if (!lanes) return;
  if (p->byval)
    lanes[0] = argument;
  else if (p->type->kind == IR_POINTER && p->type->space == IR_LOCAL)
    lanes[0] = local_argument(e, argument);
  else if (p->type->kind == IR_POINTER)
    ptx_read(e, "ld.param", argument, ir_int(e->m, 64), 1, 8, lanes);
  else
    ptx_read(e, "ld.param", argument, ir_elem_of(p->type), ir_lanes_of(p->type), p->type->align, lanes);
}

static void put_entry_head(emitter *e, const char *name) {
  const ir_function *f = e->function->f;
  putf(e, ".visible .entry %s(\n", name);
  for (uint32_t i = 0; i < f->param_count; i++) declare_parameter(e, &f->params[i], i);
  putf(e, "  .param .align 8 .b8 $range[%zu]\n)\n", sizeof(qn_ptx_range));
  if (f->required_local[0])
    putf(e, ".reqntid %" PRIu64 ", %" PRIu64 ", %" PRIu64 "\n", f->required_local[0], f->required_local[1],
         f->required_local[2]);
}

/* ---- Functions ---- */

/* Between functions a value is an array of words, a lane each. */
static const ir_type *passed_type(emitter *e, const ir_type *type) {
  return ir_int(e->m, ptx_bank_of(ir_elem_of(type)) == PTX_64 ? 64 : 32);
}

static void declare_passed(emitter *e, const ir_type *type, const char *name) {
  const char *word = number_word(passed_type(e, type)->size);
  uint32_t lanes = ir_lanes_of(type);
  if (lanes == 1)
    putf(e, ".param %s %s", word, name);
  else
    putf(e, ".param .align 16 .b8 %s[%" PRIu64 "]", name, lanes * passed_type(e, type)->size);
}

static uint64_t passed_align(const ir_type *type, const ir_type *word) {
  return ir_lanes_of(type) == 1 ? word->align : 16;
}

static void pass_value(emitter *e, const ir_inst *value, const char *name) {
  const ir_type *type = value->type, *elem = ir_elem_of(type), *word = passed_type(e, type);
  ptx_ref lanes[PTX_LANES];
  uint32_t count = ir_lanes_of(type);
  for (uint32_t i = 0; i < count; i++) {
    ptx_ref lane = ptx_operand(e, value, i);
    lanes[i] = elem->kind == IR_BOOL ? ptx_choose(e, lane, ptx_number(PTX_32, 1), ptx_number(PTX_32, 0))
                                     : ptx_as_integer(e, elem, lane);
  }
  ptx_write(e, "st.param", symbol(PTX_64, name), word, count, passed_align(type, word), lanes);
}

static void take_value(emitter *e, const ir_type *type, const char *name, ptx_ref *lanes) {
  const ir_type *elem = ir_elem_of(type), *word = passed_type(e, type);
  uint32_t count = ir_lanes_of(type);
  ptx_read(e, "ld.param", symbol(PTX_64, name), word, count, passed_align(type, word), lanes);
  for (uint32_t i = 0; i < count; i++)
    lanes[i] = elem->kind == IR_BOOL ? ptx_made2(e, "setp.ne", ".u32", PTX_PRED, lanes[i], ptx_number(PTX_32, 0))
                                     : ptx_from_integer(e, elem, lanes[i]);
}

static void put_function_head(emitter *e, const char *name) {
  const ir_function *f = e->function->f;
  put(e, ".func ");
  if (f->result->kind != IR_VOID) {
    put(e, "(");
    declare_passed(e, f->result, "$result");
    put(e, ") ");
  }
  putf(e, "%s(", name);
  for (uint32_t i = 0; i < f->param_count; i++) {
    if (i) put(e, ", ");
    declare_passed(e, f->params[i].type, numbered(e, "$arg", i));
  }
  put(e, ")\n");
}

void ptx_put_call(emitter *e, const ir_inst *inst) {
  const ir_type *type = inst->type;
  if (ptx_is_native(e->m, inst->u.callee)) {
    ptx_put_native(e, inst);
    return;
  }
  put(e, "  {\n");
  for (uint32_t i = 0; i < inst->arg_count; i++) {
    const char *name = numbered(e, "$p", i);
    put(e, "  ");
    declare_passed(e, inst->args[i]->type, name);
    put(e, ";\n");
    pass_value(e, inst->args[i], name);
  }
  bool gives = type->kind != IR_VOID;
  if (gives) {
    put(e, "  ");
    declare_passed(e, type, "$r");
    put(e, ";\n");
  }
  putf(e, "  call %s%s, (", gives ? "($r), " : "", text_function_of(inst->u.callee)->name);
  for (uint32_t i = 0; i < inst->arg_count; i++) putf(e, "%s$p%" PRIu32, i ? ", " : "", i);
  put(e, ");\n");
  ptx_ref *lanes = gives ? ptx_define(e, inst) : NULL;
  if (lanes) take_value(e, type, "$r", lanes);
  put(e, "  }\n");
}

void ptx_put_return(emitter *e, const ir_inst *inst) {
  if (inst->arg_count) pass_value(e, inst->args[0], "$result");
  put(e, "  ret;\n");
}

/* ---- All ---- */

static bool open(emitter *e, text_function *t) {
  e->function = t;
  e->values = QN_ARENA_ARRAY(e->arena, ptx_ref *, t->count + 1);
  e->places = QN_ARENA_ARRAY(e->arena, ptx_ref, t->count + 1);
  e->used = QN_ARENA_ARRAY(e->arena, bool, t->count + 1);
  for (int i = 0; i < PTX_BANKS; i++) e->registers[i] = 0;
  e->labels = 0;
  e->body.size = 0;
  return e->values && e->places && e->used && ptx_promote(e);
}

/* What is written of an operand: of an index that the address' arithmetic takes apart the part that is left. */
static const ir_inst *written_operand(const ir_inst *inst, uint32_t i) {
  bool is_index = i == 1 && (inst->op == IR_ELEM || inst->op == IR_INDEX);
  return is_index ? ptx_index_base(inst->args[i]) : inst->args[i];
}

/* From the end, so that what is used by nothing that is written uses nothing. */
static void note_uses(emitter *e) {
  const text_function *t = e->function;
  for (uint32_t i = text_inst_count(t); i; i--) {
    const ir_inst *inst = t->insts[i - 1];
    if (ptx_is_left_out(e, inst)) continue;
    for (uint32_t k = 0; k < inst->arg_count; k++) {
      const ir_inst *x = written_operand(inst, k);
      if (x->parent) e->used[x->id - t->first] = true;
    }
  }
}

static void put_registers(emitter *e) {
  static const char *const words[PTX_BANKS] = {".pred %p", ".b16 %h", ".b32 %r", ".b64 %d"};
  for (int i = 0; i < PTX_BANKS; i++)
    if (e->registers[i]) putf(e, "  .reg %s<%" PRIu32 ">;\n", words[i], e->registers[i]);
}

static void put_body(emitter *e) {
  const ir_function *f = e->function->f;
  bool may_leave = f->is_kernel && ptx_put_leaving(e);
  for (uint32_t i = 0; i < f->param_count; i++) {
    if (f->is_kernel) {
      take_parameter(e, &f->params[i], i);
      continue;
    }
    ptx_ref *lanes = ptx_define(e, f->params[i].value);
    if (lanes) take_value(e, f->params[i].type, numbered(e, "$arg", i), lanes);
  }
  ptx_put_block(e, f->body);
  if (!ir_block_ends(f->body)) put(e, "  ret;\n");
  if (may_leave) ptx_put_left(e);
}

void ptx_put_function(emitter *e, text_function *t, qn_ptx_kernel *out) {
  if (!open(e, t)) {
    e->failed = true;
    return;
  }
  note_uses(e);
  e->out = &e->functions;
  put(e, "\n");
  if (out)
    put_entry_head(e, t->name);
  else
    put_function_head(e, t->name);
  put(e, "{\n");
  place_privates(e);
  place_locals(e);
  e->out = &e->body;
  put_body(e);
  e->out = &e->functions;
  put_registers(e);
  qn_bytes_append_sv(e->out, qn_bytes_view(&e->body));
  put(e, "}\n");
  if (out) *out = (qn_ptx_kernel){.name = t->f->name, .symbol = t->name};
}
