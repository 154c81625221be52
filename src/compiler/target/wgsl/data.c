/* data.c - constants of program scope: words. */
#include <inttypes.h>

#include "compiler/ir/text.h"
#include "compiler/target/wgsl/emit.h"

static bool holds_address(const ir_inst *init) {
  if (init->op == IR_ADDRESS) return true;
  for (uint32_t i = 0; init->op == IR_AGGREGATE && i < init->arg_count; i++)
    if (holds_address(init->args[i])) return true;
  return false;
}

static void put_bits(unsigned char *at, uint64_t bits, uint64_t size) {
  for (uint64_t i = 0; i < size; i++) at[i] = (unsigned char)(bits >> 8 * i);
}

/* What memory holds, little end first; it is all zero before. */
static void fill_bytes(const ir_inst *init, unsigned char *at) {
  const ir_type *type = init->type;
  if (init->op == IR_CONST) put_bits(at, init->imm, type->size);
  if (init->op != IR_AGGREGATE) return;
  for (uint32_t i = 0; i < init->arg_count; i++) {
    uint64_t offset = type->kind == IR_STRUCT ? (type->is_union ? 0 : type->fields[i].offset) : i * type->elem->size;
    fill_bytes(init->args[i], at + offset);
  }
}

static void put_words(emitter *e, const ir_var *var, const char *name, uint64_t count) {
  unsigned char *bytes = qn_arena_alloc(e->arena, count * 4);
  qn_bytes *text = &e->globals;
  if (!bytes) {
    e->failed = true;
    return;
  }
  fill_bytes(var->init, bytes);
  qn_bytes_printf(text, "const %s = array<u32, %" PRIu64 ">(", name, count);
  for (uint64_t i = 0; i < count; i++) {
    uint32_t word = bytes[4 * i] | (uint32_t)bytes[4 * i + 1] << 8 | (uint32_t)bytes[4 * i + 2] << 16 |
                    (uint32_t)bytes[4 * i + 3] << 24;
    qn_bytes_printf(text, word < 10 ? "%s%" PRIu32 "u" : "%s0x%" PRIx32 "u",
                    i == 0  ? ""
                    : i % 8 ? ", "
                            : ",\n  ",
                    word);
  }
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
  if (holds_address(var->init)) wgsl_emit_refuse(e, NULL, "the pointer that '%s' holds", var->name);
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
