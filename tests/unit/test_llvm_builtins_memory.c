/* vloadn, vstoren, those of half with every rounding, shuffles. */
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

static uint64_t random_state = 88172645463325252u;
static uint64_t random_bits(void) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  return random_state ^= random_state << 17;
}

static qn_status run_source(const char *source, bool is_native, uint64_t items, const interp_argument *arguments,
                            uint32_t count) {
  runner r;
  if (runner_open(&r, source, NULL, is_native) != QN_OK) fail_msg("%s\n%s", qn_error_text(), source);
  qn_status status = runner_run(&r, "f", items, 1, arguments, count);
  runner_close(&r);
  return status;
}

/* ---- vload, vstore --------------------------------------------------------------------------------- */

static const struct {
  const char *name;
  uint32_t size;
} types[] = {{"char", 1}, {"uchar", 1}, {"short", 2}, {"ushort", 2}, {"int", 4},
             {"uint", 4}, {"long", 8},  {"ulong", 8}, {"float", 4},  {"double", 8}};
enum { TYPES = sizeof types / sizeof *types };

/* Moves vectors from an array to another that begins one element later: an address that no vector is aligned to. */
static void test_vectors_are_moved_from_and_to_unaligned_places(void **state) {
  (void)state;
  static const uint32_t lanes[] = {2, 3, 4, 8, 16};
  for (uint32_t k = 0; k < TYPES; k++) {
    qn_bytes source = {0};
    qn_bytes_printf(&source, "kernel void f(global const %s *x, global %s *y, constant %s *c) {\n", types[k].name,
                    types[k].name, types[k].name);
    for (uint32_t l = 0; l < 5; l++)
      qn_bytes_printf(&source, "  vstore%u(vload%u(2, x + 1), 1, y + %u); vstore%u(vload%u(0, c + 1), 0, y + %u);\n",
                      lanes[l], lanes[l], 64 * l + 3, lanes[l], lanes[l], 64 * l + 40);
    qn_bytes_append_str(&source, "}\n");
    unsigned char x[64 * 8], out[64 * 8 * 5], wanted[64 * 8 * 5];
    for (size_t i = 0; i < sizeof x; i++) x[i] = (unsigned char)random_bits();
    uint32_t size = types[k].size;
    memset(wanted, 0xee, sizeof wanted);
    for (uint32_t l = 0; l < 5; l++) {
      memcpy(wanted + (64 * l + 3 + lanes[l]) * size, x + (1 + 2 * lanes[l]) * size, lanes[l] * size);
      memcpy(wanted + (64 * l + 40) * size, x + size, lanes[l] * size);
    }
    for (int device = 0; device < values_devices(); device++) {
      memset(out, 0xee, sizeof out);
      interp_argument arguments[] = {runner_buffer(x, sizeof x), runner_buffer(out, sizeof out),
                                     runner_buffer(x, sizeof x)};
      assert_int_equal(run_source(source.data, device == 1, 1, arguments, 3), QN_OK);
      assert_memory_equal(out, wanted, sizeof out);
    }
    qn_bytes_free(&source);
  }
}

static void test_local_and_private_arrays_too(void **state) {
  (void)state;
  static const char source[] =
      "kernel void f(global float *y) {\n"
      "  local float l[16];\n"
      "  float p[16];\n"
      "  for (int i = 0; i < 16; i++) l[i] = i, p[i] = -i;\n"
      "  vstore4(vload4(1, l) + vload4(2, p), 0, y);\n"
      "  vstore3((float3)(7, 8, 9), 1, p);\n"
      "  vstore2((float2)(5, 6), 3, l);\n"
      "  vstore4(vload4(1, l), 1, y);\n"
      "  vstore8(vload8(0, p), 1, y);\n"
      "}\n";
  static const float wanted[] = {-4, -4, -4, -4, 4, 5, 5, 6, 0, -1, -2, 7, 8, 9, -6, -7};
  for (int device = 0; device < values_devices(); device++) {
    float out[16] = {0};
    interp_argument arguments[] = {runner_buffer(out, sizeof out)};
    assert_int_equal(run_source(source, device == 1, 1, arguments, 1), QN_OK);
    assert_memory_equal(out, wanted, sizeof wanted);
  }
}

/* ---- Half ------------------------------------------------------------------------------------------ */

/* The value of half bits, by the format's definition. */
static double half_value(uint32_t h) {
  uint32_t e = h >> 10 & 31, m = h & 1023;
  double size = e == 31 ? (m ? NAN : INFINITY) : e ? ldexp(1024 + m, (int)e - 25) : ldexp(m, -24);
  return h & 0x8000 ? -size : size;
}

static void test_every_half_is_read(void **state) {
  (void)state;
  static uint16_t x[65536];
  static float out[65536];
  for (uint32_t i = 0; i < 65536; i++) x[i] = (uint16_t)i;
  static const char *const sources[] = {
      "kernel void f(global half *x, global float *y) { size_t i = get_global_id(0);"
      "  for (size_t k = 0; k < 256; k++) y[i * 256 + k] = vload_half(i * 256 + k, x); }",
      "kernel void f(global half *x, global float *y) { size_t i = get_global_id(0);"
      "  for (size_t k = 0; k < 16; k++) vstore16(vload_half16(i * 16 + k, x), i * 16 + k, y); }",
      "kernel void f(global half *x, global float *y) { size_t i = get_global_id(0);"
      "  for (size_t k = 0; k < 64; k++) vstore4(vloada_half4(i * 64 + k, x), i * 64 + k, y); }"};
  for (int device = 0; device < values_devices(); device++) {
    for (uint32_t s = 0; s < 3; s++) {
      memset(out, 0, sizeof out);
      interp_argument arguments[] = {runner_buffer(x, sizeof x), runner_buffer(out, sizeof out)};
      assert_int_equal(run_source(sources[s], device == 1, 256, arguments, 2), QN_OK);
      for (uint32_t i = 0; i < 65536; i++) {
        double wanted = half_value(i), got = out[i];
        if (isnan(wanted) ? isnan(got) : wanted == got && signbit(wanted) == signbit(got)) continue;
        fail_msg("half %04x: got %a, wanted %a", i, got, wanted);
      }
    }
  }
}

/* The half beside a value in a direction: -1 the largest not above, 1 the smallest not below. Positive x only. */
static uint32_t half_below(double x) {
  uint32_t h = 0;
  for (uint32_t bit = 0x4000; bit; bit >>= 1)
    if ((h | bit) <= 0x7c00 && half_value(h | bit) <= x) h |= bit;
  return h;
}

static uint32_t half_of(double x, const char *rounding) {
  uint32_t sign = signbit(x) ? 0x8000 : 0;
  double a = fabs(x);
  if (isnan(x)) return 0x7e00;
  uint32_t low = half_below(a), high = half_value(low) == a || low == 0x7c00 ? low : low + 1;
  bool up = strcmp(rounding, "_rtp") == 0 ? !sign : strcmp(rounding, "_rtn") == 0 ? sign != 0 : false;
  if (strcmp(rounding, "") == 0 || strcmp(rounding, "_rte") == 0) {
    /* Above the largest number the next step counts as 65536. */
    double below = half_value(low), above = high == 0x7c00 ? 65536 : half_value(high);
    up = low == 0x7c00 || a - below > above - a || (a - below == above - a && (low & 1));
  }
  return sign | (up ? high : low);
}

static void fill_for_half(double *x, uint32_t count) {
  static const double odd[] = {0,       -0.0,     1,         65504,       65519.99,    65520,   65536,   -65520,
                               1e30,    -1e30,    INFINITY,  -INFINITY,   NAN,         0x1p-24, 0x1p-25, 0x1.8p-25,
                               0x1p-26, -0x1p-25, 0x1p-14,   0x1.ffcp-15, 0x1.ffep-15, 1e-40,   -1e-40,  1e-310,
                               2049,    2051,     0x1.004p0, 0x1.002p0,   0x1.006p0};
  for (uint32_t i = 0; i < count; i++) {
    double size = ldexp(1 + (double)(random_bits() >> 11) * 0x1p-53, (int)(random_bits() % 45) - 28);
    /* Half way between two halves, and a little off it. */
    uint32_t h = (uint32_t)random_bits() % 0x7bff;
    double middle = (half_value(h) + half_value(h + 1)) / 2;
    x[i] = i < sizeof odd / sizeof *odd ? odd[i] : i % 3 ? size : i % 2 ? middle : middle * (1 + ldexp(1, -20));
    if (i > sizeof odd / sizeof *odd && random_bits() & 1) x[i] = -x[i];
  }
}

static void test_halves_are_written_with_every_rounding(void **state) {
  (void)state;
  enum { COUNT = 1536 };
  static const char *const roundings[] = {"", "_rte", "_rtz", "_rtp", "_rtn"};
  static double x[COUNT];
  static float narrow[COUNT];
  static uint16_t out[4 * COUNT];
  fill_for_half(x, COUNT);
  for (uint32_t i = 0; i < COUNT; i++) narrow[i] = (float)x[i];
  for (uint32_t r = 0; r < 5; r++) {
    for (uint32_t single = 0; single < 2; single++) {
      const char *real = single ? "float" : "double", *suffix = roundings[r];
      qn_bytes source = {0};
      qn_bytes_printf(&source,
                      "kernel void f(global %s *x, global half *y) {\n"
                      "  size_t i = get_global_id(0);\n"
                      "  for (size_t k = 0; k < 4; k++) vstore_half%s(x[i * 4 + k], i * 4 + k, y);\n"
                      "  vstore_half4%s(vload4(i, x), i, y + %u);\n"
                      "  vstorea_half2%s(vload2(2 * i, x), 2 * i, y + %u);\n"
                      "  vstorea_half2%s(vload2(2 * i + 1, x), 2 * i + 1, y + %u);\n"
                      "  vstore_half2%s(vload2(2 * i, x), 2 * i, y + %u);\n"
                      "  vstore_half2%s(vload2(2 * i + 1, x), 2 * i + 1, y + %u);\n"
                      "}\n",
                      real, suffix, suffix, COUNT, suffix, 2 * COUNT, suffix, 2 * COUNT, suffix, 3 * COUNT, suffix,
                      3 * COUNT);
      for (int device = 0; device < values_devices(); device++) {
        memset(out, 0, sizeof out);
        interp_argument arguments[] = {single ? runner_buffer(narrow, sizeof narrow) : runner_buffer(x, sizeof x),
                                       runner_buffer(out, sizeof out)};
        assert_int_equal(run_source(source.data, device == 1, COUNT / 4, arguments, 2), QN_OK);
        for (uint32_t i = 0; i < 4 * COUNT; i++) {
          double value = single ? (double)narrow[i % COUNT] : x[i % COUNT];
          uint32_t wanted = half_of(value, suffix);
          if (out[i] == wanted || (isnan(value) && (out[i] & 0x7fff) > 0x7c00)) continue;
          fail_msg("half%s of %s %a: got %04x, wanted %04x", suffix, real, value, out[i], wanted);
        }
      }
      qn_bytes_free(&source);
    }
  }
}

/* A vector of three lies in the place of four for the aligned functions, and in that of three for the others. */
static void test_halves_of_three(void **state) {
  (void)state;
  static const char source[] =
      "kernel void f(global half *x, global float *y) {\n"
      "  vstore3(vload_half3(1, x), 0, y);\n"
      "  vstore3(vloada_half3(1, x), 1, y);\n"
      "  vstore_half3((float3)(1, 2, 3), 1, x + 16);\n"
      "  vstorea_half3((float3)(4, 5, 6), 1, x + 24);\n"
      "}\n";
  for (int device = 0; device < values_devices(); device++) {
    uint16_t x[40] = {0};
    float y[6] = {0};
    for (uint32_t i = 0; i < 8; i++) x[i] = (uint16_t)half_of(i, "");
    interp_argument arguments[] = {runner_buffer(x, sizeof x), runner_buffer(y, sizeof y)};
    assert_int_equal(run_source(source, device == 1, 1, arguments, 2), QN_OK);
    static const float wanted[] = {3, 4, 5, 4, 5, 6};
    assert_memory_equal(y, wanted, sizeof wanted);
    for (uint32_t i = 0; i < 3; i++) {
      assert_int_equal(x[16 + 3 + i], half_of(1 + i, ""));
      assert_int_equal(x[24 + 4 + i], half_of(4 + i, ""));
    }
    assert_int_equal(x[24 + 3], 0);
    assert_int_equal(x[24 + 7], 0);
  }
}

/* ---- Shuffle ---------------------------------------------------------------------------------------- */

static void test_shuffles_by_masks_of_run_time(void **state) {
  (void)state;
  static const uint32_t lanes[] = {2, 4, 8, 16};
  static const struct {
    const char *type, *mask;
    uint32_t size;
  } kinds[] = {{"uchar", "uchar", 1}, {"short", "ushort", 2}, {"float", "uint", 4}, {"double", "ulong", 8}};
  for (uint32_t k = 0; k < 4; k++) {
    for (uint32_t from = 0; from < 4; from++) {
      for (uint32_t to = 0; to < 4; to++) {
        uint32_t m = lanes[from], n = lanes[to], size = kinds[k].size;
        unsigned char x[128], y[128], mask[128];
        for (size_t i = 0; i < sizeof x; i++)
          x[i] = (unsigned char)i, y[i] = (unsigned char)(128 + i), mask[i] = (unsigned char)random_bits();
        char text[128];
        values v;
        values_open(&v, 1);
        values_input(&v, kinds[k].type, "x", x, sizeof x);
        values_input(&v, kinds[k].type, "y", y, sizeof y);
        values_input(&v, kinds[k].mask, "m", mask, sizeof mask);
        (void)snprintf(text, sizeof text, "shuffle(vload%u(0, x), vload%u(0, m))", m, n);
        values_add(&v, kinds[k].type, n, size, text);
        (void)snprintf(text, sizeof text, "shuffle2(vload%u(0, x), vload%u(0, y), vload%u(0, m))", m, m, n);
        values_add(&v, kinds[k].type, n, size, text);
        for (int device = 0; device < values_devices(); device++) {
          if (device == 1 && (from + to + k) % 3) continue; /* a third of them as native code */
          void *out = values_run(&v, device == 1);
          for (uint32_t i = 0; i < n; i++) {
            uint32_t index = mask[i * size];
            const unsigned char *one = x + index % m * size;
            const unsigned char *two = index % (2 * m) < m ? one : y + index % m * size;
            assert_memory_equal((const char *)values_at(&v, out, 0, 0) + i * size, one, size);
            assert_memory_equal((const char *)values_at(&v, out, 1, 0) + i * size, two, size);
          }
          free(out);
        }
        values_close(&v);
      }
    }
  }
}

static void test_shuffles_by_constant_masks(void **state) {
  (void)state;
  static const float x[] = {1, 2, 3, 4}, y[] = {5, 6, 7, 8};
  values v;
  values_open(&v, 1);
  values_input(&v, "float", "x", x, sizeof x);
  values_input(&v, "float", "y", y, sizeof y);
  values_add(&v, "float", 4, 4, "shuffle(vload4(0, x), (uint4)(3, 2, 1, 0))");
  values_add(&v, "float", 2, 4, "shuffle2(vload4(0, x), vload4(0, y), (uint2)(6, 9))");
  values_add(&v, "float", 4, 4, "shuffle(vload2(0, x), (uint4)(0))");
  static const float wanted[3][4] = {{4, 3, 2, 1}, {7, 2}, {1, 1, 1, 1}};
  for (int device = 0; device < values_devices(); device++) {
    void *out = values_run(&v, device == 1);
    for (uint32_t k = 0; k < 3; k++) assert_memory_equal(values_at(&v, out, k, 0), wanted[k], v.sizes[k]);
    free(out);
  }
  values_close(&v);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_vectors_are_moved_from_and_to_unaligned_places),
      cmocka_unit_test(test_local_and_private_arrays_too),
      cmocka_unit_test(test_every_half_is_read),
      cmocka_unit_test(test_halves_are_written_with_every_rounding),
      cmocka_unit_test(test_halves_of_three),
      cmocka_unit_test(test_shuffles_by_masks_of_run_time),
      cmocka_unit_test(test_shuffles_by_constant_masks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
