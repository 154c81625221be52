/* place.c - memories of a function's pointers, and pointers as values: indices and addresses. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/target/wgsl/emit.h"

enum { FUNCTION_LIMIT = 1 << 24 }; /* elements of a private variable: no device has more */

const char *wgsl_var_name(emitter *e, const ir_var *var) {
  const char *name = e->var_names[var->id - e->function->first];
  return name ? name : "none"; /* no name: out of memory */
}

bool wgsl_is_plain(const emitter *e, const ir_inst *pointer) {
  return pointer->op == IR_ADDRESS && pointer->u.var->space == IR_PRIVATE &&
         text_is_plain_var(&e->plan, pointer->u.var);
}

const char *wgsl_element_type(const wgsl_memory *memory) {
  if (memory->is_quads) return memory->is_float ? "vec4<f32>" : "vec4<u32>";
  if (memory->is_atomic) return "atomic<u32>";
  return memory->is_float ? "f32" : "u32";
}

const char *wgsl_array_type(emitter *e, const wgsl_memory *memory) {
  if (memory->columns)
    return wgsl_text_of(e, "array<array<%s, %u>, %lu>", wgsl_element_type(memory), memory->columns,
                        strtoul(memory->length, NULL, 10) / memory->columns);
  if (!memory->length) return wgsl_text_of(e, "array<%s>", wgsl_element_type(memory));
  return wgsl_text_of(e, "array<%s, %s>", wgsl_element_type(memory), memory->length);
}

/* ---- What a class asks for ---- */

static void shape_memory(wgsl_memory *m, const wgsl_facts *facts) {
  bool is_shared = m->kind == WGSL_STORAGE || m->kind == WGSL_WORKGROUP;
  bool has_quads = facts->unit == 16 && !facts->pieces && facts->floats != facts->others;
  m->is_atomic = is_shared && (facts->atomics || facts->narrow);
  m->is_quads = has_quads && !m->is_atomic;
  m->is_float = facts->floats && !facts->others && !m->is_atomic;
  m->unit = m->is_quads ? 16 : facts->unit >= 4 ? 4 : 1;
}

/* All buffers of a kernel as one: any may be another. */
static wgsl_facts merged_facts(const emitter *e) {
  const ir_function *f = e->function->f;
  wgsl_facts all = {.unit = 4, .pieces = true};
  for (uint32_t i = 0; i < f->param_count; i++) {
    const ir_param *p = &f->params[i];
    if (p->type->kind != IR_POINTER || p->byval || p->type->space == IR_LOCAL) continue;
    const wgsl_facts *facts = &e->flow->nodes[wgsl_class_of(e->flow, p->value)].facts;
    if (facts->unit < all.unit) all.unit = facts->unit;
    all.floats |= facts->floats;
    all.others |= facts->others;
    all.atomics |= facts->atomics;
    all.narrow |= facts->narrow;
  }
  return all;
}

static const char *element_count(emitter *e, const wgsl_memory *m, uint64_t bytes) {
  uint64_t size = m->is_quads ? 16 : 4, count = (bytes + size - 1) / size;
  return wgsl_text_of(e, "%" PRIu64, count ? count : 1);
}

/* ---- Roots ---- */

static wgsl_memory *new_memory(emitter *e, wgsl_memory_kind kind, const wgsl_facts *facts) {
  wgsl_memory *m = QN_ARENA_NEW(e->arena, wgsl_memory);
  static wgsl_memory spare;
  if (!m) {
    e->failed = true;
    return &spare;
  }
  m->kind = kind;
  m->name = m->key = "none";
  shape_memory(m, facts);
  return m;
}

static const char *word_of(const wgsl_memory *m) { return m->is_float ? "f32" : "u32"; }

static wgsl_memory *binding_memory(emitter *e, const ir_param *p, uint32_t index, const wgsl_facts *facts) {
  wgsl_facts merged = e->options->merged ? merged_facts(e) : *facts;
  wgsl_memory *m = new_memory(e, WGSL_STORAGE, &merged);
  const char *kernel = e->instance->name;
  m->name = m->key = text_name_global(&e->names, wgsl_text_of(e, "%s_%s", kernel, p->name));
  m->base = wgsl_text_of(e, "%s.%s", e->instance->args, e->members[index].address);
  m->offset = wgsl_text_of(e, "%s.%s", e->instance->args, e->members[index].at);
  return m;
}

static wgsl_memory *local_argument_memory(emitter *e, const ir_param *p, const wgsl_facts *facts) {
  wgsl_memory *m = new_memory(e, WGSL_WORKGROUP, facts);
  m->name = m->key = text_name_global(&e->names, wgsl_text_of(e, "%s_%s", e->instance->name, p->name));
  m->length = text_name_global(&e->names, wgsl_text_of(e, "%s_length", m->name));
  return m;
}

static wgsl_memory *local_memory(emitter *e, const ir_var *var, const wgsl_facts *facts) {
  wgsl_memory *m = new_memory(e, WGSL_WORKGROUP, facts);
  m->name = m->key = text_name_global(&e->names, var->name);
  m->length = element_count(e, m, var->type->size);
  return m;
}

static wgsl_memory *private_memory(emitter *e, const wgsl_facts *facts, const char *name, uint64_t bytes) {
  wgsl_memory *m = new_memory(e, WGSL_FUNCTION, facts);
  m->name = name;
  m->length = element_count(e, m, bytes);
  m->key = wgsl_text_of(e, "%s%s_%s_%u", word_of(m), m->is_quads ? "x4" : "", m->length, m->unit);
  return m;
}

/* What a root that isn't private is. */
static wgsl_memory *shared_root(emitter *e, uint32_t node, const wgsl_facts *facts) {
  const ir_var *var = wgsl_root_var(e->flow, node);
  if (var) return var->space == IR_CONSTANT ? wgsl_constant_memory(e, var) : local_memory(e, var, facts);
  const ir_function *f = e->function->f;
  const ir_param *p = &f->params[node];
  if (!f->is_kernel) return e->instance->memories[node];
  return p->type->space == IR_LOCAL ? local_argument_memory(e, p, facts) : binding_memory(e, p, node, facts);
}

static bool is_private_root(const emitter *e, uint32_t node) {
  const ir_var *var = wgsl_root_var(e->flow, node);
  return var ? var->space == IR_PRIVATE : e->function->f->params[node].type->space == IR_PRIVATE;
}

/* ---- Classes of one root ---- */

static const char *root_name(emitter *e, uint32_t node) {
  const ir_var *var = wgsl_root_var(e->flow, node);
  return var ? wgsl_var_name(e, var) : e->param_names[node];
}

static uint64_t root_bytes(const emitter *e, uint32_t node) {
  const ir_var *var = wgsl_root_var(e->flow, node);
  return var ? var->type->size : e->function->f->params[node].type->elem->size;
}

static wgsl_memory *single_root(emitter *e, const wgsl_class *c, uint32_t node) {
  const ir_var *var = wgsl_root_var(e->flow, node);
  if (!is_private_root(e, node)) {
    wgsl_memory *m = shared_root(e, node, &c->facts);
    if (var && m->kind == WGSL_WORKGROUP && m->unit == 4 && !m->is_atomic) m->columns = wgsl_columns_of(e, var);
    return m;
  }
  if (!e->function->f->is_kernel && !var) return e->instance->memories[node];
  return private_memory(e, &c->facts, root_name(e, node), root_bytes(e, node));
}

/* ---- Classes of several ---- */

/* One after the other, each where 16 bytes begin. */
static wgsl_memory *laid_together(emitter *e, const wgsl_class *c) {
  uint64_t bytes = 0;
  wgsl_memory *m = private_memory(e, &c->facts, "", 0);
  const char *name = root_name(e, c->root - 1);
  for (uint32_t node = c->root; node; node = e->flow->nodes[node - 1].next_root) {
    bytes = (bytes + 15) / 16 * 16;
    if (bytes) e->var_starts[node - 1] = wgsl_text_of(e, "%" PRIu64 "u", bytes / m->unit);
    bytes += root_bytes(e, node - 1);
    const ir_var *var = wgsl_root_var(e->flow, node - 1);
    if (var) e->var_names[node - 1] = NULL; /* declared with the others */
  }
  m->name = text_name_local(&e->names, wgsl_text_of(e, "%s_all", name));
  m->length = element_count(e, m, bytes);
  m->key = wgsl_text_of(e, "%s_%s_%u", word_of(m), m->length, m->unit);
  return m;
}

/* Constants first, then local memory, then bindings in their order: as their addresses rise. */
static uint32_t rank(const wgsl_memory *m) { return m->kind == WGSL_CONSTANT ? 0 : m->kind == WGSL_WORKGROUP ? 1 : 2; }

static void sort_members(wgsl_memory **members, uint32_t count) {
  for (uint32_t i = 1; i < count; i++)
    for (uint32_t k = i; k && rank(members[k - 1]) > rank(members[k]); k--) {
      wgsl_memory *m = members[k];
      members[k] = members[k - 1];
      members[k - 1] = m;
    }
}

static void place_local(emitter *e, wgsl_memory **members, uint32_t count) {
  const char *next = "0x08000000u";
  for (uint32_t i = 0; i < count; i++) {
    wgsl_memory *m = members[i];
    if (m->kind != WGSL_WORKGROUP) continue;
    m->base = next;
    bool is_number = m->length[0] >= '0' && m->length[0] <= '9';
    next = wgsl_text_of(e, "%s + %s%s * %uu", next, m->length, is_number ? "u" : "", m->is_quads ? 16 : 4);
  }
}

static wgsl_memory *flat(emitter *e, const wgsl_class *c) {
  static const wgsl_facts bytes = {.unit = 1, .pieces = true};
  wgsl_memory *m = new_memory(e, WGSL_FLAT, &bytes);
  m->members = QN_ARENA_ARRAY(e->arena, wgsl_memory *, c->roots);
  uint32_t *nodes = QN_ARENA_ARRAY(e->arena, uint32_t, c->roots);
  if (!m->members || !nodes) {
    e->failed = true;
    return m;
  }
  uint32_t count = 0;
  for (uint32_t node = c->root; node; node = e->flow->nodes[node - 1].next_root) {
    uint32_t at = count++;
    for (; at && nodes[at - 1] > node; at--) nodes[at] = nodes[at - 1];
    nodes[at] = node;
  }
  m->key = "flat";
  for (uint32_t i = 0; i < count; i++) {
    m->members[m->member_count++] = shared_root(e, nodes[i] - 1, &c->facts);
    if (m->members[i]->kind != WGSL_CONSTANT) m->members[i]->root = nodes[i];
    m->key = wgsl_text_of(e, "%s_%s", m->key, m->members[i]->key);
  }
  sort_members(m->members, count);
  place_local(e, m->members, count);
  return m;
}

/* Local memory of several names as one array, so that a pointer into either is an index. */
static wgsl_memory *laid_locals(emitter *e, const wgsl_class *c) {
  wgsl_memory *m = new_memory(e, WGSL_WORKGROUP, &c->facts);
  m->members = QN_ARENA_ARRAY(e->arena, wgsl_memory *, c->roots);
  if (!m->members) {
    e->failed = true;
    return m;
  }
  for (uint32_t node = c->root; node; node = e->flow->nodes[node - 1].next_root) {
    wgsl_memory *member = shared_root(e, node - 1, &c->facts);
    bool is_number = member->length[0] >= '0' && member->length[0] <= '9';
    member->root = node;
    member->is_laid = true;
    e->var_starts[node - 1] = m->length ? wgsl_text_of(e, m->unit == 1 ? "(%s) * 4u" : "(%s)", m->length) : NULL;
    m->length = wgsl_text_of(e, "%s%s%s%s", m->length ? m->length : "", m->length ? " + " : "", member->length,
                             is_number ? "u" : "");
    m->members[m->member_count++] = member;
  }
  m->name = m->key = text_name_global(&e->names, wgsl_text_of(e, "%s_all", m->members[0]->name));
  return m;
}

static bool are_local(const emitter *e, const wgsl_class *c) {
  for (uint32_t node = c->root; node; node = e->flow->nodes[node - 1].next_root) {
    const ir_var *var = wgsl_root_var(e->flow, node - 1);
    ir_space space = var ? var->space : e->function->f->params[node - 1].type->space;
    if (space != IR_LOCAL) return false;
  }
  return e->function->f->is_kernel;
}

static wgsl_memory *class_memory(emitter *e, const wgsl_class *c, const ir_inst *user) {
  uint32_t own = 0; /* private ones */
  if (!c->roots) {
    wgsl_emit_refuse(e, user, "a pointer that is made of a number or kept in memory of the program");
    return NULL;
  }
  for (uint32_t node = c->root; node; node = e->flow->nodes[node - 1].next_root) own += is_private_root(e, node - 1);
  if (own && own != c->roots) {
    wgsl_emit_refuse(e, user, "a pointer that may lead into private memory or into other memory");
    return NULL;
  }
  bool is_parameter = !e->function->f->is_kernel && !wgsl_root_var(e->flow, c->root - 1);
  if (c->roots == 1 && (own || is_parameter || !c->facts.addresses)) return single_root(e, c, c->root - 1);
  if (own) return laid_together(e, c);
  return !c->facts.addresses && are_local(e, c) ? laid_locals(e, c) : flat(e, c);
}

wgsl_memory *wgsl_memory_of(emitter *e, const ir_inst *pointer, const ir_inst *user) {
  uint32_t node = wgsl_class_of(e->flow, pointer);
  if (node == UINT32_MAX) {
    wgsl_emit_refuse(e, user, "memory behind a null pointer");
    return NULL;
  }
  wgsl_class *c = &e->flow->nodes[node];
  if (!c->memory) c->memory = class_memory(e, c, user);
  return c->memory;
}

/* All at once, so that names and lengths are known when variables are declared. */
void wgsl_find_memories(emitter *e) {
  wgsl_flow *flow = e->flow;
  for (uint32_t i = 0; i < flow->used; i++) flow->nodes[i].memory = NULL;
  for (uint32_t k = 0; k < text_inst_count(e->function); k++) {
    const ir_inst *inst = e->function->insts[k];
    if (text_planned_of(&e->plan, inst)->how == TEXT_DEAD) continue;
    for (uint32_t i = 0; i < inst->arg_count; i++) {
      const ir_inst *x = inst->args[i];
      if (x->type->kind != IR_POINTER || wgsl_is_plain(e, x) || inst->op == IR_FRESH) continue;
      uint32_t node = wgsl_class_of(flow, x);
      if (node != UINT32_MAX && flow->nodes[node].roots) (void)wgsl_memory_of(e, x, inst);
    }
  }
}

/* ---- Pointers ---- */

static void put_null(emitter *e, const ir_inst *pointer) { put(e, pointer->op == IR_ZERO ? "0xffffffffu" : "0u"); }

/* The address of a root's first byte. */
static const char *flat_start(emitter *e, const wgsl_memory *m, const ir_inst *pointer, uint32_t node) {
  if (pointer->op == IR_ADDRESS && pointer->u.var->space == IR_CONSTANT)
    return wgsl_constant_memory(e, pointer->u.var)->base;
  if (pointer->op == IR_PARAM && pointer->type->space != IR_LOCAL)
    return wgsl_text_of(e, "%s.%s", e->instance->args, e->members[pointer->imm].address);
  for (uint32_t i = 0; i < m->member_count; i++)
    if (m->members[i]->root == node + 1) return m->members[i]->base;
  return "0u";
}

/* Where a variable or parameter begins. */
static const char *start_of(emitter *e, const ir_inst *pointer) {
  const wgsl_memory *m = wgsl_memory_of(e, pointer, pointer);
  uint32_t id = pointer->op == IR_ADDRESS ? pointer->u.var->id : pointer->id, node = id - e->function->first;
  if (pointer->op == IR_PARAM && !e->function->f->is_kernel) return e->param_names[pointer->imm];
  if (!m) return "0u";
  if (m->kind == WGSL_FLAT) return wgsl_text_of(e, "(%s)", flat_start(e, m, pointer, node));
  if (pointer->op == IR_PARAM && m->kind == WGSL_STORAGE) return e->members[pointer->imm].from;
  bool has_start = m->kind == WGSL_FUNCTION || m->kind == WGSL_WORKGROUP;
  return has_start && e->var_starts[node] ? e->var_starts[node] : "0u";
}

text_level wgsl_put_pointer(emitter *e, const ir_inst *pointer) {
  if (pointer->op == IR_PARAM || pointer->op == IR_ADDRESS)
    put(e, start_of(e, pointer));
  else
    put_null(e, pointer);
  return TEXT_POSTFIX;
}

static bool is_zero(const char *text) { return strcmp(text, "0u") == 0; }

/* "base + 3u"; both are in units. */
static text_level put_moved(emitter *e, const ir_inst *base, int64_t by) {
  if (by == 0) {
    const char *text = wgsl_operand_text(e, base, TEXT_POSTFIX);
    put(e, text);
    return TEXT_POSTFIX;
  }
  const char *text = wgsl_operand_text(e, base, TEXT_ADD);
  if (!is_zero(text)) putf(e, "%s %c ", text, by < 0 ? '-' : '+');
  wgsl_put_u32(e, is_zero(text) ? (uint64_t)by : (uint64_t)(by < 0 ? -by : by));
  return is_zero(text) ? TEXT_POSTFIX : TEXT_ADD;
}

/* The low 32 bits, sign-extended. */
void wgsl_put_index(emitter *e, const ir_inst *index, text_level outer) {
  if (is_narrow(index->type)) {
    put(e, "u32(");
    wgsl_put_signed(e, index);
    put(e, ")");
  } else if (is_wide(index->type)) {
    wgsl_put_operand(e, index, TEXT_POSTFIX, false);
    put(e, ".x");
  } else {
    wgsl_put_operand(e, index, outer, true);
  }
}

static int64_t signed_value(const ir_inst *index) {
  uint32_t up = 64 - index->type->bits;
  return (int64_t)(index->imm << up) >> up;
}

static text_level put_step(emitter *e, const ir_inst *inst) {
  const wgsl_memory *m = wgsl_memory_of(e, inst, inst);
  const ir_inst *base = inst->args[0], *index = inst->op == IR_FIELD ? NULL : inst->args[1];
  if (!m) {
    put(e, "0u");
    return TEXT_POSTFIX;
  }
  int64_t unit = m->unit;
  if (inst->op == IR_FIELD) return put_moved(e, base, (int64_t)base->type->elem->fields[inst->imm].offset / unit);
  int64_t size = (int64_t)inst->type->elem->size;
  if (index->op == IR_CONST)
    return put_moved(e, base, (int64_t)((uint64_t)size * (uint64_t)signed_value(index)) / unit);
  if (index->op == IR_UNDEF || index->op == IR_ZERO) return put_moved(e, base, 0);
  const char *text = wgsl_operand_text(e, base, TEXT_ADD);
  int64_t scale = size / unit;
  bool is_alone = is_zero(text);
  if (!is_alone) putf(e, "%s + ", text);
  wgsl_put_index(e, index, scale == 1 ? (is_alone ? TEXT_POSTFIX : TEXT_ADD) : TEXT_MUL);
  if (scale != 1) {
    put(e, " * ");
    wgsl_put_u32(e, (uint64_t)scale);
  }
  return !is_alone ? TEXT_ADD : scale != 1 ? TEXT_MUL : TEXT_POSTFIX;
}

/* 0 of the null pointer. */
static text_level put_number(emitter *e, const ir_inst *inst) {
  const ir_inst *p = inst->args[0];
  size_t start = e->out->size;
  if (p->op == IR_ZERO || p->op == IR_UNDEF) {
    wgsl_put_constant(e, ir_const_int(e->m, inst->type, 0));
    return TEXT_POSTFIX;
  }
  const wgsl_memory *m = wgsl_memory_of(e, p, inst);
  const char *text = wgsl_operand_text(e, p, TEXT_MUL);
  const char *address = !m || m->kind == WGSL_FLAT ? text : wgsl_text_of(e, "%s * %uu + 256u", text, m->unit);
  putf(e, "select(%s, 0u, %s == 0xffffffffu)", address, text);
  if (is_wide(inst->type)) {
    text_wrap(e->out, start, "vec2<u32>(", ", 0u)");
    return TEXT_POSTFIX;
  }
  return wgsl_put_cut(e, start, TEXT_POSTFIX, inst->type);
}

static text_level put_distance(emitter *e, const ir_inst *inst) {
  const ir_inst *known = wgsl_class_of(e->flow, inst->args[0]) == UINT32_MAX ? inst->args[1] : inst->args[0];
  const wgsl_memory *m = wgsl_class_of(e->flow, known) == UINT32_MAX ? NULL : wgsl_memory_of(e, known, inst);
  uint64_t size = inst->args[0]->type->elem->size, unit = m ? m->unit : 1;
  put(e, "u32((i32(");
  wgsl_put_operand(e, inst->args[0], TEXT_ANY, false);
  put(e, ") - i32(");
  wgsl_put_operand(e, inst->args[1], TEXT_ANY, false);
  put(e, "))");
  if (size > unit) putf(e, " / %" PRIu64, size / unit);
  if (unit > size && size) putf(e, " * %" PRIu64, unit / size);
  put(e, ")");
  return TEXT_POSTFIX;
}

text_level wgsl_put_pointer_op(emitter *e, const ir_inst *inst) {
  switch (inst->op) {
    case IR_PCAST:
      wgsl_put_operand(e, inst->args[0], TEXT_POSTFIX, false);
      return TEXT_POSTFIX;
    case IR_PTOI:
      return put_number(e, inst);
    case IR_PDIFF:
      return put_distance(e, inst);
    case IR_ITOP:
      wgsl_emit_refuse(e, inst, "a pointer that is made of a number");
      put(e, "0u");
      return TEXT_POSTFIX;
    default:
      return put_step(e, inst);
  }
}
