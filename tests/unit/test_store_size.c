/* labels: threads */
/* The store's size while several store at once, and when a store could not be counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
/* cmocka asks for some of the above. */
#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "base/os/file_lock.h"
#include "store/keep.h"
#include "support/rounds.h"
#include "support/store_fixture.h"

enum { LIMIT = 30000, THREADS = 8, ENTRY_BYTES = 1000, LARGE_BYTES = 4000 };

static int setup(void **state) {
  (void)state;
  if (!make_directory("size")) return 1;
  open_store(QN_STORE_WRITE, LIMIT);
  return 0;
}

static int teardown(void **state) {
  (void)state;
  return can_run("rm -rf %s", directory) ? 0 : 1;
}

static uint64_t real_bytes(void) {
  qn_store_summary summary;
  assert_int_equal(qn_store_summarize(&store, &summary), QN_OK);
  return summary.kinds[QN_ENTRY_PROGRAM].bytes;
}

typedef struct writer {
  pthread_t thread;
  uint64_t first;
  uint32_t failed;
} writer;

static void *store_three(void *given) {
  writer *w = given;
  for (uint64_t i = 0; i < 3; i++) w->failed += !store_random(w->first + i, QN_ENTRY_PROGRAM, ENTRY_BYTES);
  return NULL;
}

/* Each goes over the limit while another one prunes, and most find it at work: after the last of them the size is right. */
static void test_C3_the_size_is_kept_when_many_store_at_once(void **state) {
  (void)state;
  uint64_t rounds = test_rounds("crowds that store at once", 100, 2000);
  for (uint64_t round = 0; round < rounds; round++) {
    writer writers[THREADS];
    for (uint64_t i = 0; i < THREADS; i++) {
      writers[i] = (writer){.first = (round * THREADS + i) * 3};
      assert_int_equal(pthread_create(&writers[i].thread, NULL, store_three, &writers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
      pthread_join(writers[i].thread, NULL);
      assert_int_equal(writers[i].failed, 0);
    }
    assert_in_range(counted(QN_COUNT_BYTES), 0, LIMIT + LIMIT / 20);
    assert_in_range(real_bytes(), 0, LIMIT + LIMIT / 20);
  }
  assert_true(counted(QN_COUNT_EVICTIONS) > 0);
}

/* Somebody who is stopped holds the counters: nothing is counted, and the size is kept all the same. */
static void test_C3_the_size_is_kept_when_storing_could_not_be_counted(void **state) {
  (void)state;
  char path[512];
  qn_file_lock lock;
  while (counted(QN_COUNT_BYTES) + ENTRY_BYTES + 300 < LIMIT)
    assert_true(store_random((uint64_t)counted(QN_COUNT_STORES) + 1, QN_ENTRY_PROGRAM, ENTRY_BYTES));
  snprintf(path, sizeof path, "%s/v1/counters", directory);
  assert_int_equal(qn_file_lock_take(path, 0, 0, &lock), QN_OK);
  assert_true(store_random(1000, QN_ENTRY_PROGRAM, LARGE_BYTES));
  qn_file_lock_give(&lock);
  assert_in_range(real_bytes(), 0, LIMIT + LIMIT / 20);
}

/* ---- The counters and what is there ------------------------------------------------------------- */

enum { KEYS = 12, PUTS = 12 };
enum { ROOM = (ENTRY_BYTES + 300) * KEYS };

static _Atomic int storing; /* threads that do */

/* One key has many sizes. */
static void *store_any(void *given) {
  writer *w = given;
  for (uint64_t i = 0; i < PUTS; i++) {
    uint64_t number = (w->first + i * 5) % KEYS;
    w->failed += !store_random(number, QN_ENTRY_PROGRAM, ENTRY_BYTES - 100 * ((w->first + i) % 5));
    if (w->first == 0 && i % 4 == 0) {
      const qn_key key = key_of(number);
      qn_store_missed(&store, &key, QN_ENTRY_PROGRAM, "", NULL, QN_STORE_DAMAGED); /* makes no sense to who reads it */
    }
  }
  atomic_fetch_sub(&storing, 1);
  return NULL;
}

/* As long as others store. */
static void *upkeep_all(void *given) {
  writer *w = given;
  atomic_fetch_sub(&storing, 1);
  for (int i = 0; atomic_load(&storing) > 0; i++) {
    qn_store_kept kept;
    if (i % 5 == 0) w->failed += qn_store_clear(&store, &kept) < 0;
    w->failed += qn_store_prune(&store, ROOM / 2, QN_STORE_PATIENCE_NS, &kept) < 0;
    w->failed += qn_store_verify(&store, &kept) < 0;
  }
  return NULL;
}

static void run_crowd(void *(*first)(void *)) {
  writer writers[THREADS];
  atomic_store(&storing, THREADS);
  for (uint64_t i = 0; i < THREADS; i++) {
    writers[i] = (writer){.first = i};
    assert_int_equal(pthread_create(&writers[i].thread, NULL, i == 0 ? first : store_any, &writers[i]), 0);
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(writers[i].thread, NULL);
    assert_int_equal(writers[i].failed, 0);
  }
}

static void assert_counted_as_it_is(void) {
  qn_store_summary summary;
  assert_int_equal(qn_store_summarize(&store, &summary), QN_OK);
  assert_int_equal(counted(QN_COUNT_ENTRIES), summary.kinds[QN_ENTRY_PROGRAM].entries);
  assert_int_equal(counted(QN_COUNT_BYTES), summary.kinds[QN_ENTRY_PROGRAM].bytes);
}

/* Who replaces an entry counts the difference, however many do at once; so nothing goes that would fit. */
static void test_C5_the_counters_agree_when_many_store_one_key(void **state) {
  (void)state;
  open_store(QN_STORE_WRITE, ROOM);
  uint64_t rounds = test_rounds("crowds that store the same", 3, 200);
  for (uint64_t round = 0; round < rounds; round++) {
    run_crowd(store_any);
    assert_counted_as_it_is();
  }
  assert_int_equal(counted(QN_COUNT_EVICTIONS), 0);
}

static void test_C5_the_counters_agree_when_others_prune_and_clear(void **state) {
  (void)state;
  uint64_t rounds = test_rounds("crowds beside upkeep", 3, 200);
  open_store(QN_STORE_WRITE, 0);
  for (uint64_t round = 0; round < rounds; round++) {
    run_crowd(upkeep_all);
    assert_counted_as_it_is();
  }
}

/* Counters that went wrong, by a kill say, evict nothing: the entries are looked at first. */
static void test_C3_what_fits_stays_whatever_the_counters_say(void **state) {
  (void)state;
  qn_counters wrong = {0}, after;
  for (uint64_t i = 0; i < 5; i++) assert_true(store_random(i, QN_ENTRY_PROGRAM, ENTRY_BYTES));
  wrong.values[QN_COUNT_BYTES] = LIMIT;
  assert_true(qn_store_count(&store, &wrong, &after) != 0);
  assert_true(store_random(5, QN_ENTRY_PROGRAM, ENTRY_BYTES));
  assert_int_equal(counted(QN_COUNT_EVICTIONS), 0);
  assert_counted_as_it_is();
}

static int setup_with_one(void **state) { return setup(state) != 0 || !store_random(0, QN_ENTRY_PROGRAM, ENTRY_BYTES); }

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_C3_the_size_is_kept_when_many_store_at_once, setup, teardown),
      cmocka_unit_test_setup_teardown(test_C3_the_size_is_kept_when_storing_could_not_be_counted, setup_with_one,
                                      teardown),
      cmocka_unit_test_setup_teardown(test_C5_the_counters_agree_when_many_store_one_key, setup, teardown),
      cmocka_unit_test_setup_teardown(test_C5_the_counters_agree_when_others_prune_and_clear, setup, teardown),
      cmocka_unit_test_setup_teardown(test_C3_what_fits_stays_whatever_the_counters_say, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
