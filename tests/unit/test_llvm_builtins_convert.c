/* convert_T with every rounding and saturation between all types, as_T. */
/* labels: llvm */
/* sources: tests/unit/support/runner.c tests/unit/support/driver.c */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
/* after these */
#include <cmocka.h>

#include "support/values.h"

typedef struct number {
  const char *name;
  uint32_t bits;
  bool is_float, is_signed;
} number;
static const number numbers[] = {
    {"char", 8, false, true},  {"uchar", 8, false, false}, {"short", 16, false, true}, {"ushort", 16, false, false},
    {"int", 32, false, true},  {"uint", 32, false, false}, {"long", 64, false, true},  {"ulong", 64, false, false},
    {"float", 32, true, true}, {"double", 64, true, true},
};
enum { TYPES = sizeof numbers / sizeof *numbers, ITEMS = 96, LANES_MOST = 16 };
typedef enum rounding { DEFAULT, RTE, RTZ, RTP, RTN, ROUNDINGS } rounding;
static const char *const suffixes[] = {"", "_rte", "_rtz", "_rtp", "_rtn"};

/* long double holds every value of every type. */
static long double get(const number *t, const void *memory, uint64_t i) {
  const char *at = (const char *)memory + i * t->bits / 8;
  if (t->is_float && t->bits == 32) {
    float x;
    memcpy(&x, at, sizeof x);
    return x;
  }
  if (t->is_float) {
    double x;
    memcpy(&x, at, sizeof x);
    return x;
  }
  uint64_t x = 0;
  memcpy(&x, at, t->bits / 8);
  if (!t->is_signed) return x;
  return (int64_t)(x << (64 - t->bits)) >> (64 - t->bits);
}

static long double least(const number *t) { return t->is_signed ? -ldexpl(1, (int)t->bits - 1) : 0; }
static long double most(const number *t) { return ldexpl(1, (int)t->bits - (t->is_signed ? 1 : 0)) - 1; }

static long double to_whole(long double x, rounding r) {
  return r == RTE ? rintl(x) : r == RTP ? ceill(x) : r == RTN ? floorl(x) : truncl(x);
}

/* The neighbour of `nearest` that the direction asks for, when x isn't it. */
static double directed(long double x, rounding r, bool single, double nearest) {
  bool up = r == RTP || (r == RTZ && x < 0), down = r == RTN || (r == RTZ && x > 0);
  if (up && nearest < x) return single ? (double)nextafterf((float)nearest, INFINITY) : nextafter(nearest, INFINITY);
  if (down && nearest > x)
    return single ? (double)nextafterf((float)nearest, -INFINITY) : nextafter(nearest, -INFINITY);
  return nearest;
}

/* What a conversion gives; false: the specification leaves it open. */
static bool convert(const number *from, const number *to, rounding r, bool saturates, const void *memory, uint64_t i,
                    void *out) {
  long double x = get(from, memory, i);
  if (to->is_float) {
    bool single = to->bits == 32;
    double y = directed(x, r, single, single ? (double)(float)x : (double)x);
    float narrow = (float)y;
    memcpy(out, single ? (void *)&narrow : (void *)&y, to->bits / 8);
    return !isnan(x);
  }
  if (from->is_float) x = to_whole(x, r);
  bool outside = x < least(to) || x > most(to);
  if (isnan(x)) {
    x = 0;
    outside = true;
  }
  if (outside && !saturates && from->is_float) return false;
  if (outside && saturates) x = x < least(to) ? least(to) : x > most(to) ? most(to) : x;
  uint64_t bits = x < 0 ? (uint64_t)(int64_t)x : (uint64_t)x;
  if (outside && !saturates) memcpy(&bits, (const char *)memory + i * from->bits / 8, from->bits / 8);
  /* Integers wrap; a wider one continues the sign, which no value outside needs. */
  memcpy(out, &bits, to->bits / 8);
  if (outside && !saturates && to->bits > from->bits) {
    int64_t extended = (int64_t)get(from, memory, i);
    memcpy(out, &extended, to->bits / 8);
  }
  return true;
}

/* ---- Arguments ------------------------------------------------------------------------------------- */

static uint64_t random_state = 88172645463325252u;
static uint64_t random_bits(void) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  return random_state ^= random_state << 17;
}

static void fill(const number *t, void *memory, uint64_t count) {
  static const double odd[] = {0.0,
                               -0.0,
                               0.5,
                               1.5,
                               2.5,
                               -0.5,
                               -1.5,
                               127.5,
                               128,
                               255.5,
                               256,
                               -128.5,
                               -129,
                               32767.5,
                               65535.5,
                               -32768.75,
                               2147483647.0,
                               2147483648.0,
                               4294967295.0,
                               4294967296.0,
                               9223372036854775807.0,
                               18446744073709551616.0,
                               -9223372036854775808.0,
                               1e30,
                               -1e30,
                               0x1.000001p0,
                               0x1.000003p0,
                               0x1p-149,
                               0x1p-150,
                               0x1.8p-149,
                               0x1.fffffffp127,
                               1e300,
                               -1e300,
                               INFINITY,
                               -INFINITY,
                               NAN,
                               1e-320};
  for (uint64_t i = 0; i < count; i++) {
    char *at = (char *)memory + i * t->bits / 8;
    uint64_t bits = random_bits() >> random_bits() % 64;
    double x =
        i < sizeof odd / sizeof *odd ? odd[i] : ldexp((double)(int64_t)random_bits(), -(int)(random_bits() % 64));
    float narrow = (float)x;
    if (random_bits() % 5 == 0)
      bits = (random_bits() & 1 ? 0 : UINT64_MAX) >> (random_bits() & 1) << (random_bits() % 3 == 0);
    if (!t->is_float) {
      memcpy(at, &bits, t->bits / 8);
    } else {
      memcpy(at, t->bits == 32 ? (void *)&narrow : (void *)&x, t->bits / 8);
    }
  }
}

/* ---- Tests ----------------------------------------------------------------------------------------- */

typedef struct variant {
  const number *to;
  rounding r;
  bool saturates;
} variant;

/* Every `step`th variant, on one device. */
static void check_from(const number *from, uint32_t lanes, uint32_t step, bool is_native) {
  static variant variants[TYPES * ROUNDINGS * 2];
  uint32_t count = 0, seen = 0;
  uint64_t memory[ITEMS * LANES_MOST];
  fill(from, memory, (uint64_t)ITEMS * lanes);
  values v;
  values_open(&v, ITEMS);
  values_input(&v, from->name, "x", memory, (size_t)ITEMS * lanes * from->bits / 8);
  for (uint32_t k = 0; k < TYPES; k++) {
    for (rounding r = DEFAULT; r < ROUNDINGS; r++) {
      for (int saturates = 0; saturates < (numbers[k].is_float ? 1 : 2); saturates++) {
        if (seen++ % step) continue;
        char text[96], width[12] = "", source[32] = "x[i]";
        if (lanes > 1) {
          (void)snprintf(width, sizeof width, "%u", lanes);
          (void)snprintf(source, sizeof source, "vload%u(i, x)", lanes);
        }
        (void)snprintf(text, sizeof text, "convert_%s%s%s%s(%s)", numbers[k].name, width, saturates ? "_sat" : "",
                       suffixes[r], source);
        variants[count++] = (variant){&numbers[k], r, saturates};
        values_add(&v, numbers[k].name, lanes, numbers[k].bits / 8, text);
      }
    }
  }
  void *out = values_run(&v, is_native);
  for (uint32_t k = 0; k < count; k++) {
    const variant *kind = &variants[k];
    uint32_t size = kind->to->bits / 8;
    for (uint64_t i = 0; i < (uint64_t)ITEMS * lanes; i++) {
      uint64_t wanted = 0, got = 0;
      if (!convert(from, kind->to, kind->r, kind->saturates, memory, i, &wanted)) continue;
      memcpy(&got, (const char *)values_at(&v, out, k, 0) + i * size, size);
      if (got == wanted) continue;
      fail_msg("convert_%s%s%s of %s %.20Lg on %s: got %llx, wanted %llx", kind->to->name,
               kind->saturates ? "_sat" : "", suffixes[kind->r], from->name, get(from, memory, i),
               is_native ? "cpu" : "check", (long long)got, (long long)wanted);
    }
  }
  free(out);
  values_close(&v);
}

static void test_scalars(void **state) {
  (void)state;
  for (uint32_t k = 0; k < TYPES; k++)
    for (int device = 0; device < values_devices(); device++) check_from(&numbers[k], 1, 1, device == 1);
}
static void test_vectors(void **state) {
  (void)state;
  static const uint32_t lanes[] = {2, 3, 4, 8, 16};
  for (uint32_t k = 0; k < TYPES; k++) check_from(&numbers[k], lanes[k % 5], 1, false);
  /* Wide vectors of work-items make long code. */
  for (uint32_t k = 0; k < TYPES && runner_has_native(); k++) check_from(&numbers[k], lanes[k % 3], 7, true);
}

static void test_as_keeps_the_bits(void **state) {
  (void)state;
  uint32_t x[16];
  for (uint32_t i = 0; i < 16; i++) x[i] = (uint32_t)random_bits() & 0x7f7fffffu;
  values v;
  values_open(&v, 1);
  values_input(&v, "uint", "x", x, sizeof x);
  values_add(&v, "float", 1, 4, "as_float(x[0])");
  values_add(&v, "float", 4, 4, "as_float4(vload4(0, x))");
  values_add(&v, "ulong", 2, 8, "as_ulong2(vload4(0, x))");
  values_add(&v, "double", 8, 8, "as_double8(vload16(0, x))");
  values_add(&v, "uchar", 16, 1, "as_uchar16(vload4(0, x))");
  values_add(&v, "short", 2, 2, "as_short2(x[0])");
  values_add(&v, "int", 3, 4, "as_int3(vload3(0, x))");
  values_add(&v, "float", 3, 4, "as_float3(vload4(0, x))"); /* three of four */
  for (int device = 0; device < values_devices(); device++) {
    void *out = values_run(&v, device == 1);
    for (uint32_t k = 0; k < v.count; k++) assert_memory_equal(values_at(&v, out, k, 0), x, v.sizes[k]);
    free(out);
  }
  values_close(&v);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_scalars),
      cmocka_unit_test(test_vectors),
      cmocka_unit_test(test_as_keeps_the_bits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
