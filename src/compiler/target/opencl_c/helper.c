/* helper.c - small functions of our own in the text, for what is no expression: total division, a lane by number, atomic
 * sums of floats. Each is there once for a type, when something asks for it. */
#include <stdio.h>
#include <string.h>

#include "compiler/target/opencl_c/emit.h"

/* In the texts: $N the function's name, $T the type, $M its lanes of bools, $E its element, $L the smallest number, $K the
 * last lane, $S the address space, $U the unsigned integer of the type's width, $A atomic functions' prefix. */
typedef struct helper_text {
  const char *word; /* of the name */
  const char *scalar_signed, *scalar_unsigned, *vector_signed, *vector_unsigned;
} helper_text;

#define ATOMIC_LOOP(value)                                      \
  "$T $N(volatile $S$T *p, $T x) {\n"                           \
  "  $U seen = as_$U(*p);\n"                                    \
  "  for (;;) {\n"                                              \
  "    $U old = seen;\n"                                        \
  "    seen = $A_cmpxchg((volatile $S$U *)p, old, as_$U(" value \
  "));\n"                                                       \
  "    if (seen == old) return as_$T(old);\n"                   \
  "  }\n"                                                       \
  "}\n"

static const helper_text texts[HELPER_COUNT] = {
    [HELPER_DIV] = {"div",
                    "$T $N($T a, $T b) {\n"
                    "  $T by = b == 0 || (b == -1 && a == $L) ? 1 : b;\n"
                    "  return b == 0 ? 0 : a / by;\n"
                    "}\n",
                    "$T $N($T a, $T b) {\n"
                    "  $T by = b == 0 ? 1 : b;\n"
                    "  return b == 0 ? 0 : a / by;\n"
                    "}\n",
                    "$T $N($T a, $T b) {\n"
                    "  $M none = b == ($T)(0);\n"
                    "  $M past = (b == ($T)(-1)) & (a == ($T)($L));\n"
                    "  return select(a / select(b, ($T)(1), none | past), ($T)(0), none);\n"
                    "}\n",
                    "$T $N($T a, $T b) {\n"
                    "  $M none = b == ($T)(0);\n"
                    "  return select(a / select(b, ($T)(1), none), ($T)(0), none);\n"
                    "}\n"},
    [HELPER_REM] = {"rem",
                    "$T $N($T a, $T b) {\n"
                    "  $T by = b == 0 || (b == -1 && a == $L) ? 1 : b;\n"
                    "  return b == 0 ? a : a % by;\n"
                    "}\n",
                    "$T $N($T a, $T b) {\n"
                    "  $T by = b == 0 ? 1 : b;\n"
                    "  return b == 0 ? a : a % by;\n"
                    "}\n",
                    "$T $N($T a, $T b) {\n"
                    "  $M none = b == ($T)(0);\n"
                    "  $M past = (b == ($T)(-1)) & (a == ($T)($L));\n"
                    "  return select(a % select(b, ($T)(1), none | past), a, none);\n"
                    "}\n",
                    "$T $N($T a, $T b) {\n"
                    "  $M none = b == ($T)(0);\n"
                    "  return select(a % select(b, ($T)(1), none), a, none);\n"
                    "}\n"},
    [HELPER_CTZ] = {"ctz", NULL, "$T $N($T x) { return popcount(($T)(~x & (x - 1))); }\n", NULL,
                    "$T $N($T x) { return popcount(~x & (x - ($T)(1))); }\n"},
    [HELPER_LANE] = {"lane", NULL, NULL, "$E $N($T v, uint i) { return (($E *)&v)[$K]; }\n",
                     "$E $N($T v, uint i) { return (($E *)&v)[$K]; }\n"},
    [HELPER_ATOMIC_ADD] = {"atomic_add", ATOMIC_LOOP("as_$T(old) + x"), NULL, NULL, NULL},
    [HELPER_ATOMIC_MIN] = {"atomic_min", ATOMIC_LOOP("fmin(as_$T(old), x)"), NULL, NULL, NULL},
    [HELPER_ATOMIC_MAX] = {"atomic_max", ATOMIC_LOOP("fmax(as_$T(old), x)"), NULL, NULL, NULL},
};

typedef struct helper_use {
  const char *name;
  const ir_type *type;
  bool is_signed;
  ir_space space;
} helper_use;

static const char *text_for(helper which, const ir_type *type, bool is_signed) {
  const helper_text *t = &texts[which];
  if (type->kind == IR_VECTOR) return is_signed ? t->vector_signed : t->vector_unsigned;
  return is_signed ? t->scalar_signed : t->scalar_unsigned;
}

static void put_smallest(emitter *e, const ir_type *elem) {
  put_constant(e, ir_const_int(e->m, elem, UINT64_C(1) << (elem->bits - 1)), (want){.sign = 1});
}

static void put_last_lane(emitter *e, uint32_t lanes) {
  putf(e, (lanes & (lanes - 1)) == 0 ? "i & %uu" : "min(i, %uu)", lanes - 1);
}

static void put_word(emitter *e, const helper_use *u, char word) {
  const ir_type *elem = ir_elem_of(u->type);
  switch (word) {
    case 'N':
      put(e, u->name);
      return;
    case 'T':
      put(e, number_name(e, u->type, u->is_signed));
      return;
    case 'M':
      put(e, mask_name(e, u->type->count, elem->bits));
      return;
    case 'E':
      put(e, number_name(e, elem, u->is_signed));
      return;
    case 'L':
      put_smallest(e, elem);
      return;
    case 'K':
      put_last_lane(e, u->type->count);
      return;
    case 'S':
      put(e, space_word(e, u->space));
      return;
    case 'U':
      put(e, number_name(e, ir_int(e->m, elem->bits), false));
      return;
    default:
      put(e, elem->bits == 64 ? "atom" : "atomic");
  }
}

static void put_text(emitter *e, const helper_use *u, const char *text) {
  for (; *text; text++) {
    if (*text == '$')
      put_word(e, u, *++text);
    else
      qn_bytes_append_char(e->out, *text);
  }
}

static void define(emitter *e, const helper_use *u, const char *text) {
  qn_bytes *out = e->out;
  e->out = &e->helpers;
  put_text(e, u, text);
  e->out = out;
}

const char *helper_name(emitter *e, helper which, const ir_type *type, bool is_signed, ir_space space) {
  const char *space_part = space == IR_PRIVATE ? "" : space == IR_LOCAL ? "_local" : "_global";
  char key[64];
  (void)snprintf(key, sizeof key, "%s%s_%s", texts[which].word, space_part, number_name(e, type, is_signed));
  const char *known = qn_map_get(&e->made, qn_sv_from(key));
  if (known) return known;
  const char *kept = qn_arena_copy(e->arena, qn_sv_from(key));
  helper_use use = {kept ? text_name_own(&e->names, kept) : "", type, is_signed, space};
  if (!kept || !qn_map_set(&e->made, qn_sv_from(kept), (void *)(uintptr_t)use.name)) e->failed = true;
  if (ir_elem_of(type)->bits == 64 && which >= HELPER_ATOMIC_ADD) e->uses_int64_base_atomics = true;
  define(e, &use, text_for(which, type, is_signed));
  return use.name;
}

/* ---- Saturated conversions ---- */

/* The specification only wishes that no number becomes 0, and not every driver makes it so. */
const char *saturation_name(emitter *e, const ir_type *from, const ir_type *to, bool to_signed) {
  const char *source = number_name(e, from, true), *target = number_name(e, to, to_signed);
  char key[64];
  (void)snprintf(key, sizeof key, "sat_%s_%s", target, source);
  const char *known = qn_map_get(&e->made, qn_sv_from(key));
  if (known) return known;
  const char *kept = qn_arena_copy(e->arena, qn_sv_from(key)), *name = kept ? text_name_own(&e->names, kept) : "";
  if (!kept || !qn_map_set(&e->made, qn_sv_from(kept), (void *)(uintptr_t)name)) e->failed = true;
  qn_bytes_printf(&e->helpers, "%s %s(%s x) { return ", target, name, source);
  if (to->kind == IR_VECTOR)
    qn_bytes_printf(&e->helpers, "select((%s)(0), convert_%s_sat(x), convert_%s(x == x)); }\n", target, target,
                    mask_name(e, to->count, to->elem->bits));
  else
    qn_bytes_printf(&e->helpers, "x == x ? convert_%s_sat(x) : 0; }\n", target);
  return name;
}

/* ---- Types of entries ---- */

/* A struct of our own, once: `key` tells it from others. */
static const char *own_struct(emitter *e, const char *key, const char *members) {
  const char *known = qn_map_get(&e->made, qn_sv_from(key));
  if (known) return known;
  const char *name = qn_arena_printf(e->arena, "struct %s", text_name_own(&e->names, key));
  if (!name || !qn_map_set(&e->made, qn_sv_from(key), (void *)(uintptr_t)name)) {
    e->failed = true;
    return "";
  }
  qn_bytes_printf(&e->types, "%s {\n%s};\n", name, members);
  return name;
}

const char *range_type_name(emitter *e) {
  return own_struct(e, "range",
                    "  ulong global_size[3];\n  ulong global_offset[3];\n  ulong group_base[3];\n"
                    "  ulong num_groups[3];\n  ulong enqueued_local[3];\n");
}

const char *launch_type_name(emitter *e, bool has_range, uint32_t buffers) {
  const char *key = qn_arena_printf(e->arena, "launch_%s%u", has_range ? "range_" : "", buffers);
  const char *range = has_range ? qn_arena_printf(e->arena, "  %s range;\n", range_type_name(e)) : "";
  const char *offsets = buffers ? qn_arena_printf(e->arena, "  ulong offset[%u];\n", buffers) : "";
  const char *members = range && offsets ? qn_arena_printf(e->arena, "%s%s", range, offsets) : NULL;
  if (key && members) return own_struct(e, key, members);
  e->failed = true;
  return "";
}
