/* labels: threads */
/* Queues that fail, hang, are lost or full, on the simulated device (L5, L7, P4): who is told, and who goes on. */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "support.h"

enum { SIZE = 64 };

static uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

static qn_point fill(qn_queue queue, qn_buffer buffer, unsigned char byte) {
  qn_view view = test_view(buffer, 0, QN_WHOLE);
  qn_point point = {0, 0};
  OK(qn_fill(queue, &view, &byte, 1, &point));
  return point;
}

static void holds(qn_queue queue, qn_buffer buffer, unsigned char byte) {
  unsigned char got[SIZE];
  qn_view view = test_view(buffer, 0, SIZE);
  qn_point done = {0, 0};
  OK(qn_read(queue, &view, got, &done));
  OK(qn_point_wait(&done, PATIENCE));
  for (int i = 0; i < SIZE; i++) assert_int_equal(got[i], byte);
}

/* ---- Failures ----------------------------------------------------------------------------------- */

/* Several queues with work of their own; a command of one fails. */
static void test_L7_a_failed_command_gives_its_cause_at_the_next_wait_and_others_go_on(void **state) {
  (void)state;
  enum { QUEUES = 4, COMMANDS = 12 };
  PROPERTY_EACH_SEED(seed, "a command fails", 100, 10000) {
    property_random random = {seed};
    property_device d = property_open("null", "seed=%llu", (unsigned long long)seed);
    qn_queue queues[QUEUES];
    qn_buffer buffers[QUEUES];
    qn_point points[QUEUES][COMMANDS];
    uint64_t bad = property_pick(&random, QUEUES), at = property_pick(&random, COMMANDS);
    for (int i = 0; i < QUEUES; i++) {
      queues[i] = test_queue(d.device);
      buffers[i] = test_buffer(d.device, SIZE);
    }
    d.control->fail_at(d.control->device, property_id(queues[bad]), at + 1, 42, "the fan stands still");
    d.control->hold(d.control->device, property_id(queues[bad]), 1); /* until all is submitted */
    for (int j = 0; j < COMMANDS; j++)
      for (int i = 0; i < QUEUES; i++) points[i][j] = fill(queues[i], buffers[i], (unsigned char)j);
    d.control->go(d.control->device, 0);
    uint64_t first = property_pick(&random, COMMANDS); /* whichever wait comes first */
    for (uint64_t k = 0; k < COMMANDS; k++) {
      uint64_t j = (first + k) % COMMANDS;
      qn_status status = qn_point_wait(&points[bad][j], PATIENCE);
      assert_int_equal(status, j < at ? QN_OK : QN_ERROR_DEVICE);
      if (status == QN_OK) continue;
      assert_non_null(strstr(qn_error_text(), "the fan stands still"));
      assert_int_equal(qn_error_driver_code(), 42);
    }
    FAILS(qn_queue_finish(queues[bad], PATIENCE), QN_ERROR_DEVICE, "the fan stands still");
    qn_view view = test_view(buffers[bad], 0, QN_WHOLE);
    FAILS(qn_fill(queues[bad], &view, "x", 1, NULL), QN_ERROR_DEVICE, "the fan stands still");
    for (int i = 0; i < QUEUES; i++)
      if ((uint64_t)i != bad) holds(queues[i], buffers[i], COMMANDS - 1);
    fill(queues[(bad + 1) % QUEUES], buffers[bad], 77); /* the buffer is not lost with the queue */
    holds(queues[(bad + 2) % QUEUES], buffers[bad], 77);
    OK(qn_release(queues[bad]));
    for (int i = 0; i < 30; i++) OK(qn_release(test_queue(d.device)));
    FAILS(qn_point_wait(&points[bad][COMMANDS - 1], QN_POLL), QN_ERROR_DEVICE, "the fan stands still");
    property_close(&d);
  }
}

static void test_L7_all_in_a_failure_domain_fail_with_the_first_cause(void **state) {
  (void)state;
  property_device d = property_open("null", "domain=3,check=1"), other = property_open("null", "domain=3,check=1");
  qn_queue one = test_queue(d.device), two = test_queue(d.device), elsewhere = test_queue(other.device);
  qn_buffer a = test_buffer(d.device, SIZE), b = test_buffer(d.device, SIZE), c = test_buffer(other.device, SIZE);
  d.control->hold(d.control->device, property_id(two), 1);
  d.control->fail_at(d.control->device, property_id(one), 1, 9, "bad page");
  qn_point second = fill(two, b, 1), first = fill(one, a, 1);
  FAILS(qn_point_wait(&first, PATIENCE), QN_ERROR_DEVICE, "bad page");
  FAILS(qn_point_wait(&second, PATIENCE), QN_ERROR_DEVICE, "bad page");
  fill(elsewhere, c, 5);
  holds(elsewhere, c, 5);
  property_close(&d);
  property_close(&other);
}

/* ---- Loss --------------------------------------------------------------------------------------- */

typedef struct user {
  pthread_t thread;
  qn_device device;
  qn_queue queue;
  qn_buffer buffer;
  property_wrong *wrong;
} user;

/* Works until the device is gone; every call then says so. */
static bool use_until_lost(user *u) {
  qn_view view = test_view(u->buffer, 0, QN_WHOLE);
  qn_status status = QN_OK;
  for (uint64_t i = 0; status == QN_OK; i++) {
    qn_point point = {0, 0};
    status = qn_fill(u->queue, &view, "x", 1, &point);
    if (status == QN_OK && i % 8 == 0) status = qn_point_wait(&point, PATIENCE);
  }
  if (status != QN_ERROR_DEVICE_LOST) return property_note(u->wrong, qn_status_name(status), qn_error_text());
  qn_queue queue = NULL;
  status = qn_queue_finish(u->queue, PATIENCE);
  CHECK(u->wrong, status == QN_OK || strstr(qn_error_text(), "fell off the bus")); /* all was complete before */
  CHECK(u->wrong, qn_fill(u->queue, &view, "x", 1, NULL) == QN_ERROR_DEVICE_LOST);
  CHECK(u->wrong, qn_queue_create(u->device, NULL, &queue) == QN_ERROR_DEVICE_LOST);
  return true;
}

static void *use(void *given) {
  (void)use_until_lost(given);
  return NULL;
}

static void test_L7_a_lost_device_is_told_to_all_that_touch_it_and_the_rest_goes_on(void **state) {
  (void)state;
  enum { THREADS = 4 };
  PROPERTY_EACH_SEED(seed, "a device is lost", 20, 1000) {
    property_device d = property_open("null", "seed=%llu,host=%d", (unsigned long long)seed, (int)(seed % 2));
    qn_device beside = NULL;
    OK(qn_device_open(d.runtime, "null", &beside));
    property_wrong wrong = {0};
    user users[THREADS];
    for (int i = 0; i < THREADS; i++) {
      users[i] = (user){
          .device = d.device, .queue = test_queue(d.device), .buffer = test_buffer(d.device, SIZE), .wrong = &wrong};
      assert_int_equal(pthread_create(&users[i].thread, NULL, use, &users[i]), 0);
    }
    qn_queue queue = test_queue(beside);
    qn_buffer buffer = test_buffer(beside, SIZE);
    for (int i = 0; i < 50; i++) fill(queue, buffer, (unsigned char)i);
    d.control->lose(d.control->device, "the device fell off the bus");
    for (int i = 0; i < THREADS; i++) pthread_join(users[i].thread, NULL);
    property_right(&wrong);
    qn_buffer late = NULL;
    qn_buffer_options o = QN_INIT(qn_buffer_options);
    o.size_bytes = 1 << 20;
    FAILS(qn_buffer_create(d.device, &o, &late), QN_ERROR_DEVICE_LOST, "lost");
    holds(queue, buffer, 49);
    property_close(&d);
  }
}

/* ---- Hanging ------------------------------------------------------------------------------------ */

static void test_P4_a_hung_queue_holds_back_only_its_own(void **state) {
  (void)state;
  enum { ROUNDS = 50 };
  PROPERTY_EACH_SEED(seed, "a queue hangs", 20, 1000) {
    property_device d = property_open("null", "seed=%llu", (unsigned long long)seed);
    qn_queue hung = test_queue(d.device), shared = test_queue(d.device);
    qn_buffer held = test_buffer(d.device, SIZE), both = test_buffer(d.device, SIZE);
    d.control->hold(d.control->device, property_id(hung), 1);
    fill(hung, held, 1);
    qn_point stuck = fill(hung, both, 2);
    qn_point behind = fill(shared, both, 3); /* this queue waits for the hung one, and so hangs as well */
    OK(qn_release(held));
    for (int i = 0; i < ROUNDS; i++) { /* queues and memory of others come and go */
      qn_queue queue = test_queue(d.device);
      qn_buffer buffer = test_buffer(d.device, SIZE);
      fill(queue, buffer, (unsigned char)i);
      holds(queue, buffer, (unsigned char)i);
      OK(qn_release(buffer));
      OK(qn_release(queue));
    }
    assert_in_range(property_counts(&d).memories, 1, 8); /* what was released was used again */
    FAILS(qn_point_wait(&stuck, 1000000), QN_ERROR_TIMEOUT, "not complete");
    FAILS(qn_point_wait(&behind, 1000000), QN_ERROR_TIMEOUT, "not complete");
    FAILS(qn_device_drain(d.device, 20000000), QN_ERROR_TIMEOUT, "");
    d.control->go(d.control->device, 0);
    OK(qn_point_wait(&behind, PATIENCE));
    holds(shared, both, 3);
    OK(qn_device_drain(d.device, PATIENCE));
    property_close(&d);
  }
}

/* ---- Time limits -------------------------------------------------------------------------------- */

typedef struct hung {
  qn_runtime runtime;
  qn_device device, other; /* the queue hangs on `device` */
  qn_queue queue, elsewhere;
  qn_buffer buffer;
  qn_point point;
} hung;

#define LIMIT UINT64_C(20000000)

static qn_status wait_point(hung *h) { return qn_point_wait(&h->point, LIMIT); }
static qn_status wait_queue(hung *h) { return qn_queue_finish(h->queue, LIMIT); }
static qn_status wait_map(hung *h) {
  void *pointer = NULL;
  qn_view view = test_view(h->buffer, 0, QN_WHOLE);
  return qn_buffer_map(&view, QN_MAP_READ, LIMIT, &pointer);
}
static qn_status wait_drain(hung *h) {
  OK(qn_release(h->buffer));
  h->buffer = NULL;
  return qn_device_drain(h->device, LIMIT);
}
static qn_status wait_full(hung *h) {
  qn_queue_options o = QN_INIT(qn_queue_options);
  qn_queue queue = NULL;
  qn_status status = QN_OK;
  qn_view view = test_view(h->buffer, 0, QN_WHOLE);
  o.submit_timeout_ns = LIMIT;
  OK(qn_queue_create(h->device, &o, &queue));
  for (int i = 0; status == QN_OK && i < 100000; i++) status = qn_fill(queue, &view, "x", 1, NULL);
  return status;
}
static qn_status wait_other_device(hung *h) {
  qn_queue_options o = QN_INIT(qn_queue_options);
  qn_queue queue = NULL;
  o.submit_timeout_ns = LIMIT;
  OK(qn_queue_create(h->other, &o, &queue));
  return qn_queue_wait(queue, &h->point, 1);
}
static qn_status wait_close(hung *h) {
  qn_runtime runtime = h->runtime;
  h->runtime = NULL;
  return qn_runtime_close(runtime, LIMIT);
}

static const struct {
  const char *name;
  qn_status (*wait)(hung *h);
} waits[] = {{"qn_point_wait", wait_point},
             {"qn_queue_finish", wait_queue},
             {"qn_buffer_map", wait_map},
             {"qn_device_drain", wait_drain},
             {"qn_fill on a full queue", wait_full},
             {"qn_queue_wait for another device", wait_other_device},
             {"qn_runtime_close", wait_close}};

/* Both ways of running: by a thread of the device, and by the hosts' calls. */
static void time_limits_work_on_every_wait(void **state) {
  (void)state;
  for (size_t i = 0; i < 2 * (sizeof waits / sizeof *waits); i++) {
    property_device d = property_open("null", "seed=%d", i % 2 ? 3 : 0);
    hung h = {.runtime = d.runtime, .device = d.device, .queue = test_queue(d.device)};
    OK(qn_device_open(d.runtime, "null", &h.other));
    h.buffer = test_buffer(d.device, SIZE);
    d.control->hold(d.control->device, 0, 1);
    h.point = fill(h.queue, h.buffer, 1);
    uint64_t start = now_ns();
    qn_status status = waits[i / 2].wait(&h);
    uint64_t took = now_ns() - start;
    if (status != QN_ERROR_TIMEOUT)
      fail_msg("%s gave %s: %s", waits[i / 2].name, qn_status_name(status), qn_error_text());
    if (took < LIMIT || took > PATIENCE) fail_msg("%s took %llu ns", waits[i / 2].name, (unsigned long long)took);
    d.control->go(d.control->device, 0);
    if (h.runtime) {
      property_close(&d);
    } else {
      OK(qn_point_wait(&h.point, PATIENCE));
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      PROPERTY_TEST(test_L7_a_failed_command_gives_its_cause_at_the_next_wait_and_others_go_on),
      PROPERTY_TEST(test_L7_all_in_a_failure_domain_fail_with_the_first_cause),
      PROPERTY_TEST(test_L7_a_lost_device_is_told_to_all_that_touch_it_and_the_rest_goes_on),
      PROPERTY_TEST(test_P4_a_hung_queue_holds_back_only_its_own),
      PROPERTY_TEST(time_limits_work_on_every_wait),
  };
  property_watch();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
