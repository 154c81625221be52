/* test_os_files.c - reading, replacing, listing, paths. */
#include "base/os/files.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/status.h"
#include "support/failing.h"

static char root[] = "/tmp/quern-files-XXXXXX";
static qn_arena arena;

static int set_up(void **state) {
  (void)state;
  qn_arena_init(&arena, 0);
  return mkdtemp(root) ? 0 : -1;
}

static int tear_down(void **state) {
  (void)state;
  char command[64];
  snprintf(command, sizeof command, "rm -rf %s", root);
  qn_arena_free(&arena);
  return system(command);
}

static const char *in_root(const char *name) { return qn_path_join(&arena, qn_sv_from(root), qn_sv_from(name)); }

static void write_ok(const char *path, const char *text) {
  assert_int_equal(qn_file_write(path, text, strlen(text)), QN_OK);
}

static void assert_content(const char *path, const char *text) {
  qn_bytes bytes = {0};
  assert_int_equal(qn_file_read(path, 1 << 20, &bytes), QN_OK);
  assert_string_equal(bytes.data, text);
  qn_bytes_free(&bytes);
}

static void assert_names(const char *directory, const char *expected) {
  const char **names;
  size_t count;
  char all[512] = "";
  assert_int_equal(qn_directory_list(&arena, directory, &names, &count), QN_OK);
  for (size_t i = 0; i < count; i++) {
    strcat(all, names[i]);
    strcat(all, " ");
  }
  assert_string_equal(all, expected);
}

/* ---- Reading and writing ---- */

static void test_what_is_written_is_read(void **state) {
  (void)state;
  const char *path = in_root("round");
  write_ok(path, "first");
  assert_content(path, "first");
  write_ok(path, "");
  assert_content(path, "");
  static char large[300000];
  for (size_t i = 0; i < sizeof large; i++) large[i] = (char)(i * 7);
  assert_int_equal(qn_file_write(path, large, sizeof large), QN_OK);
  qn_bytes bytes = {0};
  qn_bytes_append_str(&bytes, "before");
  assert_int_equal(qn_file_read(path, sizeof large, &bytes), QN_OK); /* appends; the limit is inclusive */
  assert_int_equal(bytes.size, sizeof large + 6);
  assert_memory_equal(bytes.data + 6, large, sizeof large);
  assert_int_equal(bytes.data[bytes.size], 0);
  qn_bytes_free(&bytes);
}

static void assert_read_fails(const char *path, uint64_t limit, qn_status status, const char *why) {
  qn_bytes bytes = {0};
  qn_bytes_append_str(&bytes, "kept");
  assert_int_equal(qn_file_read(path, limit, &bytes), status);
  assert_string_equal(bytes.data, "kept");
  assert_int_equal(bytes.size, 4);
  assert_false(bytes.failed);
  assert_non_null(strstr(qn_error_text(), path));
  assert_non_null(strstr(qn_error_text(), why));
  qn_bytes_free(&bytes);
}

static void test_what_cannot_be_read_is_told(void **state) {
  (void)state;
  const char *path = in_root("small"), *fifo = in_root("fifo");
  write_ok(path, "12345");
  assert_int_equal(mkfifo(fifo, 0600), 0);
  assert_read_fails(path, 4, QN_ERROR_LIMIT, "limit of 4");
  assert_read_fails(in_root("missing"), 100, QN_ERROR_NOT_FOUND, "No such file");
  assert_read_fails(in_root("small/x"), 100, QN_ERROR_NOT_FOUND, "Not a directory");
  assert_read_fails(root, 100, QN_ERROR_IO, "Is a directory");
  assert_read_fails(fifo, 100, QN_ERROR_IO, "not a regular file"); /* at once: nobody writes to it */
  assert_read_fails("/dev/zero", 100, QN_ERROR_IO, "not a regular file");
}

static void test_files_whose_size_says_nothing_are_bounded(void **state) {
  (void)state;
  qn_bytes bytes = {0};
  assert_int_equal(qn_file_read("/proc/self/status", 1 << 20, &bytes), QN_OK); /* its size is 0 */
  assert_memory_equal(bytes.data, "Name:", 5);
  qn_bytes_free(&bytes);
  assert_read_fails("/proc/self/status", 20, QN_ERROR_LIMIT, "limit of 20");
}

static void test_without_memory_reading_fails_and_keeps_what_was(void **state) {
  (void)state;
  const char *path = in_root("large");
  static char large[100000];
  assert_int_equal(qn_file_write(path, large, sizeof large), QN_OK);
  qn_bytes bytes = {0};
  qn_bytes_append_str(&bytes, "kept");
  failing_start(0, true);
  qn_status status = qn_file_read(path, 1 << 20, &bytes);
  failing_stop();
  assert_int_equal(status, QN_ERROR_OUT_OF_HOST_MEMORY);
  assert_string_equal(bytes.data, "kept");
  assert_int_equal(qn_file_read(path, 1 << 20, &bytes), QN_OK);
  qn_bytes_free(&bytes);
}

static void test_writing_replaces_the_file_and_keeps_its_permissions(void **state) {
  (void)state;
  const char *path = in_root("mode"), *other_name = in_root("mode-link");
  qn_file_info before, after;
  write_ok(path, "old");
  assert_int_equal(chmod(path, 0640), 0);
  assert_int_equal(link(path, other_name), 0);
  assert_int_equal(qn_file_query(path, &before), QN_OK);
  write_ok(path, "new");
  assert_int_equal(qn_file_query(path, &after), QN_OK);
  assert_int_equal(after.mode, 0640);
  assert_true(after.inode != before.inode);
  assert_content(other_name, "old"); /* whoever had the old file still has it whole */
  assert_int_equal(after.owner, geteuid());
  assert_true(after.is_regular && !after.is_directory);
}

static void test_writing_follows_a_link(void **state) {
  (void)state;
  const char *target = in_root("linked"), *name = in_root("name");
  struct stat info;
  write_ok(target, "old");
  assert_int_equal(symlink("linked", name), 0);
  write_ok(name, "new");
  assert_content(target, "new");
  assert_int_equal(lstat(name, &info), 0);
  assert_true(S_ISLNK(info.st_mode));
}

static void assert_write_fails(const char *path, const char *why) {
  qn_status status = qn_file_write(path, "x", 1);
  assert_true(status == QN_ERROR_IO || status == QN_ERROR_NOT_FOUND);
  assert_non_null(strstr(qn_error_text(), why));
}

static void test_a_failed_write_leaves_nothing(void **state) {
  (void)state;
  const char *directory = in_root("empty");
  assert_int_equal(qn_directory_make(directory), QN_OK);
  assert_write_fails(directory, "Is a directory");
  assert_write_fails(in_root("none/file"), "No such file");
  assert_write_fails("/proc/quern", "/proc/quern");
  assert_write_fails("", "No such file");
  char name[400];
  snprintf(name, sizeof name, "empty/%0300d", 1); /* the rename fails after the temporary file was written */
  assert_write_fails(in_root(name), "File name too long");
  static char endless[8192];
  memset(endless, 'x', sizeof endless - 1);
  assert_write_fails(endless, "File name too long");
  assert_names(directory, "");
}

static void test_devices_are_written_in_place(void **state) {
  (void)state;
  write_ok("/dev/null", "nothing");
  qn_file_info info;
  assert_int_equal(qn_file_query("/dev/null", &info), QN_OK);
  assert_false(info.is_regular);
  assert_write_fails("/dev/full", "No space left");
}

static void test_files_are_found_and_removed(void **state) {
  (void)state;
  const char *path = in_root("gone");
  write_ok(path, "123");
  qn_file_info info;
  assert_true(qn_file_exists(path));
  assert_int_equal(qn_file_query(path, &info), QN_OK);
  assert_int_equal(info.size_bytes, 3);
  assert_true(info.modified_ns > UINT64_C(1700000000) * 1000000000);
  assert_int_equal(qn_file_remove(path), QN_OK);
  assert_false(qn_file_exists(path));
  assert_int_equal(qn_file_remove(path), QN_ERROR_NOT_FOUND);
  assert_int_equal(qn_file_query(path, &info), QN_ERROR_NOT_FOUND);
}

/* ---- Directories ---- */

static void test_directories_are_made_with_their_parents(void **state) {
  (void)state;
  const char *path = in_root("a/b//c/");
  assert_int_equal(qn_directory_make(path), QN_OK);
  assert_int_equal(qn_directory_make(path), QN_OK);
  qn_file_info info;
  assert_int_equal(qn_file_query(in_root("a/b/c"), &info), QN_OK);
  assert_true(info.is_directory);
  assert_int_equal(qn_directory_make("/"), QN_OK);
  assert_int_equal(qn_directory_make("."), QN_OK);
  write_ok(in_root("a/file"), "");
  assert_int_equal(qn_directory_make(in_root("a/file/x")), QN_ERROR_INVALID_ARGUMENT);
  assert_non_null(strstr(qn_error_text(), "a/file' is not a directory"));
  assert_int_equal(qn_directory_make(in_root("a/file")), QN_ERROR_INVALID_ARGUMENT);
  assert_non_null(strstr(qn_error_text(), "a/file' can't be made: it is not a directory"));
  assert_int_equal(symlink("nowhere", in_root("a/link")), 0);
  assert_int_equal(qn_directory_make(in_root("a/link/x")), QN_ERROR_INVALID_ARGUMENT);
  assert_non_null(strstr(qn_error_text(), "a/link' is a link to 'nowhere', which is not there"));
  assert_int_equal(qn_directory_make(""), QN_ERROR_IO);
}

static void test_lists_are_sorted_by_byte(void **state) {
  (void)state;
  const char *path = in_root("list");
  assert_int_equal(qn_directory_make(path), QN_OK);
  assert_names(path, "");
  static const char *const made[] = {"list/b", "list/.hidden", "list/a10", "list/a9", "list/Z"};
  for (size_t i = 0; i < sizeof made / sizeof *made; i++) write_ok(in_root(made[i]), "");
  assert_names(path, ".hidden Z a10 a9 b ");
  const char **names = NULL;
  size_t count;
  assert_int_equal(qn_directory_list(&arena, in_root("nowhere"), &names, &count), QN_ERROR_NOT_FOUND);
  assert_int_equal(qn_directory_list(&arena, in_root("list/a9"), &names, &count), QN_ERROR_NOT_FOUND);
}

static void test_without_memory_a_list_fails(void **state) {
  (void)state;
  const char *path = in_root("many");
  assert_int_equal(qn_directory_make(path), QN_OK);
  for (int i = 0; i < 100; i++) {
    char name[16];
    snprintf(name, sizeof name, "many/%d", i);
    write_ok(in_root(name), "");
  }
  int failures = 0;
  FAILING_EACH(n) {
    qn_arena own;
    const char **names = NULL;
    size_t count = 0;
    qn_arena_init(&own, 0);
    qn_status status = qn_directory_list(&own, path, &names, &count);
    failing_pause();
    if (status == QN_OK) assert_int_equal(count, 100);
    if (status != QN_OK) assert_int_equal(status, QN_ERROR_OUT_OF_HOST_MEMORY);
    failures += status != QN_OK;
    qn_arena_free(&own);
  }
  assert_true(failures >= 3);
}

/* ---- Paths ---- */

static void test_paths_join_with_one_slash(void **state) {
  (void)state;
  assert_string_equal(qn_path_join(&arena, QN_SV("a"), QN_SV("b")), "a/b");
  assert_string_equal(qn_path_join(&arena, QN_SV("a/"), QN_SV("b")), "a/b");
  assert_string_equal(qn_path_join(&arena, QN_SV("/"), QN_SV("b")), "/b");
  assert_string_equal(qn_path_join(&arena, QN_SV("a"), QN_SV("/b")), "/b");
  assert_string_equal(qn_path_join(&arena, QN_SV(""), QN_SV("b")), "b");
  assert_string_equal(qn_path_join(&arena, QN_SV("a"), QN_SV("")), "a/");
}

static void test_paths_split_into_directory_and_name(void **state) {
  (void)state;
  static const struct {
    const char *path, *directory, *name;
  } cases[] = {{"a/b.c", "a", "b.c"}, {"b", ".", "b"}, {"/b", "/", "b"},  {"a//b", "a", "b"},
               {"/a/b/", "/a/b", ""}, {"", ".", ""},   {"//b", "/", "b"}, {"../x", "..", "x"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    qn_sv path = qn_sv_from(cases[i].path);
    assert_true(qn_sv_is(qn_path_directory(path), cases[i].directory));
    assert_true(qn_sv_is(qn_path_name(path), cases[i].name));
  }
  assert_true(qn_sv_is(qn_path_name(qn_sv_from(NULL)), ""));
}

static void test_the_own_directory_is_that_of_this_program(void **state) {
  (void)state;
  const char *directory;
  char self[4096];
  assert_int_equal(qn_path_of_library(&arena, &directory), QN_OK);
  ssize_t size = readlink("/proc/self/exe", self, sizeof self);
  assert_true(size > 0);
  assert_true(qn_sv_equal(qn_sv_from(directory), qn_path_directory(qn_sv_make(self, (size_t)size))));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_what_is_written_is_read),
      cmocka_unit_test(test_what_cannot_be_read_is_told),
      cmocka_unit_test(test_files_whose_size_says_nothing_are_bounded),
      cmocka_unit_test(test_without_memory_reading_fails_and_keeps_what_was),
      cmocka_unit_test(test_writing_replaces_the_file_and_keeps_its_permissions),
      cmocka_unit_test(test_writing_follows_a_link),
      cmocka_unit_test(test_a_failed_write_leaves_nothing),
      cmocka_unit_test(test_devices_are_written_in_place),
      cmocka_unit_test(test_files_are_found_and_removed),
      cmocka_unit_test(test_directories_are_made_with_their_parents),
      cmocka_unit_test(test_lists_are_sorted_by_byte),
      cmocka_unit_test(test_without_memory_a_list_fails),
      cmocka_unit_test(test_paths_join_with_one_slash),
      cmocka_unit_test(test_paths_split_into_directory_and_name),
      cmocka_unit_test(test_the_own_directory_is_that_of_this_program),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
