/* data.c - constants of program scope: words. */
#include <inttypes.h>

#include "compiler/ir/text.h"
#include "compiler/target/text/words.h"
#include "compiler/target/wgsl/emit.h"

static void put_words(emitter *e, const ir_var *var, const char *name, uint64_t count) {
  qn_bytes *text = &e->globals;
  qn_bytes_printf(text, "const %s = array<u32, %" PRIu64 ">(", name, count);
  e->failed |= !text_put_words(text, e->arena, var->init, count, "u", 1);
  qn_bytes_append_str(text, ");\n");
}

/* In bytes where any function takes it so. */
static uint32_t unit_of(const emitter *e, const ir_var *var) {
  uint32_t unit = 4;
  for (uint32_t i = 0; i < e->unit.function_count; i++) {
    const wgsl_flow *f = &e->flows[i];
    const wgsl_class *c = &f->nodes[wgsl_class_find(f, f->values + f->vars + var->id)];
    if (c->facts.unit < 4) unit = 1;
  }
  return unit;
}

wgsl_memory *wgsl_constant_memory(emitter *e, const ir_var *var) {
  if (e->constants[var->id]) return e->constants[var->id];
  static wgsl_memory spare;
  wgsl_memory *m = QN_ARENA_NEW(e->arena, wgsl_memory);
  if (!m) {
    e->failed = true;
    return &spare;
  }
  if (text_holds(var->init, text_is_address)) wgsl_emit_refuse(e, NULL, "the pointer that '%s' holds", var->name);
  uint64_t count = (var->type->size + 3) / 4;
  if (!count) count = 1;
  m->kind = WGSL_CONSTANT;
  m->unit = unit_of(e, var);
  m->name = m->key = text_name_global(&e->names, var->name);
  m->length = wgsl_text_of(e, "%" PRIu64, count);
  m->base = wgsl_text_of(e, "0x%" PRIx64 "u", 256 + e->constant_bytes);
  e->constant_bytes += (count * 4 + 15) / 16 * 16;
  e->constants[var->id] = m;
  put_words(e, var, m->name, count);
  return m;
}
