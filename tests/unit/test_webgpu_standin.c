/* labels: threads */
/* The webgpu adapter on a library of ours that checks each field passed by value, in calls and callbacks (tests/plugins/standin_webgpu.h):
 * compiled for whatever machine the tests are, and run there. */
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/support.h"
#include "plugins/standin_webgpu.h"
#include "support/rounds.h"

#define LIBRARY QUERN_BINARY_DIR "/tests/plugins/webgpu/libquern-webgpu-standin.so"

static const char source[] =
    "kernel void triple(global uint *cell, uint by) { cell[get_global_id(0)] = cell[get_global_id(0)] * 3u + by; }\n";

static standin_state *standin;
static test_device t;
static qn_queue queue;
static qn_kernel triple;

static int open_library(void **state) {
  (void)state;
  standin_state_get_fn get = NULL;
  void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (!library) fail_msg("%s", dlerror());
  *(void **)&get = dlsym(library, "standin_state_get");
  assert_non_null(get);
  standin = get();
  setenv("QUERN_WEBGPU_LIBRARY", LIBRARY, 1);
  return 0;
}

static int begin(void **state) {
  (void)state;
  t = test_open("webgpu:0");
  queue = test_queue(t.device);
  triple = test_kernel(test_program(t.device, source), "triple");
  return 0;
}

static int end(void **state) {
  (void)state;
  test_close(&t);
  if (standin->violations)
    fail_msg("%u fields came wrong; the first: %s", standin->violations, standin->first_violation);
  assert_int_equal(standin->objects, 0);
  assert_int_equal(standin->events, 0);
  return 0;
}

static void put(qn_buffer buffer, const void *bytes, uint64_t size) {
  qn_view view = test_view(buffer, 0, size);
  OK(qn_write(queue, &view, bytes, NULL));
}
static void get(qn_buffer buffer, void *bytes, uint64_t size) {
  qn_view view = test_view(buffer, 0, size);
  OK(qn_read(queue, &view, bytes, NULL));
  OK(qn_queue_finish(queue, 60 * SECOND));
}

static void test_what_is_told_of_the_device(void **state) {
  (void)state;
  qn_device_info info = QN_INIT(qn_device_info);
  OK(qn_device_query(t.device, &info));
  assert_string_equal(info.name, "stand-in");
  assert_int_equal(info.max_group_items, 128);
  assert_int_equal(info.max_local_size[1], 100);
  assert_int_equal(info.max_local_size[2], 50);
  assert_int_equal(info.local_memory_bytes, 16384);
  assert_int_equal(info.max_allocation_bytes, 1 << 26);
  assert_true(standin->calls_by_value > 0);
}

static void test_bytes_come_back(void **state) {
  (void)state;
  uint32_t in[256], out[256];
  qn_buffer a = test_buffer(t.device, sizeof in), b = test_buffer(t.device, sizeof in);
  for (uint32_t i = 0; i < 256; i++) in[i] = i * 2654435761u;
  put(a, in, sizeof in);
  qn_view from = test_view(a, 0, sizeof in), to = test_view(b, 0, sizeof in), part = test_view(b, 512, 256);
  OK(qn_copy(queue, &to, &from, NULL));
  OK(qn_fill(queue, &part, "\0", 1, NULL));
  get(b, out, sizeof out);
  for (uint32_t i = 0; i < 256; i++) assert_int_equal(out[i], i >= 128 && i < 192 ? 0 : in[i]);
}

static void test_a_map_reads_and_writes(void **state) {
  (void)state;
  void *pointer = NULL;
  uint32_t words[16] = {0};
  qn_buffer buffer = test_buffer(t.device, sizeof words);
  qn_view view = test_view(buffer, 0, sizeof words);
  put(buffer, words, sizeof words);
  OK(qn_buffer_map(&view, QN_MAP_READ | QN_MAP_WRITE, 60 * SECOND, &pointer));
  ((uint32_t *)pointer)[3] = 77;
  OK(qn_buffer_unmap(buffer, pointer));
  get(buffer, words, sizeof words);
  assert_int_equal(words[3], 77);
}

/* Constants, bind groups, dynamic offsets; a smaller last group; more groups than a dimension takes. */
static void test_kernels_get_what_they_were_given(void **state) {
  (void)state;
  enum { MOST = 5000 };
  static const uint64_t sizes[][2] = {{1, 1}, {64, 64}, {1000, 0}, {128, 32}, {100, 7}, {5000, 1}};
  static uint32_t words[MOST];
  qn_buffer buffer = test_buffer(t.device, sizeof words);
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
    qn_range range = QN_INIT(qn_range);
    range.dimensions = 1;
    range.global[0] = sizes[k][0];
    if (sizes[k][0] % (sizes[k][1] ? sizes[k][1] : 1) == 0) range.local[0] = sizes[k][1];
    for (uint32_t i = 0; i < MOST; i++) words[i] = i;
    put(buffer, words, sizeof words);
    OK(qn_launch(queue, triple, &range, QN_ARGS(buffer, (uint32_t)k), NULL));
    get(buffer, words, sizeof words);
    for (uint32_t i = 0; i < MOST; i++) assert_int_equal(words[i], i < sizes[k][0] ? i * 3 + (uint32_t)k : i);
  }
}

/* Nothing of the library's is made for each launch and kept. */
static void test_launches_leave_nothing(void **state) {
  (void)state;
  uint64_t rounds = test_rounds("launches on the stand-in", 3000, 100000);
  uint32_t cell = 1, expected = 1, objects = 0, pipelines = 0, groups = 0;
  qn_buffer buffer = test_buffer(t.device, 4);
  put(buffer, &cell, 4);
  for (uint64_t i = 0; i < rounds; i++) {
    OK(qn_launch(queue, triple, QN_RANGE_1D(1), QN_ARGS(buffer, (uint32_t)i), NULL));
    expected = expected * 3 + (uint32_t)i;
    if (i % 50 != 0) continue;
    OK(qn_queue_finish(queue, 60 * SECOND));
    if (i == 100) objects = standin->objects, pipelines = standin->pipelines, groups = standin->groups;
  }
  OK(qn_queue_finish(queue, 60 * SECOND));
  assert_int_equal(standin->objects, objects);
  assert_int_equal(standin->pipelines, pipelines);
  assert_int_equal(standin->groups, groups);
  get(buffer, &cell, 4);
  assert_int_equal(cell, expected);
}

/* ---- Failures ----------------------------------------------------------------------------------- */

static void fails_with(uint32_t what, qn_status status, const char *words) {
  qn_point point = {0, 0};
  uint32_t cell = 1;
  qn_buffer buffer = test_buffer(t.device, 4);
  put(buffer, &cell, 4);
  OK(qn_queue_finish(queue, 60 * SECOND));
  standin->next_submission = what;
  qn_status launched = qn_launch(queue, triple, QN_RANGE_1D(1), QN_ARGS(buffer, 1u), &point);
  if (launched == QN_OK) launched = qn_point_wait(&point, 60 * SECOND);
  if (launched != status) fail_msg("a launch gave %s: %s", qn_status_name(launched), qn_error_text());
  assert_non_null(strstr(qn_error_text(), words));
  FAILS(qn_launch(queue, triple, QN_RANGE_1D(1), QN_ARGS(buffer, 1u), NULL), status, words);
}

static void test_an_error_of_no_call_fails_the_queue(void **state) {
  (void)state;
  fails_with(STANDIN_TELLS_AN_ERROR, QN_ERROR_DEVICE, "the stand-in refuses a submission");
}

static void test_a_lost_device_fails_the_queue(void **state) {
  (void)state;
  fails_with(STANDIN_LOSES_THE_DEVICE, QN_ERROR_DEVICE_LOST, "the stand-in has lost it");
}

/* ---- Exit --------------------------------------------------------------------------------------- */

/* Two flights are on their way, more has gathered, and the thread that takes it along hears late that there is room. */
static int exit_with_work(void) {
  open_library(NULL);
  begin(NULL);
  qn_buffer buffer = test_buffer(t.device, 4);
  OK(qn_queue_finish(queue, 60 * SECOND));
  standin->takes_us = 20000;
  standin->lags_us = 100000;
  for (uint32_t i = 0; i < 20; i++) OK(qn_launch(queue, triple, QN_RANGE_1D(1), QN_ARGS(buffer, i), NULL));
  usleep(10000);
  return 0;
}

/* The last handle is let go, and another thread closes device and instance. */
static int exit_while_closing(void) {
  open_library(NULL);
  t = test_open("webgpu:0");
  standin->destroys_us = 150000;
  standin->lags_us = 200000;
  OK(qn_release(t.device));
  OK(qn_release(t.runtime));
  return 0;
}

/* Forked before there is a runtime, for a process that goes on after a fork may not use it; and no program is begun anew, which an
 * emulator of another machine wouldn't do. It waits for its turn. */
typedef struct child {
  pid_t pid;
  int go;
} child;
static child exiting, closing;

static child fork_child(int (*run)(void)) {
  int ends[2];
  char byte = 0;
  if (pipe(ends) != 0) abort();
  child c = {fork(), ends[1]};
  if (c.pid < 0) abort();
  if (c.pid == 0) {
    close(ends[1]);
    if (read(ends[0], &byte, 1) != 1) _exit(0); /* nobody wants it */
    exit(run());
  }
  close(ends[0]);
  return c;
}

static void run_child(const child *c) {
  int status = 0;
  assert_int_equal(write(c->go, "", 1), 1);
  assert_int_equal(waitpid(c->pid, &status, 0), c->pid);
  if (status != 0) fail_msg("the process ended with status 0x%x", (unsigned)status);
}

static void test_L6_nothing_is_submitted_after_exit_began(void **state) {
  (void)state;
  run_child(&exiting);
}

static void test_L6_what_is_being_closed_at_exit_is_waited_for(void **state) {
  (void)state;
  run_child(&closing);
}

int main(void) {
  exiting = fork_child(exit_with_work);
  closing = fork_child(exit_while_closing);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_what_is_told_of_the_device, begin, end),
      cmocka_unit_test_setup_teardown(test_bytes_come_back, begin, end),
      cmocka_unit_test_setup_teardown(test_a_map_reads_and_writes, begin, end),
      cmocka_unit_test_setup_teardown(test_kernels_get_what_they_were_given, begin, end),
      cmocka_unit_test_setup_teardown(test_launches_leave_nothing, begin, end),
      cmocka_unit_test_setup_teardown(test_an_error_of_no_call_fails_the_queue, begin, end),
      cmocka_unit_test_setup_teardown(test_a_lost_device_fails_the_queue, begin, end),
      cmocka_unit_test(test_L6_nothing_is_submitted_after_exit_began),
      cmocka_unit_test(test_L6_what_is_being_closed_at_exit_is_waited_for),
  };
  return cmocka_run_group_tests(tests, open_library, NULL);
}
