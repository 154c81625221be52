#include "compiler/target/text/words.h"

#include <inttypes.h>

#include "compiler/target/text/writer.h"

enum { WORDS_A_LINE = 8 };

bool text_holds(const ir_inst *init, bool (*is_it)(const ir_inst *leaf)) {
  if (is_it(init)) return true;
  for (uint32_t i = 0; init->op == IR_AGGREGATE && i < init->arg_count; i++)
    if (text_holds(init->args[i], is_it)) return true;
  return false;
}

bool text_is_address(const ir_inst *leaf) { return leaf->op == IR_ADDRESS; }

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

static void put_word(qn_bytes *out, const unsigned char at[4]) {
  uint32_t word = at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
  qn_bytes_printf(out, word < 10 ? "%" PRIu32 : "0x%" PRIx32, word);
}

bool text_put_words(qn_bytes *out, qn_arena *arena, const ir_inst *init, uint64_t count, const char *suffix,
                    uint32_t indent) {
  unsigned char *bytes = qn_arena_alloc(arena, count * 4);
  if (!bytes) return false;
  fill_bytes(init, bytes);
  for (uint64_t i = 0; i < count; i++) {
    bool is_new_line = i && i % WORDS_A_LINE == 0;
    if (i) qn_bytes_append_str(out, is_new_line ? ",\n" : ", ");
    if (is_new_line) text_indent(out, indent);
    put_word(out, bytes + 4 * i);
    qn_bytes_append_str(out, suffix);
  }
  return true;
}
