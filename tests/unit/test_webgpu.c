/* labels: webgpu */
/* The webgpu adapter on a WebGPU library and a driver in software: results, leaks, exits, limits. */
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/support.h"
#include "support/growth.h"
#include "support/rounds.h"

static const char source[] =
    "kernel void saxpy(global const float *x, global float *y, float a, uint n) {\n"
    "  uint i = get_global_id(0);\n"
    "  if (i < n) y[i] = a * x[i] + y[i];\n"
    "}\n"
    "kernel void step(global uint *cell, uint by) { cell[get_global_id(0)] = cell[get_global_id(0)] * 3u + by; }\n"
    "kernel void shift(global const uint *from, global uint *to) { to[get_global_id(0)] = from[get_global_id(0)]; }\n"
    "kernel void turn(global uint *data, local uint *room) {\n"
    "  uint l = get_local_id(0), n = get_local_size(0), first = get_global_id(0) - l;\n"
    "  room[l] = data[first + l];\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  data[first + l] = room[n - 1 - l];\n"
    "}\n"
    "kernel void many(global uint *a, global uint *b, global uint *c, global uint *d, global uint *e, global uint *f,\n"
    "                 global uint *g, global uint *h, global uint *i, global uint *j, global uint *k, global uint *l,\n"
    "                 global uint *m, global uint *n, global uint *o, global uint *p, global uint *q) {\n"
    "  a[0] = b[0] + c[0] + d[0] + e[0] + f[0] + g[0] + h[0] + i[0] + j[0] + k[0] + l[0] + m[0] + n[0] + o[0] + p[0] + "
    "q[0];\n"
    "}\n";

static test_device t;
static qn_queue queue;
static qn_program program;

static void put(qn_buffer buffer, const void *bytes, uint64_t size) {
  qn_view view = test_view(buffer, 0, size);
  OK(qn_write(queue, &view, bytes, NULL));
}

static void get(qn_buffer buffer, void *bytes, uint64_t size) {
  qn_view view = test_view(buffer, 0, size);
  OK(qn_read(queue, &view, bytes, NULL));
  OK(qn_queue_finish(queue, 60 * SECOND));
}

static qn_range groups_of(uint64_t global, uint64_t local) {
  qn_range range = QN_INIT(qn_range);
  range.dimensions = 1;
  range.global[0] = global;
  range.local[0] = local;
  return range;
}

static int begin(void **state) {
  (void)state;
  t = test_open("webgpu:0");
  queue = test_queue(t.device);
  program = test_program(t.device, source);
  return 0;
}
static int end(void **state) {
  (void)state;
  test_close(&t);
  return 0;
}

/* ---- Results ------------------------------------------------------------------------------------ */

static void test_a_kernel_runs(void **state) {
  (void)state;
  enum { N = 1000 };
  float x[N], y[N];
  qn_buffer bx = test_buffer(t.device, sizeof x), by = test_buffer(t.device, sizeof y);
  for (int i = 0; i < N; i++) x[i] = (float)i, y[i] = 1.0f;
  put(bx, x, sizeof x);
  put(by, y, sizeof y);
  OK(qn_launch(queue, test_kernel(program, "saxpy"), QN_RANGE_1D(1024), QN_ARGS(bx, by, 2.0f, (uint32_t)N), NULL));
  get(by, y, sizeof y);
  for (int i = 0; i < N; i++) assert_true(y[i] == 2.0f * (float)i + 1.0f);
}

/* Commands gather behind two flights, and go together: in order, and all of them. */
static void test_many_launches_run_in_order(void **state) {
  (void)state;
  enum { LAUNCHES = 1000 };
  uint32_t cell = 7, expected = 7;
  qn_buffer buffer = test_buffer(t.device, 4);
  qn_kernel step = test_kernel(program, "step");
  put(buffer, &cell, 4);
  for (uint32_t i = 0; i < LAUNCHES; i++) {
    OK(qn_launch(queue, step, QN_RANGE_1D(1), QN_ARGS(buffer, i), NULL));
    expected = expected * 3 + i;
  }
  get(buffer, &cell, 4);
  assert_int_equal(cell, expected);
}

/* Without anybody who waits: the pump takes them along. A look gives the device what has gathered, so each try looks once, when
 * all should be done; a machine that was busy with something else gets more time at the next one. */
static void test_gathered_launches_need_no_wait(void **state) {
  (void)state;
  qn_buffer buffer = test_buffer(t.device, 4096);
  qn_kernel step = test_kernel(program, "step");
  qn_status status = QN_NOT_READY;
  for (useconds_t pause = 200000; status != QN_OK && pause < 60000000; pause *= 2) {
    qn_point last = {0, 0};
    OK(qn_queue_finish(queue, 60 * SECOND));
    for (uint32_t i = 0; i < 50; i++) OK(qn_launch(queue, step, QN_RANGE_1D(1024), QN_ARGS(buffer, i), &last));
    usleep(pause);
    status = qn_point_wait(&last, QN_POLL);
  }
  assert_int_equal(status, QN_OK);
}

/* Large fills are copies of a tile. */
static void test_large_fills(void **state) {
  (void)state;
  enum { WORDS = (5 << 18) + 3 };
  const uint32_t pattern[4] = {1, 22, 333, 4444};
  uint32_t *words = calloc(WORDS, 4);
  assert_non_null(words);
  qn_buffer buffer = test_buffer(t.device, WORDS * 4);
  qn_view view = test_view(buffer, 12, (5 << 20) / 16 * 16);
  OK(qn_fill(queue, &view, pattern, sizeof pattern, NULL));
  get(buffer, words, WORDS * 4);
  for (uint32_t i = 3; i < WORDS; i++)
    if (words[i] != pattern[(i - 3) % 4]) fail_msg("word %u is %u", i, words[i]);
  free(words);
}

/* Two arguments in one buffer share a binding. */
static void test_arguments_may_share_a_buffer(void **state) {
  (void)state;
  uint32_t words[128];
  qn_buffer buffer = test_buffer(t.device, sizeof words);
  for (uint32_t i = 0; i < 128; i++) words[i] = i;
  put(buffer, words, sizeof words);
  qn_view low = test_view(buffer, 0, 256), high = test_view(buffer, 256, 256);
  OK(qn_launch(queue, test_kernel(program, "shift"), QN_RANGE_1D(64), QN_ARGS(&low, &high), NULL));
  get(buffer, words, sizeof words);
  for (uint32_t i = 0; i < 128; i++) assert_int_equal(words[i], i % 64);
}

static void test_local_memory_of_many_sizes(void **state) {
  (void)state;
  uint32_t words[256];
  qn_buffer buffer = test_buffer(t.device, sizeof words);
  qn_kernel turn = test_kernel(program, "turn");
  for (uint32_t local = 1; local <= 128; local *= 2) {
    for (uint32_t i = 0; i < 256; i++) words[i] = i;
    const qn_range range = groups_of(256, local);
    put(buffer, words, sizeof words);
    OK(qn_launch(queue, turn, &range, QN_ARGS(buffer, qn_arg_local(local * 4)), NULL));
    get(buffer, words, sizeof words);
    for (uint32_t i = 0; i < 256; i++) assert_int_equal(words[i], i / local * local + local - 1 - i % local);
  }
}

/* ---- Leaks -------------------------------------------------------------------------------------- */

/* Threads and descriptors that drivers start late. */
enum { SLACK = 4 };

static uint32_t launch_many(qn_buffer buffer, uint32_t cell, uint64_t launches) {
  qn_kernel step = test_kernel(program, "step");
  for (uint64_t i = 0; i < launches; i++) {
    OK(qn_launch(queue, step, QN_RANGE_1D(1), QN_ARGS(buffer, (uint32_t)i), NULL));
    cell = cell * 3 + (uint32_t)i;
    if (i % 100 == 0) OK(qn_queue_finish(queue, 60 * SECOND));
  }
  OK(qn_release(step));
  OK(qn_queue_finish(queue, 60 * SECOND));
  return cell;
}

static void test_launches_leave_nothing(void **state) {
  (void)state;
  uint64_t rounds = test_rounds("launches that leave nothing", 6000, 100000), window = rounds / (GROWTH_WINDOWS + 1);
  uint32_t cell = 1, expected = 1;
  qn_buffer buffer = test_buffer(t.device, 4);
  put(buffer, &cell, 4);
  expected = launch_many(buffer, expected, window);
  uint64_t threads = count_threads(), descriptors = count_descriptors();
  growth memory = growth_begin();
  for (int i = 0; i < GROWTH_WINDOWS; i++) {
    expected = launch_many(buffer, expected, window);
    growth_end_window(&memory);
  }
  get(buffer, &cell, 4);
  assert_int_equal(cell, expected);
  assert_true(threads_fall_to(threads + SLACK));
  assert_true(descriptors_fall_to(descriptors + SLACK));
  assert_true(growth_middle(&memory, "launches") < (UINT64_C(400) << 10));
}

static void come_and_go(uint64_t rounds) {
  for (uint64_t i = 0; i < rounds; i++) {
    qn_program made = test_program(t.device, source);
    qn_queue other = test_queue(t.device);
    qn_buffer buffer = test_buffer(t.device, 1 << 16);
    qn_kernel step = test_kernel(made, "step");
    OK(qn_launch(other, step, QN_RANGE_1D(64), QN_ARGS(buffer, 1u), NULL));
    OK(qn_release(step));
    OK(qn_release(made));
    OK(qn_release(buffer));
    OK(qn_release(other));
    OK(qn_device_drain(t.device, 60 * SECOND));
  }
}

/* Buffers, programs and queues come and go, and what was made for them. */
static void test_objects_leave_nothing(void **state) {
  (void)state;
  uint64_t rounds = test_rounds("objects that leave nothing", 60, 600), window = rounds / (GROWTH_WINDOWS + 1);
  come_and_go(window);
  growth memory = growth_begin();
  for (int i = 0; i < GROWTH_WINDOWS; i++) {
    come_and_go(window);
    growth_end_window(&memory);
  }
  assert_true(growth_middle(&memory, "rounds") < (UINT64_C(1600) << 10));
}

/* ---- Limits ------------------------------------------------------------------------------------- */

static void test_too_many_buffers_are_named(void **state) {
  (void)state;
  qn_kernel kernel = NULL;
  if (qn_kernel_get(program, "many", &kernel) == QN_OK) {
    print_message("a kernel may have 17 buffers on this device\n");
    OK(qn_release(kernel));
    skip();
  }
  FAILS(qn_kernel_get(program, "many", &kernel), QN_ERROR_LIMIT, "kernel 'many' uses 17 buffers");
}

static void test_a_group_that_is_too_large_is_named(void **state) {
  (void)state;
  qn_buffer buffer = test_buffer(t.device, 1 << 20);
  qn_device_info info = QN_INIT(qn_device_info);
  OK(qn_device_query(t.device, &info));
  const qn_range range = groups_of(4096, info.max_group_items * 2);
  qn_status status = qn_launch(queue, test_kernel(program, "step"), &range, QN_ARGS(buffer, 1u), NULL);
  assert_true(status < 0);
  assert_non_null(strstr(qn_error_text(), "local"));
}

static void test_a_buffer_that_is_too_large_is_named(void **state) {
  (void)state;
  qn_buffer buffer = NULL;
  qn_buffer_options options = QN_INIT(qn_buffer_options);
  qn_device_info info = QN_INIT(qn_device_info);
  OK(qn_device_query(t.device, &info));
  options.size_bytes = info.max_allocation_bytes + 1;
  assert_true(qn_buffer_create(t.device, &options, &buffer) < 0);
  assert_true(strlen(qn_error_text()) > 0);
}

/* ---- Failures ----------------------------------------------------------------------------------- */

/* A device of its own, beside the group's, with work done and its buffer's contents known. */
typedef struct victim {
  test_device t;
  qn_queue queue;
  qn_kernel step;
  qn_buffer buffer;
} victim;

static victim open_victim(void) {
  victim v = {.t = test_open("webgpu:0")};
  v.queue = test_queue(v.t.device);
  v.step = test_kernel(test_program(v.t.device, source), "step");
  v.buffer = test_buffer(v.t.device, 4096);
  OK(qn_launch(v.queue, v.step, QN_RANGE_1D(1024), QN_ARGS(v.buffer, 1u), NULL));
  OK(qn_queue_finish(v.queue, 60 * SECOND));
  return v;
}

/* What somebody does who has the library's own handle. */
static void call_native(const char *function, const void *handle) {
  void *library = dlopen(getenv("QUERN_WEBGPU_LIBRARY"), RTLD_NOW | RTLD_LOCAL);
  void (*call)(void *) = NULL;
  uint64_t native = 0;
  assert_non_null(library);
  *(void **)&call = dlsym(library, function);
  assert_non_null(call);
  OK(qn_native_handle(handle, 0, &native));
  call((void *)(uintptr_t)native);
}

/* The failure comes to whoever waits or launches, with the library's words, and stays; devices beside it go on. */
static void expect_failed(victim *v, qn_status status, const char *words) {
  qn_point last = {0, 0};
  qn_queue other = NULL;
  qn_device beside = NULL;
  qn_status launched = QN_OK;
  for (uint32_t i = 0; i < 50 && launched == QN_OK; i++)
    launched = qn_launch(v->queue, v->step, QN_RANGE_1D(1024), QN_ARGS(v->buffer, i), &last);
  if (launched == QN_OK) launched = qn_point_wait(&last, 60 * SECOND);
  if (launched != status) fail_msg("it gave %s: %s", qn_status_name(launched), qn_error_text());
  if (!strstr(qn_error_text(), words)) fail_msg("the text '%s' lacks '%s'", qn_error_text(), words);
  FAILS(qn_launch(v->queue, v->step, QN_RANGE_1D(1024), QN_ARGS(v->buffer, 1u), NULL), status, words);
  FAILS(qn_queue_finish(v->queue, 60 * SECOND), status, words);
  assert_true(qn_queue_create(v->t.device, NULL, &other) != QN_OK || qn_queue_finish(other, 60 * SECOND) != QN_OK ||
              qn_launch(other, v->step, QN_RANGE_1D(1024), QN_ARGS(v->buffer, 1u), NULL) != QN_OK);
  OK(qn_device_open(v->t.runtime, "check", &beside));
  test_a_kernel_runs(NULL);
  (void)!qn_runtime_close(v->t.runtime, 60 * SECOND); /* tells the failure again, or has nothing to tell */
  test_a_kernel_runs(NULL);
}

/* wgpu-native ends the process with a submission that it refuses, and tells a loss only when nothing is in flight. */
static bool is_wgpu(void) { return strstr(getenv("QUERN_WEBGPU_LIBRARY"), "wgpu_native") != NULL; }

static void test_L7_a_lost_device_fails_its_queues_alone(void **state) {
  (void)state;
  victim v = open_victim();
  for (uint32_t i = 0; i < 50 && !is_wgpu(); i++)
    OK(qn_launch(v.queue, v.step, QN_RANGE_1D(1024), QN_ARGS(v.buffer, i), NULL));
  call_native("wgpuDeviceDestroy", v.t.device);
  expect_failed(&v, QN_ERROR_DEVICE_LOST, "is lost");
}

/* A submission that the library refuses, long after the call that recorded it. */
static void test_L7_an_error_that_no_call_returns_fails_the_queues(void **state) {
  (void)state;
  if (is_wgpu()) {
    print_message("wgpu-native ends the process here\n");
    skip();
  }
  victim v = open_victim();
  call_native("wgpuBufferDestroy", v.buffer);
  expect_failed(&v, QN_ERROR_DEVICE, "refuses what was submitted");
}

/* ---- Exits -------------------------------------------------------------------------------------- */

/* The situation of the report on a cache that crashed at exit: compile, run, let go of something or nothing, exit. */
enum { RELEASE_ALL = 1, CLOSE = 2, IN_FLIGHT = 4 };

static int live_and_exit(int mode) {
  begin(NULL);
  qn_buffer buffer = test_buffer(t.device, 4096);
  qn_kernel step = test_kernel(program, "step");
  for (uint32_t i = 0; i < 200; i++) OK(qn_launch(queue, step, QN_RANGE_1D(1024), QN_ARGS(buffer, i), NULL));
  if (!(mode & IN_FLIGHT)) OK(qn_queue_finish(queue, 60 * SECOND));
  if (mode & RELEASE_ALL) {
    OK(qn_release(program));
    OK(qn_release(step));
    OK(qn_release(t.device));
    OK(qn_release(buffer));
    OK(qn_release(queue));
  }
  if (mode & CLOSE) OK(qn_runtime_close(t.runtime, 60 * SECOND));
  return 0;
}

static void test_compile_release_exit(void **state) {
  (void)state;
  uint64_t rounds = test_rounds("exits in each of eight ways", 1, 10);
  for (uint64_t i = 0; i < rounds * 8; i++) {
    char mode[8];
    int status = 0;
    (void)snprintf(mode, sizeof mode, "%u", (unsigned)(i % 8));
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
      (void)execl("/proc/self/exe", "test_webgpu", "exit", mode, (char *)NULL);
      _exit(127);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (status != 0) fail_msg("a process of mode %s ended with status 0x%x", mode, (unsigned)status);
  }
}

/* No driver: no adapter is found, or one in software that nobody asked for isn't taken; the others go on. */
static int find_none(void) {
  qn_runtime runtime = NULL;
  qn_device device = NULL;
  OK(qn_runtime_open(NULL, &runtime));
  qn_status status = qn_device_open(runtime, "webgpu:0", &device);
  if (status != QN_ERROR_NOT_FOUND || !strstr(qn_error_text(), "no device that can be used")) return 1;
  OK(qn_device_open(runtime, "check", &device));
  OK(qn_runtime_close(runtime, 60 * SECOND));
  return 0;
}

static void test_no_adapter_is_told(void **state) {
  (void)state;
  int status = 0;
  pid_t pid = fork();
  assert_true(pid >= 0);
  if (pid == 0) {
    setenv("VK_DRIVER_FILES", "/nowhere/driver.json", 1);
    setenv("VK_ICD_FILENAMES", "/nowhere/driver.json", 1);
    setenv("EGL_PLATFORM", "nothing", 1);
    setenv("__EGL_VENDOR_LIBRARY_FILENAMES", "/nowhere/driver.json", 1);
    (void)execl("/proc/self/exe", "test_webgpu", "none", (char *)NULL);
    _exit(127);
  }
  assert_int_equal(waitpid(pid, &status, 0), pid);
  assert_int_equal(status, 0);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_kernel_runs),
      cmocka_unit_test(test_many_launches_run_in_order),
      cmocka_unit_test(test_gathered_launches_need_no_wait),
      cmocka_unit_test(test_large_fills),
      cmocka_unit_test(test_arguments_may_share_a_buffer),
      cmocka_unit_test(test_local_memory_of_many_sizes),
      cmocka_unit_test(test_launches_leave_nothing),
      cmocka_unit_test(test_objects_leave_nothing),
      cmocka_unit_test(test_too_many_buffers_are_named),
      cmocka_unit_test(test_a_group_that_is_too_large_is_named),
      cmocka_unit_test(test_a_buffer_that_is_too_large_is_named),
      cmocka_unit_test(test_L7_a_lost_device_fails_its_queues_alone),
      cmocka_unit_test(test_L7_an_error_that_no_call_returns_fails_the_queues),
      cmocka_unit_test(test_compile_release_exit),
      cmocka_unit_test(test_no_adapter_is_told),
  };
  if (argc > 2 && strcmp(argv[1], "exit") == 0) exit(live_and_exit(atoi(argv[2])));
  if (argc > 1 && strcmp(argv[1], "none") == 0) exit(find_none());
  return cmocka_run_group_tests(tests, begin, end);
}
