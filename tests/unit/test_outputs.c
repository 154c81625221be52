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
#include "store/undo.h"
#include "support/directory.h"

static int setup(void **state) {
  (void)state;
  return make_directory("outputs") ? 0 : 1;
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

static void test_C4_several_directories_are_one_transaction(void **state) {
  (void)state;
  char other[512], same[512];
  write_all_old();
  snprintf(other, sizeof other, "%s/z/other", directory);
  snprintf(same, sizeof same, "%s/z/..", directory);
  qn_output_file outputs[3] = {{.name = "a", .bytes = QN_SV("new a")},
                               {.name = "a", .bytes = QN_SV("other"), .directory = other},
                               {.name = "b", .bytes = QN_SV("new b"), .directory = same}};
  assert_true(can_run("mkdir -p %s/a/full", other));
  assert_int_equal(qn_outputs_replace(directory, outputs, 3, false, QN_POLL), QN_ERROR_IO);
  assert_non_null(strstr(qn_error_text(), "/z/other/a'"));
  assert_all("old");
  assert_true(can_run("rm -r %s/a", other));
  outputs[2].name = "a"; /* by another way */
  assert_int_equal(qn_outputs_replace(directory, outputs, 3, false, QN_POLL), QN_ERROR_INVALID_ARGUMENT);
  assert_non_null(strstr(qn_error_text(), "two outputs have the name 'a'"));
  outputs[2].name = "b";
  assert_int_equal(qn_outputs_replace(directory, outputs, 3, false, QN_POLL), QN_OK);
  assert_true(has("a", "new a"));
  assert_true(has("b", "new b"));
  assert_true(has("z/other/a", "other"));
  assert_true(can_run("rm -r %s/z", directory));
  assert_int_equal(count_files(), 3);
}

static void test_C4_what_is_no_file_is_not_replaced(void **state) {
  (void)state;
  qn_output_file outputs[3];
  write_all_old();
  assert_true(can_run("rm %s/c && mkfifo %s/c", directory, directory));
  assert_int_equal(replace("new", outputs), QN_ERROR_IO);
  assert_non_null(strstr(qn_error_text(), "/c' can't be replaced: it is a device or a pipe, not a file"));
  assert_true(has("a", "old a"));
  assert_true(can_run("test -p %s/c && ln -sf a %s/c", directory, directory));
  assert_int_equal(replace("new", outputs), QN_OK); /* a link is */
  assert_all("new");
}

static void test_C4_a_link_to_nothing_is_told_as_one(void **state) {
  (void)state;
  char path[512];
  qn_output_file one = {.name = "x"};
  assert_true(can_run("ln -s nowhere %s/dangling && touch %s/plain", directory, directory));
  for (int under = 0; under < 2; under++) {
    snprintf(path, sizeof path, "%s/dangling%s", directory, under ? "/deep" : "");
    assert_int_equal(qn_outputs_replace(path, &one, 1, false, QN_POLL), QN_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(qn_error_text(), "/dangling' is a link to 'nowhere', which is not there"));
  }
  snprintf(path, sizeof path, "%s/plain/deep", directory);
  assert_int_equal(qn_outputs_replace(path, &one, 1, false, QN_POLL), QN_ERROR_INVALID_ARGUMENT);
  assert_non_null(strstr(qn_error_text(), "/plain' is not a directory"));
}

/* ---- Overwritten in place ----------------------------------------------------------------------- */

static const char before_it[] = "the bytes that were there before", after_it[] = "what is new";

static void write_text(const char *name, const char *text) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s", directory, name);
  FILE *to = fopen(path, "w"); /* keeps the inode of what is there */
  assert_non_null(to);
  assert_true(fputs(text, to) >= 0);
  assert_int_equal(fclose(to), 0);
}

/* What a process leaves that dies while it overwrites "m": the record, and some bytes. */
static void die_while_overwriting(const char *left) {
  qn_place place;
  char record[QN_PLACE_NAME];
  write_text("m", before_it);
  assert_int_equal(qn_place_open(directory, &place), QN_OK);
  assert_int_equal(qn_place_lock(&place, QN_POLL), QN_OK);
  assert_int_equal(qn_undo_record(&place, "m", qn_sv_from(after_it), record), QN_OK);
  write_text("m", left);
  qn_place_close(&place);
}

static void build_something_else(void) {
  qn_output_file output = {.name = "x", .bytes = QN_SV("bytes")};
  assert_int_equal(qn_outputs_replace(directory, &output, 1, false, QN_POLL), QN_OK);
}

static void test_C4_a_torn_file_is_put_back_by_the_next_build(void **state) {
  (void)state;
  char left[64];
  for (size_t new_bytes = 0; new_bytes <= strlen(after_it); new_bytes++)
    for (int cut = 0; cut < 2; cut++) {
      snprintf(left, sizeof left, "%.*s%s", (int)new_bytes, after_it, cut ? "" : before_it + new_bytes);
      die_while_overwriting(left);
      build_something_else();
      /* Whole new bytes may stay: the dead one had come to its end with this file. */
      assert_true(has("m", before_it) || (has("m", after_it) && new_bytes == strlen(after_it) && cut));
      assert_int_equal(count_files(), 2);
    }
}

static void test_C4_what_others_wrote_since_is_left_alone(void **state) {
  (void)state;
  static const char *const others[] = {"somebody else's own words", "the bytes that were there before, and more"};
  for (int i = 0; i < 2; i++) {
    die_while_overwriting(others[i]);
    build_something_else();
    assert_true(has("m", others[i]));
    assert_int_equal(count_files(), 2);
  }
}

/* The torn file isn't there: what is now has its name, and isn't touched. The record waits, until the name is written. */
static void test_C4_a_record_waits_for_its_file(void **state) {
  (void)state;
  qn_output_file output = {.name = "m", .bytes = QN_SV("a build's")};
  die_while_overwriting("what");
  assert_true(can_run("cd %s && mv m away && touch m", directory));
  build_something_else();
  assert_true(has("m", ""));
  assert_int_equal(count_files(), 4);
  assert_true(can_run("cd %s && mv away m", directory));
  build_something_else();
  assert_true(has("m", before_it));
  assert_int_equal(count_files(), 2);
  die_while_overwriting("what");
  assert_true(can_run("cd %s && rm m && echo another > m", directory));
  assert_int_equal(qn_outputs_replace(directory, &output, 1, false, QN_POLL), QN_OK);
  assert_true(has("m", "a build's"));
  assert_int_equal(count_files(), 2);
}

static void test_C4_a_record_that_is_damaged_or_of_another_user_changes_nothing(void **state) {
  (void)state;
  for (int of_other = 0; of_other < 2; of_other++) {
    if (of_other && geteuid() != 0) break;
    die_while_overwriting("what");
    assert_true(
        can_run(of_other ? "chown 12345 %s/.quern-output-u*" : "for f in %s/.quern-output-u*; do echo x >> $f; done",
                directory));
    build_something_else();
    assert_true(has("m", "what"));
    assert_int_equal(count_files(), 2 + of_other);
  }
}

/* ---- Others' files ------------------------------------------------------------------------------ */

static void test_C4_only_its_own_files_are_swept(void **state) {
  (void)state;
  char mine[QN_PLACE_NAME], near_miss[QN_PLACE_NAME];
  qn_place_name_make(QN_PLACE_TEMPORARY, mine);
  snprintf(near_miss, sizeof near_miss, "%s", mine);
  near_miss[strlen(near_miss) - 1] ^= 1;
  assert_true(can_run("cd %s && touch %s '%s' .quern-output-notes .quern-output-1-1 .quern-output-t0-0 %s.txt",
                      directory, mine, near_miss, mine));
  qn_place_name_make(QN_PLACE_TEMPORARY, mine);
  assert_true(can_run("mkdir %s/%s", directory, mine)); /* and no directory */
  build_something_else();
  assert_int_equal(count_files(), 7);
  assert_true(has(near_miss, ""));
}

static void test_C4_names_differ_and_are_known_again(void **state) {
  (void)state;
  char a[QN_PLACE_NAME], b[QN_PLACE_NAME];
  for (int i = 0; i < 1000; i++) {
    qn_place_name_make(QN_PLACE_TEMPORARY, a);
    qn_place_name_make(QN_PLACE_TEMPORARY, b);
    assert_string_not_equal(a, b);
    assert_true(qn_place_name_is(a, QN_PLACE_TEMPORARY));
    assert_false(qn_place_name_is(a, QN_PLACE_UNDO));
    a[14] = 'u'; /* the other use's letter */
    assert_false(qn_place_name_is(a, QN_PLACE_UNDO));
  }
}

/* ---- Others ------------------------------------------------------------------------------------- */

static void test_C4_two_builds_wait_for_each_other(void **state) {
  (void)state;
  qn_place place;
  qn_output_file output = {.name = "x", .bytes = QN_SV("bytes")};
  assert_int_equal(qn_place_open(directory, &place), QN_OK);
  assert_int_equal(qn_place_lock(&place, QN_POLL), QN_OK);
  assert_int_equal(qn_outputs_replace(directory, &output, 1, false, 20000000), QN_ERROR_TIMEOUT);
  char holder[64];
  snprintf(holder, sizeof holder, "process %ld (test_outputs)", (long)getpid());
  assert_non_null(strstr(qn_error_text(), holder));
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
      TEST(test_C4_several_directories_are_one_transaction),
      TEST(test_C4_what_is_no_file_is_not_replaced),
      TEST(test_C4_a_link_to_nothing_is_told_as_one),
      TEST(test_C4_a_torn_file_is_put_back_by_the_next_build),
      TEST(test_C4_what_others_wrote_since_is_left_alone),
      TEST(test_C4_a_record_waits_for_its_file),
      TEST(test_C4_a_record_that_is_damaged_or_of_another_user_changes_nothing),
      TEST(test_C4_only_its_own_files_are_swept),
      TEST(test_C4_names_differ_and_are_known_again),
      TEST(test_C4_two_builds_wait_for_each_other),
      TEST(test_C4_builds_to_one_place_never_mix),
      TEST(test_C4_a_kill_leaves_whole_files),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
