/* Integer functions of OpenCL C, every type, against exact arithmetic in C. */
/* labels: llvm */
/* sources: tests/unit/support/runner.c tests/unit/support/driver.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
/* after these */
#include <cmocka.h>

#include "support/values.h"

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 unsigned_wide;

typedef struct integer {
  const char *name, *unsigned_name;
  uint32_t bits;
  bool is_signed;
} integer;
static const integer integers[] = {
    {"char", "uchar", 8, true},      {"uchar", "uchar", 8, false},  {"short", "ushort", 16, true},
    {"ushort", "ushort", 16, false}, {"int", "uint", 32, true},     {"uint", "uint", 32, false},
    {"long", "ulong", 64, true},     {"ulong", "ulong", 64, false},
};
enum { TYPES = sizeof integers / sizeof *integers, ITEMS = 60, LANES_MOST = 16 };

/* ---- Exact arithmetic ------------------------------------------------------------------------------ */

static wide least(const integer *t) { return t->is_signed ? -((wide)1 << (t->bits - 1)) : 0; }
static wide most(const integer *t) { return ((wide)1 << (t->bits - (t->is_signed ? 1 : 0))) - 1; }
static wide clamped(const integer *t, wide x) { return x < least(t) ? least(t) : x > most(t) ? most(t) : x; }
/* The value of x's low bits. */
static wide wrapped(const integer *t, wide x) {
  unsigned_wide mask = ((unsigned_wide)1 << t->bits) - 1;
  wide low = (wide)((unsigned_wide)x & mask);
  return t->is_signed && low > most(t) ? low - ((wide)1 << t->bits) : low;
}
static uint64_t raw(const integer *t, wide x) { return (uint64_t)x & (UINT64_MAX >> (64 - t->bits)); }
static wide floor_half(wide x) { return x >> 1; }

static wide ref_abs(const integer *t, wide x, wide y, wide z) { return (void)t, (void)y, (void)z, x < 0 ? -x : x; }
static wide ref_abs_diff(const integer *t, wide x, wide y, wide z) { return (void)t, (void)z, x < y ? y - x : x - y; }
static wide ref_add_sat(const integer *t, wide x, wide y, wide z) { return (void)z, clamped(t, x + y); }
static wide ref_sub_sat(const integer *t, wide x, wide y, wide z) { return (void)z, clamped(t, x - y); }
static wide ref_hadd(const integer *t, wide x, wide y, wide z) { return (void)t, (void)z, floor_half(x + y); }
static wide ref_rhadd(const integer *t, wide x, wide y, wide z) { return (void)t, (void)z, floor_half(x + y + 1); }
static wide ref_clamp(const integer *t, wide x, wide y, wide z) {
  wide low = y < z ? y : z, high = y < z ? z : y;
  return (void)t, x < low ? low : x > high ? high : x;
}
static wide ref_clz(const integer *t, wide x, wide y, wide z) {
  (void)y, (void)z;
  uint64_t bits = raw(t, x);
  return bits ? __builtin_clzll(bits) - (64 - (int)t->bits) : (int)t->bits;
}
static wide ref_ctz(const integer *t, wide x, wide y, wide z) {
  return (void)y, (void)z, raw(t, x) ? __builtin_ctzll(raw(t, x)) : (int)t->bits;
}
static wide ref_popcount(const integer *t, wide x, wide y, wide z) {
  return (void)y, (void)z, __builtin_popcountll(raw(t, x));
}
static wide high_part(const integer *t, wide x, wide y) {
  if (!t->is_signed) return (wide)((unsigned_wide)x * (unsigned_wide)y >> t->bits);
  return x * y >> t->bits;
}
static wide ref_mul_hi(const integer *t, wide x, wide y, wide z) { return (void)z, high_part(t, x, y); }
static wide ref_mad_hi(const integer *t, wide x, wide y, wide z) { return high_part(t, x, y) + z; }
/* x * y + z doesn't fit 128 bits for the largest ulongs: the product is cut first, to more than any sum takes back. */
static wide ref_mad_sat(const integer *t, wide x, wide y, wide z) {
  wide bound = (wide)1 << 100;
  bool huge = !t->is_signed && x > ((wide)1 << 62) && y > ((wide)1 << 62);
  wide product = huge ? bound : x * y;
  return clamped(t, product + z);
}
static wide ref_max(const integer *t, wide x, wide y, wide z) { return (void)t, (void)z, x > y ? x : y; }
static wide ref_min(const integer *t, wide x, wide y, wide z) { return (void)t, (void)z, x < y ? x : y; }
static wide ref_rotate(const integer *t, wide x, wide y, wide z) {
  (void)z;
  uint64_t bits = raw(t, x);
  uint32_t by = (uint32_t)raw(t, y) % t->bits;
  return by ? (wide)(bits << by | bits >> (t->bits - by)) : (wide)bits;
}
static wide ref_bitselect(const integer *t, wide x, wide y, wide z) { return (void)t, (x & ~z) | (y & z); }

typedef struct function {
  const char *expression; /* printf: X, Y, Z stand for the arguments */
  wide (*reference)(const integer *t, wide x, wide y, wide z);
} function;
static const function functions[] = {
    {"abs(X)", ref_abs},
    {"abs_diff(X, Y)", ref_abs_diff},
    {"add_sat(X, Y)", ref_add_sat},
    {"sub_sat(X, Y)", ref_sub_sat},
    {"hadd(X, Y)", ref_hadd},
    {"rhadd(X, Y)", ref_rhadd},
    {"clamp(X, min(Y, Z), max(Y, Z))", ref_clamp},
    {"clz(X)", ref_clz},
    {"ctz(X)", ref_ctz},
    {"popcount(X)", ref_popcount},
    {"mul_hi(X, Y)", ref_mul_hi},
    {"mad_hi(X, Y, Z)", ref_mad_hi},
    {"mad_sat(X, Y, Z)", ref_mad_sat},
    {"max(X, Y)", ref_max},
    {"min(X, Y)", ref_min},
    {"rotate(X, Y)", ref_rotate},
    {"bitselect(X, Y, Z)", ref_bitselect},
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

/* ---- Arguments ------------------------------------------------------------------------------------- */

static uint64_t random_state = 88172645463325252u;
static uint64_t random_bits(void) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  return random_state ^= random_state << 17;
}

/* Ends of the range, small numbers, all magnitudes. */
static wide sample(const integer *t, uint64_t i) {
  static const int8_t small[] = {0, 1, -1, 2, -2, 7, 127, -128};
  switch (random_bits() % 4) {
    case 0:
      return wrapped(t, i % 2 ? least(t) + (wide)(random_bits() % 3) : most(t) - (wide)(random_bits() % 3));
    case 1:
      return wrapped(t, small[random_bits() % 8]);
    case 2:
      return wrapped(t, (wide)(random_bits() >> random_bits() % 64));
    default:
      return wrapped(t, (wide)random_bits());
  }
}

static void put(const integer *t, void *memory, uint64_t i, wide x) {
  memcpy((char *)memory + i * t->bits / 8, &x, t->bits / 8);
}
static wide get(const integer *t, const void *memory, uint64_t i) {
  wide x = 0;
  memcpy(&x, (const char *)memory + i * t->bits / 8, t->bits / 8);
  return wrapped(t, x);
}

/* An argument named by X, Y or Z as the kernel loads it. */
static void argument(char *out, size_t size, char name, uint32_t lanes) {
  if (lanes == 1) {
    (void)snprintf(out, size, "%c[i]", name);
  } else {
    (void)snprintf(out, size, "vload%u(i, %c)", lanes, name);
  }
}

static void expand(char *out, size_t size, const char *expression, uint32_t lanes) {
  size_t at = 0;
  for (const char *s = expression; *s && at + 32 < size; s++) {
    if (*s < 'X' || *s > 'Z') {
      out[at++] = *s;
      continue;
    }
    argument(out + at, size - at, (char)(*s - 'X' + 'x'), lanes);
    at += strlen(out + at);
  }
  out[at] = 0;
}

/* ---- Tests ----------------------------------------------------------------------------------------- */

static void check_type(const integer *t, uint32_t lanes, int devices) {
  uint64_t memory[3][ITEMS * LANES_MOST];
  for (uint32_t a = 0; a < 3; a++)
    for (uint64_t i = 0; i < (uint64_t)ITEMS * lanes; i++) put(t, memory[a], i, sample(t, i));
  values v;
  values_open(&v, ITEMS);
  static const char *const names[] = {"x", "y", "z"};
  for (uint32_t a = 0; a < 3; a++) values_input(&v, t->name, names[a], memory[a], (size_t)ITEMS * lanes * t->bits / 8);
  char wanted_type[16], text[256], whole[320];
  (void)snprintf(wanted_type, sizeof wanted_type, lanes == 1 ? "%s" : "%s%u", t->name, lanes);
  for (uint32_t k = 0; k < FUNCTIONS; k++) {
    expand(text, sizeof text, functions[k].expression, lanes);
    /* abs and abs_diff give unsigned types. */
    (void)snprintf(whole, sizeof whole, "as_%s(%s)", wanted_type, text);
    values_add(&v, t->name, lanes, t->bits / 8, whole);
  }
  for (int device = 0; device < devices; device++) {
    void *out = values_run(&v, device == 1);
    for (uint32_t k = 0; k < FUNCTIONS; k++) {
      for (uint64_t i = 0; i < (uint64_t)ITEMS * lanes; i++) {
        wide x = get(t, memory[0], i), y = get(t, memory[1], i), z = get(t, memory[2], i);
        wide wanted = wrapped(t, functions[k].reference(t, x, y, z));
        wide got = get(t, values_at(&v, out, k, 0), i);
        if (got == wanted) continue;
        fail_msg("%s of %s%u on %s: x %llx y %llx z %llx: got %llx, wanted %llx", functions[k].expression, t->name,
                 lanes, device ? "cpu" : "check", (long long)x, (long long)y, (long long)z, (long long)got,
                 (long long)wanted);
      }
    }
    free(out);
  }
  values_close(&v);
}

static void test_scalars(void **state) {
  (void)state;
  for (uint32_t k = 0; k < TYPES; k++) check_type(&integers[k], 1, values_devices());
}
static void test_vectors_of_three(void **state) {
  (void)state;
  /* Wide vectors of work-items make long code: native code of half the types. */
  for (uint32_t k = 0; k < TYPES; k++) check_type(&integers[k], 3, k % 3 ? 1 : values_devices());
}
static void test_other_vectors(void **state) {
  (void)state;
  static const uint32_t lanes[] = {2, 4, 8, 16};
  for (uint32_t k = 0; k < TYPES; k++)
    check_type(&integers[k], lanes[k % 4], k % 4 < 2 && k > 3 ? values_devices() : 1);
}

static void test_the_second_argument_of_max_and_min_may_be_a_scalar(void **state) {
  (void)state;
  int32_t x[] = {-5, 3, 9, 12}, y[] = {4};
  values v;
  values_open(&v, 1);
  values_input(&v, "int", "x", x, sizeof x);
  values_input(&v, "int", "y", y, sizeof y);
  values_add(&v, "int", 4, 4, "max(vload4(0, x), y[0])");
  values_add(&v, "int", 4, 4, "min(vload4(0, x), y[0])");
  values_add(&v, "int", 4, 4, "clamp(vload4(0, x), -1, y[0])");
  static const int32_t wanted[3][4] = {{4, 4, 9, 12}, {-5, 3, 4, 4}, {-1, 3, 4, 4}};
  for (int device = 0; device < values_devices(); device++) {
    void *out = values_run(&v, device == 1);
    for (uint32_t k = 0; k < 3; k++) assert_memory_equal(values_at(&v, out, k, 0), wanted[k], sizeof wanted[k]);
    free(out);
  }
  values_close(&v);
}

static void test_upsample_joins_two_halves(void **state) {
  (void)state;
  static const struct {
    const char *high, *low, *result;
    uint32_t bits;
  } kinds[] = {{"char", "uchar", "short", 8},    {"uchar", "uchar", "ushort", 8}, {"short", "ushort", "int", 16},
               {"ushort", "ushort", "uint", 16}, {"int", "uint", "long", 32},     {"uint", "uint", "ulong", 32}};
  for (uint32_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    uint64_t high[ITEMS], low[ITEMS];
    for (int i = 0; i < ITEMS; i++) high[i] = random_bits(), low[i] = random_bits();
    values v;
    values_open(&v, ITEMS);
    values_input(&v, kinds[k].high, "h", high, sizeof high);
    values_input(&v, kinds[k].low, "l", low, sizeof low);
    uint32_t size = kinds[k].bits / 4;
    values_add(&v, kinds[k].result, 1, size, "upsample(h[i], l[i])");
    for (int device = 0; device < values_devices(); device++) {
      void *out = values_run(&v, device == 1);
      for (uint64_t i = 0; i < ITEMS; i++) {
        uint64_t wanted = 0;
        memcpy(&wanted, (char *)low + i * size / 2, size / 2);
        memcpy((char *)&wanted + size / 2, (char *)high + i * size / 2, size / 2);
        assert_memory_equal(values_at(&v, out, 0, i), &wanted, size);
      }
      free(out);
    }
    values_close(&v);
  }
}

static void test_24_bit_products(void **state) {
  (void)state;
  int32_t x[ITEMS], y[ITEMS], z[ITEMS];
  uint32_t u[ITEMS], w[ITEMS];
  for (int i = 0; i < ITEMS; i++) {
    x[i] = (int32_t)(random_bits() % 0x1000000) - 0x800000;
    y[i] = (int32_t)(random_bits() % 0x1000000) - 0x800000;
    z[i] = (int32_t)random_bits();
    u[i] = (uint32_t)(random_bits() % 0x1000000);
    w[i] = (uint32_t)(random_bits() % 0x1000000);
  }
  values v;
  values_open(&v, ITEMS);
  values_input(&v, "int", "x", x, sizeof x);
  values_input(&v, "int", "y", y, sizeof y);
  values_input(&v, "int", "z", z, sizeof z);
  values_input(&v, "uint", "u", u, sizeof u);
  values_input(&v, "uint", "w", w, sizeof w);
  values_add(&v, "int", 1, 4, "mul24(x[i], y[i])");
  values_add(&v, "int", 1, 4, "mad24(x[i], y[i], z[i])");
  values_add(&v, "uint", 1, 4, "mul24(u[i], w[i])");
  values_add(&v, "uint", 1, 4, "mad24(u[i], w[i], w[i])");
  for (int device = 0; device < values_devices(); device++) {
    void *out = values_run(&v, device == 1);
    for (int i = 0; i < ITEMS; i++) {
      uint32_t wanted[] = {(uint32_t)x[i] * (uint32_t)y[i], (uint32_t)x[i] * (uint32_t)y[i] + (uint32_t)z[i],
                           u[i] * w[i], u[i] * w[i] + w[i]};
      for (uint32_t k = 0; k < 4; k++) assert_memory_equal(values_at(&v, out, k, (uint64_t)i), &wanted[k], 4);
    }
    free(out);
  }
  values_close(&v);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_scalars),
      cmocka_unit_test(test_vectors_of_three),
      cmocka_unit_test(test_other_vectors),
      cmocka_unit_test(test_the_second_argument_of_max_and_min_may_be_a_scalar),
      cmocka_unit_test(test_upsample_joins_two_halves),
      cmocka_unit_test(test_24_bit_products),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
