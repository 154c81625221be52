/* What is in a program's key beside its source (C1): each property of the device, each option. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
/* cmocka asks for some of the above. */
#include <cmocka.h>

#include <stdio.h>

#include "core/device.h"
#include "core/program_make.h"
#include "quern/adapter.h"

static core_device device;
static core_make make;

static int setup(void **state) {
  (void)state;
  device = (core_device){.info = {.code_kind = QN_CODE_ELF_OBJECT, .address_bits = 64, .features = QN_FEATURE_DOUBLE}};
  snprintf(device.info.driver, sizeof device.info.driver, "driver 1.0");
  snprintf(device.info.target, sizeof device.info.target, "x86-64");
  snprintf(device.info.target_cpu, sizeof device.info.target_cpu, "znver4");
  snprintf(device.info.target_features, sizeof device.info.target_features, "+avx2,+fma");
  make = (core_make){.device = &device};
  return 0;
}

static qn_key key_now(void) {
  qn_key_maker maker;
  qn_key key;
  qn_key_start(&maker);
  core_make_add_device(&make, &maker);
  qn_key_end(&maker, &key);
  return key;
}

static void test_C1_each_property_of_the_device_that_shapes_code_is_in_the_key(void **state) {
  (void)state;
  qn_key keys[16];
  uint32_t count = 0;
#define WITH(change)           \
  do {                         \
    setup(NULL);               \
    change;                    \
    keys[count++] = key_now(); \
  } while (0)
  WITH((void)0);
  WITH(device.info.driver[7] = '2');
  WITH(device.info.target[0] = 'y');
  WITH(device.info.target_cpu[5] = '5');
  WITH(device.info.target_features[0] = '-');
  WITH(device.info.target_features[5] = '\0');
  WITH(device.info.address_bits = 32);
  WITH(device.info.features = 0);
  WITH(device.info.features |= QN_FEATURE_HALF);
  WITH(device.info.features |= QN_FEATURE_INT64_ATOMICS);
  WITH(device.info.code_kind = QN_CODE_NONE);
  WITH(make.scalar = true);
  for (uint32_t i = 0; i < count; i++)
    for (uint32_t j = 0; j < i; j++) assert_memory_not_equal(&keys[i], &keys[j], sizeof keys[i]);
}

static void test_C1_what_does_not_shape_code_is_not_in_the_key(void **state) {
  (void)state;
  qn_key before = key_now(), after;
  snprintf(device.info.name, sizeof device.info.name, "another name");
  snprintf(device.selector, sizeof device.selector, "cpu:7");
  make.label = "elsewhere/file.cl";
  after = key_now();
  assert_memory_equal(&before, &after, sizeof before);
}

/* Options that change the IR are in the key by its text; these are not. */
static void test_C1_each_option_that_shapes_code_beyond_the_ir_is_in_the_key(void **state) {
  (void)state;
  static const char *const options[] = {"",
                                        "-cl-fast-relaxed-math",
                                        "-cl-opt-disable",
                                        "-cl-denorms-are-zero",
                                        "-cl-finite-math-only",
                                        "-cl-no-signed-zeros",
                                        "-cl-mad-enable",
                                        "-cl-fp32-correctly-rounded-divide-sqrt",
                                        "-cl-unsafe-math-optimizations"};
  enum { COUNT = sizeof options / sizeof *options };
  uint64_t bits[COUNT];
  qn_arena arena;
  qn_arena_init(&arena, 0);
  for (int i = 0; i < COUNT; i++) {
    qn_compile_options parsed;
    assert_int_equal(qn_compile_options_parse(&arena, options[i], &parsed), QN_OK);
    bits[i] = core_option_bits(&parsed);
    for (int j = 0; j < i; j++) assert_int_not_equal(bits[i], bits[j]);
  }
  qn_arena_free(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(test_C1_each_property_of_the_device_that_shapes_code_is_in_the_key, setup),
      cmocka_unit_test_setup(test_C1_what_does_not_shape_code_is_not_in_the_key, setup),
      cmocka_unit_test_setup(test_C1_each_option_that_shapes_code_beyond_the_ir_is_in_the_key, setup),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
