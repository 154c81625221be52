/* labels: threads opencl */
/* Queues of the opencl adapter: marks, waits, order, failures. The driver is one that hangs, fails and is lost on command. */
#include <sched.h>

#include "support/opencl_fake.h"
#include "support/rounds.h"

static qn_adapter_program *program;
static qn_adapter_kernel *advance;
static qn_adapter_memory *cell;

static int begin(void **state) {
  fake_begin(state);
  program = make_program("advance");
  advance = make_kernel(program, "advance", "b4");
  cell = make_memory(64);
  return 0;
}
static int end(void **state) {
  fake->holds = 0;
  expect_ok(ocl->kernel_destroy(device, advance));
  expect_ok(ocl->program_destroy(device, program));
  drop_memory(cell);
  return fake_end(state);
}

static qn_status try_advance(stream *s, uint32_t by) {
  const qn_launch_argument a[] = {buffer_argument(cell, 8), value_argument(&by, 4)};
  const qn_launch_record launch = launch_1d(advance, 1, 1, a, 2);
  return try_submit(s, (qn_adapter_command){.kind = QN_COMMAND_LAUNCH, .launch = &launch});
}
static uint64_t run_advance(stream *s, uint32_t by) {
  const qn_launch_argument a[] = {buffer_argument(cell, 8), value_argument(&by, 4)};
  const qn_launch_record launch = launch_1d(advance, 1, 1, a, 2);
  return submit_launch(s, &launch);
}
static uint32_t read_cell(stream *s) {
  uint32_t value = 0;
  read_memory(s, cell, 8, &value, 4);
  return value;
}
static void write_cell(stream *s, const uint32_t *value) { write_memory(s, cell, 8, value, 4); }

/* ---- Marks -------------------------------------------------------------------------------------- */

static void test_launches_have_no_events(void **state) {
  (void)state;
  stream s = make_stream(0);
  for (uint32_t i = 0; i < 10000; i++) run_advance(&s, i);
  finish(&s);
  assert_true(fake->events_made >= 10000 / 256 &&
              fake->events_made <= 10000 / 256 + 20); /* a few when it is nearly idle */
  assert_true(fake->calls[FAKE_EnqueueNDRange] == 10000);
  drop_stream(&s);
}

/* Who waits for the last value of a batch needs one marker and no more, however many wait. */
static void test_a_wait_marks_once(void **state) {
  (void)state;
  stream s = make_stream(0);
  fake->holds = 1;
  for (uint32_t i = 0; i < 5; i++) run_advance(&s, i);
  for (int i = 0; i < 20; i++) {
    assert_int_equal(ocl->queue_wait(s.queue, 1 + (uint64_t)i % 5, 100000), QN_ERROR_TIMEOUT);
    assert_true(completed_of(&s) == 0);
  }
  assert_true(fake->events_made == 5 && fake->events == 6); /* of four launches, and the marker behind the fifth */
  fake->holds = 0;
  finish(&s);
  assert_true(completed_of(&s) == 5);
  assert_true(fake->events_made == 5 && fake->events == 0);
  drop_stream(&s);
}

static void test_what_is_in_flight_is_bounded(void **state) {
  (void)state;
  stream s = make_stream(0);
  qn_status status = QN_OK;
  uint32_t zero = 0, expected = 0;
  write_cell(&s, &zero);
  fake->holds = 1;
  for (uint32_t i = 0; status == QN_OK && i < 100000; i++) {
    status = try_advance(&s, i);
    if (status == QN_OK) expected = expected * 3 + i;
  }
  assert_int_equal(status, QN_NOT_READY);
  assert_true(s.value >= 1000 && s.value <= 5000);
  assert_int_equal(try_advance(&s, 1), QN_NOT_READY);
  fake->holds = 0;
  expect_ok(ocl->queue_wait(s.queue, 1, QN_FOREVER));
  for (uint32_t i = 0; i < 5000; i++) {
    run_advance(&s, i);
    expected = expected * 3 + i;
  }
  assert_int_equal(read_cell(&s), expected);
  drop_stream(&s);
}

static void test_nobody_waits_and_completion_is_seen(void **state) {
  (void)state;
  stream s = make_stream(0);
  assert_true(completed_of(&s) == 0);
  submit(&s, (qn_adapter_command){.kind = QN_COMMAND_MARK}); /* the driver gets nothing of it */
  assert_true(fake->calls[FAKE_EnqueueMarker] == 0);
  run_advance(&s, 1);
  while (completed_of(&s) < s.value) sched_yield();
  assert_true(fake->calls[FAKE_Flush] > 0);
  drop_stream(&s);
}

/* ---- A driver that needs no flush (quirks.c) ----------------------------------------------------- */

static int begin_alone(void **state) {
  (void)state;
  fake_reset();
  fake->platforms[0].name = "NVIDIA CUDA";
  fake->starts_alone = 1;
  open_device(0);
  program = make_program("advance");
  advance = make_kernel(program, "advance", "b4");
  cell = make_memory(64);
  memset((void *)fake->calls, 0, sizeof fake->calls);
  fake->events_made = 0;
  return 0;
}

static void test_no_flush_and_no_event_where_a_driver_needs_none(void **state) {
  (void)state;
  stream s = make_stream(0);
  for (uint32_t i = 0; i < 10; i++) run_advance(&s, i);
  expect_ok(ocl->queue_wait(s.queue, s.value, QN_FOREVER));
  assert_true(completed_of(&s) == s.value);
  assert_true(fake->calls[FAKE_Flush] == 0 && fake->events_made == 0 && fake->calls[FAKE_Finish] == 1);
  uint64_t value = run_advance(&s, 1); /* seen by who only asks */
  while (completed_of(&s) < value) sched_yield();
  run_advance(&s, 2);
  run_advance(&s, 3);
  expect_ok(ocl->queue_wait(s.queue, s.value - 1, QN_FOREVER)); /* not the last: no finish */
  expect_ok(ocl->queue_wait(s.queue, s.value, 1000000000));     /* a finish has no limit */
  assert_true(fake->calls[FAKE_Finish] == 1);
  drop_stream(&s);
}

static void test_a_finish_tells_what_failed(void **state) {
  (void)state;
  stream s = make_stream(0);
  qn_adapter_progress p;
  run_advance(&s, 1);
  expect_ok(ocl->queue_wait(s.queue, 1, QN_FOREVER));
  fake->event_code = -9999;
  run_advance(&s, 1);
  run_advance(&s, 1);
  (void)!ocl->queue_wait(s.queue, s.value, QN_FOREVER);
  expect_ok(ocl->queue_progress(s.queue, &p));
  assert_true(p.completed == s.value && p.failed_first == 2);
  assert_int_equal(p.cause, QN_ERROR_DEVICE_LOST);
  assert_int_equal(p.driver_code, -9999);
  assert_non_null(strstr(p.text, "memory that isn't its own"));
  drop_stream(&s);
}

static void test_fewer_commands_where_a_driver_takes_no_more(void **state) {
  (void)state;
  stream s = make_stream(0);
  qn_status status = QN_OK;
  fake->holds = 1;
  while (status == QN_OK && s.value < 100000) status = try_advance(&s, 1);
  assert_int_equal(status, QN_NOT_READY);
  assert_true(s.value >= 256 && s.value <= 520);
  fake->holds = 0;
  expect_ok(ocl->queue_wait(s.queue, s.value - 1, QN_FOREVER));
  run_advance(&s, 1);
  finish(&s);
  drop_stream(&s);
}

static void test_identifiers_beyond_a_drivers_bits_are_refused(void **state) {
  (void)state;
  stream s = make_stream(0);
  uint32_t by = 1;
  const qn_launch_argument a[] = {buffer_argument(cell, 8), value_argument(&by, 4)};
  qn_launch_record launch = launch_1d(advance, 1, 1, a, 2);
  launch.offset[0] = (UINT64_C(1) << 31) - 1;
  submit_launch(&s, &launch);
  launch.offset[0]++;
  assert_int_equal(try_submit(&s, (qn_adapter_command){.kind = QN_COMMAND_LAUNCH, .launch = &launch}),
                   QN_ERROR_UNSUPPORTED);
  assert_non_null(strstr(error_text, "kernel 'advance'"));
  assert_non_null(strstr(error_text, "31 bits"));
  finish(&s);
  drop_stream(&s);
}

/* ---- Time limits -------------------------------------------------------------------------------- */

static void test_a_hung_queue_is_an_error_and_no_hang(void **state) {
  (void)state;
  static const uint64_t limits[] = {QN_POLL, 1, 1000000, 30000000};
  stream s = make_stream(0);
  fake->holds = 1;
  uint64_t value = run_advance(&s, 1);
  for (int i = 0; i < 4; i++) {
    uint64_t start = now_ns();
    assert_int_equal(ocl->queue_wait(s.queue, value, limits[i]), QN_ERROR_TIMEOUT);
    uint64_t took = now_ns() - start;
    assert_true(took >= limits[i] && took < limits[i] + 2000000000u);
  }
  assert_non_null(strstr(error_text, "did not complete in 30000000 ns"));
  assert_int_equal(ocl->queue_destroy(device, s.queue), QN_ERROR_INVALID_ARGUMENT);
  fake->holds = 0;
  expect_ok(ocl->queue_wait(s.queue, value, QN_FOREVER - 1));
  assert_int_equal(ocl->queue_wait(s.queue, value + 1, 1), QN_ERROR_INVALID_ARGUMENT);
  drop_stream(&s);
}

static void *release_soon(void *given) {
  (void)given;
  sleep_ms(30);
  fake->holds = 0;
  return NULL;
}

/* The event's callback wakes who waits; and where a driver never calls it, they look for themselves. */
static void wait_with_limit(uint32_t callbacks_lost, uint64_t expected_callbacks) {
  pthread_t thread;
  stream s = make_stream(0);
  fake->callbacks_lost = callbacks_lost;
  fake->callbacks = 0;
  fake->holds = 1;
  run_advance(&s, 1);
  for (int i = 0; i < 100; i++) assert_int_equal(ocl->queue_wait(s.queue, 1, 10000), QN_ERROR_TIMEOUT);
  assert_int_equal(pthread_create(&thread, NULL, release_soon, NULL), 0);
  uint64_t start = now_ns();
  expect_ok(ocl->queue_wait(s.queue, 1, UINT64_C(20000000000)));
  assert_true(now_ns() - start < 5000000000u);
  pthread_join(thread, NULL);
  assert_true(fake->callbacks == expected_callbacks); /* one, however many waits there were */
  drop_stream(&s);
}
static void test_a_wait_with_a_limit_is_woken(void **state) {
  (void)state;
  wait_with_limit(0, 1);
}
static void test_a_wait_with_a_limit_needs_no_callback(void **state) {
  (void)state;
  wait_with_limit(1, 0);
}

static void *wait_in_thread(void *given) {
  stream *s = given;
  qn_status status = ocl->queue_wait(s->queue, 1, QN_FOREVER);
  return (void *)(intptr_t)status;
}

static void test_several_threads_wait(void **state) {
  (void)state;
  pthread_t threads[4];
  void *result;
  stream s = make_stream(0);
  fake->holds = 1;
  run_advance(&s, 1);
  for (int i = 0; i < 4; i++) assert_int_equal(pthread_create(&threads[i], NULL, wait_in_thread, &s), 0);
  sleep_ms(2);
  fake->holds = 0;
  for (int i = 0; i < 4; i++) {
    pthread_join(threads[i], &result);
    assert_null(result);
  }
  drop_stream(&s);
}

/* ---- Order between queues ----------------------------------------------------------------------- */

static void test_a_wait_goes_into_the_next_commands_wait_list(void **state) {
  (void)state;
  stream a = make_stream(0), b = make_stream(0);
  fake->holds = 1;
  run_advance(&a, 1);
  qn_launch_argument arguments[] = {buffer_argument(cell, 8), value_argument(&(uint32_t){2}, 4)};
  const qn_launch_record launch = launch_1d(advance, 1, 1, arguments, 2);
  qn_adapter_command batch[] = {
      {.struct_size = sizeof *batch, .kind = QN_COMMAND_WAIT, .value = 1, .wait_queue = a.queue, .wait_value = 1},
      {.struct_size = sizeof *batch, .kind = QN_COMMAND_LAUNCH, .value = 2, .launch = &launch}};
  expect_ok(ocl->queue_submit(b.queue, batch, 2));
  b.value = 2;
  assert_int_equal(last_launch().waits, 1);
  assert_true(fake->calls[FAKE_EnqueueBarrier] == 0);
  fake->holds = 0;
  finish(&b);
  finish(&a);
  wait_for(&b, &a, 1); /* complete: nothing to wait for */
  wait_for(&b, &b, 1); /* its own earlier work */
  assert_true(fake->calls[FAKE_EnqueueBarrier] == 0);
  finish(&b);
  batch[0].value = b.value + 1;
  batch[0].wait_value = a.value + 1;
  assert_int_equal(ocl->queue_submit(b.queue, batch, 1), QN_ERROR_INVALID_ARGUMENT);
  batch[0].wait_queue = b.queue;
  batch[0].wait_value = b.value + 1;
  assert_int_equal(ocl->queue_submit(b.queue, batch, 1), QN_ERROR_INVALID_ARGUMENT);
  drop_stream(&a);
  drop_stream(&b);
}

static void test_a_wait_without_a_command_behind_it(void **state) {
  (void)state;
  stream a = make_stream(0), b = make_stream(0);
  fake->holds = 1;
  run_advance(&a, 1);
  uint64_t value = wait_for(&b, &a, 1);
  assert_int_equal(ocl->queue_wait(b.queue, value, 1000000), QN_ERROR_TIMEOUT);
  fake->holds = 0;
  finish(&b);
  assert_true(completed_of(&a) == 1); /* b's wait was for it */
  drop_stream(&a);
  drop_stream(&b);
}

/* More waits in one batch than one wait list takes, and a queue that is destroyed before who waited for it has looked. */
static void test_many_waits(void **state) {
  (void)state;
  enum { COUNT = 40 };
  stream from[COUNT], to = make_stream(0);
  qn_adapter_memory *words = make_memory(COUNT * 4);
  qn_adapter_command batch[COUNT];
  for (uint32_t i = 0; i < COUNT; i++) from[i] = make_stream(0);
  fake->holds = 1;
  for (uint32_t i = 0; i < COUNT; i++) {
    fill_memory(&from[i], words, (uint64_t)i * 4, 4, &i, 4);
    batch[i] = (qn_adapter_command){.struct_size = sizeof *batch,
                                    .kind = QN_COMMAND_WAIT,
                                    .value = i + 1,
                                    .wait_queue = from[i].queue,
                                    .wait_value = 1};
  }
  expect_ok(ocl->queue_submit(to.queue, batch, COUNT));
  to.value = COUNT;
  assert_true(completed_of(&to) == 0);
  fake->holds = 0;
  for (int i = 0; i < COUNT; i++) {
    finish(&from[i]);
    drop_stream(&from[i]);
  }
  finish(&to);
  drop_stream(&to);
  drop_memory(words);
}

static void test_wait_between_queues_orders_work(void **state) {
  (void)state;
  stream s[3] = {make_stream(0), make_stream(0), make_stream(0)};
  const uint32_t zero = 0;
  uint32_t expected = 0;
  uint64_t rounds = test_rounds("launches that three queues take in turn", 1000, 100000);
  write_cell(&s[2], &zero);
  for (uint32_t i = 0; i < rounds; i++) {
    wait_for(&s[i % 3], &s[(i + 2) % 3], s[(i + 2) % 3].value);
    run_advance(&s[i % 3], i);
    expected = expected * 3 + i;
  }
  uint32_t last = (uint32_t)((rounds + 2) % 3);
  assert_int_equal(read_cell(&s[last]), expected);
  for (int i = 0; i < 3; i++) {
    finish(&s[i]);
    drop_stream(&s[i]);
  }
}

/* Two queues that wait for each other's past, from two threads at a time: nobody holds a lock while it takes another. */
typedef struct pair {
  stream *own, *other;
  _Atomic uint64_t *theirs, mine;
} pair;

static void *cross(void *given) {
  pair *p = given;
  for (uint32_t i = 0; i < 500; i++) {
    wait_for(p->own, p->other, *p->theirs);
    p->mine = submit(p->own, (qn_adapter_command){.kind = QN_COMMAND_MARK});
  }
  return NULL;
}

static void test_queues_wait_for_each_other_at_once(void **state) {
  (void)state;
  pthread_t thread;
  stream a = make_stream(0), b = make_stream(0);
  pair p = {.own = &a, .other = &b}, q = {.own = &b, .other = &a};
  p.theirs = &q.mine;
  q.theirs = &p.mine;
  assert_int_equal(pthread_create(&thread, NULL, cross, &p), 0);
  cross(&q);
  pthread_join(thread, NULL);
  finish(&a);
  finish(&b);
  drop_stream(&a);
  drop_stream(&b);
}

/* ---- Failures ----------------------------------------------------------------------------------- */

static void expect_failure(stream *s, qn_status cause, const char *text, uint64_t first) {
  qn_adapter_progress progress = {.struct_size = sizeof progress};
  uint64_t completed = 0;
  expect_ok(ocl->queue_wait(s->queue, s->value, UINT64_C(10000000000)));
  assert_int_equal(ocl->queue_completed(s->queue, &completed), cause);
  assert_true(completed == s->value);
  expect_ok(ocl->queue_progress(s->queue, &progress));
  if (!strstr(progress.text, text)) fail_msg("%s", progress.text);
  assert_int_equal(progress.cause, cause);
  assert_true(progress.completed == s->value);
  assert_true(progress.failed_first == first);
}

static void test_a_failed_command_is_told_with_the_drivers_words(void **state) {
  (void)state;
  stream s = make_stream(0), other = make_stream(0);
  run_advance(&s, 1);
  finish(&s);
  fake->words = "an illegal address was accessed";
  fake->event_code = -5;
  for (uint32_t i = 0; i < 3; i++) run_advance(&s, i);
  expect_failure(&s, QN_ERROR_DEVICE, "failed at command 2: CL_OUT_OF_RESOURCES (-5)", 2);
  expect_failure(&s, QN_ERROR_DEVICE, "an illegal address was accessed", 2);
  assert_int_equal(try_advance(&s, 1), QN_ERROR_DEVICE);
  assert_non_null(strstr(error_text, "failed at command 2"));
  run_advance(&other, 1); /* what the driver still takes goes on */
  finish(&other);
  drop_stream(&s);
  drop_stream(&other);
}

/* Deep in a batch a mark says that something before it failed; what, only the callback's words do. */
static void test_a_failure_between_marks_is_told_with_the_range(void **state) {
  (void)state;
  stream s = make_stream(0);
  fake->holds = 1;
  for (uint32_t i = 0; i < 20; i++) run_advance(&s, i);
  assert_int_equal(ocl->queue_wait(s.queue, 20, 1000000), QN_ERROR_TIMEOUT);
  for (uint32_t i = 0; i < 20; i++) run_advance(&s, i);
  fake->words = "an illegal address was accessed";
  fake->event_delay = 12;
  fake->event_code = -5;
  fake->holds = 0;
  expect_failure(&s, QN_ERROR_DEVICE, "one of the commands 5 to 20", 5);
  expect_failure(&s, QN_ERROR_DEVICE, "an illegal address was accessed", 5);
  drop_stream(&s);
}

/* A value that failed is never told as complete by an answer that says all is well. */
static void test_failure_is_seen_no_later_than_the_value(void **state) {
  (void)state;
  for (int i = 0; i < 50; i++) {
    stream s = make_stream(0);
    uint64_t completed = 0;
    fake->event_code = -5;
    run_advance(&s, 1);
    qn_status status = QN_OK;
    while (completed < s.value) {
      status = ocl->queue_completed(s.queue, &completed);
      if (completed == s.value) assert_true(status < 0);
    }
    assert_true(status < 0);
    drop_stream(&s);
  }
}

static void test_a_queue_fails_with_the_cause_of_the_one_that_it_waited_for(void **state) {
  (void)state;
  stream a = make_stream(0), b = make_stream(0);
  fake->holds = 1;
  run_advance(&a, 1);
  wait_for(&b, &a, 1);
  run_advance(&b, 2);
  fake->words = "no room for buffer 17";
  fake->event_code = -4;
  fake->holds = 0;
  expect_failure(&a, QN_ERROR_OUT_OF_MEMORY, "CL_MEM_OBJECT_ALLOCATION_FAILURE", 1);
  expect_failure(&b, QN_ERROR_OUT_OF_MEMORY, "no room for buffer 17", 1);
  drop_stream(&a);
  drop_stream(&b);
}

/* ---- Waits of what has failed ---- */

enum { HUNG = 4321 }; /* an advance by so much hangs until it is let go */

/* Fails with its next command, and what comes behind that waits for value 1 of each source. */
static void fail_before_waits(stream *s, stream *sources, uint32_t count) {
  fake->holds = 1;
  run_advance(s, 1);
  for (uint32_t i = 0; i < count; i++) wait_for(s, &sources[i], 1);
  run_advance(s, 2);
  fake->event_code = -5;
  fake->holds = 0;
  uint64_t completed = 0;
  while (ocl->queue_completed(s->queue, &completed) == QN_OK) sched_yield();
}

/* The queue tells of what is before its waits, and of no more, however it is asked. */
static void expect_held(stream *s, uint64_t value) {
  uint64_t completed = 0;
  qn_adapter_progress progress = {.struct_size = sizeof progress};
  for (int i = 0; i < 20; i++) {
    (void)!ocl->queue_completed(s->queue, &completed);
    assert_true(completed == value);
    assert_int_equal(ocl->queue_wait(s->queue, s->value, 500000), QN_ERROR_TIMEOUT);
    assert_int_equal(ocl->queue_wait(s->queue, s->value, QN_POLL), QN_ERROR_TIMEOUT);
  }
  expect_ok(ocl->queue_progress(s->queue, &progress));
  assert_true(progress.completed == value);
  assert_int_equal(ocl->queue_destroy(device, s->queue), QN_ERROR_INVALID_ARGUMENT);
}

static void hang_on(stream *s, qn_adapter_memory *memory, uint64_t offset) {
  const uint32_t by = HUNG;
  const qn_launch_argument a[] = {buffer_argument(memory, offset), value_argument(&by, 4)};
  const qn_launch_record launch = launch_1d(advance, 1, 1, a, 2);
  fake->holds_by = HUNG;
  submit_launch(s, &launch);
  expect_ok(ocl->queue_wait(s->queue, s->value, 1000000) == QN_ERROR_TIMEOUT ? QN_OK : QN_ERROR_INTERNAL);
}

static void hang(stream *s) { hang_on(s, cell, 8); }

/* adapter.h: no value from a wait on is told as complete, when it failed, before the value that it waits for. A queue that waits
 * for the failed one would run before what that one waited for. */
static void test_a_queue_that_failed_keeps_its_waits(void **state) {
  (void)state;
  stream a = make_stream(0), b = make_stream(0), c = make_stream(0);
  const uint32_t zero = 0;
  write_cell(&a, &zero);
  finish(&a);
  hang(&a);
  fake->holds = 1;
  run_advance(&b, 1);
  wait_for(&b, &a, a.value);
  run_advance(&b, 2);
  fake->event_code = -5;
  fake->holds = 0;
  uint64_t completed = 0;
  while (ocl->queue_completed(b.queue, &completed) == QN_OK) sched_yield();
  expect_held(&b, 1);
  wait_for(&c, &b, b.value);
  run_advance(&c, 5);
  expect_held(&c, 0);
  fake->holds_by = 0;
  finish(&c);
  assert_true(completed_of(&a) == a.value && completed_of(&b) == b.value);
  assert_int_equal(read_cell(&c), HUNG * 3 + 5);
  expect_failure(&b, QN_ERROR_DEVICE, "CL_OUT_OF_RESOURCES", 1);
  drop_stream(&a);
  drop_stream(&b);
  drop_stream(&c);
}

/* A wait without a limit, and one that is long enough, end when the source does. */
static void *let_go_soon(void *given) {
  (void)given;
  sleep_ms(20);
  fake->holds_by = 0;
  return NULL;
}
static void test_who_waits_for_a_failed_queue_waits_for_what_it_waited_for(void **state) {
  (void)state;
  static const uint64_t limits[] = {QN_FOREVER, UINT64_C(20000000000)};
  for (int i = 0; i < 2; i++) {
    pthread_t thread;
    stream a = make_stream(0), b = make_stream(0);
    hang(&a);
    fail_before_waits(&b, &a, 1);
    uint64_t start = now_ns();
    assert_int_equal(pthread_create(&thread, NULL, let_go_soon, NULL), 0);
    expect_ok(ocl->queue_wait(b.queue, b.value, limits[i]));
    assert_true(now_ns() - start >= 15000000 && now_ns() - start < 10000000000u);
    assert_true(completed_of(&a) == 1);
    pthread_join(thread, NULL);
    drop_stream(&a);
    drop_stream(&b);
  }
}

/* Waits in the part of a batch that the driver refuses are waits as well. */
static void test_a_refused_rest_keeps_its_waits(void **state) {
  (void)state;
  stream a = make_stream(0), b = make_stream(0), c = make_stream(0);
  const uint32_t by = 1;
  const qn_launch_argument arguments[] = {buffer_argument(cell, 8), value_argument(&by, 4)};
  const qn_launch_record launch = launch_1d(advance, 1, 1, arguments, 2);
  hang(&a);
  qn_adapter_command batch[4];
  for (uint64_t i = 0; i < 4; i++)
    batch[i] = (qn_adapter_command){
        .struct_size = sizeof *batch, .kind = QN_COMMAND_LAUNCH, .value = i + 1, .launch = &launch};
  batch[2] = (qn_adapter_command){
      .struct_size = sizeof *batch, .kind = QN_COMMAND_WAIT, .value = 3, .wait_queue = a.queue, .wait_value = 1};
  fail_call(FAKE_EnqueueNDRange, -5, 1);
  expect_ok(ocl->queue_submit(b.queue, batch, 4)); /* the second launch is refused, the wait behind it never tried */
  fail_call(FAKE_EnqueueNDRange, 0, 0);
  b.value = 4;
  expect_ok(ocl->queue_wait(b.queue, 2, UINT64_C(10000000000)));
  expect_held(&b, 2);
  wait_for(&c, &b, 4);
  run_advance(&c, 5);
  expect_held(&c, 0);
  fake->holds_by = 0;
  finish(&c);
  expect_failure(&b, QN_ERROR_DEVICE, "launch of kernel 'advance'", 2);
  drop_stream(&a);
  drop_stream(&b);
  drop_stream(&c);
}

/* Nothing was taken of a batch: neither its values nor its waits are there. */
static void test_a_rejected_batch_leaves_no_wait(void **state) {
  (void)state;
  stream a = make_stream(0), b = make_stream(0);
  const uint32_t by = 1;
  const qn_launch_argument arguments[] = {buffer_argument(cell, 8), value_argument(&by, 4)};
  const qn_launch_record launch = launch_1d(advance, 1, 1, arguments, 2);
  hang(&a);
  const qn_adapter_command batch[] = {
      {.struct_size = sizeof *batch, .kind = QN_COMMAND_WAIT, .value = 1, .wait_queue = a.queue, .wait_value = 1},
      {.struct_size = sizeof *batch, .kind = QN_COMMAND_LAUNCH, .value = 2, .launch = &launch}};
  fail_call(FAKE_EnqueueNDRange, -5, 0);
  for (int i = 0; i < 50; i++) assert_int_equal(ocl->queue_submit(b.queue, batch, 2), QN_ERROR_DEVICE);
  fail_call(FAKE_EnqueueNDRange, 0, 0);
  run_advance(&b, 1);
  fake->event_code = -5;
  run_advance(&b, 1);
  expect_ok(ocl->queue_wait(b.queue, 2, UINT64_C(10000000000)));
  fake->holds_by = 0;
  finish(&a);
  drop_stream(&a);
  drop_stream(&b);
}

/* More waits than one wait list takes, through two queues that have failed and also wait for each other's past. */
static void test_waits_reach_through_failed_queues(void **state) {
  (void)state;
  enum { COUNT = 40 };
  stream from[COUNT + 1], b = make_stream(0), to = make_stream(0);
  for (int i = 0; i <= COUNT; i++) from[i] = make_stream(0);
  stream *c = &from[COUNT]; /* the last thing that b waits for */
  qn_adapter_memory *cells = make_memory(COUNT * 4);
  for (uint64_t i = 0; i < COUNT; i++) hang_on(&from[i], cells, 4 * i);
  fake->holds = 1;
  run_advance(&b, 1);
  wait_for(c, &b, 1);
  run_advance(c, 1);
  wait_for(c, &from[0], 1);
  run_advance(c, 2);
  for (int i = 0; i < COUNT; i++) wait_for(&b, &from[i], 1);
  wait_for(&b, c, c->value);
  run_advance(&b, 2);
  fake->event_code = -5;
  fake->holds = 0;
  uint64_t completed = 0;
  while (ocl->queue_completed(b.queue, &completed) == QN_OK) sched_yield();
  while (ocl->queue_completed(c->queue, &completed) == QN_OK) sched_yield();
  expect_ok(ocl->queue_wait(c->queue, 2, UINT64_C(10000000000)));
  expect_held(&b, 1);
  expect_held(c, 2);
  wait_for(&to, &b, b.value);
  run_advance(&to, 5);
  expect_held(&to, 0);
  fake->holds_by = 0;
  expect_ok(ocl->queue_wait(to.queue, to.value, UINT64_C(20000000000)));
  assert_true(completed_of(&b) == b.value && completed_of(c) == c->value);
  for (int i = 0; i <= COUNT; i++) drop_stream(&from[i]);
  drop_memory(cells);
  drop_stream(&b);
  drop_stream(&to);
}

static void test_a_refused_command_leaves_no_hole(void **state) {
  (void)state;
  stream s = make_stream(0);
  const uint32_t zero = 0;
  write_cell(&s, &zero);
  run_advance(&s, 1);
  fail_call(FAKE_EnqueueNDRange, -5, 0);
  assert_int_equal(try_advance(&s, 1), QN_ERROR_DEVICE);
  assert_non_null(strstr(error_text, "launch of kernel 'advance'"));
  assert_int_equal(error_code, -5);
  fail_call(FAKE_EnqueueNDRange, 0, 0);
  fail_call(FAKE_SetKernelArg, -38, 0);
  assert_int_equal(try_advance(&s, 77), QN_ERROR_INTERNAL);
  assert_non_null(strstr(error_text, "argument 1 of kernel 'advance'"));
  fail_call(FAKE_SetKernelArg, 0, 0);
  run_advance(&s, 77); /* the argument that was refused is set now */
  assert_int_equal(read_cell(&s), 80);
  assert_true(completed_of(&s) == s.value && s.value == 4);
  drop_stream(&s);
}

/* Two of a batch are taken when the third is refused: all have values; those from the refused one on have failed. */
static void test_a_batch_that_is_refused_in_the_middle_has_failed(void **state) {
  (void)state;
  stream s = make_stream(0);
  const uint32_t by = 1;
  const qn_launch_argument a[] = {buffer_argument(cell, 8), value_argument(&by, 4)};
  const qn_launch_record launch = launch_1d(advance, 1, 1, a, 2);
  qn_adapter_command batch[4];
  for (uint64_t i = 0; i < 4; i++)
    batch[i] = (qn_adapter_command){
        .struct_size = sizeof *batch, .kind = QN_COMMAND_LAUNCH, .value = i + 1, .launch = &launch};
  fail_call(FAKE_EnqueueNDRange, -5, 2);
  expect_ok(ocl->queue_submit(s.queue, batch, 4));
  s.value = 4;
  expect_failure(&s, QN_ERROR_DEVICE, "launch of kernel 'advance'", 3);
  fail_call(FAKE_EnqueueNDRange, 0, 0);
  assert_int_equal(ocl->queue_submit(s.queue, batch, 4), QN_ERROR_DEVICE);
  drop_stream(&s);
  batch[1].value = 1; /* values must rise */
  s = make_stream(0);
  assert_true(ocl->queue_submit(s.queue, &batch[2], 1) == QN_OK);
  assert_int_equal(ocl->queue_submit(s.queue, batch, 1), QN_ERROR_INVALID_ARGUMENT);
  expect_ok(ocl->queue_wait(s.queue, 3, QN_FOREVER));
  static qn_adapter_command large[5000];
  assert_int_equal(ocl->queue_submit(s.queue, large, 5000), QN_ERROR_LIMIT);
  assert_non_null(strstr(error_text, "in parts"));
  drop_stream(&s);
}

static void test_a_lost_device_is_told_by_all_that_touch_it(void **state) {
  (void)state;
  stream a = make_stream(0), b = make_stream(0);
  qn_adapter_memory *memory = NULL;
  qn_adapter_memory_info info;
  qn_adapter_program *none = NULL;
  void *pointer = NULL;
  fake->holds = 1;
  run_advance(&a, 1);
  run_advance(&b, 1);
  assert_int_equal(ocl->queue_wait(a.queue, 1, 1000000), QN_ERROR_TIMEOUT);
  fake->lost_code = -36;
  assert_int_equal(try_advance(&a, 1), QN_ERROR_DEVICE_LOST);
  assert_non_null(strstr(error_text, "'fake device' is lost"));
  assert_int_equal(error_code, -36);
  expect_failure(&a, QN_ERROR_DEVICE_LOST, "is lost", 1);
  expect_failure(&b, QN_ERROR_DEVICE_LOST, "is lost", 1);
  assert_int_equal(try_memory(QN_MEMORY_DEVICE, 64, NULL, &memory, &info), QN_ERROR_DEVICE_LOST);
  assert_int_equal(ocl->memory_map(device, cell, 0, 4, QN_MAP_READ, &pointer), QN_ERROR_DEVICE_LOST);
  assert_int_equal(try_program(QN_CODE_OPENCL_C, "advance", 7, &none), QN_ERROR_DEVICE_LOST);
  const qn_adapter_queue_options options = {.struct_size = sizeof options};
  qn_adapter_queue *queue = NULL;
  assert_int_equal(ocl->queue_create(device, &options, &queue), QN_ERROR_DEVICE_LOST);
  assert_non_null(strstr(error_text, "'fake device' is lost"));
  drop_stream(&a);
  drop_stream(&b);
}

static void *lose_soon(void *given) {
  (void)given;
  sleep_ms(20);
  fake->lost_code = -36;
  return NULL;
}

/* The wait is in the driver, or between two looks, when the device goes. */
static void lose_during_a_wait(uint64_t limit) {
  pthread_t thread;
  stream s = make_stream(0);
  fake->holds = 1;
  run_advance(&s, 1);
  assert_int_equal(pthread_create(&thread, NULL, lose_soon, NULL), 0);
  uint64_t start = now_ns();
  expect_ok(ocl->queue_wait(s.queue, 1, limit));
  assert_true(now_ns() - start < 20000000000u);
  pthread_join(thread, NULL);
  expect_failure(&s, QN_ERROR_DEVICE_LOST, "", 1);
  drop_stream(&s);
}
static void test_a_wait_without_a_limit_ends_when_the_device_is_lost(void **state) {
  (void)state;
  lose_during_a_wait(QN_FOREVER);
}
static void test_a_wait_with_a_limit_ends_when_the_device_is_lost(void **state) {
  (void)state;
  lose_during_a_wait(UINT64_C(60000000000));
}

/* ---- Timed queues ------------------------------------------------------------------------------- */

static void test_each_value_of_a_timed_queue_has_a_time(void **state) {
  (void)state;
  stream s = make_stream(QN_QUEUE_TIMED), other = make_stream(0);
  uint64_t ns = 0, before = 0;
  const uint32_t zero = 0;
  fake->holds = 1;
  run_advance(&other, 1);
  wait_for(&s, &other, 1);
  write_cell(&s, &zero);
  for (uint32_t i = 0; i < 50; i++) run_advance(&s, i);
  submit(&s, (qn_adapter_command){.kind = QN_COMMAND_MARK});
  assert_int_equal(ocl->queue_time(s.queue, s.value, &ns), QN_NOT_READY);
  fake->holds = 0;
  finish(&s);
  for (uint64_t value = 1; value <= s.value; value++) {
    uint64_t begin_ns = 0;
    expect_ok(ocl->queue_time(s.queue, value, &ns));
    expect_ok(ocl->queue_begin(s.queue, value, &begin_ns));
    assert_true(begin_ns >= before && ns >= begin_ns && ns > 0);
    before = ns;
  }
  finish(&other);
  assert_int_equal(ocl->queue_time(other.queue, 1, &ns), QN_ERROR_UNSUPPORTED);
  uint64_t first = s.value;
  for (uint32_t i = 0; i < 65534; i++) submit(&s, (qn_adapter_command){.kind = QN_COMMAND_MARK});
  finish(&s);
  expect_ok(ocl->queue_time(s.queue, first, &ns)); /* the 65,535th from the end */
  for (uint32_t i = 0; i < 70000; i++) submit(&s, (qn_adapter_command){.kind = QN_COMMAND_MARK});
  finish(&s);
  assert_int_equal(ocl->queue_time(s.queue, first, &ns), QN_ERROR_NOT_FOUND);
  assert_int_equal(ocl->queue_begin(s.queue, first, &ns), QN_ERROR_NOT_FOUND);
  expect_ok(ocl->queue_time(s.queue, s.value, &ns));
  drop_stream(&s);
  drop_stream(&other);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
#define ALONE(name) cmocka_unit_test_setup_teardown(name, begin_alone, end)
  const struct CMUnitTest tests[] = {TEST(test_launches_have_no_events),
                                     TEST(test_a_wait_marks_once),
                                     TEST(test_what_is_in_flight_is_bounded),
                                     TEST(test_nobody_waits_and_completion_is_seen),
                                     ALONE(test_no_flush_and_no_event_where_a_driver_needs_none),
                                     ALONE(test_a_finish_tells_what_failed),
                                     ALONE(test_fewer_commands_where_a_driver_takes_no_more),
                                     ALONE(test_identifiers_beyond_a_drivers_bits_are_refused),
                                     TEST(test_a_hung_queue_is_an_error_and_no_hang),
                                     TEST(test_a_wait_with_a_limit_is_woken),
                                     TEST(test_a_wait_with_a_limit_needs_no_callback),
                                     TEST(test_several_threads_wait),
                                     TEST(test_a_wait_goes_into_the_next_commands_wait_list),
                                     TEST(test_a_wait_without_a_command_behind_it),
                                     TEST(test_many_waits),
                                     TEST(test_wait_between_queues_orders_work),
                                     TEST(test_a_queue_that_failed_keeps_its_waits),
                                     TEST(test_who_waits_for_a_failed_queue_waits_for_what_it_waited_for),
                                     TEST(test_a_refused_rest_keeps_its_waits),
                                     TEST(test_a_rejected_batch_leaves_no_wait),
                                     TEST(test_waits_reach_through_failed_queues),
                                     TEST(test_queues_wait_for_each_other_at_once),
                                     TEST(test_a_failed_command_is_told_with_the_drivers_words),
                                     TEST(test_a_failure_between_marks_is_told_with_the_range),
                                     TEST(test_failure_is_seen_no_later_than_the_value),
                                     TEST(test_a_queue_fails_with_the_cause_of_the_one_that_it_waited_for),
                                     TEST(test_a_refused_command_leaves_no_hole),
                                     TEST(test_a_batch_that_is_refused_in_the_middle_has_failed),
                                     TEST(test_a_lost_device_is_told_by_all_that_touch_it),
                                     TEST(test_a_wait_without_a_limit_ends_when_the_device_is_lost),
                                     TEST(test_a_wait_with_a_limit_ends_when_the_device_is_lost),
                                     TEST(test_each_value_of_a_timed_queue_has_a_time)};
  return cmocka_run_group_tests(tests, fake_load, NULL);
}
