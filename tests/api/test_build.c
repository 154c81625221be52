/* labels: llvm */
/* quern_build.h: artifacts without a device. */
#include <stdbool.h>

#include "quern/quern_build.h"
#include "support.h"

static const char source[] =
    "#define TWICE(x) (2 * (x))\n"
    "kernel void k(global int *y) { y[get_global_id(0)] = TWICE(y[get_global_id(0)]); }\n";

static qn_build_options options_for(uint32_t kind, const char *target) {
  return (qn_build_options){.struct_size = sizeof(qn_build_options), .kind = kind, .source = source, .target = target};
}

/* Whether an artifact has these words, among bytes of all kinds; a NUL stands behind it. */
static bool has(const qn_artifact *artifact, const char *words) {
  const char *bytes = artifact->bytes;
  assert_int_equal(bytes[artifact->size_bytes], 0);
  size_t size = strlen(words);
  for (size_t at = 0; at + size <= artifact->size_bytes; at++)
    if (memcmp(bytes + at, words, size) == 0) return true;
  return false;
}

static void expect_words(uint32_t kind, const char *target, const char *words) {
  qn_artifact artifact = {.struct_size = sizeof artifact};
  qn_build_options options = options_for(kind, target);
  OK(qn_build(&options, &artifact));
  assert_int_equal(artifact.kind, kind);
  if (!has(&artifact, words)) fail_msg("kind %u has no '%s' but %s", kind, words, (const char *)artifact.bytes);
  assert_int_equal(artifact.log_bytes, 0);
  assert_string_equal(artifact.log, "");
  qn_artifact_free(&artifact);
  assert_null(artifact.bytes);
  assert_int_equal(artifact.size_bytes, 0);
}

static void test_each_kind_gives_what_it_says(void **state) {
  (void)state;
  expect_words(QN_ARTIFACT_PREPROCESSED, NULL, "(2 * (y[");
  expect_words(QN_ARTIFACT_IR, NULL, "kernel @k(");
  expect_words(QN_ARTIFACT_LLVM_IR, NULL, "define void @quern_kernel_k(");
  expect_words(QN_ARTIFACT_ASSEMBLY, NULL, "quern_kernel_k:");
  expect_words(QN_ARTIFACT_OBJECT, NULL, "\177ELF");
  expect_words(QN_ARTIFACT_OPENCL_C, NULL, "kernel void k(");
  expect_words(QN_ARTIFACT_WGSL, NULL, "fn k(@builtin(");
  expect_words(QN_ARTIFACT_PTX, NULL, ".target sm_70");
}

static void test_each_target_has_its_own_code(void **state) {
  static const char *const targets[] = {"x86-64-linux",    "x86-64-v2-linux", "x86-64-v3-linux",
                                        "x86-64-v4-linux", "aarch64-linux",   "host"};
  (void)state;
  for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) expect_words(QN_ARTIFACT_OBJECT, targets[i], "\177ELF");
  expect_words(QN_ARTIFACT_ASSEMBLY, "x86-64-v4-linux", "zmm");
  expect_words(QN_ARTIFACT_PTX, "cuda-sm_90", ".target sm_90");
  expect_words(QN_ARTIFACT_IMAGE, "cuda-sm_80", ".visible .entry k(");
  expect_words(QN_ARTIFACT_ASSEMBLY, "x86-64-v3-linux", "ymm");
}

/* This machine's code is the code of what LLVM says that this machine is. */
static void test_no_target_is_this_machine(void **state) {
  qn_artifact by_name = {.struct_size = sizeof by_name}, by_default = by_name;
  qn_build_options named = options_for(QN_ARTIFACT_ASSEMBLY, "host"), none = options_for(QN_ARTIFACT_ASSEMBLY, NULL);
  (void)state;
  OK(qn_build(&named, &by_name));
  OK(qn_build(&none, &by_default));
  assert_string_equal(by_name.bytes, by_default.bytes);
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2")) assert_true(has(&by_name, "ymm") || has(&by_name, "zmm"));
#endif
  qn_artifact_free(&by_name);
  qn_artifact_free(&by_default);
}

static void test_scalar_code_has_no_vectors(void **state) {
  qn_artifact artifact = {.struct_size = sizeof artifact};
  qn_build_options options = options_for(QN_ARTIFACT_LLVM_IR, "x86-64-v4-linux");
  (void)state;
  options.scalar = 1;
  OK(qn_build(&options, &artifact));
  assert_false(has(&artifact, "x i32>"));
  qn_artifact_free(&artifact);
}

static void test_what_is_not_known_is_named_with_what_is(void **state) {
  qn_artifact artifact = {.struct_size = sizeof artifact};
  qn_build_options options = options_for(QN_ARTIFACT_OBJECT, "vax");
  (void)state;
  FAILS(qn_build(&options, &artifact), QN_ERROR_INVALID_ARGUMENT, "'vax'");
  FAILS(qn_build(&options, &artifact), QN_ERROR_INVALID_ARGUMENT, "aarch64-linux");
  options.kind = QN_ARTIFACT_PTX;
  options.target = "host";
  FAILS(qn_build(&options, &artifact), QN_ERROR_INVALID_ARGUMENT, "cuda-sm_70");
  options.kind = QN_ARTIFACT_ASSEMBLY;
  options.target = "cuda-sm_80";
  FAILS(qn_build(&options, &artifact), QN_ERROR_INVALID_ARGUMENT, "for images and PTX");
  options.kind = 99;
  FAILS(qn_build(&options, &artifact), QN_ERROR_INVALID_ARGUMENT, "99");
  FAILS(qn_build(NULL, &artifact), QN_ERROR_INVALID_ARGUMENT, "options is NULL");
  options.source = NULL;
  FAILS(qn_build(&options, NULL), QN_ERROR_INVALID_ARGUMENT, "out_artifact is NULL");
}

static void test_a_faulty_program_has_its_diagnostics_as_text(void **state) {
  qn_artifact artifact = {.struct_size = sizeof artifact};
  qn_build_options options = options_for(QN_ARTIFACT_OBJECT, NULL);
  (void)state;
  options.source = "kernel void k(global int *y) { *y = z; }\n";
  options.file_name = "a.cl";
  FAILS(qn_build(&options, &artifact), QN_ERROR_COMPILE, "a.cl:1:37: error: ");
  assert_null(artifact.bytes);
  qn_artifact_free(&artifact);
  qn_artifact_free(NULL);
}

static void test_warnings_are_in_the_log(void **state) {
  qn_artifact artifact = {.struct_size = sizeof artifact};
  qn_build_options options = options_for(QN_ARTIFACT_IR, NULL);
  (void)state;
  options.source = "#warning look\nkernel void k(global int *y) { *y = 1; }\n";
  OK(qn_build(&options, &artifact));
  assert_non_null(strstr(artifact.log, "look"));
  assert_int_equal(strlen(artifact.log), artifact.log_bytes);
  qn_artifact_free(&artifact);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_each_kind_gives_what_it_says),
      cmocka_unit_test(test_each_target_has_its_own_code),
      cmocka_unit_test(test_no_target_is_this_machine),
      cmocka_unit_test(test_scalar_code_has_no_vectors),
      cmocka_unit_test(test_what_is_not_known_is_named_with_what_is),
      cmocka_unit_test(test_a_faulty_program_has_its_diagnostics_as_text),
      cmocka_unit_test(test_warnings_are_in_the_log),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
