/* qn_preprocess: options, predefined macros, errors as status and text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/status.h"
#include "compiler/compiler.h"

static qn_arena arena;
static qn_bytes text, messages;
static qn_compile_options options;
static qn_model model;

static int setup(void **state) {
  (void)state;
  qn_arena_init(&arena, 0);
  options = (qn_compile_options){0};
  model = (qn_model){.address_bits = 64};
  return 0;
}

static int teardown(void **state) {
  (void)state;
  qn_bytes_free(&text);
  qn_bytes_free(&messages);
  qn_arena_free(&arena);
  return 0;
}

static qn_status preprocess(const char *source) {
  qn_bytes_free(&text);
  qn_bytes_free(&messages);
  qn_compile_request request = {.source = qn_sv_from(source), .file_name = "t.cl", .options = &options, .model = model};
  return qn_preprocess(&arena, &request, &text, &messages);
}

/* The last line of what `source` becomes. */
static const char *last_line(const char *source) {
  if (preprocess(source) != QN_OK) fail_msg("%s", qn_error_text());
  if (!text.size) return "";
  text.data[text.size - 1] = 0;
  char *newline = strrchr(text.data, '\n');
  return newline ? newline + 1 : text.data;
}

static void assert_holds(const char *expression) {
  char source[200];
  snprintf(source, sizeof source, "#if %s\nyes\n#endif\n", expression);
  if (strcmp(last_line(source), "yes") != 0) fail_msg("%s does not hold", expression);
}

static void versions_follow_the_standard(void **state) {
  (void)state;
  assert_holds("__OPENCL_VERSION__ == 120 && __OPENCL_C_VERSION__ == 120 && __OPENCL_C_VERSION__ >= CL_VERSION_1_2");
  assert_holds("__OPENCL_C_VERSION__ < CL_VERSION_2_0");
  assert_holds("__QUERN__ >= 100 && __ENDIAN_LITTLE__ && !defined __IMAGE_SUPPORT__ && !defined __FAST_RELAXED_MATH__");
  options.std = "CL3.0";
  assert_holds("__OPENCL_C_VERSION__ == 300");
  options.std = "CL1.1";
  assert_holds("__OPENCL_C_VERSION__ == 110");
  options.fast_relaxed_math = true;
  assert_holds("__FAST_RELAXED_MATH__ == 1");
}

static void the_model_decides_about_extensions(void **state) {
  (void)state;
  assert_holds("!defined cl_khr_fp64 && !defined cl_khr_fp16 && !defined cl_khr_int64_base_atomics && !defined M_PI");
  assert_holds("cl_khr_global_int32_base_atomics && cl_khr_byte_addressable_store");
  model.has_double = true;
  assert_holds("defined cl_khr_fp64 && !defined cl_khr_fp16 && defined M_PI && DBL_DIG == 15");
  model.has_half = true;
  assert_holds("defined cl_khr_fp16 && HALF_DIG == 3");
  model.has_int64_atomics = true;
  assert_holds("defined cl_khr_int64_base_atomics && defined cl_khr_int64_extended_atomics");
}

static void limits_are_right(void **state) {
  (void)state;
  assert_holds("INT_MAX == 0x7fffffff && INT_MIN == -0x80000000 && UINT_MAX == 0xffffffff && CHAR_BIT == 8");
  assert_holds("LONG_MAX == 0x7fffffffffffffff && LONG_MIN < 0 && LONG_MIN - 1 > 0 && ULONG_MAX + 1 == 0");
  assert_holds("CHAR_MAX == 127 && CHAR_MIN == -128 && SCHAR_MIN == -128 && UCHAR_MAX == 255 && SHRT_MIN == -32768");
  assert_holds("SHRT_MAX == 32767 && USHRT_MAX == 65535 && true && !false");
}

static void options_reach_the_preprocessor(void **state) {
  (void)state;
  const char *defines[] = {"A=1", "INT_MAX=7"};
  options.defines = defines;
  options.define_count = 2;
  assert_string_equal(last_line("A INT_MAX __FILE__\n"), "1 7 \"t.cl\"");
  assert_int_equal(messages.size, 0);
}

static void kernel_exec_is_a_kernel_with_hints(void **state) {
  (void)state;
  assert_string_equal(
      last_line("kernel_exec(64, float4) void f(void);\n"),
      "__kernel __attribute__((work_group_size_hint(64, 1, 1))) __attribute__((vec_type_hint(float4))) void "
      "f(void);");
}

static void programs_may_define_constants_themselves(void **state) {
  (void)state;
  assert_string_equal(last_line("#define M_PI_F 3.0f\n#define INFINITY 1\nM_PI_F INFINITY\n"), "3.0f 1");
  assert_int_equal(messages.size, 0);
}

static void errors_are_the_error_text(void **state) {
  (void)state;
  assert_int_equal(preprocess("#error no\n"), QN_ERROR_COMPILE);
  assert_string_equal(qn_error_text(), "t.cl:1:2: error: no\n#error no\n ^~~~~\n");
}

static void warnings_go_to_the_log(void **state) {
  (void)state;
  assert_int_equal(preprocess("#warning hm\n"), QN_OK);
  assert_string_equal(messages.data, "t.cl:1:2: warning: hm\n#warning hm\n ^~~~~~~\n");
  options.no_warnings = true;
  assert_int_equal(preprocess("#warning hm\n"), QN_OK);
  assert_int_equal(messages.size, 0);
  options.no_warnings = false;
  options.warnings_as_errors = true;
  assert_int_equal(preprocess("#warning hm\n"), QN_ERROR_COMPILE);
}

static void parameters_that_the_source_lacks_are_refused_by_name(void **state) {
  (void)state;
  const char *parameters[] = {"TILE=4"};
  options.parameters = parameters;
  options.parameter_count = 1;
  assert_int_equal(preprocess("x\n"), QN_ERROR_INVALID_ARGUMENT); /* nothing but the option is wrong */
  assert_non_null(strstr(qn_error_text(), "-P TILE=4"));
}

static void out_of_memory_is_told(void **state) {
  (void)state;
  bool succeeded = false;
  for (size_t limit = 100; !succeeded; limit += limit / 5) {
    qn_arena small;
    qn_arena_init(&small, limit);
    qn_bytes_free(&text);
    qn_compile_request request = {.source = QN_SV("#define A(x) #x __LINE__\nA(b)\n"), .model = model};
    qn_status status = qn_preprocess(&small, &request, &text, NULL);
    assert_true(status == QN_OK || status == QN_ERROR_OUT_OF_HOST_MEMORY);
    succeeded = status == QN_OK;
    qn_arena_free(&small);
  }
  assert_string_equal(text.data, "# 2 \"<source>\"\n\"b\" 2\n");
}

int main(void) {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
  const struct CMUnitTest tests[] = {
      T(versions_follow_the_standard),
      T(the_model_decides_about_extensions),
      T(limits_are_right),
      T(options_reach_the_preprocessor),
      T(kernel_exec_is_a_kernel_with_hints),
      T(programs_may_define_constants_themselves),
      T(errors_are_the_error_text),
      T(warnings_go_to_the_log),
      T(parameters_that_the_source_lacks_are_refused_by_name),
      T(out_of_memory_is_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
