/* The outputs of a build are a transaction (C4): all are replaced or none is, whatever stands in the way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
/* cmocka asks for some of the above. */
#include <cmocka.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os/files.h"
#include "base/os/replace.h"
#include "base/status.h"
#include "store/outputs.h"

static char directory[256];

static bool can_run(const char *format, ...) {
  char command[1024];
  va_list args;
  va_start(args, format);
  vsnprintf(command, sizeof command, format, args);
  va_end(args);
  return system(command) == 0;
}

static int setup(void **state) {
  (void)state;
  snprintf(directory, sizeof directory, "/tmp/quern-outputs-XXXXXX");
  return mkdtemp(directory) ? 0 : 1;
}

static int teardown(void **state) {
  (void)state;
  (void)can_run("chattr -R -i %s 2>/dev/null; umount %s/* 2>/dev/null; rm -rf %s", directory, directory, directory);
  return 0;
}

/* Three outputs a, b, c with the text and their name. */
static qn_status replace(const char *text, qn_output_file outputs[3]) {
  static char bytes[3][64];
  static const char *const names[] = {"a", "b", "c"};
  for (int i = 0; i < 3; i++) {
    snprintf(bytes[i], sizeof bytes[i], "%s %s", text, names[i]);
    outputs[i] = (qn_output_file){.name = names[i], .bytes = qn_sv_from(bytes[i])};
  }
  return qn_outputs_replace(directory, outputs, 3, false, 1000000000);
}

static void write_all_old(void) {
  qn_output_file outputs[3];
  assert_int_equal(replace("old", outputs), QN_OK);
}

static bool has(const char *name, const char *text) {
  char path[512];
  qn_bytes bytes = {0};
  snprintf(path, sizeof path, "%s/%s", directory, name);
  bool same =
      qn_file_read(path, 4096, &bytes) >= 0 && bytes.size == strlen(text) && memcmp(bytes.data, text, bytes.size) == 0;
  qn_bytes_free(&bytes);
  return same;
}

static int count_files(void) {
  int count = 0;
  DIR *opened = opendir(directory);
  for (struct dirent *entry = readdir(opened); entry; entry = readdir(opened))
    count += entry->d_name[0] != '.' || entry->d_name[1] == 'q';
  closedir(opened);
  return count;
}

static void assert_all(const char *text) {
  char expected[64];
  static const char *const names[] = {"a", "b", "c"};
  for (int i = 0; i < 3; i++) {
    snprintf(expected, sizeof expected, "%s %s", text, names[i]);
    assert_true(has(names[i], expected));
  }
}

/* ---- Good days ---------------------------------------------------------------------------------- */

static void test_C4_outputs_are_written_and_replaced(void **state) {
  (void)state;
  qn_output_file outputs[3];
  assert_int_equal(replace("one", outputs), QN_OK);
  for (int i = 0; i < 3; i++) assert_int_equal(outputs[i].state, QN_OUTPUT_STATE_NEW);
  assert_all("one");
  assert_int_equal(replace("two", outputs), QN_OK);
  assert_all("two");
  assert_int_equal(count_files(), 3);
}

static uint64_t time_of(const char *name) {
  char path[512];
  qn_file_info info;
  snprintf(path, sizeof path, "%s/%s", directory, name);
  assert_int_equal(qn_file_query(path, &info), QN_OK);
  return info.modified_ns;
}

static void test_C4_an_identical_output_is_left_alone(void **state) {
  (void)state;
  char path[512];
  qn_output_file outputs[3];
  write_all_old();
  snprintf(path, sizeof path, "%s/b", directory);
  assert_int_equal(qn_file_set_time(path, 1000000000), QN_OK);
  write_all_old();
  assert_int_equal(time_of("b"), 1000000000);
  assert_int_equal(replace("old", outputs), QN_OK);
  assert_int_equal(outputs[1].state, QN_OUTPUT_STATE_SAME);
  assert_int_equal(qn_outputs_replace(directory, outputs, 3, true, QN_POLL), QN_OK); /* touch */
  assert_true(time_of("b") > 1000000000);
}

static void test_C4_permissions_stay(void **state) {
  (void)state;
  char path[512];
  qn_file_info info;
  qn_output_file outputs[3];
  write_all_old();
  snprintf(path, sizeof path, "%s/b", directory);
  assert_int_equal(chmod(path, 0640), 0);
  assert_int_equal(replace("new", outputs), QN_OK);
  assert_int_equal(qn_file_query(path, &info), QN_OK);
  assert_int_equal(info.mode, 0640);
}

static void test_C4_the_directory_is_made(void **state) {
  (void)state;
  char deep[512];
  qn_output_file output = {.name = "x", .bytes = QN_SV("bytes")};
  snprintf(deep, sizeof deep, "%s/p/q/r", directory);
  assert_int_equal(qn_outputs_replace(deep, &output, 1, false, QN_POLL), QN_OK);
  assert_true(has("p/q/r/x", "bytes"));
}

/* ---- Obstructions ------------------------------------------------------------------------------- */

/* The last output can't be replaced: the others are put back, and the text says which and why. */
static void assert_nothing_changes(const char *reason) {
  qn_output_file outputs[3];
  assert_int_equal(replace("new", outputs), QN_ERROR_IO);
  assert_non_null(strstr(qn_error_text(), "/c'"));
  if (!strstr(qn_error_text(), reason)) fail_msg("expected '%s' in: %s", reason, qn_error_text());
  assert_true(has("a", "old a"));
  assert_true(has("b", "old b"));
  for (int i = 0; i < 3; i++) assert_int_equal(outputs[i].state, QN_OUTPUT_STATE_OLD);
}

static void test_C4_a_directory_in_the_way(void **state) {
  (void)state;
  qn_output_file outputs[3];
  write_all_old();
  assert_true(can_run("rm %s/c && mkdir -p %s/c/full", directory, directory));
  assert_nothing_changes("Is a directory");
  assert_int_equal(count_files(), 3);
  assert_true(can_run("rm -r %s/c", directory));
  assert_int_equal(replace("new", outputs), QN_OK);
  assert_all("new");
}

static void test_C4_an_immutable_file_in_the_way(void **state) {
  (void)state;
  qn_output_file outputs[3];
  write_all_old();
  if (!can_run("chattr +i %s/c 2>/dev/null", directory)) skip();
  assert_nothing_changes("Operation not permitted");
  assert_true(has("c", "old c"));
  assert_int_equal(count_files(), 3);
  assert_true(can_run("chattr -i %s/c", directory));
  assert_int_equal(replace("new", outputs), QN_OK);
  assert_all("new");
}

static void test_C4_outputs_that_were_not_there_go_again(void **state) {
  (void)state;
  qn_output_file outputs[3];
  assert_true(can_run("mkdir -p %s/c/full", directory));
  assert_int_equal(replace("new", outputs), QN_ERROR_IO);
  assert_int_equal(count_files(), 1);
}

/* A limit on file sizes stands for a disk that is full: the write itself fails. */
static void test_C4_a_full_disk(void **state) {
  (void)state;
  static char large[100000];
  struct rlimit old, small;
  qn_output_file outputs[2] = {{.name = "a", .bytes = QN_SV("new a")}, {.name = "b", .bytes = {large, sizeof large}}};
  write_all_old();
  signal(SIGXFSZ, SIG_IGN);
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
  small = old;
  small.rlim_cur = 50000;
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
  qn_status status = qn_outputs_replace(directory, outputs, 2, false, QN_POLL);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
  assert_int_equal(status, QN_ERROR_IO);
  assert_non_null(strstr(qn_error_text(), "/b'"));
  assert_all("old");
  assert_int_equal(count_files(), 3);
}

/* A file that is a mount point can be written but not replaced. */
static void test_C4_a_mount_point_is_written_and_read_back(void **state) {
  (void)state;
  qn_output_file outputs[3];
  write_all_old();
  assert_true(can_run("echo mounted > %s/source", directory));
  if (!can_run("mount --bind %s/source %s/c 2>/dev/null", directory, directory)) skip();
  assert_int_equal(replace("new", outputs), QN_OK);
  assert_all("new");
  assert_true(has("source", "new c"));
  assert_true(can_run("umount %s/c", directory));
}

static void test_C4_a_wrong_place_or_name_is_an_argument(void **state) {
  (void)state;
  char path[512];
  qn_output_file twice[2] = {{.name = "x"}, {.name = "x"}}, slash = {.name = "a/b"}, one = {.name = "x"};
  write_all_old();
  snprintf(path, sizeof path, "%s/a", directory);
  assert_int_equal(qn_outputs_replace(path, &one, 1, false, QN_POLL), QN_ERROR_INVALID_ARGUMENT);
  assert_non_null(strstr(qn_error_text(), "not a directory"));
  assert_int_equal(qn_outputs_replace(directory, twice, 2, false, QN_POLL), QN_ERROR_INVALID_ARGUMENT);
  assert_int_equal(qn_outputs_replace(directory, &slash, 1, false, QN_POLL), QN_ERROR_INVALID_ARGUMENT);
  assert_int_equal(count_files(), 3);
}

/* ---- Others ------------------------------------------------------------------------------------- */

static void test_C4_two_builds_wait_for_each_other(void **state) {
  (void)state;
  qn_place place;
  qn_output_file output = {.name = "x", .bytes = QN_SV("bytes")};
  assert_int_equal(qn_place_open(directory, QN_POLL, &place), QN_OK);
  assert_int_equal(qn_outputs_replace(directory, &output, 1, false, 20000000), QN_ERROR_TIMEOUT);
  qn_place_close(&place);
  assert_int_equal(qn_outputs_replace(directory, &output, 1, false, 20000000), QN_OK);
}

/* Eight processes write their own three outputs again and again: what is there is always of one of them. */
static void test_C4_builds_to_one_place_never_mix(void **state) {
  (void)state;
  for (int child = 0; child < 8; child++) {
    if (fork() != 0) continue;
    char text[16];
    int rounds = 0;
    for (; rounds < 20; rounds++) {
      qn_output_file outputs[3];
      snprintf(text, sizeof text, "%d.%d", child, rounds);
      if (replace(text, outputs) != QN_OK && qn_outputs_replace(directory, outputs, 3, false, QN_FOREVER) != QN_OK)
        break;
    }
    _exit(rounds == 20 ? 0 : 1);
  }
  for (int child = 0; child < 8; child++) {
    int status;
    assert_true(wait(&status) > 0);
    assert_int_equal(status, 0);
  }
  qn_bytes bytes = {0};
  char path[512], expected[64];
  snprintf(path, sizeof path, "%s/a", directory);
  assert_int_equal(qn_file_read(path, 64, &bytes), QN_OK);
  snprintf(expected, sizeof expected, "%.*s", (int)bytes.size - 2, bytes.data);
  qn_bytes_free(&bytes);
  assert_all(expected);
  assert_int_equal(count_files(), 3);
}

/* Killed at any moment: each file is old or new, and the next call sweeps. */
static void test_C4_a_kill_leaves_whole_files(void **state) {
  (void)state;
  qn_output_file outputs[3];
  for (int round = 0; round < 60; round++) {
    write_all_old();
    pid_t child = fork();
    if (child == 0) {
      for (;;) {
        (void)!replace("new", outputs);
        (void)!replace("old", outputs);
      }
    }
    usleep((useconds_t)(round * 37 % 2000));
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    for (const char *name = "abc"; *name; name++) {
      char one[2] = {*name, 0}, old[8], new[8];
      snprintf(old, sizeof old, "old %c", *name);
      snprintf(new, sizeof new, "new %c", *name);
      assert_true(has(one, old) || has(one, new));
    }
    assert_int_equal(replace("new", outputs), QN_OK);
    assert_all("new");
    assert_int_equal(count_files(), 3);
  }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
  const struct CMUnitTest tests[] = {
      TEST(test_C4_outputs_are_written_and_replaced),
      TEST(test_C4_an_identical_output_is_left_alone),
      TEST(test_C4_permissions_stay),
      TEST(test_C4_the_directory_is_made),
      TEST(test_C4_a_directory_in_the_way),
      TEST(test_C4_an_immutable_file_in_the_way),
      TEST(test_C4_outputs_that_were_not_there_go_again),
      TEST(test_C4_a_full_disk),
      TEST(test_C4_a_mount_point_is_written_and_read_back),
      TEST(test_C4_a_wrong_place_or_name_is_an_argument),
      TEST(test_C4_two_builds_wait_for_each_other),
      TEST(test_C4_builds_to_one_place_never_mix),
      TEST(test_C4_a_kill_leaves_whole_files),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
