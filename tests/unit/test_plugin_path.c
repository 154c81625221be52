/* test_plugin_path.c - where plug-ins are looked for. This program holds the library, so its own directory comes first. */
#include "base/plugin_path.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/os/files.h"
#include "base/status.h"
#include "config.h"
#include "support/failing.h"

static void test_the_own_directory_comes_before_the_installed_one(void **state) {
  (void)state;
  qn_arena arena;
  const char *places[QN_PLUGIN_PLACES], *own;
  qn_arena_init(&arena, 0);
  assert_int_equal(qn_plugin_places(&arena, places), QN_OK);
  assert_int_equal(qn_path_of_library(&arena, &own), QN_OK);
  assert_string_equal(places[0], own);
  assert_string_equal(places[1] + strlen(own), "/quern");
  assert_string_equal(places[2] + strlen(own), "/../lib/quern");
  assert_string_equal(places[3], QN_CONFIG_PLUGIN_DIRECTORY);
  qn_arena_free(&arena);
}

static void test_the_environment_comes_first(void **state) {
  (void)state;
  qn_arena arena;
  const char *path = NULL;
  qn_arena_init(&arena, 0);
  setenv("QUERN_ADAPTER_PATH", "/nowhere::" QUERN_BINARY_DIR, 1);
  assert_int_equal(qn_plugin_find(&arena, "libquern.so", &path), QN_OK);
  assert_string_equal(path, QUERN_BINARY_DIR "/libquern.so");
  qn_arena_free(&arena);
}

static void test_the_first_file_of_the_name_is_found(void **state) {
  (void)state;
  qn_arena arena;
  const char *path = NULL;
  qn_arena_init(&arena, 0);
  unsetenv("QUERN_ADAPTER_PATH");
  assert_int_equal(qn_plugin_find(&arena, "test_plugin_path", &path), QN_OK);
  assert_true(qn_sv_ends_with(qn_sv_from(path), QN_SV("/tests/test_plugin_path")));
  assert_int_equal(qn_plugin_find(&arena, "libquern.so", &path), QN_OK); /* one place further */
  assert_true(qn_sv_ends_with(qn_sv_from(path), QN_SV("/tests/quern/libquern.so")));
  qn_arena_free(&arena);
}

static void test_L7_what_is_nowhere_names_the_places(void **state) {
  (void)state;
  qn_arena arena;
  const char *path = NULL;
  qn_arena_init(&arena, 0);
  assert_int_equal(qn_plugin_find(&arena, "no-such-plug-in", &path), QN_ERROR_NOT_FOUND);
  assert_null(path);
  assert_non_null(strstr(qn_error_text(), "no-such-plug-in"));
  assert_non_null(strstr(qn_error_text(), QN_CONFIG_PLUGIN_DIRECTORY));
  qn_arena_free(&arena);
}

static void test_without_memory_the_search_fails(void **state) {
  (void)state;
  int failures = 0;
  FAILING_EACH(n) {
    qn_arena arena;
    const char *path = NULL;
    qn_arena_init(&arena, 0);
    qn_status status = qn_plugin_find(&arena, "libquern.so", &path);
    failing_pause();
    if (status != QN_OK) assert_int_equal(status, QN_ERROR_OUT_OF_HOST_MEMORY);
    failures += status != QN_OK;
    qn_arena_free(&arena);
  }
  assert_true(failures >= 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_the_own_directory_comes_before_the_installed_one),
      cmocka_unit_test(test_the_environment_comes_first),
      cmocka_unit_test(test_the_first_file_of_the_name_is_found),
      cmocka_unit_test(test_L7_what_is_nowhere_names_the_places),
      cmocka_unit_test(test_without_memory_the_search_fails),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
