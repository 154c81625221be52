/* function.c - functions for the memories that they are called with: signatures, bodies, calls. */
#include "compiler/target/wgsl/emit.h"

/* ---- Who asks where the item is ---- */

static uint8_t asks_of(const emitter *e, const ir_inst *inst) {
  if (inst->op == IR_CALL) return e->asks[text_function_of(inst->u.callee) - e->unit.functions];
  if (!text_is_query(inst->op)) return 0;
  return inst->op == IR_LOCAL_ID ? WGSL_ASKS_PLACE : WGSL_ASKS_PLACE | WGSL_ASKS_RANGE;
}

void wgsl_find_asking(emitter *e) {
  for (uint32_t i = 0; i < e->unit.function_count; i++) {
    const text_function *t = &e->unit.functions[i];
    for (uint32_t k = 0; k < text_inst_count(t); k++) e->asks[i] |= asks_of(e, t->insts[k]);
  }
}

static uint8_t asks(const emitter *e, const text_function *t) { return e->asks[t - e->unit.functions]; }

/* ---- Instances ---- */

static wgsl_instance *new_instance(emitter *e, text_function *t, const char *name) {
  static wgsl_instance spare;
  wgsl_instance *instance = QN_ARENA_NEW(e->arena, wgsl_instance);
  if (instance) instance->memories = QN_ARENA_ARRAY(e->arena, wgsl_memory *, t->f->param_count + 1);
  if (!instance || !instance->memories) {
    e->failed = true;
    return &spare;
  }
  instance->t = t;
  instance->name = name;
  if (e->last)
    e->last->next = instance;
  else
    e->first = instance;
  e->last = instance;
  return instance;
}

wgsl_instance *wgsl_kernel_instance(emitter *e, text_function *t) {
  static const char *const words[] = {"x", "y", "z"};
  wgsl_instance *instance = new_instance(e, t, t->name);
  if (e->failed) return instance;
  instance->kernel = instance;
  instance->args = text_name_global(&e->names, wgsl_text_of(e, "%s_args", t->name));
  for (int d = 0; d < 3; d++)
    instance->group[d] = text_name_global(&e->names, wgsl_text_of(e, "%s_group_%s", t->name, words[d]));
  return instance;
}

/* The parameter before `i` that leads into the same private memory; `i`: none does. */
static uint32_t first_with(wgsl_memory *const *memories, uint32_t i) {
  for (uint32_t k = 0; k < i; k++)
    if (memories[k] == memories[i] && memories[k]->kind == WGSL_FUNCTION) return k;
  return i;
}

/* Memories as the callee has them: private ones by a name of its own. */
static void adopt(emitter *e, wgsl_instance *instance, wgsl_memory *const *memories) {
  const ir_function *f = instance->t->f;
  for (uint32_t i = 0; i < f->param_count; i++) {
    wgsl_memory *m = memories[i];
    if (!m) continue;
    uint32_t first = first_with(memories, i);
    if (first != i) {
      instance->memories[i] = instance->memories[first];
    } else if (m->kind != WGSL_FUNCTION) {
      instance->memories[i] = m;
    } else {
      instance->memories[i] = QN_ARENA_NEW(e->arena, wgsl_memory);
      if (instance->memories[i])
        *instance->memories[i] = wgsl_memory_inside(m, NULL); /* named when it is written */
      else
        e->failed = true;
    }
  }
}

static const wgsl_instance *instance_for(emitter *e, text_function *t, wgsl_memory *const *memories) {
  const wgsl_instance *kernel = asks(e, t) ? e->instance->kernel : NULL;
  const char *key = wgsl_text_of(e, "%s %s", t->f->name, kernel ? kernel->name : "");
  for (uint32_t i = 0; i < t->f->param_count; i++) {
    if (!memories[i]) continue;
    uint32_t first = first_with(memories, i);
    key = first == i ? wgsl_text_of(e, "%s %s", key, memories[i]->key) : wgsl_text_of(e, "%s =%u", key, first);
  }
  wgsl_instance *found = qn_map_get(&e->instance_names, qn_sv_from(key));
  if (found) return found;
  found = new_instance(e, t, text_name_global(&e->names, t->f->name));
  if (e->failed) return found;
  found->kernel = kernel;
  adopt(e, found, memories);
  if (!qn_map_set(&e->instance_names, qn_sv_from(key), found)) e->failed = true;
  return found;
}

/* ---- Calls ---- */

void wgsl_put_call(emitter *e, const ir_inst *inst) {
  text_function *callee = text_function_of(inst->u.callee);
  wgsl_memory **memories = QN_ARENA_ARRAY(e->arena, wgsl_memory *, inst->arg_count + 1);
  if (!memories) {
    e->failed = true;
    return;
  }
  for (uint32_t i = 0; i < inst->arg_count; i++) {
    if (inst->args[i]->type->kind != IR_POINTER) continue;
    memories[i] = wgsl_memory_of(e, inst->args[i], inst);
    if (!memories[i]) return;
  }
  const wgsl_instance *instance = instance_for(e, callee, memories);
  putf(e, "%s(", instance->name ? instance->name : "none");
  for (uint32_t i = 0; i < inst->arg_count; i++) {
    if (i) put(e, ", ");
    if (memories[i] && first_with(memories, i) == i) put(e, wgsl_memory_argument(e, memories[i]));
    wgsl_put_operand(e, inst->args[i], TEXT_ANY, false);
  }
  put(e, ")");
}

/* ---- What is known of a function before it is written ---- */

static bool find_facts(emitter *e, text_function *t) {
  static const text_plan_rules rules = {wgsl_wants_name, wgsl_operand_copies, true};
  e->function = t;
  e->flow = &e->flows[t - e->unit.functions];
  e->param_names = QN_ARENA_ARRAY(e->arena, const char *, t->f->param_count + 1);
  e->members = QN_ARENA_ARRAY(e->arena, wgsl_member, t->f->param_count + 1);
  e->var_names = QN_ARENA_ARRAY(e->arena, const char *, t->first_inst - t->first + 1);
  e->var_starts = QN_ARENA_ARRAY(e->arena, const char *, t->first_inst - t->first + 1);
  if (!e->param_names || !e->members || !e->var_names || !e->var_starts) return false;
  return text_plan_make(&e->plan, t, &rules) && text_scopes_find(&e->scopes, &e->plan);
}

static void name_parameters(emitter *e, const ir_function *f) {
  for (uint32_t i = 0; i < f->param_count; i++) {
    const char *wish = f->params[i].name ? f->params[i].name : "p";
    e->param_names[i] = text_name_local(&e->names, wish);
    wgsl_memory *m = e->instance->memories[i];
    if (m && m->kind == WGSL_FUNCTION && !m->name)
      m->name = text_name_local(&e->names, wgsl_text_of(e, "%s_memory", wish));
  }
}

static void name_variables(emitter *e, const text_function *t) {
  for (const ir_var *v = t->f->vars; v; v = v->next)
    if (text_scope_of(&e->scopes, v)->before) e->var_names[v->id - t->first] = text_name_local(&e->names, v->name);
}

/* ---- Texts ---- */

static void put_signature(emitter *e, const text_function *t) {
  const ir_function *f = t->f;
  putf(e, "fn %s(", e->instance->name);
  for (uint32_t i = 0; i < f->param_count; i++) {
    const wgsl_memory *m = e->instance->memories[i];
    if (i) put(e, ", ");
    bool is_new = m && m->kind == WGSL_FUNCTION && first_with(e->instance->memories, i) == i;
    if (is_new) put(e, wgsl_memory_parameter(e, m, m->name));
    putf(e, "%s: %s", e->param_names[i], wgsl_value_type(e, f->params[i].type));
  }
  put(e, ")");
  if (f->result->kind != IR_VOID) putf(e, " -> %s", wgsl_value_type(e, f->result));
}

/* Memories that several variables lie in. */
static void put_shared_variables(emitter *e) {
  const wgsl_flow *flow = e->flow;
  for (uint32_t i = 0; i < flow->used; i++) {
    const wgsl_class *c = &flow->nodes[i];
    if (c->parent != i || !c->memory || c->memory->kind != WGSL_FUNCTION || c->roots < 2) continue;
    wgsl_put_line_start(e);
    putf(e, "var %s: %s;\n", c->memory->name, wgsl_array_type(e, c->memory));
  }
}

static void put_body(emitter *e, const text_function *t) {
  const ir_function *f = t->f;
  put(e, " {\n");
  e->indent++;
  put_shared_variables(e);
  if (f->is_kernel) wgsl_put_entry_start(e);
  wgsl_put_block(e, f->body);
  if (f->result->kind != IR_VOID && !ir_block_ends(f->body)) {
    wgsl_put_line_start(e);
    putf(e, "return %s();\n", wgsl_value_type(e, f->result));
  }
  e->indent--;
  put(e, "}\n");
}

void wgsl_put_instance(emitter *e, const wgsl_instance *instance, qn_wgsl_kernel *out) {
  text_function *t = instance->t;
  e->instance = instance;
  if (!find_facts(e, t) || (t->f->is_kernel && !wgsl_name_members(e))) {
    e->failed = true;
    return;
  }
  if (!t->f->is_kernel) name_parameters(e, t->f);
  name_variables(e, t);
  wgsl_find_memories(e);
  if (e->out->size) put(e, "\n");
  if (t->f->is_kernel)
    wgsl_put_entry_head(e);
  else
    put_signature(e, t);
  put_body(e, t);
  if (out) wgsl_put_entry_globals(e, out);
  text_names_leave(&e->names);
}
