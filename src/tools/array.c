#include "array.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const array_type types[] = {
    [QN_TYPE_NONE] = {"bytes", "u1", 1, false, false}, [QN_TYPE_I8] = {"char", "i1", 1, false, true},
    [QN_TYPE_U8] = {"uchar", "u1", 1, false, false},   [QN_TYPE_I16] = {"short", "i2", 2, false, true},
    [QN_TYPE_U16] = {"ushort", "u2", 2, false, false}, [QN_TYPE_I32] = {"int", "i4", 4, false, true},
    [QN_TYPE_U32] = {"uint", "u4", 4, false, false},   [QN_TYPE_I64] = {"long", "i8", 8, false, true},
    [QN_TYPE_U64] = {"ulong", "u8", 8, false, false},  [QN_TYPE_F16] = {"half", "f2", 2, true, true},
    [QN_TYPE_F32] = {"float", "f4", 4, true, true},    [QN_TYPE_F64] = {"double", "f8", 8, true, true},
};

const array_type *array_type_of(uint32_t type) { return &types[type < sizeof types / sizeof *types ? type : 0]; }

tool_status array_make(array *a, const char *what, uint32_t type, const uint64_t *shape, uint32_t axes) {
  memset(a, 0, sizeof *a);
  a->type = type;
  a->axes = axes;
  a->count = 1;
  for (uint32_t i = 0; i < axes; i++) {
    a->shape[i] = shape[i];
    if (__builtin_mul_overflow(a->count, shape[i], &a->count))
      return tool_error(TOOL_FAILED, "%s: its shape has more elements than can be counted", what);
  }
  uint64_t bytes;
  if (__builtin_mul_overflow(a->count, (uint64_t)array_type_of(type)->bytes, &bytes) ||
      !(a->data = tool_try_alloc(bytes))) {
    return tool_error(TOOL_FAILED, "%s: no memory for %" PRIu64 " elements of %u bytes", what, a->count,
                      array_type_of(type)->bytes);
  }
  return TOOL_OK;
}

void array_free(array *a) {
  free(a->data);
  a->data = NULL;
}

const char *array_shape_text(const array *a, char text[256]) {
  size_t at = 0;
  text[0] = 0;
  for (uint32_t i = 0; i < a->axes && at < 230; i++)
    at += (size_t)snprintf(text + at, 256 - at, "%s%" PRIu64, i ? "x" : "", a->shape[i]);
  if (!a->axes) snprintf(text, 256, "a scalar");
  return text;
}

float array_half_to_float(uint16_t h) {
  int exponent = (h >> 10) & 31;
  double fraction = h & 1023;
  double value = exponent == 31 ? (fraction > 0 ? (double)NAN : (double)INFINITY)
                 : exponent     ? ldexp(1024 + fraction, exponent - 25)
                                : ldexp(fraction, -24);
  return (float)(h & 0x8000 ? -value : value);
}

/* The nearest whole number, of two the even one. No call of libm, which every start of the command would load for it: where the
 * last place is 1, the addition rounds. */
static double whole(double value) {
  static const double all_whole = 0x1p52;
  double magnitude = fabs(value);
  if (!(magnitude < all_whole)) return value;
  return copysign(magnitude + all_whole - all_whole, value);
}

uint16_t array_float_to_half(double value) {
  uint16_t sign = signbit(value) ? 0x8000 : 0;
  double magnitude = fabs(value);
  if (isnan(value)) return (uint16_t)(sign | 0x7e00);
  if (magnitude >= 65520.0) return (uint16_t)(sign | 0x7c00);
  int exponent;
  frexp(magnitude, &exponent);
  int step = exponent - 11 < -24 ? -24 : exponent - 11; /* of the last place */
  double units = whole(ldexp(magnitude, -step));        /* at most 2048 */
  if (units < 1024) return (uint16_t)(sign | (uint16_t)units);
  return (uint16_t)(sign | (((step + 24) << 10) + (int)units));
}

double array_get_f64(const array *a, uint64_t i) {
  const array_type *t = array_type_of(a->type);
  if (!t->is_float) return t->is_signed ? (double)array_get_i64(a, i) : (double)array_get_u64(a, i);
  uint16_t h;
  float f;
  double d;
  switch (a->type) {
    case QN_TYPE_F16:
      memcpy(&h, a->data + i * 2, 2);
      return array_half_to_float(h);
    case QN_TYPE_F32:
      memcpy(&f, a->data + i * 4, 4);
      return f;
    default:
      memcpy(&d, a->data + i * 8, 8);
      return d;
  }
}

uint64_t array_get_u64(const array *a, uint64_t i) {
  uint64_t value = 0;
  uint32_t bytes = array_type_of(a->type)->bytes;
  memcpy(&value, a->data + i * bytes, bytes); /* little end first */
  return value;
}

int64_t array_get_i64(const array *a, uint64_t i) {
  uint32_t shift = 64 - 8 * array_type_of(a->type)->bytes;
  return (int64_t)(array_get_u64(a, i) << shift) >> shift;
}

static void set_bits(array *a, uint64_t i, uint64_t bits) {
  uint32_t bytes = array_type_of(a->type)->bytes;
  memcpy(a->data + i * bytes, &bits, bytes);
}

static double type_min(const array_type *t) { return t->is_signed ? -ldexp(1, (int)t->bytes * 8 - 1) : 0; }
static double type_end(const array_type *t) { return ldexp(1, (int)t->bytes * 8 - (t->is_signed ? 1 : 0)); }

void array_set_f64(array *a, uint64_t i, double value) {
  const array_type *t = array_type_of(a->type);
  if (a->type == QN_TYPE_F64) {
    memcpy(a->data + i * 8, &value, 8);
  } else if (a->type == QN_TYPE_F32) {
    float f = (float)value;
    memcpy(a->data + i * 4, &f, 4);
  } else if (a->type == QN_TYPE_F16) {
    set_bits(a, i, array_float_to_half(value));
  } else {
    double rounded = isnan(value) ? 0 : whole(value);
    uint64_t top = t->is_signed ? (UINT64_C(1) << (t->bytes * 8 - 1)) - 1 : UINT64_MAX >> (64 - t->bytes * 8);
    if (rounded >= type_end(t))
      set_bits(a, i, top);
    else if (rounded <= type_min(t))
      set_bits(a, i, t->is_signed ? ~top : 0);
    else
      set_bits(a, i, rounded < 0 ? (uint64_t)(int64_t)rounded : (uint64_t)rounded);
  }
}

/* Whether a number's text has a digit that isn't 0 before its exponent. */
static bool says_more_than_zero(const char *text) {
  bool is_hex = strpbrk(text, "xX") != NULL;
  size_t length = strcspn(text, is_hex ? "pP" : "eE");
  for (size_t i = 0; i < length; i++)
    if (strchr(is_hex ? "123456789abcdefABCDEF" : "123456789", text[i])) return true;
  return false;
}

bool array_parse_scalar(uint32_t type, const char *text, void *out) {
  const array_type *t = array_type_of(type);
  array one = {.type = type, .count = 1, .data = out};
  if (t->is_float) {
    double value;
    if (!tool_parse_f64(text, &value)) return false;
    if (type == QN_TYPE_F32) { /* one rounding, not two */
      float f = strtof(text, NULL);
      memcpy(out, &f, 4);
    } else {
      array_set_f64(&one, 0, value);
    }
    /* A number that is too large is no infinity; only "inf" is. Nor is one that is too small zero. */
    value = array_get_f64(&one, 0);
    if (value == 0) return !says_more_than_zero(text);
    return !isinf(value) || strpbrk(text, "nN");
  }
  uint32_t bits = t->bytes * 8;
  int64_t i;
  uint64_t u;
  if (tool_parse_u64(text, &u)) {
    bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    /* Hexadecimal gives the bits of a signed type as well. */
    if (u > UINT64_MAX >> (64 - bits + (t->is_signed && !hex ? 1 : 0))) return false;
    set_bits(&one, 0, u);
    return true;
  }
  if (!t->is_signed || !tool_parse_i64(text, &i)) return false;
  if (i < -(INT64_MAX >> (64 - bits)) - 1 || i > INT64_MAX >> (64 - bits)) return false;
  set_bits(&one, 0, (uint64_t)i);
  return true;
}

void array_print_scalar(const array *a, uint64_t i, char text[64]) {
  const array_type *t = array_type_of(a->type);
  if (!t->is_float) {
    if (t->is_signed)
      snprintf(text, 64, "%" PRId64, array_get_i64(a, i));
    else
      snprintf(text, 64, "%" PRIu64, array_get_u64(a, i));
    return;
  }
  double value = array_get_f64(a, i);
  int most = a->type == QN_TYPE_F64 ? 17 : a->type == QN_TYPE_F32 ? 9 : 5;
  for (int digits = a->type == QN_TYPE_F64 ? 15 : a->type == QN_TYPE_F32 ? 6 : 3; digits <= most; digits++) {
    snprintf(text, 64, "%.*g", digits, value);
    double back = strtod(text, NULL);
    if (isnan(value) || back == value || (a->type == QN_TYPE_F32 && strtof(text, NULL) == (float)value) ||
        (a->type == QN_TYPE_F16 && array_float_to_half(back) == array_float_to_half(value)))
      break;
  }
}

tool_status array_convert(const array *from, uint32_t type, const char *what, array *out) {
  TOOL_TRY(array_make(out, what, type, from->shape, from->axes));
  const array_type *t = array_type_of(from->type), *to = array_type_of(type);
  for (uint64_t i = 0; i < from->count; i++) {
    if (t->is_float || to->is_float) {
      array_set_f64(out, i, array_get_f64(from, i));
      continue;
    }
    /* Integers: exact, saturated. */
    uint64_t top = to->is_signed ? (UINT64_C(1) << (to->bytes * 8 - 1)) - 1 : UINT64_MAX >> (64 - to->bytes * 8);
    int64_t s = array_get_i64(from, i);
    uint64_t u = array_get_u64(from, i);
    if (t->is_signed && s < 0) {
      int64_t low = to->is_signed ? -(int64_t)top - 1 : 0;
      set_bits(out, i, (uint64_t)(s < low ? low : s));
    } else {
      set_bits(out, i, u > top ? top : u);
    }
  }
  return TOOL_OK;
}

uint64_t array_device_bytes(const array *a, uint32_t vector) {
  uint64_t bytes = a->count * array_type_of(a->type)->bytes;
  return vector == 3 ? bytes / 3 * 4 : bytes;
}

void array_to_device(const array *a, uint32_t vector, void *device) {
  size_t bytes = array_type_of(a->type)->bytes;
  if (vector != 3) {
    memcpy(device, a->data, (size_t)a->count * bytes);
    return;
  }
  unsigned char *to = device;
  for (uint64_t i = 0; i < a->count / 3; i++) {
    memcpy(to + i * 4 * bytes, a->data + i * 3 * bytes, 3 * bytes);
    memset(to + (i * 4 + 3) * bytes, 0, bytes);
  }
}

void array_from_device(array *a, uint32_t vector, const void *device) {
  size_t bytes = array_type_of(a->type)->bytes;
  if (vector != 3) {
    memcpy(a->data, device, (size_t)a->count * bytes);
    return;
  }
  const unsigned char *from = device;
  for (uint64_t i = 0; i < a->count / 3; i++) memcpy(a->data + i * 3 * bytes, from + i * 4 * bytes, 3 * bytes);
}
