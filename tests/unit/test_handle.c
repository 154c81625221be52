/* labels: threads */
/* Checked handles: rules L2 and L3 at their root. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/handle.h"

enum { OWNER = 7, OTHER_OWNER = 8, THREADS = 4 };

typedef struct thing {
  _Atomic uint32_t deaths;
} thing;

static void count_death(void *object) { atomic_fetch_add(&((thing *)object)->deaths, 1); }

static const void *create(uint32_t kind, uint32_t owner, thing *object) {
  const void *handle = NULL;
  assert_int_equal(qn_handle_create(kind, owner, object, &handle), QN_OK);
  return handle;
}

static void assert_refused(qn_status status, const char *words) {
  assert_int_equal(status, QN_ERROR_INVALID_HANDLE);
  if (!strstr(qn_error_text(), words)) fail_msg("the text '%s' lacks '%s'", qn_error_text(), words);
}

static void test_L2_a_released_handle_is_stale_at_every_use(void **state) {
  (void)state;
  thing t = {0};
  const void *h = create(QN_KIND_BUFFER, OWNER, &t);
  void *object = NULL;
  uint32_t kind = 0;
  assert_int_equal(qn_handle_release(h), QN_OK);
  assert_int_equal(t.deaths, 1);
  assert_refused(qn_handle_pin(h, QN_KIND_BUFFER, "target", &object), "target");
  assert_refused(qn_handle_pin(h, QN_KIND_BUFFER, "target", &object), "stale");
  assert_refused(qn_handle_release(h), "stale: the buffer was released");
  assert_refused(qn_handle_retain(h), "stale");
  assert_refused(qn_handle_revoke(h), "stale");
  assert_refused(qn_handle_kind_of(h, &kind), "stale");
  assert_null(object);
  assert_int_equal(t.deaths, 1);
}

static void test_L2_a_reused_slot_does_not_answer_to_the_old_handle(void **state) {
  (void)state;
  thing old = {0}, young = {0};
  const void *h = create(QN_KIND_BUFFER, OWNER, &old);
  assert_int_equal(qn_handle_release(h), QN_OK);
  const void *next = create(QN_KIND_BUFFER, OWNER, &young);
  void *object = NULL;
  assert_ptr_not_equal(h, next);
  assert_refused(qn_handle_pin(h, QN_KIND_BUFFER, "buffer", &object), "stale");
  assert_refused(qn_handle_release(h), "stale");
  assert_int_equal(young.deaths, 0);
  assert_int_equal(qn_handle_release(next), QN_OK);
  assert_int_equal(young.deaths, 1);
}

static void test_L2_a_handle_of_another_kind_is_refused_with_both_names(void **state) {
  (void)state;
  thing t = {0};
  const void *h = create(QN_KIND_QUEUE, OWNER, &t);
  void *object = NULL;
  assert_refused(qn_handle_pin(h, QN_KIND_BUFFER, "argument 2 'y'", &object), "argument 2 'y'");
  assert_refused(qn_handle_pin(h, QN_KIND_BUFFER, "argument 2 'y'", &object), "is a queue, not a buffer");
  uint32_t kind = 0;
  assert_int_equal(qn_handle_kind_of(h, &kind), QN_OK);
  assert_int_equal(kind, QN_KIND_QUEUE);
  assert_int_equal(qn_handle_release(h), QN_OK);
}

static void test_L2_null_and_addresses_are_refused(void **state) {
  (void)state;
  void *object = NULL;
  int on_stack = 0;
  assert_refused(qn_handle_pin(NULL, QN_KIND_KERNEL, "kernel", &object), "kernel is NULL");
  assert_refused(qn_handle_pin(&on_stack, QN_KIND_KERNEL, "kernel", &object), "not a handle");
  assert_refused(qn_handle_pin((void *)UINTPTR_MAX, QN_KIND_KERNEL, "kernel", &object), "not a handle");
  assert_refused(qn_handle_release(&on_stack), "not a handle");
}

/* xorshift64*: the sequence is the same in each run. */
static uint64_t next_random(uint64_t *state) {
  *state ^= *state >> 12;
  *state ^= *state << 25;
  *state ^= *state >> 27;
  return *state * UINT64_C(2685821657736338717);
}

static void test_L2_a_million_forged_handles_are_refused(void **state) {
  (void)state;
  enum { LIVE = 100, FORGED = 1000000 };
  thing t[LIVE];
  const void *live[LIVE];
  memset(t, 0, sizeof t);
  for (int i = 0; i < LIVE; i++) live[i] = create(QN_KIND_BUFFER, OWNER, &t[i]);
  uint64_t random = 1;
  uint64_t refused = 0;
  for (int i = 0; i < FORGED; i++) {
    uintptr_t bits = (uintptr_t)next_random(&random);
    /* Half of them differ from a live handle in one bit. */
    if (i & 1) bits = (uintptr_t)live[i % LIVE] ^ ((uintptr_t)1 << bits % (8 * sizeof bits));
    bool is_live = false;
    for (int j = 0; j < LIVE; j++) is_live |= bits == (uintptr_t)live[j];
    void *object = NULL;
    qn_status status = qn_handle_pin((const void *)bits, QN_KIND_BUFFER, "buffer", &object);
    if (status == QN_OK) {
      assert_true(is_live);
      qn_handle_unpin((const void *)bits);
    } else {
      assert_int_equal(status, QN_ERROR_INVALID_HANDLE);
      refused++;
    }
  }
  assert_true(refused > FORGED / 2);
  for (int i = 0; i < LIVE; i++) {
    assert_int_equal(t[i].deaths, 0);
    assert_int_equal(qn_handle_release(live[i]), QN_OK);
  }
}

static void test_L2_a_pinned_object_outlives_its_release_but_its_handle_does_not(void **state) {
  (void)state;
  thing t = {0};
  const void *h = create(QN_KIND_BUFFER, OWNER, &t);
  void *object = NULL, *again = NULL;
  assert_int_equal(qn_handle_pin(h, QN_KIND_BUFFER, "buffer", &object), QN_OK);
  assert_ptr_equal(object, &t);
  assert_int_equal(qn_handle_release(h), QN_OK);
  assert_int_equal(t.deaths, 0);
  assert_refused(qn_handle_pin(h, QN_KIND_BUFFER, "buffer", &again), "stale");
  qn_handle_unpin(h);
  assert_int_equal(t.deaths, 1);
}

static void test_L2_a_slot_whose_generations_are_used_up_is_never_used_again(void **state) {
  (void)state;
  enum { ROUNDS = 1000 };
  qn_handle_set_generation_bits(3);
  const void *seen[ROUNDS];
  uint64_t retired = qn_handle_retired_count(QN_KIND_PROGRAM);
  thing t = {0};
  for (int i = 0; i < ROUNDS; i++) {
    seen[i] = create(QN_KIND_PROGRAM, OWNER, &t);
    for (int j = 0; j < i; j++) assert_ptr_not_equal(seen[i], seen[j]);
    assert_int_equal(qn_handle_release(seen[i]), QN_OK);
  }
  void *object = NULL;
  for (int i = 0; i < ROUNDS; i++) assert_refused(qn_handle_pin(seen[i], QN_KIND_PROGRAM, "program", &object), "stale");
  assert_int_equal(t.deaths, ROUNDS);
  assert_true(qn_handle_retired_count(QN_KIND_PROGRAM) >= retired + ROUNDS / 8);
  qn_handle_set_generation_bits(0);
}

static void test_L2_closing_makes_each_handle_of_an_owner_stale_and_no_other(void **state) {
  (void)state;
  thing mine[3] = {{0}, {0}, {0}}, foreign = {0};
  const void *h[3];
  for (int i = 0; i < 3; i++) h[i] = create(QN_KIND_KERNEL, OWNER, &mine[i]);
  const void *other = create(QN_KIND_KERNEL, OTHER_OWNER, &foreign);
  assert_int_equal(qn_handle_retain(h[0]), QN_OK);
  void *object = NULL;
  assert_int_equal(qn_handle_pin(h[1], QN_KIND_KERNEL, "kernel", &object), QN_OK);
  assert_int_equal(qn_handle_count(OWNER, QN_KIND_KERNEL), 3);

  assert_int_equal(qn_handle_revoke_all(OWNER, QN_KIND_KERNEL), 3);
  assert_int_equal(qn_handle_count(OWNER, QN_KIND_KERNEL), 0);
  assert_int_equal(qn_handle_count(OTHER_OWNER, QN_KIND_KERNEL), 1);
  assert_int_equal(mine[0].deaths, 1);
  assert_int_equal(mine[1].deaths, 0); /* still pinned */
  assert_int_equal(mine[2].deaths, 1);
  for (int i = 0; i < 3; i++) assert_refused(qn_handle_release(h[i]), "stale");
  qn_handle_unpin(h[1]);
  assert_int_equal(mine[1].deaths, 1);
  assert_int_equal(foreign.deaths, 0);
  assert_int_equal(qn_handle_release(other), QN_OK);
}

static void test_L3_each_retain_takes_one_release(void **state) {
  (void)state;
  enum { RETAINS = 1000 };
  thing t = {0};
  const void *h = create(QN_KIND_DEVICE, OWNER, &t);
  for (int i = 0; i < RETAINS; i++) assert_int_equal(qn_handle_retain(h), QN_OK);
  for (int i = 0; i < RETAINS; i++) assert_int_equal(qn_handle_release(h), QN_OK);
  assert_int_equal(t.deaths, 0);
  assert_int_equal(qn_handle_release(h), QN_OK);
  assert_int_equal(t.deaths, 1);
  assert_refused(qn_handle_release(h), "stale");
}

static void test_L3_asking_changes_no_count(void **state) {
  (void)state;
  thing t = {0};
  const void *h = create(QN_KIND_DEVICE, OWNER, &t);
  for (int i = 0; i < 1000; i++) {
    uint32_t kind = 0;
    void *object = NULL;
    assert_int_equal(qn_handle_kind_of(h, &kind), QN_OK);
    assert_int_equal(qn_handle_pin(h, QN_KIND_DEVICE, "device", &object), QN_OK);
    qn_handle_unpin(h);
  }
  assert_int_equal(qn_handle_release(h), QN_OK);
  assert_int_equal(t.deaths, 1);
}

static void test_L3_counts_and_pins_have_limits_that_are_errors(void **state) {
  (void)state;
  thing t = {0};
  const void *h = create(QN_KIND_DEVICE, OWNER, &t);
  void *object = NULL;
  uint32_t pins = 0;
  while (qn_handle_pin(h, QN_KIND_DEVICE, "device", &object) == QN_OK) pins++;
  assert_int_equal(qn_handle_pin(h, QN_KIND_DEVICE, "device", &object), QN_ERROR_LIMIT);
  assert_int_equal(pins, 65535);
  uint32_t counts = 1;
  while (qn_handle_retain(h) == QN_OK) counts++;
  assert_int_equal(qn_handle_retain(h), QN_ERROR_LIMIT);
  assert_int_equal(counts, 1048575);
  for (uint32_t i = 0; i < pins; i++) qn_handle_unpin(h);
  for (uint32_t i = 0; i < counts; i++) assert_int_equal(qn_handle_release(h), QN_OK);
  assert_int_equal(t.deaths, 1);
}

/* ---- Threads ---- */

typedef struct shared {
  _Atomic(const void *) handle;
  _Atomic bool stop;
  _Atomic uint64_t pinned, refused;
} shared;

static void *pin_for_ever(void *given) {
  shared *s = given;
  while (!atomic_load(&s->stop)) {
    const void *h = atomic_load(&s->handle);
    void *object = NULL;
    if (qn_handle_pin(h, QN_KIND_BUFFER, "buffer", &object) == QN_OK) {
      /* A dead object here would be use after free in earnest. */
      if (atomic_load(&((thing *)object)->deaths) != 0) abort();
      qn_handle_unpin(h);
      atomic_fetch_add(&s->pinned, 1);
    } else {
      atomic_fetch_add(&s->refused, 1);
    }
  }
  return NULL;
}

static void test_L2_no_thread_pins_a_dead_object(void **state) {
  (void)state;
  enum { ROUNDS = 20000 };
  static thing things[ROUNDS];
  shared s = {0};
  pthread_t threads[THREADS];
  atomic_store(&s.handle, create(QN_KIND_BUFFER, OWNER, &things[0]));
  for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, pin_for_ever, &s), 0);
  for (int i = 1; i < ROUNDS; i++) {
    const void *next = create(QN_KIND_BUFFER, OWNER, &things[i]);
    const void *old = atomic_exchange(&s.handle, next);
    assert_int_equal(qn_handle_release(old), QN_OK);
  }
  while (atomic_load(&s.pinned) == 0) continue;
  atomic_store(&s.stop, true);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  assert_int_equal(qn_handle_release(atomic_load(&s.handle)), QN_OK);
  for (int i = 0; i < ROUNDS; i++) assert_int_equal(things[i].deaths, 1);
}

static void *release_half(void *given) {
  shared *s = given;
  for (int i = 0; i < 25000; i++)
    if (qn_handle_release(atomic_load(&s->handle)) != QN_OK) atomic_fetch_add(&s->refused, 1);
  return NULL;
}

static void test_L3_racing_releases_end_an_object_once(void **state) {
  (void)state;
  thing t = {0};
  shared s = {0};
  const void *h = create(QN_KIND_BUFFER, OWNER, &t);
  atomic_store(&s.handle, h);
  for (int i = 1; i < THREADS * 25000 - 10; i++) assert_int_equal(qn_handle_retain(h), QN_OK);
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, release_half, &s), 0);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  assert_int_equal(t.deaths, 1);
  assert_int_equal(atomic_load(&s.refused), 10); /* ten too many, each an error */
}

static void *create_and_release(void *given) {
  thing *t = given;
  for (int i = 0; i < 20000; i++) {
    const void *h[3];
    for (int j = 0; j < 3; j++)
      if (qn_handle_create(QN_KIND_QUEUE, OWNER, t, &h[j]) != QN_OK) abort();
    for (int j = 0; j < 3; j++)
      if (qn_handle_release(h[j]) != QN_OK) abort();
  }
  return NULL;
}

static void test_L2_slots_are_taken_and_freed_by_many_threads(void **state) {
  (void)state;
  thing t[THREADS];
  memset(t, 0, sizeof t);
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, create_and_release, &t[i]), 0);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  for (int i = 0; i < THREADS; i++) assert_int_equal(t[i].deaths, 3 * 20000);
  assert_int_equal(qn_handle_count(OWNER, QN_KIND_QUEUE), 0);
}

int main(void) {
  for (uint32_t kind = QN_KIND_RUNTIME; kind <= QN_KIND_KERNEL; kind++) qn_handle_set_dead(kind, count_death);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_L2_a_released_handle_is_stale_at_every_use),
      cmocka_unit_test(test_L2_a_reused_slot_does_not_answer_to_the_old_handle),
      cmocka_unit_test(test_L2_a_handle_of_another_kind_is_refused_with_both_names),
      cmocka_unit_test(test_L2_null_and_addresses_are_refused),
      cmocka_unit_test(test_L2_a_million_forged_handles_are_refused),
      cmocka_unit_test(test_L2_a_pinned_object_outlives_its_release_but_its_handle_does_not),
      cmocka_unit_test(test_L2_a_slot_whose_generations_are_used_up_is_never_used_again),
      cmocka_unit_test(test_L2_closing_makes_each_handle_of_an_owner_stale_and_no_other),
      cmocka_unit_test(test_L3_each_retain_takes_one_release),
      cmocka_unit_test(test_L3_asking_changes_no_count),
      cmocka_unit_test(test_L3_counts_and_pins_have_limits_that_are_errors),
      cmocka_unit_test(test_L2_no_thread_pins_a_dead_object),
      cmocka_unit_test(test_L3_racing_releases_end_an_object_once),
      cmocka_unit_test(test_L2_slots_are_taken_and_freed_by_many_threads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
