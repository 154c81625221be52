/* Looking after the store: what is in it, pruning without a look into it, other formats, what can't be removed, taking entries in. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
/* cmocka asks for some of the above. */
#include <cmocka.h>

#include <blake2.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os/clock.h"
#include "base/os/files.h"
#include "base/os/lock_holder.h"
#include "base/status.h"
#include "store/transfer.h"
#include "support/rounds.h"
#include "support/store_fixture.h"

static int setup(void **state) {
  (void)state;
  if (!make_directory("upkeep")) return 1;
  open_store(QN_STORE_WRITE, 0);
  return 0;
}

static int teardown(void **state) {
  (void)state;
  (void)can_run("chattr -R -i %s 2>/dev/null", directory);
  return can_run("rm -rf %s", directory) ? 0 : 1;
}

static qn_store_answer look_up(uint64_t number) {
  const qn_key key = key_of(number);
  qn_bytes out = {0};
  qn_store_answer answer = qn_store_get(&store, &key, QN_ENTRY_PROGRAM, "test", &out);
  qn_bytes_free(&out);
  return answer;
}

static void path_of(uint64_t number, char *out, size_t capacity) {
  const qn_key key = key_of(number);
  assert_true(qn_store_entry_path(&store, &key, QN_ENTRY_PROGRAM, out, capacity));
}

/* ---- What there is ------------------------------------------------------------------------------ */

static void test_C5_a_summary_has_kinds_sizes_and_ages(void **state) {
  (void)state;
  char path[4096];
  qn_store_summary summary;
  assert_int_equal(qn_store_summarize(&store, &summary), QN_OK);
  assert_int_equal(summary.oldest_ns, 0);
  assert_int_equal(summary.newest_ns, 0);
  uint64_t before = qn_clock_wall_ns();
  for (uint64_t i = 1; i <= 3; i++) assert_true(store_random(i, QN_ENTRY_PROGRAM, 500));
  assert_true(store_random(4, QN_ENTRY_MANIFEST, 500));
  for (uint64_t i = 5; i <= 6; i++) assert_true(store_random(i, QN_ENTRY_ARTIFACT, 1000));
  path_of(2, path, sizeof path);
  assert_int_equal(qn_file_set_time(path, UINT64_C(5000000000)), QN_OK);
  assert_int_equal(qn_store_summarize(&store, &summary), QN_OK);
  assert_int_equal(summary.kinds[QN_ENTRY_PROGRAM].entries, 3);
  assert_int_equal(summary.kinds[QN_ENTRY_MANIFEST].entries, 1);
  assert_int_equal(summary.kinds[QN_ENTRY_ARTIFACT].entries, 2);
  assert_int_equal(summary.kinds[QN_ENTRY_PROGRAM].bytes, 3 * summary.kinds[QN_ENTRY_MANIFEST].bytes);
  assert_int_equal(summary.kinds[QN_ENTRY_PROGRAM].bytes + summary.kinds[QN_ENTRY_MANIFEST].bytes +
                       summary.kinds[QN_ENTRY_ARTIFACT].bytes,
                   counted(QN_COUNT_BYTES));
  assert_int_equal(summary.oldest_ns, UINT64_C(5000000000));
  assert_true(summary.newest_ns >= before && summary.newest_ns <= qn_clock_wall_ns() + 1000000000);
}

/* ---- Formats ------------------------------------------------------------------------------------ */

/* A sound entry of a version that is to come, or was: a miss with its reason, and replaced. */
static void test_C3_an_entry_of_another_format_is_a_miss_and_is_replaced(void **state) {
  (void)state;
  char path[4096];
  qn_bytes file = {0};
  assert_true(store_random(1, QN_ENTRY_PROGRAM, 500));
  path_of(1, path, sizeof path);
  for (uint32_t version = 0; version < 4; version++) {
    if (version == QN_ENTRY_VERSION) continue;
    qn_bytes_free(&file);
    assert_int_equal(qn_file_read(path, 65536, &file), QN_OK);
    memcpy(file.data + 8, &version, sizeof version);
    blake2b_state sum; /* with a checksum that is right */
    blake2b_init(&sum, 32);
    blake2b_update(&sum, (const uint8_t *)file.data, 72);
    blake2b_update(&sum, (const uint8_t *)file.data + 104, file.size - 104);
    blake2b_final(&sum, (uint8_t *)file.data + 72, 32);
    assert_int_equal(qn_file_write(path, file.data, file.size), QN_OK);
    int64_t before = counted(QN_COUNT_MISSES_VERSION);
    assert_int_equal(look_up(1), QN_STORE_OTHER_VERSION);
    assert_int_equal(counted(QN_COUNT_MISSES_VERSION), before + 1);
    assert_int_equal(counted(QN_COUNT_ENTRIES), 0);
    assert_true(store_random(1, QN_ENTRY_PROGRAM, 500));
    assert_int_equal(look_up(1), QN_STORE_HIT);
  }
  qn_bytes_free(&file);
}

/* ---- Pruning ------------------------------------------------------------------------------------ */

/* Entries whose bodies nobody could read in a lifetime: holes of a tebibyte. */
static void test_C3_pruning_reads_no_entry(void **state) {
  (void)state;
  enum { ENTRIES = 500 };
  const uint64_t hole = UINT64_C(1) << 40;
  char path[4096];
  qn_store_kept kept;
  assert_true(store_random(0, QN_ENTRY_PROGRAM, 10));
  for (uint64_t i = 1; i <= ENTRIES; i++) {
    path_of(i, path, sizeof path);
    *strrchr(path, '/') = '\0';
    assert_int_equal(qn_directory_make(path), QN_OK);
    path_of(i, path, sizeof path);
    int file = open(path, O_WRONLY | O_CREAT, 0666);
    assert_true(file >= 0);
    if (ftruncate(file, (off_t)hole) != 0) {
      close(file);
      skip(); /* a file system without such files */
    }
    close(file);
    assert_int_equal(qn_file_set_time(path, i), QN_OK);
  }
  uint64_t start = qn_clock_ns();
  assert_int_equal(qn_store_prune(&store, 100 * hole + 100000, QN_POLL, &kept), QN_OK);
  assert_int_equal(kept.removed_entries, ENTRIES - 100);
  assert_int_equal(kept.entries, 101);
  assert_true(qn_clock_ns() - start < UINT64_C(10000000000));
  path_of(ENTRIES - 100, path, sizeof path);
  assert_false(qn_file_exists(path));
  path_of(ENTRIES - 99, path, sizeof path);
  assert_true(qn_file_exists(path));
}

static void test_C3_what_cannot_be_removed_is_told(void **state) {
  (void)state;
  char path[4096];
  qn_store_kept kept;
  for (uint64_t i = 1; i <= 5; i++) assert_true(store_random(i, QN_ENTRY_PROGRAM, 500));
  path_of(3, path, sizeof path);
  if (!can_run("chattr +i %s 2>/dev/null", path)) skip();
  assert_int_equal(qn_store_clear(&store, &kept), QN_ERROR_IO);
  assert_non_null(strstr(qn_error_text(), "1 entries of"));
  assert_non_null(strstr(qn_error_text(), "Operation not permitted"));
  assert_int_equal(kept.removed_entries, 4);
  assert_int_equal(counted(QN_COUNT_ENTRIES), 1);
  assert_true(can_run("chattr -i %s", path));
  assert_int_equal(qn_store_clear(&store, &kept), QN_OK);
  assert_int_equal(counted(QN_COUNT_ENTRIES), 0);
}

/* ---- A large store ------------------------------------------------------------------------------ */

/* Files that are entries, without the sync that makes filling slow. */
static void fill(uint64_t entries) {
  for (uint64_t i = 0; i < entries; i++) {
    char path[4096], body[64];
    qn_bytes entry = {0};
    qn_entry_info info = {.key = key_of(i), .kind = QN_ENTRY_PROGRAM};
    memset(body, (int)i, sizeof body);
    assert_true(qn_entry_pack(&info, qn_sv_make(body, sizeof body), &entry));
    path_of(i, path, sizeof path);
    int file = open(path, O_WRONLY | O_CREAT, 0666);
    if (file < 0) {
      *strrchr(path, '/') = '\0';
      assert_int_equal(qn_directory_make(path), QN_OK);
      path_of(i, path, sizeof path);
      file = open(path, O_WRONLY | O_CREAT, 0666);
    }
    assert_int_equal(write(file, entry.data, entry.size), (ssize_t)entry.size);
    close(file);
    qn_bytes_free(&entry);
  }
}

static int by_value(const void *a, const void *b) {
  const uint64_t *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

/* The best of some medians: what the machine does beside is no matter of the store's. */
static uint64_t hit_time(uint64_t entries) {
  enum { ROUNDS = 10, HITS = 101 };
  uint64_t best = UINT64_MAX;
  for (int round = 0; round < ROUNDS; round++) {
    uint64_t times[HITS];
    for (uint64_t i = 0; i < HITS; i++) {
      uint64_t start = qn_clock_ns();
      assert_int_equal(look_up((i * 7919 + (uint64_t)round * 104729) % entries), QN_STORE_HIT);
      times[i] = qn_clock_ns() - start;
    }
    qsort(times, HITS, sizeof *times, by_value);
    if (times[HITS / 2] < best) best = times[HITS / 2];
  }
  return best;
}

static void test_C3_a_large_store_answers_a_hit_at_once(void **state) {
  (void)state;
  qn_store_kept kept;
  uint64_t entries = test_rounds("entries in a large store", 5000, 100000);
  fill(entries);
  uint64_t ns = hit_time(entries);
  uint64_t start = qn_clock_ns();
  assert_int_equal(qn_store_prune(&store, UINT64_MAX, QN_POLL, &kept), QN_OK);
  printf("measured: a hit among %llu entries %.1f us, pruning nothing %.1f ms\n", (unsigned long long)entries,
         (double)ns / 1e3, (double)(qn_clock_ns() - start) / 1e6);
  assert_int_equal(kept.entries, entries);
  assert_true(ns < 200000);
  assert_int_equal(qn_store_prune(&store, kept.bytes / 2, QN_POLL, &kept), QN_OK);
  assert_in_range(kept.entries, entries / 2 - 1, entries / 2);
}

/* ---- To other machines -------------------------------------------------------------------------- */

static void export_some(const char *name, uint64_t first, uint64_t count, size_t size, char path[512]) {
  uint64_t exported = 0;
  qn_store_kept kept;
  for (uint64_t i = 0; i < count; i++) assert_true(store_random(first + i, QN_ENTRY_PROGRAM, size));
  snprintf(path, 512, "%s/%s", directory, name);
  assert_int_equal(qn_store_export(&store, path, NULL, 0, &exported), QN_OK);
  assert_int_equal(exported, count);
  assert_int_equal(qn_store_clear(&store, &kept), QN_OK);
}

/* What is taken in stays; what is older goes. */
static void test_import_keeps_what_it_takes_in(void **state) {
  (void)state;
  char path[512];
  uint64_t imported = 0, size = 0;
  qn_file_info info;
  export_some("some.qnc", 1, 10, 1000, path);
  assert_int_equal(qn_file_query(path, &info), QN_OK);
  size = info.size_bytes; /* a little more than its entries */
  open_store(QN_STORE_WRITE, size);
  for (uint64_t i = 100; i < 108; i++) assert_true(store_random(i, QN_ENTRY_PROGRAM, 1000));
  assert_int_equal(qn_store_import(&store, path, &imported), QN_OK);
  assert_int_equal(imported, 10);
  for (uint64_t i = 1; i <= 10; i++) assert_int_equal(look_up(i), QN_STORE_HIT);
  assert_int_equal(counted(QN_COUNT_EVICTIONS), 8); /* all older ones */
  assert_int_equal(counted(QN_COUNT_CLEARED), 10);
  assert_true(counted(QN_COUNT_BYTES) <= (int64_t)size);
}

static void test_import_of_more_than_the_cache_may_have_is_refused(void **state) {
  (void)state;
  char path[512];
  uint64_t imported = 0;
  export_some("some.qnc", 1, 10, 1000, path);
  open_store(QN_STORE_WRITE, 8000);
  assert_true(store_random(100, QN_ENTRY_PROGRAM, 1000));
  assert_int_equal(qn_store_import(&store, path, &imported), QN_ERROR_LIMIT);
  assert_non_null(strstr(qn_error_text(), "the cache may have 8000; QUERN_CACHE_MAX_SIZE"));
  assert_int_equal(counted(QN_COUNT_IMPORTS), 0);
  assert_int_equal(look_up(100), QN_STORE_HIT);
  assert_int_equal(look_up(1), QN_STORE_ABSENT);
}

static void test_export_to_a_link_to_nothing_is_told(void **state) {
  (void)state;
  char path[512];
  uint64_t exported = 0;
  snprintf(path, sizeof path, "%s/link", directory);
  assert_int_equal(symlink("nowhere/at-all", path), 0);
  assert_int_equal(qn_store_export(&store, path, NULL, 0, &exported), QN_ERROR_IO);
  assert_non_null(
      strstr(qn_error_text(), "/link' can't be written: it is a link to 'nowhere/at-all', which is not there"));
}

/* ---- Locks -------------------------------------------------------------------------------------- */

static void test_C1_a_lock_names_its_holder(void **state) {
  (void)state;
  const qn_key key = key_of(1);
  char path[512], holder[128], expected[64];
  qn_file_lock lock;
  uint64_t byte = 0;
  for (int i = 0; i < 6; i++) byte = byte << 8 | key.bytes[i];
  assert_true(qn_store_lock(&store, &key, QN_POLL, &lock));
  snprintf(path, sizeof path, "%s/v1/locks", directory);
  snprintf(expected, sizeof expected, "process %ld (test_store_upke)", (long)getpid()); /* names have 15 letters */
  qn_lock_holder(path, byte + 1, holder, sizeof holder);
  assert_string_equal(holder, expected);
  qn_lock_holder(path, byte + 2, holder, sizeof holder);
  assert_string_equal(holder, "another process");
  qn_file_lock_give(&lock);
  qn_lock_holder(path, byte + 1, holder, sizeof holder);
  assert_string_equal(holder, "another process");
}

/* The time limit is kept while the holder lives, and the holder's death gives the lock back at once. */
static void test_C1_a_lock_has_a_time_limit_and_dies_with_its_holder(void **state) {
  (void)state;
  const qn_key key = key_of(1);
  int ready[2], status;
  char byte;
  qn_file_lock lock;
  assert_int_equal(pipe(ready), 0);
  pid_t child = fork();
  if (child == 0) {
    if (!qn_store_lock(&store, &key, QN_POLL, &lock)) _exit(1);
    (void)!write(ready[1], "x", 1);
    pause();
  }
  assert_int_equal(read(ready[0], &byte, 1), 1);
  uint64_t start = qn_clock_ns();
  assert_false(qn_store_lock(&store, &key, 50000000, &lock));
  assert_in_range(qn_clock_ns() - start, 50000000, UINT64_C(5000000000));
  kill(child, SIGKILL);
  assert_int_equal(waitpid(child, &status, 0), child);
  start = qn_clock_ns();
  assert_true(qn_store_lock(&store, &key, UINT64_C(30000000000), &lock));
  assert_true(qn_clock_ns() - start < UINT64_C(1000000000));
  qn_file_lock_give(&lock);
  close(ready[0]);
  close(ready[1]);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
  const struct CMUnitTest tests[] = {
      TEST(test_C5_a_summary_has_kinds_sizes_and_ages),
      TEST(test_C3_an_entry_of_another_format_is_a_miss_and_is_replaced),
      TEST(test_C3_pruning_reads_no_entry),
      TEST(test_C3_what_cannot_be_removed_is_told),
      TEST(test_C3_a_large_store_answers_a_hit_at_once),
      TEST(test_import_keeps_what_it_takes_in),
      TEST(test_import_of_more_than_the_cache_may_have_is_refused),
      TEST(test_export_to_a_link_to_nothing_is_told),
      TEST(test_C1_a_lock_names_its_holder),
      TEST(test_C1_a_lock_has_a_time_limit_and_dies_with_its_holder),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
