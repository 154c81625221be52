/* entry.c - kernels: the argument block, bindings, overrides, and what is told of them. */
#include <inttypes.h>

#include "compiler/target/wgsl/emit.h"
#include "quern/adapter.h"

/* As qn_wgsl_launch_range has them. */
static const char range_text[] =
    "struct quern_range {\n"
    "  origin: vec3<u32>,\n"
    "  work_dim: u32,\n"
    "  global_size: vec3<u32>,\n"
    "  num_groups: vec3<u32>,\n"
    "  group_base: vec3<u32>,\n"
    "  global_offset: vec3<u32>,\n"
    "  enqueued_local: vec3<u32>,\n"
    "  local_size: vec3<u32>,\n"
    "}\n";
enum { RANGE_BYTES = sizeof(qn_wgsl_launch_range) };

static bool takes_range(const emitter *e) { return (e->asks[e->function - e->unit.functions] & WGSL_ASKS_RANGE) != 0; }

static bool is_buffer(const ir_param *p) {
  return p->type->kind == IR_POINTER && !p->byval && p->type->space != IR_LOCAL;
}
static bool is_local(const ir_param *p) { return p->type->kind == IR_POINTER && p->type->space == IR_LOCAL; }
static const ir_type *value_of(const ir_param *p) { return p->byval ? p->type->elem : p->type; }

/* ---- Names ---- */

static bool name_words(emitter *e, wgsl_member *m, const ir_type *type, const char *wish) {
  m->word_count = (uint32_t)((type->size + 3) / 4);
  m->words = QN_ARENA_ARRAY(e->arena, const char *, m->word_count + 1);
  if (!m->words) return false;
  for (uint32_t i = 0; i < m->word_count; i++)
    m->words[i] = m->word_count == 1 ? m->name : text_name_local(&e->names, wgsl_text_of(e, "%s_%u", wish, i));
  return true;
}

/* A value that one word is. */
static bool is_word(emitter *e, const ir_type *type) {
  bool is_half = type->kind == IR_FLOAT && type->bits == 16 && !wgsl_is_soft_half(e, type);
  return type->size <= 4 && type->kind != IR_VECTOR && type->kind != IR_STRUCT && type->kind != IR_BOOL && !is_half;
}

bool wgsl_name_members(emitter *e) {
  const ir_function *f = e->function->f;
  (void)text_name_local(&e->names, "range");
  for (uint32_t i = 0; i < f->param_count; i++) {
    const ir_param *p = &f->params[i];
    const char *wish = p->name ? p->name : "p";
    wgsl_member *m = &e->members[i];
    m->name = e->param_names[i] = text_name_local(&e->names, wish);
    if (is_buffer(p)) {
      m->at = text_name_local(&e->names, wgsl_text_of(e, "%s_at", wish));
      m->address = text_name_local(&e->names, wgsl_text_of(e, "%s_address", wish));
      m->from = text_name_local(&e->names, wgsl_text_of(e, "%s_from", wish));
    } else if (!is_local(p)) {
      if (!name_words(e, m, value_of(p), wish)) return false;
    }
  }
  return true;
}

/* ---- The entry ---- */

void wgsl_put_entry_head(emitter *e) {
  const wgsl_instance *k = e->instance;
  const uint64_t *fixed = k->t->f->required_local;
  put(e, "@compute @workgroup_size(");
  for (int d = 0; d < 3; d++) {
    if (d) put(e, ", ");
    if (fixed[0])
      putf(e, "%" PRIu64, fixed[d]);
    else
      put(e, k->group[d]);
  }
  putf(e,
       ")\n"
       "fn %s(@builtin(local_invocation_id) local_id: vec3<u32>, @builtin(workgroup_id) group_id: vec3<u32>,\n"
       "    @builtin(global_invocation_id) global_id: vec3<u32>, @builtin(local_invocation_index) local_index: u32)",
       k->name);
}

wgsl_memory *wgsl_parameter_memory(const emitter *e, uint32_t index) {
  const ir_inst *param = e->function->f->params[index].value;
  wgsl_memory *m = e->flow->nodes[wgsl_class_of(e->flow, param)].memory;
  if (!m || m->member_count == 0) return m;
  for (uint32_t i = 0; i < m->member_count; i++)
    if (m->members[i]->root == param->id - e->function->first + 1) return m->members[i];
  return NULL;
}

static bool is_flat(const emitter *e, uint32_t index) {
  const wgsl_memory *m = e->flow->nodes[wgsl_class_of(e->flow, e->function->f->params[index].value)].memory;
  return m && m->kind == WGSL_FLAT;
}

static const char *word_of(emitter *e, uint32_t index, uint32_t i) {
  return wgsl_text_of(e, "%s.%s", e->instance->args, e->members[index].words[i]);
}

/* Before the rest, so that it is read from the block once. */
static void put_word(emitter *e, uint32_t index) {
  const ir_inst *value = e->function->f->params[index].value;
  bool is_used = false;
  for (uint32_t i = 0; i < text_inst_count(e->function) && !is_used; i++)
    for (uint32_t k = 0; k < e->function->insts[i]->arg_count; k++) is_used |= e->function->insts[i]->args[k] == value;
  if (!is_used) return;
  wgsl_put_line_start(e);
  putf(e, "let %s = %s;\n", e->param_names[index], word_of(e, index, 0));
}

/* A value of several words, or of parts of one. */
static void put_value(emitter *e, uint32_t index) {
  const ir_type *type = e->function->f->params[index].type, *elem = ir_elem_of(type);
  uint32_t lanes = ir_lanes_of(type);
  wgsl_put_line_start(e);
  putf(e, "let %s = ", e->param_names[index]);
  if (lanes > 1 || elem->size == 8) putf(e, "%s(", wgsl_value_type(e, type));
  uint32_t parts = elem->size == 8 ? 2 : lanes;
  for (uint32_t i = 0; i < parts; i++) {
    uint32_t at = elem->size >= 4 ? i * 4 : i * (uint32_t)elem->size;
    const char *word = word_of(e, index, at / 4);
    if (i) put(e, ", ");
    if (elem->size >= 4) {
      put(e, word);
      continue;
    }
    const char *bits = wgsl_text_of(e, "(%s >> %uu) & %s", word, at % 4 * 8, elem->size == 1 ? "0xffu" : "0xffffu");
    bool is_half = elem->kind == IR_FLOAT && !wgsl_is_soft_half(e, elem);
    if (is_half) putf(e, "%s(", wgsl_helper(e, "quern_half", 1));
    putf(e, elem->kind == IR_BOOL ? "(%s) != 0u" : "%s", bits);
    if (is_half) put(e, ")");
  }
  if (lanes > 1 || elem->size == 8) put(e, ")");
  put(e, ";\n");
}

/* A struct by value: a variable with its words. */
static void put_struct(emitter *e, uint32_t index) {
  const wgsl_memory *m = wgsl_parameter_memory(e, index);
  const wgsl_member *member = &e->members[index];
  uint32_t node = e->function->f->params[index].value->id - e->function->first;
  bool is_shared = m && e->flow->nodes[wgsl_class_find(e->flow, node)].roots > 1;
  if (!m) return;
  if (!is_shared) {
    wgsl_put_line_start(e);
    putf(e, "var %s: %s;\n", m->name, wgsl_array_type(e, m));
  }
  for (uint32_t i = 0; i < member->word_count; i++) {
    const char *start = is_shared && e->var_starts[node] ? e->var_starts[node] : "0u";
    wgsl_memory words = *m;
    words.unit = 4;
    const char *at =
        m->is_quads ? wgsl_text_of(e, "%s[%uu][%u]", m->name, i / 4, i % 4)
                    : wgsl_word_place(e, &words, m->unit == 1 ? wgsl_text_of(e, "(%s >> 2u)", start) : start, 4 * i);
    const char *word = word_of(e, index, i);
    wgsl_put_line_start(e);
    putf(e, m->is_float ? "%s = bitcast<f32>(%s);\n" : "%s = %s;\n", at, word);
  }
}

/* Whether a pointer may be asked whether it is null. */
static bool asks_for_null(const text_function *t) {
  for (uint32_t i = 0; i < text_inst_count(t); i++) {
    const ir_inst *inst = t->insts[i];
    if (inst->op == IR_PTOI) return true;
    for (uint32_t k = 0; k < inst->arg_count; k++)
      if (inst->args[k]->op == IR_ZERO && inst->args[k]->type->kind == IR_POINTER) return true;
  }
  return false;
}

static bool unit_asks_for_null(const emitter *e) {
  for (uint32_t i = 0; i < e->unit.function_count; i++)
    if (asks_for_null(&e->unit.functions[i])) return true;
  return false;
}

static void put_buffer_start(emitter *e, uint32_t index) {
  const wgsl_memory *m = wgsl_parameter_memory(e, index);
  if (!m || is_flat(e, index)) return;
  const char *at = wgsl_text_of(e, "%s.%s", e->instance->args, e->members[index].at);
  wgsl_put_line_start(e);
  if (m->unit == 1)
    putf(e, "let %s = %s;\n", e->members[index].from, at);
  else if (unit_asks_for_null(e)) /* null is the same in all units */
    putf(e, "let %s = select(%s >> %uu, 0xffffffffu, %s == 0xffffffffu);\n", e->members[index].from, at,
         wgsl_unit_shift(m), at);
  else
    putf(e, "let %s = %s >> %uu;\n", e->members[index].from, at, wgsl_unit_shift(m));
}

static bool calls_asking(const emitter *e) {
  for (uint32_t i = 0; i < text_inst_count(e->function); i++) {
    const ir_inst *inst = e->function->insts[i];
    if (inst->op == IR_CALL && e->asks[text_function_of(inst->u.callee) - e->unit.functions]) return true;
  }
  return false;
}

void wgsl_put_entry_start(emitter *e) {
  const ir_function *f = e->function->f;
  if (calls_asking(e)) {
    wgsl_put_line_start(e);
    put(e, "quern_local_id = local_id;\n");
    wgsl_put_line_start(e);
    put(e, "quern_group_id = group_id;\n");
    e->uses_place = true;
  }
  for (uint32_t i = 0; i < f->param_count; i++) {
    const ir_param *p = &f->params[i];
    if (is_buffer(p))
      put_buffer_start(e, i);
    else if (p->byval)
      put_struct(e, i);
    else if (!is_local(p) && is_word(e, p->type))
      put_word(e, i);
    else if (!is_local(p))
      put_value(e, i);
  }
}

/* ---- The argument block ---- */

static void put_member(qn_bytes *text, const char *name, const char *type, uint32_t *offset) {
  qn_bytes_printf(text, "  %s: %s,\n", name, type);
  *offset += 4;
}

static void put_range(emitter *e, qn_bytes *text, uint32_t *offset) {
  if (!wgsl_made_name(e, "range")) {
    (void)wgsl_make_function(e, "range", "range");
    qn_bytes_insert(&e->globals, 0, QN_SV(range_text));
  }
  qn_bytes_append_str(text, "  range: quern_range,\n");
  *offset += RANGE_BYTES;
}

static void put_value_members(emitter *e, const ir_param *p, wgsl_member *m, qn_bytes *text, qn_wgsl_argument *out,
                              uint32_t *offset) {
  const ir_type *elem = ir_elem_of(value_of(p));
  bool is_float = elem->kind == IR_FLOAT && elem->bits == 32;
  (void)e;
  out->kind = QN_WGSL_VALUE;
  out->offset = *offset;
  out->size = (uint32_t)value_of(p)->size;
  for (uint32_t i = 0; i < m->word_count; i++) put_member(text, m->words[i], is_float ? "f32" : "u32", offset);
}

static uint32_t alignment_of(const wgsl_memory *m) { return m ? (m->unit == 1 ? 4 : m->unit) : 1; }

static void put_buffer_members(emitter *e, uint32_t index, qn_bytes *text, qn_wgsl_argument *out, uint32_t *offset) {
  const wgsl_memory *m = wgsl_parameter_memory(e, index);
  out->kind = QN_WGSL_BUFFER;
  out->offset = *offset;
  out->size = 4;
  out->align = m && m->unit == 1 ? 1 : alignment_of(m);
  put_member(text, e->members[index].at, "u32", offset);
  if (!is_flat(e, index)) return;
  out->base_offset = *offset;
  put_member(text, e->members[index].address, "u32", offset);
}

static bool put_block_type(emitter *e, qn_wgsl_kernel *out) {
  const ir_function *f = e->function->f;
  qn_bytes text = {0};
  uint32_t offset = 0;
  out->takes_range = takes_range(e);
  out->argument_count = f->param_count;
  out->arguments = QN_ARENA_ARRAY(e->arena, qn_wgsl_argument, f->param_count + 1);
  if (!out->arguments) return false;
  if (out->takes_range) put_range(e, &text, &offset);
  for (uint32_t i = 0; i < f->param_count; i++) {
    qn_wgsl_argument *argument = &out->arguments[i];
    argument->name = "";
    if (is_buffer(&f->params[i]))
      put_buffer_members(e, i, &text, argument, &offset);
    else if (is_local(&f->params[i]))
      argument->kind = QN_WGSL_LOCAL;
    else
      put_value_members(e, &f->params[i], &e->members[i], &text, argument, &offset);
  }
  out->block_bytes = (offset + 15) / 16 * 16;
  if (offset) {
    const char *type = text_name_global(&e->names, wgsl_text_of(e, "%s_arguments", e->instance->name));
    qn_bytes_printf(&e->globals, "struct %s {\n", type);
    qn_bytes_append_sv(&e->globals, qn_bytes_view(&text));
    qn_bytes_printf(&e->globals, "}\n@group(0) @binding(0) var<uniform> %s: %s;\n", e->instance->args, type);
  }
  e->failed |= text.failed;
  qn_bytes_free(&text);
  return true;
}

/* ---- Bindings and local memory ---- */

static void put_binding(emitter *e, uint32_t index, qn_wgsl_kernel *out) {
  const wgsl_memory *m = wgsl_parameter_memory(e, index);
  qn_wgsl_argument *argument = &out->arguments[index];
  const wgsl_class *c = &e->flow->nodes[wgsl_class_of(e->flow, e->function->f->params[index].value)];
  if (!m) return;
  bool writes = c->facts.writes || m->is_atomic || e->options->merged;
  argument->binding = ++out->bindings;
  argument->access = writes ? QN_ACCESS_READ | QN_ACCESS_WRITE : QN_ACCESS_READ;
  argument->name = m->name;
  qn_bytes_printf(&e->globals, "@group(0) @binding(%u) var<storage, %s> %s: %s;\n", argument->binding,
                  writes ? "read_write" : "read", m->name, wgsl_array_type(e, m));
}

/* The variable, of `m` or of all that are laid together with it. */
static void put_local(emitter *e, const ir_inst *address, wgsl_memory *m) {
  if (m->is_laid) m = e->flow->nodes[wgsl_class_of(e->flow, address)].memory;
  if (m->is_declared) return;
  m->is_declared = m->member_count > 0;
  qn_bytes_printf(&e->globals, "var<workgroup> %s: %s;\n", m->name, wgsl_array_type(e, m));
}

static void put_local_argument(emitter *e, uint32_t index, qn_wgsl_kernel *out) {
  wgsl_memory *m = wgsl_parameter_memory(e, index);
  qn_wgsl_argument *argument = &out->arguments[index];
  argument->unit = m && m->is_quads ? 16 : 4;
  if (!m) return;
  argument->name = m->length;
  qn_bytes_printf(&e->globals, "override %s: u32 = 1u;\n", m->length);
  put_local(e, e->function->f->params[index].value, m);
}

static void put_local_variable(emitter *e, const ir_var *var, qn_wgsl_kernel *out) {
  wgsl_memory *all = e->flow->nodes[wgsl_class_of(e->flow, var->address)].memory, *m = all;
  for (uint32_t i = 0; all && i < all->member_count; i++)
    if (all->members[i]->root == var->id - e->function->first + 1) m = all->members[i];
  if (!m) return;
  out->static_local_bytes += (var->type->size + 15) / 16 * 16;
  put_local(e, var->address, m);
}

static void put_group_size(emitter *e, qn_wgsl_kernel *out) {
  const ir_function *f = e->function->f;
  for (int d = 0; d < 3; d++) {
    out->fixed_group[d] = (uint32_t)f->required_local[d];
    if (f->required_local[0]) continue;
    out->group[d] = e->instance->group[d];
    qn_bytes_printf(&e->globals, "override %s: u32 = 1u;\n", out->group[d]);
  }
}

void wgsl_put_entry_globals(emitter *e, qn_wgsl_kernel *out) {
  const ir_function *f = e->function->f;
  out->name = f->name;
  out->entry = e->instance->name;
  if (e->globals.size) qn_bytes_append_char(&e->globals, '\n');
  put_group_size(e, out);
  if (!put_block_type(e, out)) {
    e->failed = true;
    return;
  }
  for (uint32_t i = 0; i < f->param_count; i++) {
    if (is_buffer(&f->params[i])) put_binding(e, i, out);
    if (is_local(&f->params[i])) put_local_argument(e, i, out);
  }
  for (const ir_var *v = f->locals; v; v = v->next) put_local_variable(e, v, out);
}
