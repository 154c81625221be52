/* labels: threads */
/* Callbacks at a point: qn_queue_call and qn_queue_descriptor. */
#include <dirent.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fake_device.h"
#include "support/rounds.h"

/* What callbacks of a test saw. */
typedef struct seen {
  _Atomic uint32_t count;
  _Atomic int32_t status;
  pthread_t thread;
  char text[512];
  uint64_t order[256];
} seen;

static void note(void *user, qn_status status) {
  seen *s = user;
  atomic_store(&s->status, status);
  s->thread = pthread_self();
  snprintf(s->text, sizeof s->text, "%s", qn_error_text());
  atomic_fetch_add(&s->count, 1);
}

static void wait_for(_Atomic uint32_t *word, uint32_t value) {
  time_t end = time(NULL) + 20;
  while (atomic_load(word) < value && time(NULL) < end) sched_yield();
  assert_int_equal(atomic_load(word), value);
}

static void pause_ms(long ms) {
  struct timespec t = {ms / 1000, ms % 1000 * 1000000};
  nanosleep(&t, NULL);
}

/* ---- When and how often ------------------------------------------------------------------------- */

static void a_call_comes_once_when_its_point_is_complete(void **state) {
  (void)state;
  fixture f = open_fake();
  seen s = {0};
  qn_queue queue = test_queue(f.t.device);
  qn_buffer buffer = test_buffer(f.t.device, 64);
  f.control->allowed = 1;
  qn_point first = fill(queue, buffer, 1), second = fill(queue, buffer, 2);
  OK(qn_queue_call(queue, &second, note, &s));
  OK(qn_point_wait(&first, PATIENCE));
  pause_ms(30);
  assert_int_equal(s.count, 0); /* never early */
  f.control->allowed = UINT64_MAX;
  wait_for(&s.count, 1);
  assert_int_equal(s.status, QN_OK);
  assert_false(pthread_equal(s.thread, pthread_self()));
  pause_ms(30);
  assert_int_equal(s.count, 1);
  close_fake(&f);
  assert_int_equal(s.count, 1);
}

static void a_call_for_what_is_complete_comes_soon_and_not_from_inside(void **state) {
  (void)state;
  test_device t = test_open("null");
  seen s = {0};
  qn_queue queue = test_queue(t.device);
  qn_point last = {0, 0};
  OK(qn_queue_call(queue, NULL, note, &s)); /* nothing was submitted */
  wait_for(&s.count, 1);
  assert_false(pthread_equal(s.thread, pthread_self()));
  OK(qn_queue_last(queue, &last));
  OK(qn_queue_call(queue, &last, note, &s));
  wait_for(&s.count, 2);
  qn_buffer buffer = test_buffer(t.device, 64);
  fill(queue, buffer, 1);
  OK(qn_queue_finish(queue, PATIENCE));
  OK(qn_queue_call(queue, NULL, note, &s));
  wait_for(&s.count, 3);
  qn_point nothing = {0, 0};
  OK(qn_queue_call(queue, &nothing, note, &s));
  wait_for(&s.count, 4);
  assert_int_equal(s.status, QN_OK);
  test_close(&t);
}

typedef struct numbered {
  seen *all;
  uint64_t number;
} numbered;

static void note_number(void *user, qn_status status) {
  numbered *n = user;
  assert_int_equal(status, QN_OK);
  n->all->order[atomic_load(&n->all->count)] = n->number; /* one thread a queue */
  atomic_fetch_add(&n->all->count, 1);
}

static void calls_of_a_queue_come_in_the_order_of_their_points(void **state) {
  (void)state;
  enum { POINTS = 60 };
  fixture f = open_fake();
  seen s = {0};
  numbered calls[2 * POINTS];
  qn_point points[POINTS];
  qn_queue queue = test_queue(f.t.device);
  qn_buffer buffer = test_buffer(f.t.device, 64);
  f.control->allowed = 0;
  for (int i = 0; i < POINTS; i++) points[i] = fill(queue, buffer, 1);
  for (uint64_t i = 0; i < POINTS; i++) {
    uint64_t at = i * 37 % POINTS; /* 37 and 60 have no common factor: each once */
    calls[2 * at] = (numbered){&s, 2 * at};
    calls[2 * at + 1] = (numbered){&s, 2 * at + 1};
    OK(qn_queue_call(queue, &points[at], note_number, &calls[2 * at]));
    OK(qn_queue_call(queue, &points[at], note_number, &calls[2 * at + 1]));
  }
  for (uint64_t i = 0; i <= POINTS; i += 7) {
    f.control->allowed = i;
    pause_ms(2);
  }
  f.control->allowed = UINT64_MAX;
  wait_for(&s.count, 2 * POINTS);
  for (uint64_t i = 0; i < 2 * POINTS; i++) assert_int_equal(s.order[i], i);
  close_fake(&f);
}

/* ---- What goes wrong ---------------------------------------------------------------------------- */

static void test_L7_a_call_for_a_point_that_failed_gets_the_cause(void **state) {
  (void)state;
  fixture f = open_fake();
  seen good = {0}, bad = {0}, later = {0};
  qn_queue queue = test_queue(f.t.device);
  qn_buffer buffer = test_buffer(f.t.device, 64);
  f.control->allowed = 0;
  f.control->fail_at = 2;
  qn_point first = fill(queue, buffer, 1), second = fill(queue, buffer, 2), third = fill(queue, buffer, 3);
  OK(qn_queue_call(queue, &third, note, &later));
  OK(qn_queue_call(queue, &second, note, &bad));
  OK(qn_queue_call(queue, &first, note, &good));
  f.control->allowed = UINT64_MAX;
  wait_for(&later.count, 1);
  assert_int_equal(good.count, 1);
  assert_int_equal(bad.count, 1);
  assert_int_equal(good.status, QN_OK);
  assert_int_equal(bad.status, QN_ERROR_DEVICE_LOST);
  assert_int_equal(later.status, QN_ERROR_DEVICE_LOST);
  assert_non_null(strstr(bad.text, "failed at value 2"));
  f.control->fail_at = 0;
  close_fake(&f);
}

static void test_L3_a_queue_lives_until_its_calls_have_returned(void **state) {
  (void)state;
  fixture f = open_fake();
  seen s = {0};
  qn_queue queue = test_queue(f.t.device);
  qn_buffer buffer = test_buffer(f.t.device, 64);
  f.control->allowed = 0;
  fill(queue, buffer, 1);
  for (int i = 0; i < 5; i++) OK(qn_queue_call(queue, NULL, note, &s));
  OK(qn_release(queue));
  OK(qn_release(buffer));
  OK(qn_release(f.t.device));
  pause_ms(20);
  assert_int_equal(s.count, 0);
  f.control->allowed = UINT64_MAX;
  wait_for(&s.count, 5);
  f.t.device = NULL;
  close_fake(&f); /* nothing is left: the last call let the device go */
}

static void closing_waits_for_the_calls(void **state) {
  (void)state;
  test_device t = test_open("null");
  seen s = {0};
  for (int i = 0; i < 8; i++) {
    qn_queue queue = test_queue(t.device);
    qn_buffer buffer = test_buffer(t.device, 1 << 22);
    for (int j = 0; j < 10; j++) fill(queue, buffer, 1);
    OK(qn_queue_call(queue, NULL, note, &s));
  }
  test_close(&t);
  assert_int_equal(s.count, 8);
  assert_int_equal(s.status, QN_OK);
}

static void when_closing_gives_up_a_call_says_that_it_is_closed(void **state) {
  (void)state;
  fixture f = open_fake();
  seen complete = {0}, s = {0};
  qn_queue queue = test_queue(f.t.device);
  qn_buffer buffer = test_buffer(f.t.device, 64);
  f.control->allowed = 1;
  qn_point first = fill(queue, buffer, 1);
  fill(queue, buffer, 1);
  OK(qn_queue_call(queue, NULL, note, &s));
  OK(qn_queue_call(queue, &first, note, &complete));
  wait_for(&complete.count, 1);
  assert_int_equal(complete.status, QN_OK);
  pause_ms(20);
  assert_int_equal(s.count, 0);
  FAILS(qn_runtime_close(f.t.runtime, 1000000), QN_ERROR_TIMEOUT, "still have work in flight");
  wait_for(&s.count, 1);
  assert_int_equal(s.status, QN_ERROR_CLOSED);
  assert_non_null(strstr(s.text, "the runtime was closed"));
  f.control->allowed = UINT64_MAX; /* the rest is freed now */
  wait_for(&s.count, 1);
  time_t end = time(NULL) + 20;
  while (f.control->devices != 0 && time(NULL) < end) sched_yield();
  assert_int_equal(f.control->devices, 0);
}

static void bad_input_is_refused_and_calls_nothing(void **state) {
  (void)state;
  test_device t = test_open("null");
  seen s = {0};
  qn_queue queue = test_queue(t.device), other = test_queue(t.device);
  qn_point foreign = {0, 0}, future = {0, 0};
  OK(qn_queue_last(other, &foreign));
  OK(qn_queue_last(queue, &future));
  future.value = 1;
  int32_t descriptor = -7;
  FAILS(qn_queue_call(queue, NULL, NULL, &s), QN_ERROR_INVALID_ARGUMENT, "function is NULL");
  FAILS(qn_queue_call(queue, &foreign, note, &s), QN_ERROR_INVALID_ARGUMENT, "another queue");
  FAILS(qn_queue_call(queue, &future, note, &s), QN_ERROR_INVALID_ARGUMENT, "not given out");
  FAILS(qn_queue_call(NULL, NULL, note, &s), QN_ERROR_INVALID_HANDLE, "queue is NULL");
  FAILS(qn_queue_call((qn_queue)t.device, NULL, note, &s), QN_ERROR_INVALID_HANDLE, "is a device");
  FAILS(qn_queue_descriptor(queue, NULL, NULL), QN_ERROR_INVALID_ARGUMENT, "out_descriptor is NULL");
  FAILS(qn_queue_descriptor(queue, &future, &descriptor), QN_ERROR_INVALID_ARGUMENT, "not given out");
  assert_int_equal(descriptor, -7);
  test_close(&t);
  FAILS(qn_queue_call(queue, NULL, note, &s), QN_ERROR_INVALID_HANDLE, "stale");
  assert_int_equal(s.count, 0);
}

/* ---- Inside a callback -------------------------------------------------------------------------- */

/* cmocka's checks end the test by a jump, which another thread can't do. */
#define MUST(condition)                                                                     \
  do {                                                                                      \
    if (!(condition)) {                                                                     \
      fprintf(stderr, "%s:%d: %s (%s)\n", __FILE__, __LINE__, #condition, qn_error_text()); \
      abort();                                                                              \
    }                                                                                       \
  } while (0)

typedef struct inside {
  fixture f;
  qn_queue queue, full;
  qn_buffer busy;
  qn_point pending;
  _Atomic uint32_t done;
} inside;

static void try_to_wait(void *user, qn_status status) {
  inside *in = user;
  void *pointer = NULL;
  char byte = 0;
  qn_view view = test_view(in->busy, 0, QN_WHOLE);
  MUST(status == QN_OK);
  MUST(qn_point_wait(&in->pending, PATIENCE) == QN_ERROR_WOULD_BLOCK);
  MUST(strstr(qn_error_text(), "this is a callback"));
  MUST(qn_point_wait(&in->pending, QN_FOREVER) == QN_ERROR_WOULD_BLOCK);
  MUST(qn_point_wait(&in->pending, QN_POLL) == QN_NOT_READY);
  MUST(qn_queue_finish(in->full, PATIENCE) == QN_ERROR_WOULD_BLOCK);
  MUST(qn_queue_finish(in->full, QN_POLL) == QN_NOT_READY);
  MUST(qn_buffer_map(&view, QN_MAP_READ, SECOND, &pointer) == QN_ERROR_WOULD_BLOCK);
  MUST(qn_fill(in->full, &view, &byte, 1, NULL) == QN_ERROR_WOULD_BLOCK);
  MUST(strstr(qn_error_text(), "the queue is full"));
  MUST(qn_runtime_close(in->f.t.runtime, PATIENCE) == QN_ERROR_WOULD_BLOCK);
  MUST(qn_release(in->busy) == QN_OK);
  MUST(qn_device_drain(in->f.t.device, PATIENCE) == QN_ERROR_WOULD_BLOCK);
  atomic_store(&in->done, 1);
}

static void a_wait_inside_a_callback_would_block(void **state) {
  (void)state;
  inside in = {.f = open_fake()};
  in.queue = test_queue(in.f.t.device);
  in.full = test_queue(in.f.t.device);
  in.busy = test_buffer(in.f.t.device, 64);
  qn_point first = {0, 0};
  OK(qn_queue_last(in.queue, &first));
  in.f.control->allowed = 0;
  in.f.control->capacity = 4;
  for (int i = 0; i < 4; i++) in.pending = fill(in.full, in.busy, 1);
  OK(qn_queue_call(in.queue, &first, try_to_wait, &in));
  wait_for(&in.done, 1);
  close_fake(&in.f);
}

static void make_and_release(void *user, qn_status status) {
  inside *in = user;
  qn_queue queue = NULL;
  qn_buffer buffer = NULL;
  qn_buffer_options o = QN_INIT(qn_buffer_options);
  o.size_bytes = 100;
  MUST(status == QN_OK);
  MUST(qn_queue_create(in->f.t.device, NULL, &queue) == QN_OK);
  MUST(qn_buffer_create(in->f.t.device, &o, &buffer) == QN_OK);
  qn_view view = test_view(buffer, 0, QN_WHOLE);
  MUST(qn_fill(queue, &view, "x", 1, &in->pending) == QN_OK);
  /* The next callback comes from the queue that this one made; both are released here already. */
  if (atomic_fetch_add(&in->done, 1) < 50) MUST(qn_queue_call(queue, NULL, make_and_release, in) == QN_OK);
  MUST(qn_release(buffer) == QN_OK);
  MUST(qn_release(queue) == QN_OK);
}

static void a_callback_makes_uses_and_releases_objects(void **state) {
  (void)state;
  inside in = {.f = {.t = test_open("null")}};
  in.queue = test_queue(in.f.t.device);
  OK(qn_queue_call(in.queue, NULL, make_and_release, &in));
  OK(qn_release(in.queue));
  wait_for(&in.done, 51);
  test_close(&in.f.t);
}

static void release_the_last(void *user, qn_status status) {
  inside *in = user;
  MUST(status == QN_OK);
  MUST(qn_release(in->queue) == QN_OK);
  MUST(qn_release(in->f.t.device) == QN_OK);
  MUST(qn_release(in->f.t.runtime) == QN_OK);
  atomic_store(&in->done, 1);
}

static void a_callback_may_release_all_that_there_is(void **state) {
  (void)state;
  inside in = {.f = open_fake()};
  in.queue = test_queue(in.f.t.device);
  OK(qn_queue_call(in.queue, NULL, release_the_last, &in));
  wait_for(&in.done, 1);
  time_t end = time(NULL) + 20;
  while (in.f.control->devices != 0 && time(NULL) < end) sched_yield();
  assert_int_equal(in.f.control->devices, 0);
}

/* ---- Threads ------------------------------------------------------------------------------------ */

static int count_threads(const char *name) {
  int count = 0;
  DIR *tasks = opendir("/proc/self/task");
  assert_non_null(tasks);
  for (struct dirent *entry = readdir(tasks); entry; entry = readdir(tasks)) {
    char path[300], text[64] = "";
    snprintf(path, sizeof path, "/proc/self/task/%s/comm", entry->d_name);
    FILE *file = fopen(path, "r");
    if (!file) continue;
    if (fgets(text, sizeof text, file)) count += strncmp(text, name, strlen(name)) == 0;
    fclose(file);
  }
  closedir(tasks);
  return count;
}

static void there_is_no_thread_before_the_first_call(void **state) {
  (void)state;
  test_device t = test_open("null");
  seen s = {0};
  qn_queue queue = test_queue(t.device), other = test_queue(t.device);
  assert_int_equal(count_threads("quern-call"), 0);
  for (int i = 0; i < 20; i++) OK(qn_queue_call(queue, NULL, note, &s));
  wait_for(&s.count, 20);
  assert_int_equal(count_threads("quern-call"), 1);
  OK(qn_queue_call(other, NULL, note, &s));
  wait_for(&s.count, 21);
  assert_int_equal(count_threads("quern-call"), 2);
  test_close(&t);
  assert_int_equal(count_threads("quern-call"), 0);
}

enum { THREADS = 4 };
typedef struct crowd {
  qn_device device;
  qn_queue shared;
  uint64_t rounds;
  _Atomic uint32_t called, asked;
} crowd;

static void count_call(void *user, qn_status status) {
  crowd *c = user;
  MUST(status == QN_OK);
  atomic_fetch_add(&c->called, 1);
}

/* Queues that come and go with calls on the way, and calls on a queue that all share. */
static void *call_and_go(void *given) {
  crowd *c = given;
  for (uint64_t i = 0; i < c->rounds; i++) {
    qn_queue own = NULL;
    qn_buffer buffer = test_buffer(c->device, 4096);
    MUST(qn_queue_create(c->device, NULL, &own) == QN_OK);
    qn_view view = test_view(buffer, 0, QN_WHOLE);
    for (int j = 0; j < 5; j++) {
      MUST(qn_fill(own, &view, "x", 1, NULL) == QN_OK);
      MUST(qn_queue_call(own, NULL, count_call, c) == QN_OK);
      MUST(qn_fill(c->shared, &view, "y", 1, NULL) == QN_OK);
      MUST(qn_queue_call(c->shared, NULL, count_call, c) == QN_OK);
      atomic_fetch_add(&c->asked, 2);
    }
    MUST(qn_release(buffer) == QN_OK);
    MUST(qn_release(own) == QN_OK);
  }
  return NULL;
}

static void each_call_of_many_threads_comes_exactly_once(void **state) {
  (void)state;
  test_device t = test_open("null");
  crowd c = {.device = t.device, .shared = test_queue(t.device)};
  c.rounds = test_rounds("queues with callbacks a thread", 60, 3000);
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, call_and_go, &c), 0);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  test_close(&t); /* waits for them */
  assert_int_equal(c.called, c.asked);
}

/* The processor's queues: the callback's thread helps with the work that it waits for. */
static void calls_come_on_every_device(void **state) {
  (void)state;
  static const char *const selectors[] = {
#ifndef QUERN_WITHOUT_CPU
      "cpu",
#endif
      "check", "null"};
  enum { ROUNDS = 50, DEVICES = sizeof selectors / sizeof *selectors };
  for (int d = 0; d < DEVICES; d++) {
    test_device t = test_open(selectors[d]);
    seen s = {0};
    numbered calls[ROUNDS];
    qn_queue queue = test_queue(t.device);
    qn_buffer buffer = test_buffer(t.device, 1 << 18);
    for (uint64_t i = 0; i < ROUNDS; i++) {
      calls[i] = (numbered){&s, i};
      qn_point point = fill(queue, buffer, 'x');
      OK(qn_queue_call(queue, &point, note_number, &calls[i]));
    }
    wait_for(&s.count, ROUNDS);
    for (uint64_t i = 0; i < ROUNDS; i++) assert_int_equal(s.order[i], i);
    test_close(&t);
  }
}

/* ---- Exit --------------------------------------------------------------------------------------- */

static const char *self;

static void say_called(void *user, qn_status status) {
  (void)user, (void)status;
  fprintf(stderr, "called\n");
}

static void never_end(void *user, qn_status status) {
  (void)status;
  atomic_store((_Atomic uint32_t *)user, 1);
  for (;;) pause_ms(1000);
}

static int exit_with_a_call_waiting(void) {
  fixture f = open_fake();
  qn_queue queue = test_queue(f.t.device);
  qn_buffer buffer = test_buffer(f.t.device, 64);
  f.control->allowed = 0;
  fill(queue, buffer, 1);
  return qn_queue_call(queue, NULL, say_called, NULL) == QN_OK ? 10 : 1;
}

static int exit_with_a_call_that_does_not_end(void) {
  static _Atomic uint32_t is_inside;
  test_device t = test_open("null");
  qn_queue queue = test_queue(t.device);
  if (qn_queue_call(queue, NULL, never_end, &is_inside) != QN_OK) return 1;
  while (!is_inside) sched_yield();
  return 10;
}

static const struct {
  const char *name;
  int (*run)(void);
} exits[] = {{"waiting", exit_with_a_call_waiting}, {"endless", exit_with_a_call_that_does_not_end}};

static void test_L6_exit_waits_for_no_call_and_makes_none(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof exits / sizeof *exits; i++) {
    char command[1024];
    time_t start = time(NULL);
    snprintf(command, sizeof command, "exec '%s' %s 2>&1", self, exits[i].name);
    FILE *program = popen(command, "r");
    assert_non_null(program);
    char said[256] = "";
    size_t size = fread(said, 1, sizeof said - 1, program);
    said[size] = '\0';
    int status = pclose(program);
    assert_string_equal(said, "");
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 10);
    assert_true(time(NULL) - start < 60);
  }
}

/* ---- Descriptors -------------------------------------------------------------------------------- */

static bool is_readable(int32_t descriptor, int timeout_ms) {
  struct pollfd p = {.fd = descriptor, .events = POLLIN};
  return poll(&p, 1, timeout_ms) == 1 && (p.revents & POLLIN) != 0;
}

static void a_descriptor_becomes_readable_at_its_point(void **state) {
  (void)state;
  fixture f = open_fake();
  qn_queue queue = test_queue(f.t.device);
  qn_buffer buffer = test_buffer(f.t.device, 64);
  f.control->allowed = 1;
  f.control->fail_at = 3;
  qn_point points[3] = {fill(queue, buffer, 1), fill(queue, buffer, 1), fill(queue, buffer, 1)};
  int32_t descriptors[3] = {-1, -1, -1}, dropped = -1;
  for (int i = 0; i < 3; i++) OK(qn_queue_descriptor(queue, i < 2 ? &points[i] : NULL, &descriptors[i]));
  OK(qn_queue_descriptor(queue, &points[1], &dropped));
  assert_true(is_readable(descriptors[0], 10000));
  assert_false(is_readable(descriptors[1], 30));
  assert_false(is_readable(descriptors[2], 0));
  /* The caller may close its own at any time, and have the number anew for something else. */
  close(dropped);
  int pipes[2];
  assert_int_equal(pipe(pipes), 0);
  f.control->allowed = UINT64_MAX;
  assert_true(is_readable(descriptors[1], 10000));
  assert_true(is_readable(descriptors[2], 10000)); /* failed */
  assert_int_equal(qn_point_wait(&points[1], QN_POLL), QN_OK);
  assert_int_equal(qn_point_wait(&points[2], QN_POLL), QN_ERROR_DEVICE_LOST);
  assert_false(is_readable(pipes[0], 30));
  for (int i = 0; i < 3; i++) close(descriptors[i]);
  close(pipes[0]);
  close(pipes[1]);
  f.control->fail_at = 0;
  close_fake(&f);
}

static int count_descriptors(void) {
  int count = 0;
  DIR *all = opendir("/proc/self/fd");
  assert_non_null(all);
  while (readdir(all)) count++;
  closedir(all);
  return count;
}

static void descriptors_of_the_library_are_closed(void **state) {
  (void)state;
  test_device t = test_open("null");
  int before = count_descriptors();
  qn_queue queue = test_queue(t.device);
  for (int i = 0; i < 100; i++) {
    int32_t descriptor = -1;
    OK(qn_queue_descriptor(queue, NULL, &descriptor));
    assert_true(is_readable(descriptor, 10000));
    close(descriptor);
  }
  test_close(&t);
  assert_int_equal(count_descriptors(), before);
}

int main(int count, char **arguments) {
  for (size_t i = 0; i < sizeof exits / sizeof *exits; i++)
    if (count == 2 && strcmp(arguments[1], exits[i].name) == 0) return exits[i].run();
  self = arguments[0];
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(there_is_no_thread_before_the_first_call),
      cmocka_unit_test(a_call_comes_once_when_its_point_is_complete),
      cmocka_unit_test(a_call_for_what_is_complete_comes_soon_and_not_from_inside),
      cmocka_unit_test(calls_of_a_queue_come_in_the_order_of_their_points),
      cmocka_unit_test(test_L7_a_call_for_a_point_that_failed_gets_the_cause),
      cmocka_unit_test(test_L3_a_queue_lives_until_its_calls_have_returned),
      cmocka_unit_test(closing_waits_for_the_calls),
      cmocka_unit_test(when_closing_gives_up_a_call_says_that_it_is_closed),
      cmocka_unit_test(bad_input_is_refused_and_calls_nothing),
      cmocka_unit_test(a_wait_inside_a_callback_would_block),
      cmocka_unit_test(a_callback_makes_uses_and_releases_objects),
      cmocka_unit_test(a_callback_may_release_all_that_there_is),
      cmocka_unit_test(each_call_of_many_threads_comes_exactly_once),
      cmocka_unit_test(calls_come_on_every_device),
      cmocka_unit_test(test_L6_exit_waits_for_no_call_and_makes_none),
      cmocka_unit_test(a_descriptor_becomes_readable_at_its_point),
      cmocka_unit_test(descriptors_of_the_library_are_closed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
