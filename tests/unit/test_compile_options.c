/* The option string of a build. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/status.h"
#include "compiler/compiler.h"

static qn_arena arena;
static qn_compile_options options;

static int setup(void **state) {
  (void)state;
  qn_arena_init(&arena, 0);
  return 0;
}

static int teardown(void **state) {
  (void)state;
  qn_arena_free(&arena);
  return 0;
}

static void parse(const char *text) {
  qn_status status = qn_compile_options_parse(&arena, text, &options);
  if (status != QN_OK) fail_msg("%s", qn_error_text());
}

static void assert_fails(const char *text, const char *message) {
  qn_compile_options before;
  memset(&before, 0x5a, sizeof before);
  options = before;
  assert_int_equal(qn_compile_options_parse(&arena, text, &options), QN_ERROR_INVALID_ARGUMENT);
  assert_string_equal(qn_error_text(), message);
  assert_memory_equal(&options, &before, sizeof before);
}

static void nothing_is_nothing(void **state) {
  (void)state;
  static const char *const texts[] = {NULL, "", " \t\n "};
  for (int i = 0; i < 3; i++) {
    parse(texts[i]);
    assert_int_equal(options.define_count, 0);
    assert_int_equal(options.include_dir_count, 0);
    assert_null(options.std);
    assert_false(options.fast_relaxed_math || options.no_warnings || options.mad_enable);
  }
}

static void lists_keep_their_order_with_and_without_blanks(void **state) {
  (void)state;
  parse("-DA -D B=2 -I inc -DF(x)=x+1 -I/usr/inc -D C= -P T=4");
  assert_int_equal(options.define_count, 4);
  assert_string_equal(options.defines[0], "A");
  assert_string_equal(options.defines[1], "B=2");
  assert_string_equal(options.defines[2], "F(x)=x+1");
  assert_string_equal(options.defines[3], "C=");
  assert_int_equal(options.include_dir_count, 2);
  assert_string_equal(options.include_dirs[0], "inc");
  assert_string_equal(options.include_dirs[1], "/usr/inc");
  assert_int_equal(options.parameter_count, 1);
  assert_string_equal(options.parameters[0], "T=4");
}

static void words_are_split_as_a_shell_does(void **state) {
  (void)state;
  parse("  -D'A=x y'\t\"-DB=\\\"q\\\" \\n\" -DC=a\\ b'c\"d'  -I '/a b' -D D='\\'");
  assert_int_equal(options.define_count, 4);
  assert_string_equal(options.defines[0], "A=x y");
  assert_string_equal(options.defines[1], "B=\"q\" \\n");
  assert_string_equal(options.defines[2], "C=a bc\"d");
  assert_string_equal(options.defines[3], "D=\\");
  assert_string_equal(options.include_dirs[0], "/a b");
}

static void each_flag_sets_its_own(void **state) {
  (void)state;
  static const struct {
    const char *text;
    size_t offset;
  } flags[] = {
      {"-cl-single-precision-constant", offsetof(qn_compile_options, single_precision_constant)},
      {"-cl-denorms-are-zero", offsetof(qn_compile_options, denorms_are_zero)},
      {"-cl-fp32-correctly-rounded-divide-sqrt", offsetof(qn_compile_options, fp32_correctly_rounded_divide_sqrt)},
      {"-cl-opt-disable", offsetof(qn_compile_options, opt_disable)},
      {"-cl-mad-enable", offsetof(qn_compile_options, mad_enable)},
      {"-cl-no-signed-zeros", offsetof(qn_compile_options, no_signed_zeros)},
      {"-cl-finite-math-only", offsetof(qn_compile_options, finite_math_only)},
      {"-cl-kernel-arg-info", offsetof(qn_compile_options, kernel_arg_info)},
      {"-w", offsetof(qn_compile_options, no_warnings)},
      {"-Werror", offsetof(qn_compile_options, warnings_as_errors)},
  };
  for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
    parse(flags[i].text);
    qn_compile_options expected = {0};
    *(bool *)((char *)&expected + flags[i].offset) = true;
    assert_memory_equal(&options, &expected, sizeof expected);
  }
}

static void math_options_imply_others(void **state) {
  (void)state;
  parse("-cl-unsafe-math-optimizations");
  assert_true(options.unsafe_math && options.no_signed_zeros && options.mad_enable);
  assert_false(options.finite_math_only || options.fast_relaxed_math);
  parse("-cl-fast-relaxed-math");
  assert_true(options.fast_relaxed_math && options.unsafe_math && options.finite_math_only && options.no_signed_zeros &&
              options.mad_enable);
}

static void standards_and_what_is_ignored(void **state) {
  (void)state;
  static const char *const standards[] = {"CL1.0", "CL1.1", "CL1.2", "CL2.0", "CL3.0"};
  for (int i = 0; i < 5; i++) {
    char text[32] = "-cl-std=";
    strcat(text, standards[i]);
    parse(text);
    assert_string_equal(options.std, standards[i]);
  }
  parse("-cl-strict-aliasing -g -x clc -cl-uniform-work-group-size");
  assert_int_equal(options.define_count, 0);
}

static void errors_name_the_option_and_the_nearest(void **state) {
  (void)state;
  assert_fails("-cl-fast-relaxed-mth",
               "compile options: unknown option '-cl-fast-relaxed-mth'; did you mean '-cl-fast-relaxed-math'?");
  assert_fails("-Wall -w", "compile options: unknown option '-Wall'");
  assert_fails("-Werorr", "compile options: unknown option '-Werorr'; did you mean '-Werror'?");
  assert_fails("foo", "compile options: 'foo' is no option: options start with '-'");
  assert_fails("-w -D", "compile options: -D takes NAME or NAME=VALUE");
  assert_fails("-I", "compile options: -I takes a directory");
  assert_fails("-I ''", "compile options: -I takes a directory");
  assert_fails("-cl-std=CL4.0", "compile options: -cl-std takes CL1.0, CL1.1, CL1.2, CL2.0 or CL3.0, not 'CL4.0'");
  assert_fails("-x c++", "compile options: -x takes clc (OpenCL C), not 'c++'");
  assert_fails("-x", "compile options: -x takes clc (OpenCL C), not ''");
  assert_fails("-w '-DX", "compile options: a ' is not closed in: '-DX");
}

static void out_of_memory_is_told(void **state) {
  (void)state;
  bool succeeded = false;
  for (size_t limit = 1; !succeeded; limit++) {
    qn_arena small;
    qn_arena_init(&small, limit);
    qn_status status = qn_compile_options_parse(&small, "-DA -I b -D c", &options);
    assert_true(status == QN_OK || status == QN_ERROR_OUT_OF_HOST_MEMORY);
    succeeded = status == QN_OK;
    qn_arena_free(&small);
  }
}

int main(void) {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
  const struct CMUnitTest tests[] = {
      T(nothing_is_nothing),
      T(lists_keep_their_order_with_and_without_blanks),
      T(words_are_split_as_a_shell_does),
      T(each_flag_sets_its_own),
      T(math_options_imply_others),
      T(standards_and_what_is_ignored),
      T(errors_name_the_option_and_the_nearest),
      T(out_of_memory_is_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
