/* A process that stores is killed at every one of its system calls in turn (C3): whoever comes next finds the right bytes or none,
 * and can store. The kernel stops the process at each call; nothing is left out, whatever library makes it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
/* cmocka asks for some of the above. */
#include <cmocka.h>
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os/files.h"
#include "support/rounds.h"
#include "support/store_fixture.h"

/* Bytes that zstd makes little of, and that say whose they are. */
static void body_of(uint64_t number, char out[600]) {
  for (uint64_t i = 0, x = number + 1; i < 600; i++) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    out[i] = (char)(x >> 56);
  }
}

static bool put(uint64_t number) {
  char body[600];
  const qn_key key = key_of(number);
  body_of(number, body);
  return qn_store_put(&store, &key, QN_ENTRY_PROGRAM, "kill", qn_sv_make(body, sizeof body));
}

/* Absent, or right. */
static bool is_there(uint64_t number) {
  char body[600];
  const qn_key key = key_of(number);
  qn_bytes out = {0};
  body_of(number, body);
  qn_store_answer answer = qn_store_get(&store, &key, QN_ENTRY_PROGRAM, "kill", &out);
  assert_true(answer == QN_STORE_HIT || answer == QN_STORE_ABSENT);
  if (answer == QN_STORE_HIT) {
    assert_int_equal(out.size, sizeof body);
    assert_memory_equal(out.data, body, sizeof body);
  }
  qn_bytes_free(&out);
  return answer == QN_STORE_HIT;
}

static size_t count_staged(void) {
  char path[512];
  size_t count = 0;
  snprintf(path, sizeof path, "%s/v1/new", directory);
  DIR *opened = opendir(path);
  for (struct dirent *entry = opened ? readdir(opened) : NULL; entry; entry = readdir(opened))
    count += entry->d_name[0] == '.' && strlen(entry->d_name) > 2;
  if (opened) closedir(opened);
  return count;
}

/* ---- The process that dies ---------------------------------------------------------------------- */

static void live(void (*work)(void)) {
  ptrace(PTRACE_TRACEME, 0, NULL, NULL);
  raise(SIGSTOP);
  work();
  _exit(0);
}

/* Runs `work` in a child that is killed at its `stop`th stop: before and after each system call. False: it came to its end. */
static bool is_killed_at(uint32_t stop, void (*work)(void)) {
  int status;
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) live(work);
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFSTOPPED(status));
  for (uint32_t i = 0; i < stop; i++) {
    assert_int_equal(ptrace(PTRACE_SYSCALL, child, NULL, NULL), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFSTOPPED(status)) continue;
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return false;
  }
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
  return true;
}

static void each_call(const char *what, void (*before)(void), void (*work)(void), void (*after)(void)) {
  uint32_t stop = 1, step = (uint32_t)test_rounds("system calls to be killed at: one in", 3, 1) * 2;
  for (;; stop += step) {
    run("rm -rf %s/v1", directory);
    before();
    bool killed = is_killed_at(stop, work);
    after();
    if (!killed) break;
  }
  print_message("rounds: %s, killed at each of %u system calls\n", what, stop / step);
  assert_true(stop / 2 > 15);
}

/* ---- What it does ------------------------------------------------------------------------------- */

static void check_sound(void) {
  qn_store_kept kept;
  assert_int_equal(qn_store_verify(&store, &kept), QN_OK);
  assert_int_equal(kept.removed_entries, 0);
  assert_int_equal(count_staged(), 0); /* verifying sweeps */
}

static void nothing_before(void) { open_store(QN_STORE_WRITE, 0); }
static void store_two(void) {
  (void)put(1);
  (void)put(2);
}
static void find_two(void) {
  (void)is_there(1);
  (void)is_there(2);
  check_sound();
  assert_true(put(1) && put(2));
  assert_true(is_there(1) && is_there(2));
  check_sound();
}

static void test_C3_a_cold_store_killed_at_each_system_call(void **state) {
  (void)state;
  each_call("a store into an empty cache", nothing_before, store_two, find_two);
}

static void some_before(void) {
  open_store(QN_STORE_WRITE, 0);
  for (uint64_t i = 10; i < 14; i++) assert_true(put(i));
  open_store(QN_STORE_WRITE, 3000); /* one more is too much: the oldest go */
}
static void store_one(void) { (void)put(14); }
static void find_some(void) {
  char path[512];
  qn_counters counters;
  qn_store_kept kept;
  for (uint64_t i = 10; i < 15; i++) (void)is_there(i);
  check_sound();
  assert_true(put(15) && is_there(15));
  assert_int_equal(qn_store_prune(&store, 3000, QN_POLL, &kept), QN_OK);
  assert_true(kept.bytes <= 3000);
  snprintf(path, sizeof path, "%s/v1/counters", directory);
  assert_int_equal(qn_counters_read(path, &counters), QN_OK);
  assert_int_equal(counters.values[QN_COUNT_BYTES], kept.bytes); /* counted anew */
  check_sound();
}

static void test_C3_a_store_that_evicts_killed_at_each_system_call(void **state) {
  (void)state;
  each_call("a store that evicts", some_before, store_one, find_some);
}

static void clear_all(void) {
  qn_store_kept kept;
  (void)!qn_store_clear(&store, &kept);
}

static void test_C3_clearing_killed_at_each_system_call(void **state) {
  (void)state;
  each_call("clearing", some_before, clear_all, find_some);
}

int main(void) {
  if (!make_directory("kill")) return 1;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_C3_a_cold_store_killed_at_each_system_call),
      cmocka_unit_test(test_C3_a_store_that_evicts_killed_at_each_system_call),
      cmocka_unit_test(test_C3_clearing_killed_at_each_system_call),
  };
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  run("rm -rf %s", directory);
  return failed;
}
