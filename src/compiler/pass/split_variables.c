/* split_variables.c - pass split_variables: a private struct or array whose parts are named by numbers alone becomes a variable a
 * part, a level at a time until nothing changes. Then simplify forwards what they hold. */
#include "base/status.h"
#include "compiler/pass/pass.h"
#include "compiler/pass/walk.h"

enum { PARTS = 256 /* of a variable */, ROUNDS = 16 };

/* `aux` of a variable that may be split: its parts, made when it is. Of others NULL. */
typedef struct parts {
  ir_var **vars; /* by field or element; NULL: not made yet */
  uint32_t count;
  bool is_used; /* one that was split stays in the list without a use */
} parts;

static bool is_private(const ir_inst *x) { return x->op == IR_ADDRESS && x->u.var->space == IR_PRIVATE; }

static uint64_t part_count(const ir_type *type) {
  return type->kind == IR_ARRAY ? type->length : type->kind == IR_STRUCT && !type->is_union ? type->field_count : 0;
}

static const ir_type *part_type(const ir_type *type, uint32_t i) {
  return type->kind == IR_ARRAY ? type->elem : type->fields[i].type;
}

/* ---- Which ---- */

static parts *parts_of(const ir_inst *x) { return is_private(x) ? x->u.var->aux : NULL; }

/* The part that a step names; false: none that is known. */
static bool part_of(const ir_inst *step, uint32_t *out) {
  const ir_type *type = step->args[0]->type->elem;
  bool is_index = step->op == IR_INDEX && type->kind == IR_ARRAY && step->args[1]->op == IR_CONST;
  if (step->op != IR_FIELD && !is_index) return false;
  uint64_t at = is_index ? step->args[1]->imm : step->imm;
  *out = (uint32_t)at;
  return at < part_count(type);
}

static bool is_fine_use(const ir_inst *inst, uint32_t operand) {
  uint32_t part;
  if (inst->op == IR_FRESH) return true;
  if (inst->op == IR_COPY) return !(inst->flags & IR_VOLATILE);
  return operand == 0 && (inst->op == IR_FIELD || inst->op == IR_INDEX) && part_of(inst, &part);
}

/* The variable that a step leads into; NULL: none, or it isn't a step. */
static ir_var *entered(const ir_inst *x) {
  bool is_step = false;
  for (; x->op == IR_FIELD || x->op == IR_INDEX; x = x->args[0]) is_step = true;
  return is_step && is_private(x) ? x->u.var : NULL;
}

/* A pointer to a part that goes elsewhere may be led on to other parts. */
static bool stays_inside(const ir_inst *inst, uint32_t operand) {
  if (inst->op == IR_COPY) return true;
  return operand == 0 && (inst->op == IR_LOAD || inst->op == IR_STORE || inst->op == IR_FIELD || inst->op == IR_INDEX);
}

static bool look_at(void *user, ir_inst *inst) {
  (void)user;
  inst->aux = NULL;
  for (uint32_t i = 0; i < inst->arg_count; i++) {
    ir_var *var = entered(inst->args[i]);
    if (var && !stays_inside(inst, i)) var->aux = NULL;
    parts *p = parts_of(inst->args[i]);
    if (!p) continue;
    p->is_used = true;
    if (!is_fine_use(inst, i)) inst->args[i]->u.var->aux = NULL;
  }
  return true;
}

static bool start_variable(ir_module *m, ir_var *var) {
  uint64_t count = part_count(var->type);
  var->aux = NULL;
  if (!count || count > PARTS || var->storage != IR_STORE_PLAIN) return true;
  parts *p = QN_ARENA_NEW(m->arena, parts);
  if (!p) return false;
  p->count = (uint32_t)count;
  var->aux = p;
  return true;
}

/* ---- Steps ---- */

static uint64_t signed_index(const ir_inst *x) {
  uint32_t drop = 64 - x->type->bits;
  return (uint64_t)((int64_t)(x->imm << drop) >> drop);
}

/* A step from an element to another is one from the array. */
static bool join_steps(void *user, ir_inst *inst) {
  ir_module *m = user;
  ir_inst *first = inst->arg_count ? inst->args[0] : NULL;
  if (inst->op != IR_ELEM || first->op != IR_INDEX || !first->parent || first->args[1]->op != IR_CONST) return true;
  uint64_t start = signed_index(first->args[1]);
  if (inst->args[1]->op == IR_CONST)
    inst->args[1] = ir_const_int(m, ir_size_type(m), start + signed_index(inst->args[1]));
  else if (start)
    return true;
  inst->op = IR_INDEX;
  inst->args[0] = first->args[0];
  return true;
}

/* ---- Splitting ---- */

static bool make_parts(ir_function *f, ir_var *var) {
  parts *p = var->aux;
  p->vars = QN_ARENA_ARRAY(f->module->arena, ir_var *, p->count);
  if (!p->vars) return false;
  for (uint32_t i = 0; i < p->count; i++) p->vars[i] = ir_var_private(f, var->name, part_type(var->type, i));
  return !f->module->failed;
}

/* The address of a part of what a copy is to or from. */
static ir_inst *part_address(ir_builder *b, ir_inst *whole, uint32_t i) {
  const parts *p = parts_of(whole);
  if (p) return p->vars[i]->address;
  if (whole->type->elem->kind == IR_STRUCT) return ir_field_at(b, whole, i);
  return ir_index(b, whole, ir_const_int(b->m, ir_size_type(b->m), i));
}

static bool is_value(const ir_type *type) { return type->kind != IR_ARRAY && type->kind != IR_STRUCT; }

/* What is known of the alignment of a part, from that of the whole. */
static uint64_t part_align(const ir_type *type, uint64_t whole_align, uint32_t i) {
  uint64_t offset = type->kind == IR_ARRAY ? i * type->elem->size : type->fields[i].offset;
  uint64_t align = whole_align ? whole_align : type->align, low = offset & (~offset + 1);
  return low && low < align ? low : align;
}

static void copy_part(ir_builder *b, ir_inst *copy, uint32_t i) {
  const ir_type *type = copy->args[0]->type->elem, *part = part_type(type, i);
  ir_inst *to = part_address(b, copy->args[0], i), *from = part_address(b, copy->args[1], i);
  uint64_t align = part_align(type, copy->imm, i);
  if (!is_value(part)) {
    ir_copy(b, to, from)->imm = align < part->align ? align : 0;
    return;
  }
  ir_inst *value = ir_emit(b, IR_LOAD, part, &from, 1);
  value->imm = align < part->align && !parts_of(copy->args[1]) ? align : 0;
  ir_inst *store = ir_store(b, to, value);
  store->imm = align < part->align && !parts_of(copy->args[0]) ? align : 0;
}

static void split_inst(ir_function *f, ir_inst *inst) {
  const parts *p = inst->arg_count ? parts_of(inst->args[0]) : NULL;
  ir_builder b = {.m = f->module, .f = f, .block = inst->parent, .before = inst, .loc = inst->loc};
  uint32_t part;
  if (inst->op == IR_COPY && !p) p = parts_of(inst->args[1]);
  if (!p) return;
  if (inst->op == IR_COPY) {
    for (uint32_t i = 0; i < p->count; i++) copy_part(&b, inst, i);
  } else if (inst->op == IR_FRESH) {
    for (uint32_t i = 0; i < p->count; i++) ir_fresh(&b, p->vars[i]);
  } else if (part_of(inst, &part)) {
    inst->aux = p->vars[part]->address;
  }
  ir_inst_remove(inst);
}

static void use_parts(ir_inst *inst) {
  for (uint32_t i = 0; i < inst->arg_count; i++) {
    ir_inst *x = inst->args[i];
    bool was_step = !x->parent && (x->op == IR_FIELD || x->op == IR_INDEX);
    if (was_step && x->aux) inst->args[i] = x->aux;
  }
}

static qn_status split_level(ir_module *m, ir_function *f, bool *changed) {
  for (ir_var *v = f->vars; v; v = v->next)
    if (!start_variable(m, v)) return walk_no_memory();
  (void)ir_walk(f->body, look_at, NULL);
  *changed = false;
  for (ir_var *v = f->vars, *last = f->last_var; v; v = v == last ? NULL : v->next) {
    parts *p = v->aux;
    if (p && !p->is_used) v->aux = p = NULL;
    if (!p) continue;
    if (!make_parts(f, v)) return walk_no_memory();
    *changed = true;
  }
  for (ir_inst *inst = *changed ? f->body->first : NULL, *next; inst; inst = next) {
    next = ir_next_inst(inst);
    use_parts(inst);
    split_inst(f, inst);
    if (m->failed) return walk_no_memory();
  }
  return QN_OK;
}

qn_status pass_split_variables(ir_module *m) {
  for (ir_function *f = m->functions; f; f = f->next) {
    bool changed = f->body && !f->has_regions;
    if (changed) (void)ir_walk(f->body, join_steps, m);
    for (int round = 0; changed && round < ROUNDS; round++) QN_TRY(split_level(m, f, &changed));
  }
  return QN_OK;
}
