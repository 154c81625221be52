/* function.c - functions: signatures, hidden parameters of entries, bodies. */
#include <inttypes.h>

#include "base/status.h"
#include "compiler/target/opencl_c/emit.h"
#include "quern/adapter.h"

/* ---- Calls ---- */

static bool takes_range(const emitter *e, const text_function *t) {
  return e->options->adapter_entries && t->asks_range;
}

void put_call(emitter *e, const ir_inst *inst) {
  const text_function *callee = text_function_of(inst->u.callee);
  putf(e, "%s(", callee->name);
  for (uint32_t i = 0; i < inst->arg_count; i++) {
    const ir_inst *param = callee->f->params[i].value;
    bool is_scalar = param->type->kind == IR_INT; /* converted by itself */
    if (i) put(e, ", ");
    put_operand(e, inst->args[i],
                (want){.sign = is_scalar ? 0 : sign_of(text_is_signed(&e->signs, param)), .mask = mask_of(e, param)});
  }
  if (takes_range(e, callee))
    putf(e, "%s%s%s", inst->arg_count ? ", " : "", e->function->f->is_kernel ? "&" : "", e->range);
  put(e, ")");
}

/* ---- What is known of a function before it is written ---- */

static uint8_t mask_of_operands(const emitter *e, const ir_inst *inst) {
  for (uint32_t i = 0; i < inst->arg_count; i++) {
    const ir_type *type = inst->args[i]->type;
    uint8_t mask = type->kind == IR_VECTOR && type->elem->kind == IR_BOOL ? mask_of(e, inst->args[i]) : 0;
    if (mask) return mask;
  }
  return 32;
}

/* How wide the lanes of bools are that an instruction makes: as they come, so that few conversions are needed. */
static uint8_t mask_made(const emitter *e, const ir_inst *inst) {
  if (inst->type->kind != IR_VECTOR || inst->type->elem->kind != IR_BOOL) return 0;
  if (inst->op == IR_LOAD || inst->op == IR_VLOAD) return 8;
  bool compares = ir_op_table[inst->op].cls == IR_CLASS_CMP && inst->args[0]->type->elem->kind != IR_BOOL;
  if (compares) return (uint8_t)inst->args[0]->type->elem->bits;
  return inst->op == IR_CALL ? 32 : mask_of_operands(e, inst);
}

static bool wants_name(const ir_inst *inst) { return inst->op == IR_INSERT; }

static bool find_facts(emitter *e, text_function *t) {
  static const text_plan_rules rules = {wants_name, operand_copies};
  e->function = t;
  e->launch = e->range = NULL;
  e->masks = QN_ARENA_ARRAY(e->arena, uint8_t, text_inst_count(t) + 1);
  e->param_names = QN_ARENA_ARRAY(e->arena, const char *, t->f->param_count + 1);
  e->var_names = QN_ARENA_ARRAY(e->arena, const char *, t->first_inst - t->first + 1);
  if (!e->masks || !e->param_names || !e->var_names) return false;
  for (uint32_t i = 0; i < text_inst_count(t); i++) e->masks[i] = mask_made(e, t->insts[i]);
  return text_plan_make(&e->plan, t, &rules) && text_scopes_find(&e->scopes, &e->plan);
}

static void name_variables(emitter *e, const text_function *t) {
  const ir_function *f = t->f;
  for (uint32_t i = 0; i < f->param_count; i++)
    e->param_names[i] = text_name_local(&e->names, f->params[i].name ? f->params[i].name : "p");
  for (const ir_var *v = f->vars; v; v = v->next)
    if (text_scope_of(&e->scopes, v)->before) e->var_names[v->id - t->first] = text_name_local(&e->names, v->name);
  for (const ir_var *v = f->locals; v; v = v->next)
    e->var_names[v->id - t->first] = text_name_local(&e->names, v->name);
}

/* ---- Contraction ---- */

static bool may_fuse(const ir_inst *inst) { return inst->op == IR_FADD || inst->op == IR_FSUB || inst->op == IR_FMUL; }

/* The pragma holds for a whole function: where one operation must not be fused, none is. */
static void put_contraction(emitter *e, const text_function *t) {
  bool some = false, all = true;
  for (uint32_t i = 0; i < text_inst_count(t); i++) {
    if (!may_fuse(t->insts[i])) continue;
    some = true;
    all &= (t->insts[i]->flags & (IR_CONTRACT | IR_FAST)) != 0;
  }
  if (!some || all == e->contracts) return;
  e->contracts = all;
  putf(e, "#pragma OPENCL FP_CONTRACT %s\n\n", all ? "ON" : "OFF");
}

/* ---- Signatures ---- */

static void put_attributes(emitter *e, const ir_function *f) {
  const uint64_t *r = f->required_local, *h = f->hinted_local;
  static const char format[] = "__attribute__((%s(%" PRIu64 ", %" PRIu64 ", %" PRIu64 ")))\n";
  if (f->is_noinline && !f->is_kernel) put(e, "__attribute__((noinline))\n");
  if (r[0]) putf(e, format, "reqd_work_group_size", r[0], r[1], r[2]);
  if (h[0]) putf(e, format, "work_group_size_hint", h[0], h[1], h[2]);
}

static void put_parameter(emitter *e, const ir_function *f, uint32_t i) {
  const ir_param *p = &f->params[i];
  bool is_signed = text_is_signed(&e->signs, p->value);
  if (f->is_kernel && p->byval) {
    put_memory_declaration(e, p->type->elem, is_signed, e->param_names[i], 0);
    return;
  }
  bool is_pointer = p->type->kind == IR_POINTER;
  put_value_type(e, p->type, is_signed, is_pointer && is_const_pointer(e, p->value), 32);
  putf(e, "%s%s", is_pointer && p->is_restrict ? "restrict " : is_pointer ? "" : " ", e->param_names[i]);
}

static bool is_buffer(const ir_param *p) {
  return p->type->kind == IR_POINTER && !p->byval && (p->type->space == IR_GLOBAL || p->type->space == IR_CONSTANT);
}

static uint32_t buffer_count(const ir_function *f) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < f->param_count; i++) count += is_buffer(&f->params[i]);
  return count;
}

/* Offsets are added in an entry of their own: a launch has none nearly always, and each parameter costs a driver time. */
static bool has_offset_entry(const emitter *e, const text_function *t) {
  return e->options->adapter_entries && t->f->is_kernel && !t->asks_range && buffer_count(t->f) > 0;
}

static void put_launch_parameter(emitter *e, const text_function *t) {
  const char *type = launch_type_name(e, takes_range(e, t), buffer_count(t->f));
  putf(e, "%s%s %s", t->f->param_count ? ", " : "", type, e->launch);
}

static void put_range_parameter(emitter *e, const text_function *t) {
  putf(e, "%s%s *%s", t->f->param_count ? ", " : "", range_type_name(e), e->range);
}

static void put_signature(emitter *e, const text_function *t, const char *name) {
  const ir_function *f = t->f;
  put_attributes(e, f);
  if (f->is_kernel) put(e, "kernel ");
  if (f->result->kind == IR_VOID)
    put(e, "void");
  else
    put_value_type(e, f->result, text_result_is_signed(&e->signs, f), false, 32);
  putf(e, "%s%s(", f->result->kind == IR_POINTER ? "" : " ", name);
  for (uint32_t i = 0; i < f->param_count; i++) {
    if (i) put(e, ", ");
    put_parameter(e, f, i);
  }
  if (e->launch)
    put_launch_parameter(e, t);
  else if (e->range)
    put_range_parameter(e, t);
  else if (!f->param_count)
    put(e, "void");
  put(e, ")");
}

/* ---- Bodies ---- */

/* A buffer is the allocation's first byte and an offset. */
static void put_offset(emitter *e, const ir_param *p, const char *name, uint32_t index) {
  const char *type = pointer_name(e, p->type, text_is_signed(&e->signs, p->value), is_const_pointer(e, p->value));
  const char *bytes = is_const_pointer(e, p->value) ? "const char" : "char";
  put_line_start(e);
  putf(e, "%s = (%s)((%s%s *)%s + %s.offset[%u]);\n", name, type, space_word(e, p->type->space), bytes, name, e->launch,
       index);
}

static void put_offsets(emitter *e, const ir_function *f) {
  uint32_t index = 0;
  for (uint32_t i = 0; e->launch && i < f->param_count; i++)
    if (is_buffer(&f->params[i])) put_offset(e, &f->params[i], e->param_names[i], index++);
}

/* A copy, in which the part's groups become the launch's: parameters are every item's in PoCL 3.1, and not to be written. At
 * the start, whether the ids are used or not: of some kernels that call get_group_id in a branch alone it makes code that
 * doesn't link. */
static void put_range(emitter *e, const text_function *t) {
  if (!e->launch || !takes_range(e, t)) return;
  put_line_start(e);
  putf(e, "%s %s = %s.range;\n", range_type_name(e), e->range, e->launch);
  for (uint32_t d = 0; d < 3; d++) {
    put_line_start(e);
    putf(e, "%s.group_base[%u] += get_group_id(%u);\n", e->range, d, d);
  }
}

static void put_local_memory(emitter *e, const ir_function *f) {
  for (const ir_var *v = f->locals; v; v = v->next) {
    put_line_start(e);
    put_variable_declaration(e, v->type, text_var_is_signed(&e->signs, v), IR_LOCAL, var_name(e, v), v->align);
    put(e, ";\n");
  }
}

static void put_body(emitter *e, const text_function *t) {
  const ir_function *f = t->f;
  put_local_memory(e, f);
  put_block(e, f->body);
  if (f->result->kind != IR_VOID && !ir_block_ends(f->body)) {
    put_line_start(e);
    put(e, "return ");
    put_constant(e, ir_zero(e->m, f->result), (want){.sign = sign_of(text_result_is_signed(&e->signs, f))});
    put(e, ";\n");
  }
}

static void put_opening(emitter *e, const text_function *t, const char *name) {
  put_signature(e, t, name);
  put(e, " {\n");
  e->indent++;
  put_offsets(e, t->f);
  put_range(e, t);
}

static void put_closing(emitter *e) {
  e->indent--;
  put(e, "}\n");
}

/* The body that was written from `start` on, once more behind the sums. */
static void put_offset_entry(emitter *e, const text_function *t, const char *launch, size_t start) {
  size_t size = e->out->size - start;
  put_closing(e);
  put(e, "\n");
  e->launch = launch;
  const char *name = qn_arena_printf(e->arena, QN_OPENCL_OFFSET_ENTRY "%s", t->name);
  put_opening(e, t, name ? name : "");
  e->failed |= !name;
  if (qn_bytes_reserve(e->out, size)) qn_bytes_append(e->out, e->out->data + start, size);
}

/* What is hidden of an entry: one struct, the range and the buffers' offsets. */
static void name_hidden(emitter *e, const text_function *t) {
  bool is_entry = e->options->adapter_entries && t->f->is_kernel;
  if (!takes_range(e, t)) return;
  if (is_entry) e->launch = text_name_local(&e->names, "launch");
  e->range = text_name_local(&e->names, "range");
}

void put_function(emitter *e, text_function *t) {
  if (!find_facts(e, t)) {
    e->failed = true;
    return;
  }
  name_variables(e, t);
  name_hidden(e, t);
  const char *launch = has_offset_entry(e, t) ? text_name_local(&e->names, "launch") : NULL;
  if (e->out->size) put(e, "\n");
  put_contraction(e, t);
  put_opening(e, t, t->name);
  size_t start = e->out->size;
  put_body(e, t);
  if (launch) put_offset_entry(e, t, launch, start);
  put_closing(e);
  text_names_leave(&e->names);
}
