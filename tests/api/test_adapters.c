/* labels: threads */
/* Adapters that can't be used: the others work, and each says why it doesn't (A5, L7). */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support.h"

#define BAD_ADAPTERS QUERN_BINARY_DIR "/tests/plugins"

static qn_runtime open_with(const char *path, const char *names) {
  qn_runtime runtime = NULL;
  qn_runtime_options o = QN_INIT(qn_runtime_options);
  o.adapter_path = path;
  o.adapters = names;
  OK(qn_runtime_open(&o, &runtime));
  return runtime;
}

static qn_adapter_info adapter_of(qn_runtime runtime, const char *name) {
  uint32_t count = 0;
  OK(qn_adapter_count(runtime, &count));
  for (uint32_t i = 0; i < count; i++) {
    qn_adapter_info info = QN_INIT(qn_adapter_info);
    OK(qn_adapter_describe(runtime, i, &info));
    if (strcmp(info.name, name) == 0) return info;
  }
  fail_msg("adapter '%s' is not listed", name);
  return (qn_adapter_info){0};
}

static const struct {
  const char *name, *words;
} bad[] = {
    {"no_entry", "no symbol 'qn_adapter_entry'"},
    {"no_table", "no table of functions"},
    {"other_version", "built for version 77"},
    {"short_table", "its table has 64 bytes"},
    {"null_function", "lacks the function queue_submit"},
    {"other_name", "calls itself 'somebody'"},
    {"crash_in_load", "tried"},
    {"crash_in_entry", "tried"},
    {"crash_in_open", "tried"},
    {"exit_in_load", "ended the process that tried it out, with exit status"}, /* sanitizers change it */
    {"no_instance", "libvendor.so.1 is not there"},
    {"missing_symbol", "a_function_that_no_library_has"},
};
enum { BAD = sizeof bad / sizeof *bad };

static void assert_bad_ones_are_listed_with_reasons(qn_runtime runtime) {
  for (size_t i = 0; i < BAD; i++) {
    qn_adapter_info info = adapter_of(runtime, bad[i].name);
    assert_int_equal(info.loaded, 0);
    assert_non_null(strstr(info.path, bad[i].name));
    if (!strstr(info.reason, bad[i].words)) fail_msg("%s: '%s' lacks '%s'", info.name, info.reason, bad[i].words);
  }
}

static void test_A5_bad_adapters_are_refused_with_reasons_and_the_others_work(void **state) {
  (void)state;
  for (int round = 0; round < 2; round++) { /* a library that crashed once is not tried again */
    qn_runtime runtime = open_with(BAD_ADAPTERS ":" QUERN_BINARY_DIR, NULL);
    qn_device device = NULL;
    assert_bad_ones_are_listed_with_reasons(runtime);
    assert_int_equal(adapter_of(runtime, "no_devices").loaded, 1);
    assert_int_equal(adapter_of(runtime, "null").loaded, 1);
    OK(qn_device_open(runtime, "null", &device));
    test_queue(device);
    for (size_t i = 0; i < BAD; i++) {
      qn_device none = NULL;
      qn_status status = qn_device_open(runtime, bad[i].name, &none);
      assert_true(status < 0);
      if (!strstr(qn_error_text(), bad[i].words)) fail_msg("'%s' lacks '%s'", qn_error_text(), bad[i].words);
    }
    FAILS(qn_device_open(runtime, "no_devices", &device), QN_ERROR_NOT_FOUND, "has 0 devices");
    OK(qn_runtime_close(runtime, SECOND));
  }
}

static void test_L7_a_named_adapter_tells_the_vendors_reason_and_code(void **state) {
  (void)state;
  qn_runtime runtime = open_with(BAD_ADAPTERS, NULL);
  qn_device device = NULL;
  FAILS(qn_device_open(runtime, "no_instance", &device), QN_ERROR_NOT_FOUND, "libvendor.so.1 is not there");
  assert_int_equal(qn_error_driver_code(), 42);
  FAILS(qn_device_open(runtime, "null", &device), QN_ERROR_NOT_FOUND, "there is no device 'null'");
  OK(qn_runtime_close(runtime, SECOND));
}

static void what_is_no_library_is_refused(void **state) {
  (void)state;
  char directory[] = "/tmp/quern-adapters-XXXXXX", path[128];
  assert_non_null(mkdtemp(directory));
  const struct {
    const char *name, *text;
  } files[] = {{"empty", ""}, {"text", "this is no library\n"}, {"elf", "\177ELF and no more"}};
  for (size_t i = 0; i < 3; i++) {
    snprintf(path, sizeof path, "%s/libquern-adapter-%s.so", directory, files[i].name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs(files[i].text, file);
    fclose(file);
  }
  snprintf(path, sizeof path, "%s/libquern-adapter-directory.so", directory);
  assert_int_equal(mkdir(path, 0700), 0);
  qn_runtime runtime = open_with(directory, NULL);
  const char *const names[] = {"empty", "text", "elf", "directory"};
  for (size_t i = 0; i < 4; i++) {
    qn_adapter_info info = adapter_of(runtime, names[i]);
    assert_int_equal(info.loaded, 0);
    assert_non_null(strstr(info.reason, "can't be loaded"));
  }
  assert_int_equal(adapter_of(runtime, "check").loaded, 1);
  OK(qn_runtime_close(runtime, SECOND));
  assert_int_equal(rmdir(path), 0);
  for (size_t i = 0; i < 3; i++) {
    snprintf(path, sizeof path, "%s/libquern-adapter-%s.so", directory, names[i]);
    unlink(path);
  }
  rmdir(directory);
}

static void places_that_are_not_there_are_no_error(void **state) {
  (void)state;
  qn_runtime runtime = open_with("/nowhere:/etc/passwd::" QUERN_BINARY_DIR, "null");
  assert_int_equal(adapter_of(runtime, "null").loaded, 1);
  OK(qn_runtime_close(runtime, SECOND));
}

static void the_first_of_a_name_is_taken(void **state) {
  (void)state;
  char directory[] = "/tmp/quern-adapters-XXXXXX", path[128];
  assert_non_null(mkdtemp(directory));
  snprintf(path, sizeof path, "%s/libquern-adapter-null.so", directory);
  assert_int_equal(symlink(QUERN_BINARY_DIR "/libquern-adapter-null.so", path), 0);
  char both[512];
  snprintf(both, sizeof both, "%s:%s", directory, QUERN_BINARY_DIR);
  qn_runtime runtime = open_with(both, "null");
  assert_string_equal(adapter_of(runtime, "null").path, path);
  OK(qn_runtime_close(runtime, SECOND));
  unlink(path);
  rmdir(directory);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_A5_bad_adapters_are_refused_with_reasons_and_the_others_work),
      cmocka_unit_test(test_L7_a_named_adapter_tells_the_vendors_reason_and_code),
      cmocka_unit_test(what_is_no_library_is_refused),
      cmocka_unit_test(places_that_are_not_there_are_no_error),
      cmocka_unit_test(the_first_of_a_name_is_taken),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
