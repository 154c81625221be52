/* labels: threads */
/* The artifact store on disk: what it gives back, whatever has happened to its directory. */
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
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os/files.h"
#include "base/os/stage.h"
#include "base/status.h"
#include "support/store_fixture.h"

static int setup(void **state) {
  (void)state;
  if (!make_directory("store")) return 1;
  open_store(QN_STORE_WRITE, 0);
  return 0;
}

static int teardown(void **state) {
  (void)state;
  run("chmod -R u+rwx %s; rm -rf %s", directory, directory);
  return 0;
}

static void put_text(uint64_t number, const char *text) {
  const qn_key key = key_of(number);
  assert_true(qn_store_put(&store, &key, QN_ENTRY_PROGRAM, "test", qn_sv_from(text)));
}

static qn_store_answer look_up(uint64_t number, const char *expected) {
  const qn_key key = key_of(number);
  qn_bytes out = {0};
  qn_store_answer answer = qn_store_get(&store, &key, QN_ENTRY_PROGRAM, "test", &out);
  if (answer == QN_STORE_HIT) {
    assert_int_equal(out.size, strlen(expected));
    assert_memory_equal(out.data, expected, out.size);
  } else {
    assert_int_equal(out.size, 0);
  }
  qn_bytes_free(&out);
  return answer;
}

static void path_of(uint64_t number, char *out, size_t capacity) {
  const qn_key key = key_of(number);
  assert_true(qn_store_entry_path(&store, &key, QN_ENTRY_PROGRAM, out, capacity));
}

static void set_bytes(const char *path, off_t at, const void *bytes, size_t size) {
  int file = open(path, O_WRONLY);
  assert_true(file >= 0);
  assert_int_equal(pwrite(file, bytes, size, at), (ssize_t)size);
  close(file);
}

/* ---- C3 ----------------------------------------------------------------------------------------- */

static void test_C3_what_was_stored_is_found(void **state) {
  (void)state;
  assert_int_equal(look_up(1, ""), QN_STORE_ABSENT);
  put_text(1, "one");
  put_text(2, "");
  assert_int_equal(look_up(1, "one"), QN_STORE_HIT);
  assert_int_equal(look_up(2, ""), QN_STORE_HIT);
  put_text(1, "another one");
  assert_int_equal(look_up(1, "another one"), QN_STORE_HIT);
  assert_int_equal(counted(QN_COUNT_HITS), 3);
  assert_int_equal(counted(QN_COUNT_MISSES_ABSENT), 1);
  assert_int_equal(counted(QN_COUNT_STORES), 3);
  assert_int_equal(counted(QN_COUNT_ENTRIES), 2);
}

static void test_C3_large_bodies_are_made_smaller_and_come_back_whole(void **state) {
  (void)state;
  size_t size = 1 << 20;
  char *text = malloc(size + 1), path[4096];
  qn_file_info info;
  for (size_t i = 0; i < size; i++) text[i] = (char)('a' + i % 17);
  text[size] = '\0';
  put_text(1, text);
  assert_int_equal(look_up(1, text), QN_STORE_HIT);
  path_of(1, path, sizeof path);
  assert_int_equal(qn_file_query(path, &info), QN_OK);
  assert_true(info.size_bytes < size / 10);
  free(text);
}

static void test_C3_kinds_never_meet(void **state) {
  (void)state;
  const qn_key key = key_of(1);
  qn_bytes out = {0};
  put_text(1, "a program");
  assert_int_equal(qn_store_get(&store, &key, QN_ENTRY_MANIFEST, "test", &out), QN_STORE_ABSENT);
  qn_bytes_free(&out);
}

/* Every byte flipped, every length cut: a miss, which heals. */
static void test_C3_a_damaged_entry_is_a_miss_and_is_replaced(void **state) {
  (void)state;
  char path[4096];
  qn_bytes whole = {0};
  put_text(7, "some bytes that matter, and some bytes more");
  path_of(7, path, sizeof path);
  assert_int_equal(qn_file_read(path, 1 << 20, &whole), QN_OK);
  int64_t damaged = 0;
  for (size_t i = 0; i < whole.size; i++) {
    char flipped = (char)(whole.data[i] ^ (1 << (i % 8)));
    set_bytes(path, (off_t)i, &flipped, 1);
    qn_store_answer answer = look_up(7, "");
    assert_true(answer == QN_STORE_DAMAGED || answer == QN_STORE_OTHER_VERSION);
    damaged += answer == QN_STORE_DAMAGED;
    assert_false(qn_file_exists(path));
    put_text(7, "some bytes that matter, and some bytes more");
  }
  for (size_t i = 0; i < whole.size; i++) {
    assert_int_equal(truncate(path, (off_t)i), 0);
    assert_int_equal(look_up(7, ""), QN_STORE_DAMAGED);
    put_text(7, "some bytes that matter, and some bytes more");
    damaged++;
  }
  assert_int_equal(counted(QN_COUNT_MISSES_DAMAGED), damaged);
  assert_int_equal(counted(QN_COUNT_ENTRIES), 1);
  assert_int_equal(look_up(7, "some bytes that matter, and some bytes more"), QN_STORE_HIT);
  qn_bytes_free(&whole);
}

static void test_C3_a_sound_entry_under_a_wrong_name_is_a_miss(void **state) {
  (void)state;
  char one[4096], two[4096];
  put_text(1, "one");
  put_text(2, "two");
  path_of(1, one, sizeof one);
  path_of(2, two, sizeof two);
  run("cp %s %s", one, two);
  assert_int_equal(look_up(2, ""), QN_STORE_DAMAGED);
  assert_int_equal(look_up(1, "one"), QN_STORE_HIT);
}

static void test_C3_modes(void **state) {
  (void)state;
  put_text(1, "one");
  open_store(QN_STORE_READ, 0);
  const qn_key two = key_of(2), one = key_of(1);
  assert_int_equal(look_up(1, "one"), QN_STORE_HIT);
  assert_false(qn_store_put(&store, &two, QN_ENTRY_PROGRAM, "", QN_SV("two")));
  open_store(QN_STORE_RECACHE, 0);
  assert_int_equal(look_up(1, ""), QN_STORE_RECACHED);
  assert_true(qn_store_put(&store, &one, QN_ENTRY_PROGRAM, "", QN_SV("uno")));
  open_store(QN_STORE_OFF, 0);
  assert_int_equal(look_up(1, ""), QN_STORE_UNUSED);
  open_store(QN_STORE_WRITE, 0);
  assert_int_equal(look_up(1, "uno"), QN_STORE_HIT);
  assert_int_equal(look_up(2, ""), QN_STORE_ABSENT);
}

/* Root may write anywhere, so the directory is made a file and taken away instead. */
static void test_C3_an_unusable_directory_costs_no_result(void **state) {
  (void)state;
  const qn_key key = key_of(1);
  run("rm -rf %s && touch %s", directory, directory);
  assert_false(qn_store_put(&store, &key, QN_ENTRY_PROGRAM, "", QN_SV("one")));
  assert_int_equal(look_up(1, ""), QN_STORE_ABSENT);
  run("rm %s", directory);
  assert_int_equal(look_up(1, ""), QN_STORE_ABSENT);
  put_text(1, "one"); /* made again */
  assert_int_equal(look_up(1, "one"), QN_STORE_HIT);
  assert_string_equal(qn_error_text(), "");
}

static void test_C3_what_dead_writers_left_is_swept(void **state) {
  (void)state;
  char path[512];
  qn_stage living;
  qn_store_kept kept;
  put_text(1, "one");
  snprintf(path, sizeof path, "%s/v1/new", directory);
  run("touch %s/.quern-1-1.tmp %s/.quern-2-2.tmp %s/unknown", path, path, path);
  assert_int_equal(qn_stage_open(path, &living), QN_OK);
  assert_int_equal(qn_store_prune(&store, UINT64_MAX, QN_POLL, &kept), QN_OK);
  assert_int_equal(kept.swept, 2);
  assert_true(qn_file_exists(living.path));
  qn_stage_discard(&living);
  assert_int_equal(counted(QN_COUNT_SWEPT), 2);
}

/* ---- Size --------------------------------------------------------------------------------------- */

static uint64_t real_size(void) {
  qn_store_kept kept;
  assert_int_equal(qn_store_prune(&store, UINT64_MAX, QN_POLL, &kept), QN_OK);
  return kept.bytes;
}

static bool is_there(uint64_t number) {
  char path[4096];
  path_of(number, path, sizeof path);
  return qn_file_exists(path);
}

static void test_C3_the_size_is_kept_and_what_was_used_longest_ago_goes(void **state) {
  (void)state;
  open_store(QN_STORE_WRITE, 100000);
  for (uint64_t i = 1; i <= 300; i++) {
    assert_true(store_random(i, QN_ENTRY_PROGRAM, 1000));
    assert_true(counted(QN_COUNT_BYTES) <= 105000);
    if (i > 1) {
      const qn_key first = key_of(1);
      qn_bytes out = {0};
      assert_int_equal(qn_store_get(&store, &first, QN_ENTRY_PROGRAM, "test", &out),
                       QN_STORE_HIT); /* used all the time */
      qn_bytes_free(&out);
    }
  }
  uint64_t size = real_size();
  assert_int_equal(size, counted(QN_COUNT_BYTES));
  assert_in_range(size, 85000, 105000);
  assert_true(is_there(1));
  assert_true(is_there(300));
  assert_false(is_there(2));
  assert_int_equal(counted(QN_COUNT_ENTRIES) + counted(QN_COUNT_EVICTIONS), 300);
}

/* Puts the store's clock a year ahead, as if the system's clock had been there and was set right since. */
static void set_clock_ahead(void) {
  char path[512];
  qn_bytes page = {0};
  uint64_t clock;
  snprintf(path, sizeof path, "%s/v1/counters", directory);
  assert_int_equal(qn_file_read(path, 4096, &page), QN_OK);
  memcpy(&clock, page.data + 16, sizeof clock);
  clock += UINT64_C(31536000000000000);
  memcpy(page.data + 16, &clock, sizeof clock);
  blake2b((uint8_t *)page.data + page.size - 8, page.data, NULL, 8, page.size - 8, 0);
  set_bytes(path, 0, page.data, page.size);
  qn_bytes_free(&page);
}

static void test_C3_clock_jumps_do_not_disturb_the_order(void **state) {
  (void)state;
  qn_store_kept kept;
  assert_true(store_random(1, QN_ENTRY_PROGRAM, 1000));
  set_clock_ahead();
  for (uint64_t i = 2; i <= 6; i++)
    assert_true(store_random(i, QN_ENTRY_PROGRAM, 1000)); /* the system's clock is a year behind the store's */
  uint64_t half = real_size() / 2;
  assert_int_equal(counted(QN_COUNT_RESETS), 0);
  assert_int_equal(qn_store_prune(&store, half, QN_POLL, &kept), QN_OK);
  for (uint64_t i = 1; i <= 6; i++) assert_int_equal(is_there(i), i > 3);
}

static void test_C3_an_entry_larger_than_the_store_is_not_stored(void **state) {
  (void)state;
  const qn_key key = key_of(9);
  char bytes[4000];
  for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (char)(i * i * 7 >> 3);
  open_store(QN_STORE_WRITE, 300);
  assert_false(qn_store_put(&store, &key, QN_ENTRY_PROGRAM, "", qn_sv_make(bytes, sizeof bytes)));
  assert_int_equal(counted(QN_COUNT_STORES_TOO_LARGE), 1);
}

static void test_verify_removes_what_is_damaged_and_nothing_else(void **state) {
  (void)state;
  char path[4096];
  qn_store_kept kept;
  for (uint64_t i = 1; i <= 10; i++) assert_true(store_random(i, QN_ENTRY_PROGRAM, 500));
  path_of(4, path, sizeof path);
  set_bytes(path, 200, "x", 1);
  path_of(5, path, sizeof path);
  assert_int_equal(truncate(path, 0), 0);
  assert_int_equal(qn_store_verify(&store, &kept), QN_OK);
  assert_int_equal(kept.removed_entries, 2);
  assert_int_equal(kept.entries, 8);
  assert_int_equal(counted(QN_COUNT_ENTRIES), 8);
  assert_int_equal(qn_store_clear(&store, &kept), QN_OK);
  assert_int_equal(kept.removed_entries, 8);
  assert_int_equal(counted(QN_COUNT_BYTES), 0);
}

/* ---- C5, C6 ------------------------------------------------------------------------------------- */

static void test_C5_damaged_counters_begin_anew(void **state) {
  (void)state;
  char path[512];
  put_text(1, "one");
  snprintf(path, sizeof path, "%s/v1/counters", directory);
  set_bytes(path, 40, "????", 4);
  put_text(2, "two");
  assert_int_equal(counted(QN_COUNT_RESETS), 1);
  assert_int_equal(counted(QN_COUNT_STORES), 1);
  uint64_t size = real_size(); /* the walk counts anew */
  assert_int_equal(size, counted(QN_COUNT_BYTES));
}

static void test_C6_a_directory_that_others_can_write_is_refused(void **state) {
  (void)state;
  const qn_key key = key_of(1);
  assert_int_equal(chmod(directory, 0777), 0);
  open_store(QN_STORE_WRITE, 0);
  assert_int_equal(store.settings.mode, QN_STORE_OFF);
  assert_non_null(strstr(store.reason, "can be written by others"));
  assert_false(qn_store_put(&store, &key, QN_ENTRY_PROGRAM, "", QN_SV("one")));
  const qn_store_settings settings = {.directory = directory, .allows_others = true};
  assert_int_equal(qn_store_init(&store, &settings), QN_OK);
  assert_true(qn_store_put(&store, &key, QN_ENTRY_PROGRAM, "", QN_SV("one")));
  assert_int_equal(chmod(directory, 0755), 0);
}

static void test_sizes_mean_what_they_say(void **state) {
  (void)state;
  static const struct {
    const char *text;
    uint64_t bytes;
  } good[] = {{"0", 0},
              {"1000", 1000},
              {"1.5G", 1500000000},
              {"500M", 500000000},
              {"64KiB", 65536},
              {"1Ki", 1024},
              {"2T", 2000000000000},
              {"0.5K", 500},
              {"10MB", 10000000},
              {"1B", 1},
              {"9223372036854775807", INT64_MAX},
              {"1.25Gi", 1342177280}};
  static const char *const bad[] = {"",
                                    "abc",
                                    "-1",
                                    "1.5",
                                    "1..5G",
                                    "5X",
                                    "G",
                                    "1e9",
                                    "99999999999999999999",
                                    "1 G",
                                    "1.",
                                    ".5",
                                    "9223372036854775808",
                                    "16777216T",
                                    "0.0000000001G"};
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    uint64_t bytes = 1;
    assert_int_equal(qn_size_parse(qn_sv_from(good[i].text), &bytes), QN_OK);
    assert_int_equal(bytes, good[i].bytes);
  }
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    uint64_t bytes = 1;
    assert_int_equal(qn_size_parse(qn_sv_from(bad[i]), &bytes), QN_ERROR_INVALID_ARGUMENT);
  }
}

static void test_settings_name_the_variable(void **state) {
  (void)state;
  qn_arena arena;
  qn_store_settings settings;
  qn_arena_init(&arena, 0);
  setenv("QUERN_CACHE_MAX_SIZE", "abc", 1);
  assert_int_equal(qn_store_settings_read(&arena, &settings), QN_ERROR_INVALID_ARGUMENT);
  assert_non_null(strstr(qn_error_text(), "QUERN_CACHE_MAX_SIZE"));
  unsetenv("QUERN_CACHE_MAX_SIZE");
  setenv("QUERN_CACHE", "maybe", 1);
  assert_int_equal(qn_store_settings_read(&arena, &settings), QN_ERROR_INVALID_ARGUMENT);
  assert_non_null(strstr(qn_error_text(), "recache"));
  setenv("QUERN_CACHE", "read", 1);
  setenv("QUERN_CACHE_DIR", "/a/b", 1);
  assert_int_equal(qn_store_settings_read(&arena, &settings), QN_OK);
  assert_string_equal(settings.directory, "/a/b");
  assert_int_equal(settings.mode, QN_STORE_READ);
  unsetenv("QUERN_CACHE_DIR");
  unsetenv("QUERN_CACHE");
  qn_arena_free(&arena);
}

/* ---- Locks -------------------------------------------------------------------------------------- */

static void test_C1_a_key_is_locked_by_one_at_a_time(void **state) {
  (void)state;
  const qn_key one = key_of(1), two = key_of(2);
  qn_file_lock first, second;
  assert_true(qn_store_lock(&store, &one, QN_POLL, &first));
  assert_false(qn_store_lock(&store, &one, 1000000, &second));
  assert_true(qn_store_lock(&store, &two, QN_POLL, &second));
  qn_file_lock_give(&second);
  qn_file_lock_give(&first);
  assert_true(qn_store_lock(&store, &one, QN_POLL, &first));
  qn_file_lock_give(&first);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
  const struct CMUnitTest tests[] = {
      TEST(test_C3_what_was_stored_is_found),
      TEST(test_C3_large_bodies_are_made_smaller_and_come_back_whole),
      TEST(test_C3_kinds_never_meet),
      TEST(test_C3_a_damaged_entry_is_a_miss_and_is_replaced),
      TEST(test_C3_a_sound_entry_under_a_wrong_name_is_a_miss),
      TEST(test_C3_modes),
      TEST(test_C3_an_unusable_directory_costs_no_result),
      TEST(test_C3_what_dead_writers_left_is_swept),
      TEST(test_C3_the_size_is_kept_and_what_was_used_longest_ago_goes),
      TEST(test_C3_clock_jumps_do_not_disturb_the_order),
      TEST(test_C3_an_entry_larger_than_the_store_is_not_stored),
      TEST(test_verify_removes_what_is_damaged_and_nothing_else),
      TEST(test_C5_damaged_counters_begin_anew),
      TEST(test_C6_a_directory_that_others_can_write_is_refused),
      TEST(test_sizes_mean_what_they_say),
      TEST(test_settings_name_the_variable),
      TEST(test_C1_a_key_is_locked_by_one_at_a_time),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
