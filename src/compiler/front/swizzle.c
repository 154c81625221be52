#include "compiler/front/convert.h"
#include "compiler/front/operator.h"

typedef struct lane_list {
  uint8_t lanes[16];
  uint32_t count;
} lane_list;

static int hex_lane(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

static int letter_lane(qn_sv letters, char c) {
  for (size_t i = 0; i < letters.size; i++) {
    if (letters.data[i] == c) return (int)i;
  }
  return -1;
}

/* lo, hi, even, odd: of a 3-vector as of a 4-vector, whose last lane is any value. */
static bool half_lanes(qn_sv name, uint32_t vector_lanes, lane_list *out) {
  uint32_t whole = vector_lanes == 3 ? 4 : vector_lanes, start, step;
  if (qn_sv_is(name, "lo")) {
    start = 0, step = 1;
  } else if (qn_sv_is(name, "hi")) {
    start = whole / 2, step = 1;
  } else if (qn_sv_is(name, "even")) {
    start = 0, step = 2;
  } else if (qn_sv_is(name, "odd")) {
    start = 1, step = 2;
  } else {
    return false;
  }
  out->count = whole / 2;
  for (uint32_t i = 0; i < out->count; i++) {
    uint32_t lane = start + i * step;
    out->lanes[i] = lane < vector_lanes ? (uint8_t)lane : FRONT_NO_LANE;
  }
  return true;
}

/* The lanes that `name` gives, by one of the alphabets. Count 0: it isn't a swizzle. Lanes may be out of range. */
static void named_lanes(qn_sv name, lane_list *out) {
  static const char *const alphabets[] = {"xyzw", "rgba"};
  out->count = 0;
  bool is_numbered = name.size > 1 && (name.data[0] == 's' || name.data[0] == 'S');
  size_t start = is_numbered ? 1 : 0;
  if (name.size - start > 16 || name.size == 0) return;
  for (size_t alphabet = 0; alphabet < (is_numbered ? 1u : 2u); alphabet++) {
    uint32_t count = 0;
    for (size_t i = start; i < name.size; i++, count++) {
      int lane = is_numbered ? hex_lane(name.data[i]) : letter_lane(qn_sv_from(alphabets[alphabet]), name.data[i]);
      if (lane < 0) break;
      out->lanes[count] = (uint8_t)lane;
    }
    if (count == name.size - start) {
      out->count = count;
      return;
    }
  }
}

static bool has_duplicate(const lane_list *list) {
  uint32_t seen = 0;
  for (uint32_t i = 0; i < list->count; i++) {
    if (list->lanes[i] == FRONT_NO_LANE) continue;
    if (seen & 1u << list->lanes[i]) return true;
    seen |= 1u << list->lanes[i];
  }
  return false;
}

static bool check_lanes(front *f, qn_loc loc, uint32_t length, const front_type *vector, const lane_list *list,
                        qn_sv name) {
  uint32_t n = list->count;
  if (n == 0) {
    front_error(f, loc, length, "'%.*s' names no lanes of '%s'", QN_SV_ARG(name), front_type_text(f, vector->plain));
    return false;
  }
  for (uint32_t i = 0; i < n; i++) {
    if (list->lanes[i] < vector->lanes) continue;
    front_error(f, loc, length, "'%.*s' names lane %u of '%s', which has lanes 0 to %u", QN_SV_ARG(name),
                (unsigned)list->lanes[i], front_type_text(f, vector->plain), vector->lanes - 1);
    return false;
  }
  if (n > 4 && n != 8 && n != 16) {
    front_error(f, loc, length, "'%.*s' names %u lanes; a vector has 2, 3, 4, 8 or 16", QN_SV_ARG(name), n);
    return false;
  }
  return true;
}

front_expr *front_swizzle(front *f, qn_loc loc, uint32_t length, front_expr *a, qn_sv name) {
  const front_type *vector = a->type;
  lane_list list = {0};
  if (!half_lanes(name, vector->lanes, &list)) {
    named_lanes(name, &list);
    if (!check_lanes(f, loc, length, vector, &list, name)) return front_expr_error(f, loc);
  }
  const front_type *type = list.count == 1 ? vector->elem : front_vector(f, vector->elem, list.count);
  bool is_lvalue = a->is_lvalue;
  if (a->is_lvalue) type = front_qualify(f, type, vector->quals, vector->space);
  if (a->kind == EXPR_SWIZZLE) { /* v.xyz.zy is v.zy */
    for (uint32_t i = 0; i < list.count; i++) {
      uint8_t lane = list.lanes[i];
      list.lanes[i] = lane < a->u.swizzle.count ? a->u.swizzle.lanes[lane] : FRONT_NO_LANE;
    }
    a = a->a;
  }
  front_expr *e = front_expr_op(f, EXPR_SWIZZLE, OP_ADD, loc, type, a, NULL);
  e->length = length;
  e->is_lvalue = is_lvalue && !has_duplicate(&list);
  e->u.swizzle.count = list.count;
  for (uint32_t i = 0; i < list.count; i++) e->u.swizzle.lanes[i] = list.lanes[i];
  return e;
}
