/* Work-item functions, barriers and fences, atomics. */
/* labels: llvm */
/* sources: tests/unit/support/runner.c tests/unit/support/driver.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
/* after these */
#include <cmocka.h>

#include "support/values.h"

static void run(const char *source, bool is_native, uint64_t items, uint64_t local, const interp_argument *arguments,
                uint32_t count) {
  runner r;
  if (runner_open(&r, source, NULL, is_native) != QN_OK) fail_msg("%s\n%s", qn_error_text(), source);
  if (runner_run(&r, "f", items, local, arguments, count) != QN_OK) fail_msg("%s\n%s", qn_error_text(), source);
  runner_close(&r);
}

/* ---- Work-items -------------------------------------------------------------------------------------- */

/* A dimension that is known, one that isn't, and one that no range has. */
static void test_work_item_functions_for_every_dimension(void **state) {
  (void)state;
  static const char source[] =
      "kernel void f(global uint *y, global int *d) {\n"
      "  size_t i = get_global_id(0);\n"
      "  if (i != 5) return;\n"
      "  y[0] = get_global_id(0); y[1] = get_local_id(0); y[2] = get_group_id(0);\n"
      "  y[3] = get_global_size(0); y[4] = get_local_size(0); y[5] = get_num_groups(0);\n"
      "  y[6] = get_global_offset(0); y[7] = get_work_dim(); y[8] = get_enqueued_local_size(0);\n"
      "  y[9] = get_global_size(1); y[10] = get_global_id(2); y[11] = get_global_size(3); y[12] = get_local_id(7);\n"
      "  y[13] = get_global_linear_id(); y[14] = get_local_linear_id();\n"
      "  for (int k = 0; k < 4; k++) {\n"
      "    y[16 + k] = get_global_id(d[k]); y[20 + k] = get_global_size(d[k]); y[24 + k] = get_local_size(d[k]);\n"
      "    y[28 + k] = get_num_groups(d[k]); y[32 + k] = get_local_id(d[k]); y[36 + k] = get_group_id(d[k]);\n"
      "  }\n"
      "}\n";
  static const uint32_t wanted[40] = {5,  1, 1, 12, 4, 3, 0, 1, 4, 1, 0, 1, 0, 5, 1, 0, 5, 0, 0, 0,
                                      12, 1, 1, 1,  4, 1, 1, 1, 3, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 0};
  int32_t dimensions[] = {0, 1, 2, 9};
  for (int device = 0; device < values_devices(); device++) {
    uint32_t out[40] = {0};
    interp_argument arguments[] = {runner_buffer(out, sizeof out), runner_buffer(dimensions, sizeof dimensions)};
    run(source, device == 1, 12, 4, arguments, 2);
    for (uint32_t k = 0; k < 40; k++)
      if (out[k] != wanted[k])
        fail_msg("y[%u] on %s: got %u, wanted %u", k, device ? "cpu" : "check", out[k], wanted[k]);
  }
}

/* Only the interpreter takes three dimensions here. */
static void test_linear_ids_count_through_three_dimensions(void **state) {
  (void)state;
  static const char source[] =
      "kernel void f(global uint *y) {\n"
      "  size_t g = get_global_linear_id();\n"
      "  y[2 * g] = get_local_linear_id();\n"
      "  y[2 * g + 1] = get_global_id(0) - get_global_offset(0) + 4 * ((get_global_id(1) - get_global_offset(1)) + 6 * "
      "get_global_id(2));\n"
      "}\n";
  uint32_t out[2 * 4 * 6 * 2];
  memset(out, 0xff, sizeof out);
  runner r;
  assert_int_equal(runner_open(&r, source, NULL, false), QN_OK);
  interp_argument argument = runner_buffer(out, sizeof out);
  interp_launch launch = {.dimensions = 3,
                          .global = {4, 6, 2},
                          .local = {2, 3, 2},
                          .offset = {10, 20, 0},
                          .arguments = &argument,
                          .argument_count = 1};
  assert_int_equal(interp_run(ir_function_find(r.module, QN_SV("f")), &launch, NULL), QN_OK);
  for (uint32_t g = 0; g < 48; g++) {
    uint32_t x = g % 4, y = g / 4 % 6, z = g / 24;
    assert_int_equal(out[2 * g], x % 2 + 2 * (y % 3 + 3 * z));
    assert_int_equal(out[2 * g + 1], g);
  }
  runner_close(&r);
}

/* ---- Barriers ---------------------------------------------------------------------------------------- */

static void test_barriers_and_fences_are_accepted_in_all_spellings(void **state) {
  (void)state;
  static const char source[] =
      "kernel void f(global int *y) {\n"
      "  local int l[4];\n"
      "  size_t i = get_local_id(0);\n"
      "  l[i] = (int)i + 1;\n"
      "  barrier(CLK_LOCAL_MEM_FENCE);\n"
      "  int s = l[0] + l[1] + l[2] + l[3];\n"
      "  work_group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);\n"
      "  l[3 - i] = s * (int)(i + 1);\n"
      "  mem_fence(CLK_LOCAL_MEM_FENCE); read_mem_fence(CLK_GLOBAL_MEM_FENCE); write_mem_fence(CLK_GLOBAL_MEM_FENCE);\n"
      "  barrier(CLK_LOCAL_MEM_FENCE);\n"
      "  prefetch(y, 4);\n"
      "  y[get_global_id(0)] = l[i];\n"
      "}\n";
  runner r;
  /* Native code needs the pass that splits kernels at barriers, which tests of its own cover. */
  assert_int_equal(runner_open(&r, source, NULL, false), QN_OK);
  int32_t out[8] = {0};
  interp_argument argument = runner_buffer(out, sizeof out);
  assert_int_equal(runner_run(&r, "f", 8, 4, &argument, 1), QN_OK);
  for (int i = 0; i < 8; i++) assert_int_equal(out[i], 10 * (4 - i % 4));
  runner_close(&r);
}

/* ---- Atomics ----------------------------------------------------------------------------------------- */

/* Every function once on one item: what it gives back and what it leaves. `prefix` is atomic_ or atom_. */
static void check_atomics(const char *type, const char *prefix, const char *space, uint32_t bits, bool is_signed) {
  static const char *const calls[] = {"add(p, 5)",
                                      "sub(p, 7)",
                                      "xchg(p, -3)",
                                      "inc(p)",
                                      "dec(p)",
                                      "min(p, -9)",
                                      "max(p, 4)",
                                      "and(p, 0x55)",
                                      "or(p, 0x102)",
                                      "xor(p, 0xff)",
                                      "cmpxchg(p, 0x1fd, 11)",
                                      "cmpxchg(p, 12, 13)"};
  enum { CALLS = sizeof calls / sizeof *calls };
  qn_bytes source = {0};
  qn_bytes_printf(&source,
                  "kernel void f(global %s *y, volatile global %s *g) {\n  local %s l;\n  l = 100; *g = 100;\n", type,
                  type, type);
  qn_bytes_printf(&source, "  volatile %s %s *p = %s;\n", space, type, space[0] == 'g' ? "g" : "&l");
  for (uint32_t k = 0; k < CALLS; k++)
    qn_bytes_printf(&source, "  y[%u] = %s%s; y[%u] = *p;\n", 2 * k, prefix, calls[k], 2 * k + 1);
  qn_bytes_append_str(&source, "}\n");
  uint64_t mask = UINT64_MAX >> (64 - bits);
  uint64_t value = 100, wanted[2 * CALLS];
  for (uint32_t k = 0; k < CALLS; k++) {
    uint64_t old = value;
    int64_t s = bits == 32 ? (int32_t)value : (int64_t)value;
    uint64_t minus_nine = (uint64_t)-9 & mask;
    switch (k) {
      case 0:
        value += 5;
        break;
      case 1:
        value -= 7;
        break;
      case 2:
        value = (uint64_t)-3;
        break;
      case 3:
        value++;
        break;
      case 4:
        value--;
        break;
      case 5:
        value = is_signed ? (uint64_t)(s < -9 ? s : -9) : (old < minus_nine ? old : minus_nine);
        break;
      case 6:
        value = is_signed ? (uint64_t)(s > 4 ? s : 4) : (old > 4 ? old : 4);
        break;
      case 7:
        value &= 0x55;
        break;
      case 8:
        value |= 0x102;
        break;
      case 9:
        value ^= 0xff;
        break;
      case 10:
        value = old == 0x1fd ? 11 : old;
        break;
      default:
        value = old == 12 ? 13 : old;
        break;
    }
    value &= mask;
    wanted[2 * k] = old;
    wanted[2 * k + 1] = value;
  }
  for (int device = 0; device < values_devices(); device++) {
    uint64_t out[2 * CALLS] = {0}, memory[2] = {0};
    interp_argument arguments[] = {runner_buffer(out, sizeof out), runner_buffer(memory, sizeof memory)};
    run(source.data, device == 1, 1, 1, arguments, 2);
    for (uint32_t k = 0; k < 2 * CALLS; k++) {
      uint64_t got = 0;
      memcpy(&got, (char *)out + k * bits / 8, bits / 8);
      if (got != wanted[k])
        fail_msg("%s%s of %s %s on %s: %s %llx, wanted %llx", prefix, calls[k / 2], space, type,
                 device ? "cpu" : "check", k % 2 ? "leaves" : "gives", (long long)got, (long long)wanted[k]);
    }
  }
  qn_bytes_free(&source);
}

static void test_atomics_of_32_bits(void **state) {
  (void)state;
  for (int s = 0; s < 2; s++) {
    const char *space = s ? "local" : "global";
    check_atomics("int", "atomic_", space, 32, true);
    check_atomics("uint", "atomic_", space, 32, false);
    check_atomics("int", "atom_", space, 32, true);
    check_atomics("uint", "atom_", space, 32, false);
  }
}
static void test_atomics_of_64_bits(void **state) {
  (void)state;
  for (int s = 0; s < 2; s++) {
    check_atomics("long", "atom_", s ? "local" : "global", 64, true);
    check_atomics("ulong", "atom_", s ? "local" : "global", 64, false);
  }
}

static void test_floats_are_exchanged(void **state) {
  (void)state;
  static const char source[] =
      "kernel void f(global float *y, global float *g) { y[0] = atomic_xchg(g, 2.5f); y[1] = *g; }";
  for (int device = 0; device < values_devices(); device++) {
    float out[2] = {0}, memory[1] = {1.5f};
    interp_argument arguments[] = {runner_buffer(out, sizeof out), runner_buffer(memory, sizeof memory)};
    run(source, device == 1, 1, 1, arguments, 2);
    assert_true(out[0] == 1.5f && out[1] == 2.5f);
  }
}

static void test_many_items_count_together(void **state) {
  (void)state;
  static const char source[] =
      "kernel void f(global int *count, global int *sum, global int *most) {\n"
      "  int i = (int)get_global_id(0);\n"
      "  atomic_inc(count); atomic_add(sum, i); atomic_max(most, i * 37 % 1000);\n"
      "}\n";
  for (int device = 0; device < values_devices(); device++) {
    int32_t count = 0, sum = 0, most = -1;
    interp_argument arguments[] = {runner_buffer(&count, 4), runner_buffer(&sum, 4), runner_buffer(&most, 4)};
    run(source, device == 1, 1024, 64, arguments, 3);
    assert_int_equal(count, 1024);
    assert_int_equal(sum, 1023 * 512);
    assert_int_equal(most, 999);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_work_item_functions_for_every_dimension),
      cmocka_unit_test(test_linear_ids_count_through_three_dimensions),
      cmocka_unit_test(test_barriers_and_fences_are_accepted_in_all_spellings),
      cmocka_unit_test(test_atomics_of_32_bits),
      cmocka_unit_test(test_atomics_of_64_bits),
      cmocka_unit_test(test_floats_are_exchanged),
      cmocka_unit_test(test_many_items_count_together),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
