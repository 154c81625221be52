/* access.c - loads, stores and copies. A word of the memory is read where it is used; what takes more is a function of
 * ours, made once for a memory and a type. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/target/wgsl/emit.h"

/* A type as memory has it: lanes one after the other, each some bytes that are aligned. */
typedef struct layout {
  const ir_type *type, *elem;
  uint32_t lanes, size; /* of a lane */
  uint64_t align;       /* of the first */
} layout;

static layout layout_of(const ir_type *type, uint64_t align, bool by_elements) {
  const ir_type *elem = ir_elem_of(type);
  uint64_t natural = by_elements ? elem->size : type->align;
  return (layout){type, elem, ir_lanes_of(type), (uint32_t)elem->size, align ? align : natural};
}

/* ---- Places ---- */

const char *wgsl_index_plus(emitter *e, const wgsl_memory *m, const char *index, uint64_t bytes) {
  if (!bytes) return index;
  if (strcmp(index, "0u") == 0) return wgsl_text_of(e, "%" PRIu64 "u", bytes / m->unit);
  return wgsl_text_of(e, "%s + %" PRIu64 "u", index, bytes / m->unit);
}

/* WGSL refuses a literal index that is out of range; the source's would be undefined. */
static const char *within(const wgsl_memory *m, const char *index) {
  if (!m->length) return index;
  char *end;
  unsigned long at = strtoul(index, &end, 0), length = strtoul(m->length, NULL, 10);
  return strcmp(end, "u") == 0 && length && at >= length ? "0u" : index;
}

static bool is_name(const char *text) {
  for (; *text; text++)
    if (*text == ' ') return false;
  return true;
}

const char *wgsl_word_place(emitter *e, const wgsl_memory *m, const char *index, uint64_t bytes) {
  const char *at = wgsl_index_plus(e, m, index, m->unit == 1 ? 0 : bytes);
  if (m->unit == 1) {
    char *end;
    unsigned long number = strtoul(index, &end, 0);
    if (strcmp(end, "u") == 0)
      at = wgsl_text_of(e, "%luu", number / 4);
    else
      at = wgsl_text_of(e, is_name(index) ? "%s >> 2u" : "(%s) >> 2u", index);
    if (bytes / 4)
      at = strcmp(at, "0u") == 0 ? wgsl_text_of(e, "%" PRIu64 "u", bytes / 4)
                                 : wgsl_text_of(e, "(%s) + %" PRIu64 "u", at, bytes / 4);
  }
  at = within(m, at);
  return wgsl_text_of(e, m->is_parameter ? "(*%s)[%s]" : "%s[%s]", m->name, at);
}

/* What a word holds, as the memory has it. */
static const char *word(emitter *e, const wgsl_memory *m, const char *index, uint64_t bytes) {
  const char *place = wgsl_word_place(e, m, index, bytes);
  return m->is_atomic ? wgsl_text_of(e, "atomicLoad(&%s)", place) : place;
}

static const char *bits_of_word(emitter *e, const wgsl_memory *m, const char *index, uint64_t bytes) {
  const char *text = word(e, m, index, bytes);
  return m->is_float ? wgsl_text_of(e, "bitcast<u32>(%s)", text) : text;
}

/* ---- Memories as arguments of our functions ---- */

const char *wgsl_memory_argument(emitter *e, const wgsl_memory *m) {
  if (m->kind != WGSL_FUNCTION) return "";
  return wgsl_text_of(e, m->is_parameter ? "%s, " : "&%s, ", m->name);
}

const char *wgsl_memory_parameter(emitter *e, const wgsl_memory *m, const char *name) {
  if (m->kind != WGSL_FUNCTION) return "";
  return wgsl_text_of(e, "%s: ptr<function, %s>, ", name, wgsl_array_type(e, m));
}

wgsl_memory wgsl_memory_inside(const wgsl_memory *m, const char *name) {
  wgsl_memory inside = *m;
  if (m->kind == WGSL_FUNCTION) {
    inside.name = name;
    inside.is_parameter = true;
  }
  return inside;
}

const char *wgsl_member_index(emitter *e, const wgsl_memory *m, const char *address) {
  const char *at = m->offset ? wgsl_text_of(e, "%s - %s + %s", address, m->base, m->offset)
                             : wgsl_text_of(e, "%s - (%s)", address, m->base);
  return m->unit == 1 ? at : wgsl_text_of(e, "((%s) >> %uu)", at, wgsl_unit_shift(m));
}

/* ---- Loads ---- */

/* A lane of at most 16 bits. */
static const char *from_bits(emitter *e, const ir_type *elem, const char *bits) {
  if (elem->kind == IR_BOOL) return wgsl_text_of(e, "(%s) != 0u", bits);
  if (elem->kind != IR_FLOAT || wgsl_is_soft_half(e, elem)) return bits;
  e->uses_half = true;
  return wgsl_text_of(e, "%s(%s)", wgsl_helper(e, "quern_half", 1), bits);
}

static const char *loaded_byte(emitter *e, const wgsl_memory *m, const char *index, uint64_t bytes) {
  const char *at = wgsl_index_plus(e, m, index, bytes);
  return wgsl_text_of(e, "((%s >> (((%s) & 3u) * 8u)) & 0xffu)", bits_of_word(e, m, at, 0), at);
}

/* Bits of a lane of 1 or 2 bytes. */
static const char *narrow_bits(emitter *e, const wgsl_memory *m, const layout *l, const char *index, uint64_t bytes) {
  const char *mask = l->size == 1 ? "0xffu" : "0xffffu";
  if (l->align >= 4)
    return wgsl_text_of(e, "(%s >> %" PRIu64 "u) & %s", bits_of_word(e, m, index, bytes / 4 * 4), bytes % 4 * 8, mask);
  if (l->align < l->size)
    return wgsl_text_of(e, "%s | (%s << 8u)", loaded_byte(e, m, index, bytes), loaded_byte(e, m, index, bytes + 1));
  const char *at = wgsl_index_plus(e, m, index, bytes);
  return wgsl_text_of(e, "(%s >> (((%s) & 3u) * 8u)) & %s", bits_of_word(e, m, at, 0), at, mask);
}

/* Bits of a word that may begin at any byte. */
static const char *whole_bits(emitter *e, const wgsl_memory *m, const layout *l, const char *index, uint64_t bytes) {
  if (l->align >= 4) return bits_of_word(e, m, index, bytes);
  const char *text = loaded_byte(e, m, index, bytes);
  for (uint32_t i = 1; i < 4; i++)
    text = wgsl_text_of(e, "%s | (%s << %uu)", text, loaded_byte(e, m, index, bytes + i), i * 8);
  return text;
}

static const char *loaded_lane(emitter *e, const wgsl_memory *m, const layout *l, const char *index, uint64_t bytes) {
  if (l->size < 4) return from_bits(e, l->elem, narrow_bits(e, m, l, index, bytes));
  if (l->size == 8)
    return wgsl_text_of(e, "vec2<u32>(%s, %s)", whole_bits(e, m, l, index, bytes),
                        whole_bits(e, m, l, index, bytes + 4));
  bool is_float = l->elem->kind == IR_FLOAT;
  if (is_float && m->is_float && l->align >= 4) return word(e, m, index, bytes);
  const char *bits = whole_bits(e, m, l, index, bytes);
  return is_float ? wgsl_text_of(e, "bitcast<f32>(%s)", bits) : bits;
}

static const char *loaded_quad(emitter *e, const wgsl_memory *m, const layout *l, const char *index) {
  return wgsl_text_of(e, "%s%s", wgsl_word_place(e, m, index, 0), l->lanes == 3 ? ".xyz" : "");
}

static const char *loaded(emitter *e, const wgsl_memory *m, const layout *l, const char *index) {
  if (m->is_quads) return loaded_quad(e, m, l, index);
  if (l->lanes == 1) return loaded_lane(e, m, l, index, 0);
  const char *text = wgsl_text_of(e, "%s(", wgsl_value_type(e, l->type));
  for (uint32_t i = 0; i < l->lanes; i++)
    text = wgsl_text_of(e, "%s%s%s", text, i ? ", " : "", loaded_lane(e, m, l, index, (uint64_t)i * l->size));
  return wgsl_text_of(e, "%s)", text);
}

/* Whether the index is written once. */
static bool is_simple(const wgsl_memory *m, const layout *l) {
  if (m->kind == WGSL_FLAT) return false;
  return m->is_quads || (l->lanes == 1 && l->size == 4 && l->align >= 4);
}

static const char *function_of(emitter *e, const wgsl_memory *m, const layout *l, bool stores);

static const char *load_call(emitter *e, const wgsl_memory *m, const layout *l, const char *index) {
  if (is_simple(m, l)) return loaded(e, m, l, index);
  return wgsl_text_of(e, "%s(%s%s)", function_of(e, m, l, false), wgsl_memory_argument(e, m), index);
}

static bool is_by_elements(const ir_inst *inst) { return inst->op == IR_VLOAD || inst->op == IR_VSTORE; }

text_level wgsl_put_load(emitter *e, const ir_inst *inst) {
  const ir_inst *p = inst->args[0];
  if (wgsl_is_plain(e, p)) {
    put(e, wgsl_var_name(e, p->u.var));
    return TEXT_POSTFIX;
  }
  wgsl_memory *m = wgsl_memory_of(e, p, inst);
  layout l = layout_of(inst->type, inst->imm, is_by_elements(inst));
  put(e, m ? load_call(e, m, &l, wgsl_subscript(e, m, p)) : "0u");
  return TEXT_POSTFIX;
}

/* ---- Stores ---- */

static const char *assigned(emitter *e, const wgsl_memory *m, const char *place, const char *value) {
  return m->is_atomic ? wgsl_text_of(e, "atomicStore(&%s, %s)", place, value)
                      : wgsl_text_of(e, "%s = %s", place, value);
}

static const char *as_word(emitter *e, const wgsl_memory *m, const ir_type *elem, const char *value) {
  bool is_float = elem->kind == IR_FLOAT && elem->bits == 32;
  if (is_float == m->is_float) return value;
  return wgsl_text_of(e, "bitcast<%s>(%s)", m->is_float ? "f32" : "u32", value);
}

/* Some bits of a word; of other items' neighbours nothing changes, not even for a moment. */
static void put_some_bits(emitter *e, const wgsl_memory *m, const char *place, const char *mask, const char *bits,
                          qn_bytes *text) {
  (void)e;
  if (m->is_atomic)
    qn_bytes_printf(text, "  atomicXor(&%s, (atomicLoad(&%s) ^ (%s)) & %s);\n", place, place, bits, mask);
  else
    qn_bytes_printf(text, "  %s = (%s & ~(%s)) | (%s);\n", place, place, mask, bits);
}

static void put_byte(emitter *e, const wgsl_memory *m, const char *index, uint64_t bytes, const char *value,
                     qn_bytes *text) {
  const char *at = wgsl_index_plus(e, m, index, bytes);
  const char *shift = wgsl_text_of(e, "(((%s) & 3u) * 8u)", at);
  put_some_bits(e, m, wgsl_word_place(e, m, at, 0), wgsl_text_of(e, "(0xffu << %s)", shift),
                wgsl_text_of(e, "((%s) & 0xffu) << %s", value, shift), text);
}

/* The bits of a lane of 1 or 2 bytes. */
static const char *to_bits(emitter *e, const ir_type *elem, const char *value) {
  if (elem->kind == IR_BOOL) return wgsl_text_of(e, "select(0u, 1u, %s)", value);
  if (elem->kind != IR_FLOAT || wgsl_is_soft_half(e, elem)) return value;
  e->uses_half = true;
  return wgsl_text_of(e, "%s(%s)", wgsl_helper(e, "quern_half_bits", 1), value);
}

static const char *lane_text(emitter *e, const layout *l, uint32_t i) {
  return l->lanes == 1 ? "v" : wgsl_text_of(e, "v.%c", "xyzw"[i]);
}

/* Lanes that share words whose place is known. */
static void put_packed(emitter *e, const wgsl_memory *m, const layout *l, qn_bytes *text) {
  uint32_t a_word = 4 / l->size;
  for (uint32_t i = 0; i < l->lanes; i += a_word) {
    const char *bits = NULL;
    uint32_t covered = 0;
    for (uint32_t k = i; k < l->lanes && k < i + a_word; k++, covered += l->size) {
      const char *lane = to_bits(e, l->elem, lane_text(e, l, k));
      bits = k == i ? lane : wgsl_text_of(e, "%s | (%s << %uu)", bits, lane, covered * 8);
    }
    const char *place = wgsl_word_place(e, m, "i", (uint64_t)i * l->size);
    if (covered == 4)
      qn_bytes_printf(text, "  %s;\n", assigned(e, m, place, bits));
    else
      put_some_bits(e, m, place, covered == 1 ? "0xffu" : covered == 2 ? "0xffffu" : "0xffffffu", bits, text);
  }
}

static void put_bytes(emitter *e, const wgsl_memory *m, uint64_t at, uint32_t count, const char *value,
                      qn_bytes *text) {
  for (uint32_t i = 0; i < count; i++)
    put_byte(e, m, "i", at + i, wgsl_text_of(e, "((%s) >> %uu)", value, i * 8), text);
}

static void put_narrow_lane(emitter *e, const wgsl_memory *m, const layout *l, uint64_t bytes, const char *value,
                            qn_bytes *text) {
  const char *bits = to_bits(e, l->elem, value);
  if (l->align < l->size) {
    put_bytes(e, m, bytes, l->size, bits, text);
    return;
  }
  const char *at = wgsl_index_plus(e, m, "i", bytes);
  const char *shift = wgsl_text_of(e, "(((%s) & 3u) * 8u)", at), *mask = l->size == 1 ? "0xffu" : "0xffffu";
  put_some_bits(e, m, wgsl_word_place(e, m, at, 0), wgsl_text_of(e, "(%s << %s)", mask, shift),
                wgsl_text_of(e, "(%s) << %s", bits, shift), text);
}

static void put_word_lane(emitter *e, const wgsl_memory *m, const layout *l, uint64_t bytes, const char *value,
                          qn_bytes *text) {
  static const char *const halves[] = {".x", ".y"};
  for (uint32_t i = 0; i < l->size / 4; i++) {
    const char *part = l->size == 8 ? wgsl_text_of(e, "%s%s", value, halves[i]) : value;
    if (l->align >= 4) {
      qn_bytes_printf(text, "  %s;\n",
                      assigned(e, m, wgsl_word_place(e, m, "i", bytes + 4 * i), as_word(e, m, l->elem, part)));
    } else {
      bool is_float = l->elem->kind == IR_FLOAT;
      put_bytes(e, m, bytes + 4 * i, 4, is_float ? wgsl_text_of(e, "bitcast<u32>(%s)", part) : part, text);
    }
  }
}

static void put_stored(emitter *e, const wgsl_memory *m, const layout *l, qn_bytes *text) {
  if (m->is_quads) {
    for (uint32_t i = 0; i < l->lanes; i++)
      qn_bytes_printf(text, "  %s.%c = v.%c;\n", wgsl_word_place(e, m, "i", 0), "xyzw"[i], "xyzw"[i]);
    return;
  }
  if (l->size < 4 && l->align >= 4) {
    put_packed(e, m, l, text);
    return;
  }
  for (uint32_t i = 0; i < l->lanes; i++) {
    if (l->size < 4)
      put_narrow_lane(e, m, l, (uint64_t)i * l->size, lane_text(e, l, i), text);
    else
      put_word_lane(e, m, l, (uint64_t)i * l->size, lane_text(e, l, i), text);
  }
}

static const char *store_call(emitter *e, const wgsl_memory *m, const layout *l, const char *index, const char *value) {
  bool is_whole = is_simple(m, l) && !(m->is_quads && l->lanes == 3);
  if (is_whole && m->is_quads) return wgsl_text_of(e, "%s = %s", wgsl_word_place(e, m, index, 0), value);
  if (is_whole) return assigned(e, m, wgsl_word_place(e, m, index, 0), as_word(e, m, l->elem, value));
  return wgsl_text_of(e, "%s(%s%s, %s)", function_of(e, m, l, true), wgsl_memory_argument(e, m), index, value);
}

/* ---- Functions of ours ---- */

static const char *access_key(emitter *e, const wgsl_memory *m, const layout *l, bool stores) {
  const char *align = l->align >= 4 && l->size < 4 ? "_words" : l->align >= l->size || l->align >= 4 ? "" : "_bytes";
  return wgsl_text_of(e, "%s_%s_%s%s", stores ? "store" : "load", m->key, wgsl_type_word(e, l->type), align);
}

/* By the address, which of the members it leads into. Nothing is stored in a constant one. */
static void put_flat(emitter *e, const wgsl_memory *m, const layout *l, bool stores, qn_bytes *text) {
  for (uint32_t i = m->member_count; i-- > 0;) {
    const wgsl_memory *member = m->members[i];
    if (stores && member->kind == WGSL_CONSTANT) continue;
    const char *index = wgsl_member_index(e, member, "i");
    const char *access =
        stores ? store_call(e, member, l, index, "v") : wgsl_text_of(e, "return %s", load_call(e, member, l, index));
    if (i)
      qn_bytes_printf(text, "  if (i >= %s) {\n    %s;\n%s  }\n", member->base, access, stores ? "    return;\n" : "");
    else
      qn_bytes_printf(text, "  %s;\n", access);
  }
}

/* Several narrow lanes of a word: it is read once, and its parts are taken from there. */
static void put_loaded_words(emitter *e, const wgsl_memory *m, const layout *l, qn_bytes *text) {
  uint32_t bytes = l->lanes * l->size;
  for (uint32_t i = 0; i < bytes; i += 4) qn_bytes_printf(text, "  let w%u = %s;\n", i / 4, bits_of_word(e, m, "i", i));
  qn_bytes_printf(text, "  return %s(", wgsl_value_type(e, l->type));
  for (uint32_t i = 0; i < bytes; i += l->size) {
    const char *bits = wgsl_text_of(e, "(w%u >> %uu) & %s", i / 4, i % 4 * 8, l->size == 1 ? "0xffu" : "0xffffu");
    qn_bytes_printf(text, "%s%s", i ? ", " : "", from_bits(e, l->elem, bits));
  }
  qn_bytes_append_str(text, ");\n");
}

/* What loads or stores a type in a memory. */
static const char *function_of(emitter *e, const wgsl_memory *m, const layout *l, bool stores) {
  const char *key = access_key(e, m, l, stores), *name = wgsl_made_name(e, key);
  if (name) return name;
  qn_bytes text = {0};
  name = wgsl_make_function(e, key, key);
  wgsl_memory inside = wgsl_memory_inside(m, "p");
  qn_bytes_printf(&text, stores ? "fn %s(%si: u32, v: %s) {\n" : "fn %s(%si: u32) -> %s {\n", name,
                  wgsl_memory_parameter(e, m, "p"), wgsl_value_type(e, l->type));
  if (m->kind == WGSL_FLAT)
    put_flat(e, m, l, stores, &text);
  else if (stores)
    put_stored(e, &inside, l, &text);
  else if (l->lanes > 1 && l->size < 4 && l->align >= 4)
    put_loaded_words(e, &inside, l, &text);
  else
    qn_bytes_printf(&text, "  return %s;\n", loaded(e, &inside, l, "i"));
  qn_bytes_append_str(&text, "}\n");
  wgsl_add_function(e, &text);
  qn_bytes_free(&text);
  return name;
}

/* ---- Statements ---- */

void wgsl_put_store(emitter *e, const ir_inst *inst) {
  const ir_inst *p = inst->args[0], *value = inst->args[1];
  if (wgsl_is_plain(e, p)) {
    putf(e, "%s = ", wgsl_var_name(e, p->u.var));
    if (text_is_inline_in(&e->plan, inst) && value->parent)
      (void)wgsl_put_expression(e, value);
    else
      wgsl_put_operand(e, value, TEXT_ANY, false);
    return;
  }
  wgsl_memory *m = wgsl_memory_of(e, p, inst);
  layout l = layout_of(value->type, inst->imm, is_by_elements(inst));
  if (!m) return;
  const char *index = wgsl_subscript(e, m, p);
  put(e, store_call(e, m, &l, index, wgsl_operand_text(e, value, TEXT_ANY)));
}

/* ---- Copies ---- */

/* Of one memory, or of two: functions may not be given one variable twice. */
static const char *copy_function(emitter *e, const wgsl_memory *to, const wgsl_memory *from, uint64_t bytes,
                                 bool by_words, bool is_one) {
  const ir_type *type = ir_int(e->m, by_words ? 32 : 8);
  layout l = layout_of(type, 0, false);
  const char *key =
      wgsl_text_of(e, "copy_%s_%s_%" PRIu64 "_%u%s", to->key, from->key, bytes, l.size, is_one ? "_within" : "");
  const char *name = wgsl_made_name(e, key);
  if (name) return name;
  qn_bytes text = {0};
  name = wgsl_make_function(e, key, key);
  wgsl_memory target = wgsl_memory_inside(to, "p"), source = wgsl_memory_inside(from, is_one ? "p" : "q");
  qn_bytes_printf(&text, "fn %s(%s%sto: u32, at: u32) {\n", name, wgsl_memory_parameter(e, to, "p"),
                  is_one ? "" : wgsl_memory_parameter(e, from, "q"));
  qn_bytes_printf(&text, "  for (var k = 0u; k < %" PRIu64 "u; k++) {\n", bytes / l.size);
  const char *k_to = wgsl_text_of(e, "to + k * %uu", l.size / to->unit),
             *k_at = wgsl_text_of(e, "at + k * %uu", l.size / from->unit);
  qn_bytes_printf(&text, "    %s;\n  }\n}\n", store_call(e, &target, &l, k_to, load_call(e, &source, &l, k_at)));
  wgsl_add_function(e, &text);
  qn_bytes_free(&text);
  return name;
}

void wgsl_put_copy(emitter *e, const ir_inst *inst) {
  const ir_type *type = inst->args[0]->type->elem;
  uint64_t align = inst->imm ? inst->imm : type->align;
  wgsl_memory *to = wgsl_memory_of(e, inst->args[0], inst), *from = wgsl_memory_of(e, inst->args[1], inst);
  if (!to || !from) return;
  bool by_words = align >= 4 && type->size % 4 == 0, is_one = to == from && to->kind == WGSL_FUNCTION;
  const char *name = copy_function(e, to, from, type->size, by_words, is_one);
  const char *at = wgsl_operand_text(e, inst->args[1], TEXT_ANY), *into = wgsl_operand_text(e, inst->args[0], TEXT_ANY);
  putf(e, "%s(%s%s%s, %s)", name, wgsl_memory_argument(e, to), is_one ? "" : wgsl_memory_argument(e, from), into, at);
}
