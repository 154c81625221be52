/* labels: threads */
/* The cuda adapter over a driver that fails, hangs and loses its contexts on command (tests/plugins/fake_cuda.h). */
#include "support/cuda_fixture.h"
#include "support/rounds.h"

static int load(void **state) {
  (void)state;
  load_fake();
  fixture_load();
  return 0;
}

static int begin(void **state) {
  (void)state;
  unsetenv("QUERN_CUDA_MARKS");
  fake_reset();
  return 0;
}
static int end(void **state) {
  (void)state;
  if (instance) close_instance();
  expect_nothing_left();
  return 0;
}

/* ---- Drivers and devices that can't be used ------------------------------------------------------ */

static void expect_no_instance(const char *words) {
  qn_adapter_instance *none = NULL;
  assert_int_equal(table->instance_open(&fixture_host, &none), QN_ERROR_NOT_FOUND);
  if (!strstr(error_text, words)) fail_msg("'%s' says nothing of '%s'", error_text, words);
}

static void test_no_driver_says_why(void **state) {
  (void)state;
  fixture_library = "/nowhere/libcuda.so.1";
  expect_no_instance("QUERN_CUDA_LIBRARY names a library that can't be opened: /nowhere/libcuda.so.1");
  fixture_library = QUERN_BINARY_DIR "/tests/plugins/fake/libquern-adapter-fake.so"; /* a library, and no driver */
  expect_no_instance("no function cuInit");
  fixture_library = FAKE_LIBRARY;
  fake->version = 10020;
  expect_no_instance("CUDA 10.2; 11.0 or newer is needed");
  fake->version = 13000;
  fake->init_code = 803;
  expect_no_instance("CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (803)");
  fake->init_code = 0;
  fake->device_count = 0;
  expect_no_instance("the driver sees no GPU");
  fake->device_count = 1;
  fake->fail_code[FAKE_DeviceGetCount] = 304;
  expect_no_instance("/dev/nvidia*");
  fake->fail_code[FAKE_DeviceGetCount] = 0;
  /* After so many failed openings one that works. */
  open_device(0);
  close_device();
}

static void test_devices_that_are_left_out(void **state) {
  (void)state;
  uint32_t count = 0;
  fake->device_count = 2;
  fake->devices[0].capability = 61;
  fake->devices[1].compute_mode = 2;
  fake->devices[1].name = "Locked GPU";
  expect_no_instance("'Fake GPU' has compute capability 6.1; 7.0 or newer is needed");
  assert_non_null(strstr(error_text, "'Locked GPU' is in compute mode Prohibited"));
  fake->devices[1].compute_mode = 0;
  fake->devices[1].capability = 86;
  fake->devices[1].no_managed = fake->devices[1].no_register = true;
  expect_ok(table->instance_open(&fixture_host, &instance));
  expect_ok(table->device_count(instance, &count));
  assert_int_equal(count, 1);
  expect_ok(table->device_describe(instance, 0, &device_info));
  assert_string_equal(device_info.name, "Locked GPU");
  assert_string_equal(device_info.target, "cuda-sm_80"); /* the nearest that is not above */
  assert_string_equal(device_info.target_cpu, "sm_86");
  assert_false(device_info.features & (QN_FEATURE_SHARED_MEMORY | QN_FEATURE_WRAP_HOST));
  assert_int_equal(table->device_describe(instance, 1, &device_info), QN_ERROR_NOT_FOUND);
}

static void test_a_gpu_that_another_process_has_for_itself(void **state) {
  (void)state;
  fake->devices[0].compute_mode = 3;
  expect_ok(table->instance_open(&fixture_host, &instance));
  fake->fail_code[FAKE_DevicePrimaryCtxRetain] = 46;
  assert_int_equal(table->device_open(instance, 0, &device), QN_ERROR_DEVICE);
  assert_non_null(strstr(error_text, "Exclusive_Process"));
  assert_int_equal(error_code, 46);
  fake->fail_code[FAKE_DevicePrimaryCtxRetain] = 0;
  open_device(0);
  close_device();
}

/* ---- A scene, with every call of it made to fail in turn ------------------------------------------ */

typedef struct scene {
  qn_adapter_program *program;
  qn_adapter_kernel *kernel;
  qn_adapter_memory *memory, *host, *wrapped;
  stream a, b;
} scene;

static char wrapped_bytes[5000];

static qn_status make_queue(uint64_t flags, stream *s) {
  static uint64_t id;
  const qn_adapter_queue_options options = {.struct_size = sizeof options, .flags = flags, .id = ++id};
  return table->queue_create(device, &options, &s->queue);
}

static qn_status furnish(scene *s, uint64_t flags) {
  qn_adapter_kernel_info kernel_info;
  qn_adapter_memory_info info;
  qn_status status = try_program(FIXTURE_CODE, cuda_kernels, strlen(cuda_kernels), &s->program);
  if (status >= 0) status = try_kernel(s->program, "advance", "b4", &s->kernel, &kernel_info);
  if (status >= 0) status = try_memory(QN_MEMORY_DEVICE, 200000, NULL, &s->memory, &info);
  if (status >= 0) status = try_memory(QN_MEMORY_HOST, 4096, NULL, &s->host, &info);
  if (status >= 0) status = try_memory(QN_MEMORY_WRAP, sizeof wrapped_bytes, wrapped_bytes, &s->wrapped, &info);
  if (status >= 0) status = make_queue(flags, &s->a);
  if (status >= 0) status = make_queue(0, &s->b);
  return status;
}

static qn_status play(scene *s) {
  static unsigned char bytes[100000];
  const unsigned char pattern[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  const uint32_t by = 1;
  const qn_launch_argument a[] = {buffer_argument(s->memory, 8), value_argument(&by, 4)};
  const qn_launch_record launch = launch_1d(s->kernel, 1, 1, a, 2);
  const qn_adapter_command commands[] = {
      {.kind = QN_COMMAND_FILL, .target = s->memory, .size_bytes = 200000, .pattern = pattern, .pattern_bytes = 8},
      {.kind = QN_COMMAND_LAUNCH, .launch = &launch},
      {.kind = QN_COMMAND_WRITE, .target = s->memory, .size_bytes = sizeof bytes, .host = bytes},
      {.kind = QN_COMMAND_COPY, .target = s->wrapped, .source = s->memory, .size_bytes = 5000},
      {.kind = QN_COMMAND_READ, .source = s->memory, .size_bytes = sizeof bytes, .host = bytes}};
  qn_status status = QN_OK;
  for (size_t i = 0; i < sizeof commands / sizeof *commands && status >= 0; i++)
    status = try_submit(&s->a, commands[i]);
  if (status >= 0)
    status = try_submit(
        &s->b, (qn_adapter_command){.kind = QN_COMMAND_WAIT, .wait_queue = s->a.queue, .wait_value = s->a.value});
  if (status >= 0) status = try_submit(&s->b, (qn_adapter_command){.kind = QN_COMMAND_LAUNCH, .launch = &launch});
  return status;
}

static void expect_end(stream *s) {
  if (!s->queue) return;
  qn_adapter_progress p = {.struct_size = sizeof p};
  for (int i = 0; i < 2000 && completed_of(s) < s->value; i++) (void)!table->queue_wait(s->queue, s->value, 5000000);
  if (completed_of(s) < s->value) fail_msg("value %d never completes", (int)s->value);
  expect_ok(table->queue_progress(s->queue, &p));
  if (p.failed_first) assert_true(p.cause < 0 && p.text[0] != '\0');
}

/* What the driver refuses to take back is an error, and there is nothing more to be done about it. */
static void strike(scene *s) {
  expect_end(&s->a);
  expect_end(&s->b);
  if (s->a.queue) (void)!table->queue_destroy(device, s->a.queue);
  if (s->b.queue) (void)!table->queue_destroy(device, s->b.queue);
  if (s->wrapped) (void)!table->memory_destroy(device, s->wrapped);
  if (s->host) (void)!table->memory_destroy(device, s->host);
  if (s->memory) (void)!table->memory_destroy(device, s->memory);
  if (s->kernel) (void)!table->kernel_destroy(device, s->kernel);
  if (s->program) (void)!table->program_destroy(device, s->program);
  (void)!table->device_close(device);
}

static bool run_scene(uint64_t after, int32_t code, uint64_t flags) {
  scene s = {0};
  fake_reset();
  fake->any_after = after;
  fake->any_code = code;
  qn_status status = table->instance_open(&fixture_host, &instance);
  if (status >= 0) status = table->device_open(instance, 0, &device);
  if (status >= 0) {
    status = furnish(&s, flags);
    if (status >= 0) status = play(&s);
    strike(&s);
  }
  if (status < 0) assert_true(error_text[0] != '\0');
  if (instance) expect_ok(table->instance_close(instance));
  instance = NULL;
  /* What the driver refuses to take back is left in its context. */
  if (fake->wrong && !strstr(fake->what, "a context goes with objects"))
    fail_msg("call %d: the driver was called wrongly: %s", (int)after, fake->what);
  return fake->any_code == 0; /* it came to that call */
}

/* A code that says nothing of the context, and one that takes it along: in neither case does anything hang, crash or is told twice. */
static void fail_each_call(const char *kind, int32_t code, uint64_t flags) {
  uint64_t calls = 0, reached = 1, runs = 0, step = test_rounds("one call made to fail of", 7, 1);
  setenv("QUERN_CUDA_MARKS", kind, 1);
  while (reached) { /* a wait asks as often as it takes: now and then a run is short */
    reached = 0;
    for (int i = 0; i < 4; i++, runs++, calls += step) reached += run_scene(calls, code, flags);
  }
  printf("rounds: %s, code %d: calls made to fail %d of %d\n", kind, code, (int)runs, (int)calls);
  assert_true(calls > 50);
}

static void test_each_call_of_the_driver_may_fail(void **state) {
  (void)state;
  fail_each_call("events", 2, 0);
  fail_each_call("words", 2, 0);
  fail_each_call("events", 2, QN_QUEUE_TIMED);
}

/* ---- Queues ------------------------------------------------------------------------------------- */

static qn_adapter_program *program;
static qn_adapter_kernel *advance;
static qn_adapter_memory *cell;

static int begin_queues(void **state) {
  begin(state);
  open_device(0);
  program = make_program(cuda_kernels);
  advance = make_kernel(program, "advance", "b4");
  cell = make_memory(64);
  memset((void *)fake->calls, 0, sizeof fake->calls);
  return 0;
}
static int end_queues(void **state) {
  fake->holds = 0;
  expect_ok(table->kernel_destroy(device, advance));
  expect_ok(table->program_destroy(device, program));
  drop_memory(cell);
  close_device();
  return end(state);
}

static qn_status try_advance(stream *s, uint32_t by) {
  const qn_launch_argument a[] = {buffer_argument(cell, 8), value_argument(&by, 4)};
  const qn_launch_record launch = launch_1d(advance, 1, 1, a, 2);
  return try_submit(s, (qn_adapter_command){.kind = QN_COMMAND_LAUNCH, .launch = &launch});
}
static void run_advance(stream *s, uint32_t by) {
  const qn_launch_argument a[] = {buffer_argument(cell, 8), value_argument(&by, 4)};
  const qn_launch_record launch = launch_1d(advance, 1, 1, a, 2);
  submit_launch(s, &launch);
}

static void test_a_launch_is_one_call_and_marks_are_few(void **state) {
  (void)state;
  stream s = make_stream(0);
  for (uint32_t i = 0; i < 320; i++) {
    run_advance(&s, i);
    finish(&s); /* the driver's own wait */
  }
  assert_true(fake->calls[FAKE_LaunchKernel] == 320 && fake->calls[FAKE_StreamSynchronize] == 320);
  assert_true(fake->calls[FAKE_EventRecord] <= 10);
  fake->holds = 1;
  for (uint32_t i = 0; i < 320; i++) run_advance(&s, i);
  fake->holds = 0;
  while (completed_of(&s) < s.value) sleep_ms(1);
  assert_true(fake->calls[FAKE_EventRecord] <= 20);
  drop_stream(&s);
}

static void test_what_is_in_flight_is_bounded(void **state) {
  (void)state;
  stream s = make_stream(0);
  qn_status status = QN_OK;
  fake->holds = 1;
  while (status == QN_OK && s.value < 100000) status = try_advance(&s, 1);
  assert_int_equal(status, QN_NOT_READY);
  assert_true(s.value >= 256 && fake->most_queued <= 1000);
  fake->holds = 0;
  finish(&s);
  run_advance(&s, 1);
  finish(&s);
  drop_stream(&s);
}

/* A thread's own context is there again after every call, and a thread without one has none. */
static void test_the_callers_context_stays(void **state) {
  (void)state;
  fake->is_foreign_current = 1;
  stream s = make_stream(0);
  uint32_t value = 5;
  write_memory(&s, cell, 8, &value, 4);
  run_advance(&s, 1);
  finish(&s);
  read_memory(&s, cell, 8, &value, 4);
  assert_int_equal(value, 16);
  drop_stream(&s);
  assert_int_equal(fake->wrong, 0);
  fake->is_foreign_current = 0;
}

static void lose(const char *kind, bool waits_without_limit) {
  setenv("QUERN_CUDA_MARKS", kind, 1);
  stream s = make_stream(0), other = make_stream(0), waiter = make_stream(0);
  qn_adapter_progress p = {.struct_size = sizeof p};
  static unsigned char bytes[200000];
  qn_adapter_memory *memory = make_memory(sizeof bytes);
  run_advance(&s, 1);
  finish(&s);
  fake->holds = 1;
  fake->fault_code = 716;
  run_advance(&s, 2);
  run_advance(&s, 3);
  submit(&other,
         (qn_adapter_command){.kind = QN_COMMAND_READ, .source = memory, .size_bytes = sizeof bytes, .host = bytes});
  wait_for(&waiter, &s, 2);
  submit(&waiter, (qn_adapter_command){.kind = QN_COMMAND_MARK});
  assert_true(completed_of(&s) == 1 && completed_of(&waiter) == 0);
  fake->holds = 0;
  (void)!table->queue_wait(s.queue, 3, waits_without_limit ? QN_FOREVER : UINT64_C(20000000000));
  expect_ok(table->queue_progress(s.queue, &p));
  assert_true(p.failed_first == 2 && p.completed == 3);
  assert_int_equal(p.cause, QN_ERROR_DEVICE_LOST);
  assert_int_equal(p.driver_code, 716);
  assert_non_null(strstr(p.text, "CUDA_ERROR_MISALIGNED_ADDRESS (716)"));
  assert_true(completed_of(&other) == 1 && completed_of(&waiter) == 2);
  assert_int_equal(try_advance(&other, 1), QN_ERROR_DEVICE_LOST);
  assert_int_equal(error_code, 716);
  drop_stream(&s);
  drop_stream(&other);
  drop_stream(&waiter);
  drop_memory(memory);
}
static void test_a_lost_context_is_told_by_whoever_asks(void **state) {
  (void)state;
  lose("events", true);
}
static void test_a_lost_context_is_told_to_who_waits_with_a_limit(void **state) {
  (void)state;
  lose("events", false);
}
static void test_a_lost_context_is_told_by_a_word_that_never_comes(void **state) {
  (void)state;
  lose("words", false);
}

/* Nobody waits: the loss is seen by who only asks how far the queue is. */
static void test_polling_alone_sees_a_loss(void **state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    setenv("QUERN_CUDA_MARKS", k ? "words" : "events", 1);
    stream s = make_stream(0);
    fake->holds = 1; /* a kernel before it would take the fault */
    for (int i = 0; i < 31; i++) run_advance(&s, 1);
    if (k == 1) fake->fault_code = 700;
    run_advance(&s, 1);
    fake->holds = 0;
    uint64_t value = 0;
    while (value < s.value) {
      qn_status status = table->queue_completed(s.queue, &value);
      assert_true(status == QN_OK || (k == 1 && status == QN_ERROR_DEVICE_LOST));
    }
    drop_stream(&s);
  }
}

/* Of a batch the driver takes the first launch and refuses the second; what that one's queue waits for is waited for all the same. */
static void test_a_batch_that_is_refused_in_its_middle_keeps_its_waits(void **state) {
  (void)state;
  stream slow = make_stream(0), s = make_stream(0);
  qn_adapter_progress p = {.struct_size = sizeof p};
  const uint32_t by = 1;
  const qn_launch_argument a[] = {buffer_argument(cell, 8), value_argument(&by, 4)};
  const qn_launch_record launch = launch_1d(advance, 1, 1, a, 2);
  const uint64_t zero = 0;
  write_memory(&s, cell, 0, &zero, 8);
  finish(&s);
  fake->holds = 1;
  run_advance(&slow, 1);
  const qn_adapter_command batch[] = {
      {.struct_size = sizeof *batch,
       .kind = QN_COMMAND_WRITE,
       .value = 2,
       .target = cell,
       .size_bytes = 8,
       .host = (void *)(uintptr_t)&zero},
      {.struct_size = sizeof *batch, .kind = QN_COMMAND_LAUNCH, .value = 3, .launch = &launch},
      {.struct_size = sizeof *batch, .kind = QN_COMMAND_WAIT, .value = 4, .wait_queue = slow.queue, .wait_value = 1},
      {.struct_size = sizeof *batch, .kind = QN_COMMAND_LAUNCH, .value = 5, .launch = &launch}};
  fake->fail_code[FAKE_LaunchKernel] = 701;
  expect_ok(table->queue_submit(s.queue, batch, 4));
  fake->fail_code[FAKE_LaunchKernel] = 0;
  s.value = 5;
  sleep_ms(5);
  assert_true(completed_of(&s) < 4);
  fake->holds = 0;
  expect_ok(table->queue_wait(s.queue, 5, UINT64_C(20000000000)));
  assert_true(completed_of(&slow) == 1);
  expect_ok(table->queue_progress(s.queue, &p));
  assert_int_equal(p.failed_first, 3);
  assert_int_equal(p.cause, QN_ERROR_INVALID_ARGUMENT);
  assert_non_null(strstr(p.text, "kernel 'advance'"));
  assert_int_equal(try_advance(&s, 1), QN_ERROR_INVALID_ARGUMENT);
  drop_stream(&slow);
  drop_stream(&s);
}

/* Nothing but waits went before: the batch isn't taken, and its values come again. */
static void test_a_refused_launch_behind_waits_is_not_taken(void **state) {
  (void)state;
  for (int timed = 0; timed < 2; timed++) {
    stream source = make_stream(0), s = make_stream(timed ? QN_QUEUE_TIMED : 0);
    const uint32_t by = 1;
    const qn_launch_argument a[] = {buffer_argument(cell, 8), value_argument(&by, 4)};
    const qn_launch_record launch = launch_1d(advance, 1, 1, a, 2);
    run_advance(&source, 1);
    const qn_adapter_command batch[] = {
        {.struct_size = sizeof *batch,
         .kind = QN_COMMAND_WAIT,
         .value = 1,
         .wait_queue = source.queue,
         .wait_value = 1},
        {.struct_size = sizeof *batch, .kind = QN_COMMAND_LAUNCH, .value = 2, .launch = &launch}};
    fake->fail_code[FAKE_LaunchKernel] = 701;
    assert_int_equal(table->queue_submit(s.queue, batch, 2), QN_ERROR_INVALID_ARGUMENT);
    assert_int_equal(error_code, 701);
    fake->fail_code[FAKE_LaunchKernel] = 0;
    assert_true(completed_of(&s) == 0);
    expect_ok(table->queue_submit(s.queue, batch, 2));
    s.value = 2;
    finish(&s);
    finish(&source);
    drop_stream(&s);
    drop_stream(&source);
  }
}

/* The driver tells times as floats of milliseconds: after a day they have steps of milliseconds. */
static void test_times_stay_exact_after_days(void **state) {
  (void)state;
  stream s = make_stream(QN_QUEUE_TIMED);
  uint64_t before = 0, after = 0, begun = 0;
  for (int day = 1; day <= 3; day++) {
    run_advance(&s, 1);
    finish(&s);
    fake->clock_ns += UINT64_C(86400000000000);
    run_advance(&s, 1);
    finish(&s);
    fake->clock_ns += 1234567; /* between two of a day */
    run_advance(&s, 1);
    finish(&s);
    expect_ok(table->queue_time(s.queue, s.value - 1, &before));
    expect_ok(table->queue_time(s.queue, s.value, &after));
    expect_ok(table->queue_begin(s.queue, s.value, &begun));
    assert_true(after - before >= 1234567 && after - before < 1234567 + 500000000);
    assert_true(begun >= before && begun <= after);
  }
  drop_stream(&s);
}

/* ---- Several devices ---------------------------------------------------------------------------- */

static void test_a_copy_from_gpu_to_gpu(void **state) {
  (void)state;
  qn_adapter_device *first = NULL;
  uint32_t bytes[64], back[64];
  for (uint32_t i = 0; i < 64; i++) bytes[i] = i * 3;
  fake->device_count = 2;
  open_device(0);
  first = device;
  stream s = make_stream(0);
  qn_adapter_memory *from = make_memory(256);
  write_memory(&s, from, 0, bytes, 256);
  open_device(1);
  qn_adapter_memory *to = make_memory(256);
  copy_memory(&s, to, 0, from, 0, 256);
  copy_memory(&s, to, 128, from, 0, 128);
  finish(&s);
  stream t = make_stream(0);
  read_memory(&t, to, 0, back, 256);
  assert_memory_equal(back, bytes, 128);
  assert_memory_equal(back + 32, bytes, 128);
  assert_true(fake->calls[FAKE_MemcpyPeerAsync] == 2 && fake->calls[FAKE_CtxEnablePeerAccess] == 1);
  drop_stream(&t);
  drop_memory(to);
  close_device();
  device = first;
  drop_stream(&s);
  drop_memory(from);
  close_device();
}

/* ---- Threads ------------------------------------------------------------------------------------ */

enum { THREADS = 4 };

static void *use_device(void *user) {
  (void)user;
  stream s = make_stream(0), t = make_stream(0);
  qn_adapter_memory *memory = make_memory(100000);
  static _Thread_local unsigned char bytes[100000];
  for (uint32_t i = 0; i < 30; i++) {
    memset(bytes, (int)i, sizeof bytes);
    write_memory(&s, memory, 0, bytes, sizeof bytes);
    wait_for(&t, &s, s.value);
    read_memory(&t, memory, 0, bytes, sizeof bytes);
    if (bytes[99999] != i) return cell;
    wait_for(&s, &t, t.value);
  }
  finish(&s);
  drop_memory(memory);
  drop_stream(&s);
  drop_stream(&t);
  return NULL;
}

static void test_threads_share_a_device(void **state) {
  (void)state;
  pthread_t threads[THREADS];
  stream watched = make_stream(0);
  for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, use_device, NULL), 0);
  for (uint32_t i = 0; i < 500; i++) {
    run_advance(&watched, i);
    (void)completed_of(&watched);
  }
  for (int i = 0; i < THREADS; i++) {
    void *wrong = NULL;
    pthread_join(threads[i], &wrong);
    assert_null(wrong);
  }
  finish(&watched);
  drop_stream(&watched);
}

int main(void) {
#define QUEUE_TEST(name) cmocka_unit_test_setup_teardown(name, begin_queues, end_queues)
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
  const struct CMUnitTest tests[] = {
      TEST(test_no_driver_says_why),
      TEST(test_devices_that_are_left_out),
      TEST(test_a_gpu_that_another_process_has_for_itself),
      QUEUE_TEST(test_a_launch_is_one_call_and_marks_are_few),
      QUEUE_TEST(test_what_is_in_flight_is_bounded),
      QUEUE_TEST(test_the_callers_context_stays),
      QUEUE_TEST(test_a_lost_context_is_told_by_whoever_asks),
      QUEUE_TEST(test_a_lost_context_is_told_to_who_waits_with_a_limit),
      QUEUE_TEST(test_a_lost_context_is_told_by_a_word_that_never_comes),
      QUEUE_TEST(test_polling_alone_sees_a_loss),
      QUEUE_TEST(test_a_batch_that_is_refused_in_its_middle_keeps_its_waits),
      QUEUE_TEST(test_a_refused_launch_behind_waits_is_not_taken),
      QUEUE_TEST(test_times_stay_exact_after_days),
      TEST(test_a_copy_from_gpu_to_gpu),
      QUEUE_TEST(test_threads_share_a_device),
      cmocka_unit_test_setup(test_each_call_of_the_driver_may_fail, begin),
  };
  return cmocka_run_group_tests(tests, load, NULL);
}
