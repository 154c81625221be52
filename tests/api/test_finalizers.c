/* labels: threads warm once */
/* L4: releases as a garbage collector does them: from any thread, in any order, while others work, at a thread's end, inside
 * a callback. finalizers.py does it with a real one. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "exits.h"
#include "support/process.h"
#include "support/rounds.h"
#include "support/warm.h"

/* ---- A heap of garbage -------------------------------------------------------------------------- */

enum { HEAP = 256, RELEASERS = 8, MAKERS = 3 };
static _Atomic(const void *) heap[HEAP];
static _Atomic bool stop;

static uint32_t next_random(uint32_t *random) {
  *random ^= *random << 13;
  *random ^= *random >> 17;
  *random ^= *random << 5;
  return *random;
}

/* Puts it in any place; what lay there is released here and now. */
static void throw_away(const void *object, uint32_t *random) {
  const void *old = atomic_exchange(&heap[next_random(random) % HEAP], object);
  if (old) must(qn_release(old));
}

static void *release_any(void *given) {
  uint32_t random = (uint32_t)(uintptr_t)given * 2654435761u + 1;
  while (!stop) {
    const void *object = atomic_exchange(&heap[next_random(&random) % HEAP], NULL);
    if (object)
      must(qn_release(object));
    else
      sched_yield();
  }
  return NULL;
}

static void release_the_rest(void) {
  for (int i = 0; i < HEAP; i++) {
    const void *object = atomic_exchange(&heap[i], NULL);
    if (object) OK(qn_release(object));
  }
}

/* ---- Makers ------------------------------------------------------------------------------------- */

typedef struct maker {
  const world *w;
  uint64_t rounds;
  uint32_t random;
} maker;

/* A queue, a buffer and a kernel, used and thrown away at once, with the work in flight; now and then a program or a device
 * with all that it has. */
static void make_garbage(const world *w, uint32_t *random) {
  world own = *w;
  qn_buffer_options o = QN_INIT(qn_buffer_options);
  o.size_bytes = 1 << 12;
  must(qn_queue_create(w->device, NULL, &own.queue));
  must(qn_buffer_create(w->device, &o, &own.buffer));
  if (w->program) must(qn_kernel_get(w->program, "add", &own.kernel));
  for (int i = 0; i < 3; i++) must(submit_one(&own, NULL));
  throw_away(own.queue, random);
  if (w->program) throw_away(own.kernel, random);
  throw_away(own.buffer, random);
}

static void make_a_world_of_garbage(const char *selector, uint32_t *random) {
  world own = make_world(selector);
  const void *all[] = {own.runtime, own.device, own.queue, own.buffer, own.program, own.kernel};
  must(submit_one(&own, NULL));
  for (int i = 0; i < 6; i++)
    if (all[i]) throw_away(all[i], random);
}

static const char *selector;

static void *make(void *given) {
  maker *m = given;
  for (uint64_t round = 0; round < m->rounds; round++) {
    make_garbage(m->w, &m->random);
    if (round % 64 == 63) make_a_world_of_garbage(selector, &m->random);
  }
  return NULL;
}

/* 1024 items of the kernel's launches lie in a buffer of 4096 bytes. */
static void release_from_threads(const char *device, uint64_t rounds) {
  pthread_t releasers[RELEASERS], makers[MAKERS];
  maker m[MAKERS];
  selector = device;
  stop = false;
  world w = make_world(device);
  for (uintptr_t i = 0; i < RELEASERS; i++)
    assert_int_equal(pthread_create(&releasers[i], NULL, release_any, (void *)(i + 1)), 0);
  for (uint32_t i = 0; i < MAKERS; i++) {
    m[i] = (maker){.w = &w, .rounds = rounds, .random = i * 7919 + 1};
    assert_int_equal(pthread_create(&makers[i], NULL, make, &m[i]), 0);
  }
  for (int i = 0; i < MAKERS; i++) pthread_join(makers[i], NULL);
  stop = true;
  for (int i = 0; i < RELEASERS; i++) pthread_join(releasers[i], NULL);
  release_the_rest();
  OK(qn_device_drain(w.device, PATIENCE));
  qn_device_statistics s = test_statistics(w.device);
  assert_int_equal(s.queues, 1); /* the world's own */
  assert_int_equal(s.buffers, 1);
  assert_int_equal(s.kernels, w.kernel ? 1 : 0);
  assert_int_equal(s.awaiting_release, 0);
  OK(qn_runtime_close(w.runtime, PATIENCE));
  assert_true(threads_fall_to(2 + SANITIZER_THREADS)); /* the other worlds have ended by themselves */
}

static void test_L4_eight_threads_release_in_any_order_while_others_launch(void **state) {
  (void)state;
  uint64_t rounds = test_rounds("rounds of garbage a maker, on null, check and cpu, of each", 300, 20000);
  release_from_threads("null", rounds);
  release_from_threads("check", rounds);
  release_from_threads("cpu", rounds);
}

/* ---- A thread's own queue ----------------------------------------------------------------------- */

static pthread_key_t own_queue;
static void end_of_thread(void *queue) { must(qn_release(queue)); }

static void *launch_on_own_queue(void *given) {
  world own = *(const world *)given;
  must(qn_queue_create(own.device, NULL, &own.queue));
  if (pthread_setspecific(own_queue, own.queue) != 0) _exit(9);
  for (int i = 0; i < 5; i++) must(submit_one(&own, NULL));
  return NULL; /* and the queue goes, with its work in flight */
}

static void threads_with_own_queues(const char *device, uint64_t rounds) {
  world w = make_world(device);
  for (uint64_t round = 0; round < rounds; round++) {
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) assert_int_equal(pthread_create(&threads[i], NULL, launch_on_own_queue, &w), 0);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    assert_int_equal(test_statistics(w.device).queues, 1);
  }
  OK(qn_device_drain(w.device, PATIENCE));
  assert_int_equal(test_statistics(w.device).awaiting_release, 0);
  OK(qn_runtime_close(w.runtime, PATIENCE));
}

static void test_L4_a_thread_local_queue_dies_with_its_thread(void **state) {
  (void)state;
  uint64_t rounds = test_rounds("times four threads with queues of their own, on null and cpu", 50, 5000);
  assert_int_equal(pthread_key_create(&own_queue, end_of_thread), 0);
  threads_with_own_queues("null", rounds);
  threads_with_own_queues("cpu", rounds);
}

/* ---- Inside a callback -------------------------------------------------------------------------- */

static _Atomic int called;
static void release_everything(void *user, qn_status status) {
  const world *w = user;
  const void *all[] = {w->runtime, w->device, w->queue, w->program, w->kernel, w->buffer};
  must(status);
  for (int i = 0; i < 6; i++)
    if (all[i]) must(qn_release(all[i])); /* the queue that calls is among them */
  called = 1;
}

static void test_L4_a_callback_releases_everything_that_there_is(void **state) {
  static const char *const devices[] = {"null", "check", "cpu"};
  uint64_t rounds = test_rounds("worlds released in a callback, on null, check and cpu", 30, 1000);
  (void)state;
  for (uint64_t round = 0; round < rounds; round++) {
    world w = make_world(devices[round % 3]);
    called = 0;
    for (int i = 0; i < 10; i++) OK(submit_one(&w, NULL));
    OK(qn_queue_call(w.queue, NULL, release_everything, &w));
    while (!called) sched_yield();
  }
  assert_true(threads_fall_to(2 + SANITIZER_THREADS));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_L4_eight_threads_release_in_any_order_while_others_launch),
      cmocka_unit_test(test_L4_a_thread_local_queue_dies_with_its_thread),
      cmocka_unit_test(test_L4_a_callback_releases_everything_that_there_is),
  };
  const char *const sources[] = {exits_source};
  if (!warm_start(sources, 1)) return 1;
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  warm_end();
  return failed;
}
