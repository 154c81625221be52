#include "compiler/target/wgsl/memory.h"

#include "compiler/target/wgsl/split.h"

typedef struct finder {
  const text_unit *unit;
  const ir_var **constants; /* by number */
  wgsl_flow *flows, *flow;
} finder;

#define NO_NODE UINT32_MAX

uint32_t wgsl_class_find(const wgsl_flow *flow, uint32_t node) {
  while (flow->nodes[node].parent != node) {
    flow->nodes[node].parent = flow->nodes[flow->nodes[node].parent].parent;
    node = flow->nodes[node].parent;
  }
  return node;
}

/* ---- Nodes ---- */

static bool is_plain_pointer(const ir_inst *x) {
  return x->op == IR_ADDRESS && x->u.var->space == IR_PRIVATE && x->u.var->type->kind == IR_POINTER;
}

static uint32_t node_of(const wgsl_flow *f, const ir_inst *x) {
  if (x->op == IR_ADDRESS) {
    if (x->u.var->space == IR_CONSTANT) return f->values + f->vars + x->u.var->id;
    return x->u.var->id - f->t->first;
  }
  return x->parent || x->op == IR_PARAM ? x->id - f->t->first : NO_NODE;
}

/* What the pointer variable holds. */
static uint32_t held_node(const wgsl_flow *f, const ir_inst *address) {
  return f->values + (address->u.var->id - f->t->first);
}

uint32_t wgsl_class_of(const wgsl_flow *flow, const ir_inst *pointer) {
  uint32_t node = node_of(flow, pointer);
  return node == NO_NODE ? NO_NODE : wgsl_class_find(flow, node);
}

const ir_var *wgsl_root_var(const wgsl_flow *flow, uint32_t node) {
  uint32_t constants = flow->values + flow->vars;
  return node >= constants ? flow->constants[node - constants] : flow->variables[node];
}

/* ---- Union ---- */

static void merge_facts(wgsl_facts *a, const wgsl_facts *b) {
  if (b->unit < a->unit) a->unit = b->unit;
  a->floats |= b->floats;
  a->others |= b->others;
  a->pieces |= b->pieces;
  a->writes |= b->writes;
  a->atomics |= b->atomics;
  a->narrow |= b->narrow;
  a->addresses |= b->addresses;
}

static void merge_roots(wgsl_flow *f, wgsl_class *a, const wgsl_class *b) {
  if (!b->roots) return;
  if (a->roots)
    f->nodes[a->last_root - 1].next_root = b->root;
  else
    a->root = b->root;
  a->last_root = b->last_root;
  a->roots += b->roots;
}

static void join(wgsl_flow *f, uint32_t x, uint32_t y) {
  while (x != NO_NODE && y != NO_NODE) {
    uint32_t a = wgsl_class_find(f, x), b = wgsl_class_find(f, y);
    if (a == b) return;
    wgsl_class *to = &f->nodes[a], *from = &f->nodes[b];
    from->parent = a;
    merge_facts(&to->facts, &from->facts);
    merge_roots(f, to, from);
    if (!to->kept) to->kept = from->kept;
    if (!to->content) to->content = from->content;
    if (!from->content) return;
    x = to->content;
    y = from->content;
  }
}

static wgsl_class *class_at(const wgsl_flow *f, const ir_inst *pointer) {
  uint32_t node = wgsl_class_of(f, pointer);
  return node == NO_NODE ? NULL : &f->nodes[node];
}

static void new_node(wgsl_flow *f, uint32_t node) {
  f->nodes[node] = (wgsl_class){.parent = node, .facts = {.unit = 16}};
}

static void make_root(wgsl_flow *f, uint32_t node) {
  wgsl_class *c = &f->nodes[node];
  if (c->roots) return;
  c->roots = 1;
  c->root = c->last_root = node + 1;
}

static uint32_t content_of(wgsl_flow *f, const ir_inst *pointer, const ir_inst *where) {
  wgsl_class *c = class_at(f, pointer);
  if (!c) return NO_NODE;
  if (!c->kept) c->kept = where;
  if (!c->content) {
    new_node(f, f->used);
    c->content = f->used++;
  }
  return c->content;
}

/* ---- Steps and accesses ---- */

static uint32_t low_bit(uint64_t n) { return n == 0 || n % 16 == 0 ? 16 : (uint32_t)(n & (0 - n)); }

static void note_unit(wgsl_class *c, uint64_t n) {
  uint32_t unit = low_bit(n);
  if (unit < c->facts.unit) c->facts.unit = unit;
}

static void note_step(wgsl_flow *f, const ir_inst *inst) {
  wgsl_class *c = class_at(f, inst);
  const ir_type *to = inst->type->elem;
  if (inst->op == IR_FIELD) {
    note_unit(c, inst->args[0]->type->elem->fields[inst->imm].offset);
  } else if (inst->op == IR_ELEM || inst->op == IR_INDEX) {
    const ir_inst *index = inst->args[1];
    note_unit(c, index->op == IR_CONST ? to->size * index->imm : to->size);
  }
}

static bool holds_pointer(const ir_type *type) {
  if (type->kind == IR_POINTER) return true;
  if (type->kind == IR_ARRAY) return holds_pointer(type->elem);
  for (uint32_t i = 0; type->kind == IR_STRUCT && i < type->field_count; i++)
    if (holds_pointer(type->fields[i].type)) return true;
  return false;
}

static void note_access(wgsl_flow *f, const ir_inst *inst, const ir_inst *pointer, const ir_type *type, bool writes) {
  wgsl_class *c = class_at(f, pointer);
  if (!c) return;
  const ir_type *elem = ir_elem_of(type);
  bool by_elements = inst->op == IR_VLOAD || inst->op == IR_VSTORE;
  uint64_t align = inst->imm ? inst->imm : by_elements ? elem->size : type->align;
  bool is_aggregate = type->kind == IR_ARRAY || type->kind == IR_STRUCT;
  bool is_float = elem->kind == IR_FLOAT && elem->bits == 32;
  note_unit(c, align);
  if (is_aggregate)
    note_unit(c, type->size);
  else if (is_float)
    c->facts.floats = true;
  else
    c->facts.others = true;
  bool is_quad = type->kind == IR_VECTOR && (elem->size == 4) && type->count >= 3 && !by_elements;
  c->facts.pieces |= !is_quad;
  c->facts.writes |= writes;
  uint64_t touched = by_elements && type->count == 3 ? 3 * elem->size : type->size;
  c->facts.narrow |= writes && (align < 4 || touched % 4 != 0);
}

static void note_call(finder *d, const ir_inst *inst) {
  const text_function *callee = text_function_of(inst->u.callee);
  const wgsl_flow *theirs = &d->flows[callee - d->unit->functions];
  for (uint32_t i = 0; i < inst->arg_count; i++) {
    if (inst->args[i]->type->kind != IR_POINTER) continue;
    wgsl_class *c = class_at(d->flow, inst->args[i]);
    const wgsl_class *param = class_at(theirs, callee->f->params[i].value);
    if (!c) continue;
    merge_facts(&c->facts, &param->facts);
    if (inst->args[i]->op == IR_ADDRESS) make_root(d->flow, node_of(d->flow, inst->args[i]));
  }
}

static void note_memory(wgsl_flow *f, const ir_inst *inst) {
  const ir_inst *p = inst->args[0];
  bool loads = inst->op == IR_LOAD || inst->op == IR_VLOAD;
  const ir_type *type = loads ? inst->type : inst->args[1]->type;
  if (is_plain_pointer(p) && type->kind == IR_POINTER) {
    join(f, held_node(f, p), loads ? node_of(f, inst) : node_of(f, inst->args[1]));
    return;
  }
  note_access(f, inst, p, type, !loads);
  if (type->kind != IR_POINTER) return;
  uint32_t content = content_of(f, p, inst);
  join(f, content, loads ? node_of(f, inst) : node_of(f, inst->args[1]));
}

static void note_copy(wgsl_flow *f, const ir_inst *inst) {
  const ir_type *type = inst->args[0]->type->elem;
  note_access(f, inst, inst->args[0], type, true);
  note_access(f, inst, inst->args[1], type, false);
  if (!holds_pointer(type)) return;
  join(f, content_of(f, inst->args[0], inst), content_of(f, inst->args[1], inst));
}

static void note_atomic(wgsl_flow *f, const ir_inst *inst) {
  wgsl_class *c = class_at(f, inst->args[0]);
  if (!c) return;
  note_unit(c, 4);
  c->facts.atomics = c->facts.pieces = c->facts.others = true;
  c->facts.writes |= inst->u.atomic.rmw != IR_RMW_LOAD;
}

static void note_inst(finder *d, const ir_inst *inst) {
  wgsl_flow *f = d->flow;
  switch (inst->op) {
    case IR_ELEM:
    case IR_INDEX:
    case IR_FIELD:
    case IR_PCAST:
      join(f, node_of(f, inst), node_of(f, inst->args[0]));
      note_step(f, inst);
      break;
    case IR_SELECT:
      if (inst->type->kind != IR_POINTER) break;
      join(f, node_of(f, inst), node_of(f, inst->args[1]));
      join(f, node_of(f, inst), node_of(f, inst->args[2]));
      break;
    case IR_EQ:
    case IR_NE:
    case IR_ULT:
    case IR_ULE:
    case IR_PDIFF:
      if (inst->args[0]->type->kind == IR_POINTER) join(f, node_of(f, inst->args[0]), node_of(f, inst->args[1]));
      break;
    case IR_PTOI:
      if (class_at(f, inst->args[0])) class_at(f, inst->args[0])->facts.addresses = true;
      break;
    case IR_LOAD:
    case IR_VLOAD:
    case IR_STORE:
    case IR_VSTORE:
      note_memory(f, inst);
      break;
    case IR_COPY:
      note_copy(f, inst);
      break;
    case IR_ATOMIC:
      note_atomic(f, inst);
      break;
    case IR_CALL:
      note_call(d, inst);
      break;
    default:
      break;
  }
}

/* ---- One function ---- */

static bool make_nodes(finder *d, wgsl_flow *f, const text_function *t) {
  *f = (wgsl_flow){.t = t, .values = t->count, .vars = t->first_inst - t->first, .consts = d->unit->constant_count};
  f->used = f->values + f->vars + f->consts + 1; /* a content's node is never 0 */
  f->limit = f->used + 2 * t->count + 1;
  f->nodes = QN_ARENA_ARRAY(d->unit->m->arena, wgsl_class, f->limit);
  f->variables = QN_ARENA_ARRAY(d->unit->m->arena, const ir_var *, f->values + 1);
  f->constants = d->constants;
  if (!f->nodes || !f->variables) return false;
  for (uint32_t i = 0; i < f->used; i++) new_node(f, i);
  for (const ir_var *v = t->f->vars; v; v = v->next) f->variables[v->id - t->first] = v;
  for (const ir_var *v = t->f->locals; v; v = v->next) f->variables[v->id - t->first] = v;
  return true;
}

static void make_roots(wgsl_flow *f, const text_function *t) {
  for (uint32_t i = 0; i < t->f->param_count; i++)
    if (t->f->params[i].type->kind == IR_POINTER) make_root(f, t->f->params[i].value->id - t->first);
  for (const ir_var *v = t->f->vars; v; v = v->next) make_root(f, v->id - t->first);
  for (const ir_var *v = t->f->locals; v; v = v->next) make_root(f, v->id - t->first);
  for (uint32_t i = 0; i < f->consts; i++) make_root(f, f->values + f->vars + i);
}

/* Calls can say what a parameter leads into only when it leads into nothing else. */
static bool is_mixed(const finder *d, const text_function *t) {
  const ir_function *f = t->f;
  if (f->is_kernel) return false;
  if (f->result->kind == IR_POINTER || wgsl_piece_lanes(f->module, f->result)) return true;
  for (uint32_t i = 0; i < f->param_count; i++) {
    if (wgsl_piece_lanes(f->module, f->params[i].type)) return true;
    if (f->params[i].type->kind != IR_POINTER) continue;
    const wgsl_class *c = class_at(d->flow, f->params[i].value);
    if (c->roots > 1 || c->content || f->params[i].type->space == IR_GENERIC) return true;
  }
  return false;
}

bool wgsl_flows_find(const text_unit *unit, wgsl_flow **out) {
  finder d = {.unit = unit, .flows = QN_ARENA_ARRAY(unit->m->arena, wgsl_flow, unit->function_count + 1)};
  d.constants = QN_ARENA_ARRAY(unit->m->arena, const ir_var *, unit->constant_count + 1);
  if (!d.flows || !d.constants) return false;
  for (const ir_var *v = unit->m->constants; v; v = v->next) d.constants[v->id] = v;
  for (uint32_t i = 0; i < unit->function_count; i++) {
    const text_function *t = &unit->functions[i];
    d.flow = &d.flows[i];
    if (!make_nodes(&d, d.flow, t)) return false;
    make_roots(d.flow, t);
    for (uint32_t k = 0; k < text_inst_count(t); k++) note_inst(&d, t->insts[k]);
    d.flow->must_inline = is_mixed(&d, t);
  }
  *out = d.flows;
  return true;
}
