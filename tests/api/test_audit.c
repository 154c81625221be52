/* labels: threads warm once */
/* L1, L4, L5 as an adapter sees them: whatever the order of releases, each of its objects is destroyed once, children before
 * parents, and none while work in flight uses it. The adapter `audit` stands in front of cpu and checks that. */
#include <pthread.h>
#include <sched.h>

#include "audit.h"
#include "exits.h"
#include "orders.h"
#include "support/rounds.h"
#include "support/warm.h"

static const audit_report *report;

static void find_report(void) {
  test_device t = test_open("audit");
  uint64_t native = 0;
  OK(qn_native_handle(t.device, AUDIT_WHICH, &native));
  report = (const audit_report *)(uintptr_t)native;
  test_close(&t);
}

/* Everything has ended, and nothing was wrong. */
static void assert_clean(void) {
  assert_true(threads_fall_to(2 + SANITIZER_THREADS));
  for (int i = 0; i < 10000; i++) {
    uint32_t living = 0;
    for (int kind = 0; kind < AUDIT_KINDS; kind++) living += report->living[kind];
    if (living == 0) break;
    usleep(1000);
  }
  for (int kind = 0; kind < AUDIT_KINDS; kind++) assert_int_equal(report->living[kind], 0);
  if (report->violations) fail_msg("%u violations; the first: %s", report->violations, report->first);
}

static void test_L1_each_object_is_destroyed_once_children_first_in_every_order(void **state) {
  (void)state;
  uint64_t before = report->made;
  for (int closes = 0; closes < 2; closes++)
    for (orders o = orders_of(6); orders_next(&o);) release_in_order("audit", &o, closes != 0);
  assert_clean();
  assert_true(report->made - before > 2 * 720 * 7);
}

/* Queues that wait for each other, on threads, with everything released at once. */
typedef struct worker {
  const world *w;
  uint64_t rounds;
} worker;

static void *work(void *given) {
  const worker *me = given;
  for (uint64_t round = 0; round < me->rounds; round++) {
    world own[3];
    qn_buffer_options o = QN_INIT(qn_buffer_options);
    o.size_bytes = 1 << 12;
    for (int i = 0; i < 3; i++) {
      own[i] = *me->w;
      must(qn_queue_create(me->w->device, NULL, &own[i].queue));
      must(qn_buffer_create(me->w->device, &o, &own[i].buffer));
      must(qn_kernel_get(me->w->program, "add", &own[i].kernel));
    }
    for (int i = 0; i < 12; i++) { /* each buffer on each queue */
      world mixed = own[i % 3];
      mixed.buffer = own[i / 3 % 3].buffer;
      must(submit_one(&mixed, NULL));
    }
    for (int i = 0; i < 3; i++) {
      must(qn_release(own[round % 2 ? i : 2 - i].queue));
      must(qn_release(own[i].buffer));
      must(qn_release(own[i].kernel));
    }
  }
  return NULL;
}

static void test_L4_nothing_ends_while_work_in_flight_uses_it(void **state) {
  (void)state;
  enum { THREADS = 4 };
  pthread_t threads[THREADS];
  uint64_t rounds = test_rounds("rounds of queues that wait for each other, on four threads", 100, 5000);
  world w = make_world("audit");
  worker me = {.w = &w, .rounds = rounds};
  for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, work, &me), 0);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  OK(qn_runtime_close(w.runtime, PATIENCE));
  assert_clean();
}

/* Closed under threads that go on. */
static void *work_until_closed(void *given) {
  const world *w = given;
  for (;;) {
    qn_point point = {0, 0};
    qn_queue queue = NULL;
    world own = *w;
    qn_status status = qn_queue_create(w->device, NULL, &queue);
    own.queue = queue;
    if (status == QN_OK) status = submit_one(&own, &point);
    if (status == QN_OK) status = qn_point_wait(&point, PATIENCE);
    if (queue) (void)qn_release(queue);
    if (status != QN_OK) return NULL;
  }
}

static void test_L1_closing_under_threads_ends_each_object_once(void **state) {
  (void)state;
  enum { THREADS = 3 };
  uint64_t rounds = test_rounds("runtimes closed under threads at work", 30, 2000);
  for (uint64_t round = 0; round < rounds; round++) {
    pthread_t threads[THREADS];
    world w = make_world("audit");
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, work_until_closed, &w), 0);
    for (uint64_t i = 0; i < round % 50; i++) sched_yield();
    OK(qn_runtime_close(w.runtime, PATIENCE));
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  }
  assert_clean();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_L1_each_object_is_destroyed_once_children_first_in_every_order),
      cmocka_unit_test(test_L4_nothing_ends_while_work_in_flight_uses_it),
      cmocka_unit_test(test_L1_closing_under_threads_ends_each_object_once),
  };
  const char *const sources[] = {exits_source, orders_source};
  if (!warm_start(sources, 2)) return 1;
  setenv("QUERN_ADAPTER_PATH", QUERN_BINARY_DIR "/tests/plugins/audit:" QUERN_BINARY_DIR, 1);
  find_report();
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  warm_end();
  return failed;
}
