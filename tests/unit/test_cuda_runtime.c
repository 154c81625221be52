/* labels: threads */
/* The runtime on the cuda adapter, over a driver without a GPU (tests/plugins/fake_cuda.h): kernels from source, the store, memory that
 * runs short, a context that is lost, a fork, and an exit with work in flight. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../api/support.h"
#include "../plugins/fake_cuda.h"

#define FAKE_LIBRARY QUERN_BINARY_DIR "/tests/plugins/fake/libquern-fake-cuda.so"

static fake_cu_control *fake;

static void reset(uint64_t memory_bytes) {
  const fake_cu_device plain = {.name = "Fake GPU", .capability = 90, .memory_bytes = memory_bytes};
  memset(fake, 0, sizeof *fake);
  fake->version = 13000;
  fake->device_count = 2;
  fake->devices[0] = fake->devices[1] = plain;
}

static int begin(void **state) {
  (void)state;
  reset(UINT64_C(256) << 20);
  return 0;
}
static int end(void **state) {
  (void)state;
  if (fake->wrong) fail_msg("the driver was called wrongly: %s", fake->what);
  assert_int_equal(fake->objects, 0);
  return 0;
}

/* The driver knows kernels by their names. */
static const char source[] =
    "kernel void saxpy(global const float *x, global float *y, float a, uint n) {\n"
    "  size_t i = get_global_id(0);\n"
    "  if (i < n) y[i] = a * x[i] + y[i];\n"
    "}\n"
    "kernel void advance(global uint *cell, uint by) { *cell = *cell * 3 + by; }\n"
    "kernel void idle(global uint *cell) { *cell = 1; }\n";

/* ---- Kernels ------------------------------------------------------------------------------------ */

enum { N = 1000 };

static void run_saxpy(qn_device device, qn_program program) {
  qn_queue queue = test_queue(device);
  qn_buffer x = test_buffer(device, N * sizeof(float)), y = test_buffer(device, N * sizeof(float));
  const qn_view view_x = test_view(x, 0, QN_WHOLE), view_y = test_view(y, 0, QN_WHOLE);
  qn_kernel kernel = NULL;
  float host[N];
  OK(qn_kernel_get(program, "saxpy", &kernel));
  for (int i = 0; i < N; i++) host[i] = (float)i;
  OK(qn_write(queue, &view_x, host, NULL));
  OK(qn_write(queue, &view_y, host, NULL));
  OK(qn_launch(queue, kernel, QN_RANGE_1D(N), QN_ARGS(x, y, 2.0f, (uint32_t)N), NULL));
  OK(qn_read(queue, &view_y, host, NULL));
  OK(qn_queue_finish(queue, PATIENCE));
  for (int i = 0; i < N; i++)
    if (host[i] != 3 * (float)i) fail_msg("y[%d] is %g", i, (double)host[i]);
  const void *handles[] = {queue, x, y, kernel};
  for (int i = 0; i < 4; i++) OK(qn_release(handles[i]));
}

/* The driver's compiler works once; the next process, or runtime, has its binary from the store. */
static void test_ptx_is_compiled_once_and_kept(void **state) {
  (void)state;
  char directory[] = "/tmp/quern-cuda-XXXXXX", command[64];
  assert_non_null(mkdtemp(directory));
  unsetenv("QUERN_CACHE");
  setenv("QUERN_CACHE_DIR", directory, 1);
  for (uint32_t round = 0; round < 3; round++) {
    qn_program_info info = QN_INIT(qn_program_info);
    if (round == 2) { /* another GPU doesn't get it */
      fake->devices[0].capability = 86;
      fake->calls[FAKE_LinkComplete] = 0;
    }
    test_device t = test_open("cuda:0");
    qn_program program = test_program(t.device, source);
    OK(qn_program_query(program, &info));
    run_saxpy(t.device, program);
    OK(qn_release(program));
    test_close(&t);
    assert_int_equal(info.cached, round == 1 ? 2 : 0);
    assert_int_equal(fake->calls[FAKE_LinkComplete], 1);
  }
  setenv("QUERN_CACHE", "off", 1);
  unsetenv("QUERN_CACHE_DIR");
  snprintf(command, sizeof command, "rm -r %s", directory);
  assert_int_equal(system(command), 0);
}

/* ---- Memory ------------------------------------------------------------------------------------- */

static void test_P1_memory_that_runs_short_is_found_again(void **state) {
  (void)state;
  enum { BUFFERS = 64 };
  qn_buffer buffers[BUFFERS];
  qn_memory_options limits = QN_INIT(qn_memory_options);
  qn_memory_statistics s = QN_INIT(qn_memory_statistics);
  qn_buffer_options options = QN_INIT(qn_buffer_options);
  int made = 0;
  test_device t = test_open("cuda:0");
  limits.limit_bytes = QN_WHOLE; /* the driver itself is to say no */
  OK(qn_memory_configure(t.device, &limits));
  options.size_bytes = 16 << 20;
  options.wait_timeout_ns = 1;
  qn_status status = QN_OK;
  while (made < BUFFERS && status >= 0) {
    status = qn_buffer_create(t.device, &options, &buffers[made]);
    made += status >= 0;
  }
  assert_int_equal(status, QN_ERROR_OUT_OF_MEMORY);
  assert_true(made >= 10 && made <= 16); /* of 256 MiB */
  if (!strstr(qn_error_text(), "CUDA_ERROR_OUT_OF_MEMORY")) fail_msg("told: %s", qn_error_text());
  OK(qn_memory_statistics_get(t.device, &s));
  assert_int_equal(s.out_of_memory, 1);
  assert_true(fake->calls[FAKE_MemAlloc] > (uint64_t)made); /* it was the driver that said no */
  /* One buffer less, and a smaller one of another size has room: what was kept goes back to the driver. */
  OK(qn_release(buffers[--made]));
  options.size_bytes = 15 << 20;
  options.wait_timeout_ns = PATIENCE;
  OK(qn_buffer_create(t.device, &options, &buffers[made++]));
  while (made > 0) OK(qn_release(buffers[--made]));
  test_close(&t);
}

/* ---- Loss --------------------------------------------------------------------------------------- */

static void expect_words(const char *text, const char *words) {
  if (!strstr(text, words)) fail_msg("'%s' lacks '%s'", text, words);
}

/* All queues of the context fail with the first cause, which names what may have done it; the other GPU goes on. */
static void test_L7_a_lost_context_is_told_with_its_candidates(void **state) {
  (void)state;
  test_device t = test_open("cuda:0"), other = {.runtime = t.runtime};
  OK(qn_device_open(t.runtime, "cuda:1", &other.device));
  qn_program program = test_program(t.device, source), there = test_program(other.device, source);
  qn_kernel advance = NULL, idle = NULL;
  qn_queue a = test_queue(t.device), b = test_queue(t.device);
  qn_buffer one = test_buffer(t.device, 64), two = test_buffer(t.device, 64);
  qn_point in_a, in_b;
  OK(qn_kernel_get(program, "advance", &advance));
  OK(qn_kernel_get(program, "idle", &idle));
  fake->holds = 1;
  OK(qn_launch(a, advance, QN_RANGE_1D(1), QN_ARGS(one, 1u), &in_a));
  OK(qn_launch(b, idle, QN_RANGE_1D(1), QN_ARGS(two), &in_b));
  fake->fault_code = 700;
  fake->holds = 0;
  FAILS(qn_point_wait(&in_a, PATIENCE), QN_ERROR_DEVICE_LOST, "CUDA_ERROR_ILLEGAL_ADDRESS");
  expect_words(qn_error_text(), "'advance'");
  expect_words(qn_error_text(), "'idle'");
  assert_int_equal(qn_error_driver_code(), 700);
  FAILS(qn_point_wait(&in_b, PATIENCE), QN_ERROR_DEVICE_LOST, "CUDA_ERROR_ILLEGAL_ADDRESS");
  assert_int_equal(qn_launch(b, idle, QN_RANGE_1D(1), QN_ARGS(two), NULL), QN_ERROR_DEVICE_LOST);
  run_saxpy(other.device, there);
  const void *handles[] = {program, advance, idle, a, b, one, two, t.device};
  for (size_t i = 0; i < sizeof handles / sizeof *handles; i++) OK(qn_release(handles[i]));
  OK(qn_release(there));
  OK(qn_release(other.device));
  OK(qn_runtime_close(t.runtime, PATIENCE));
  /* The process gets no context of that GPU any more, and says so. */
  OK(qn_runtime_open(NULL, &t.runtime));
  FAILS(qn_device_open(t.runtime, "cuda:0", &t.device), QN_ERROR_DEVICE_LOST, "spoiled it for this process");
  OK(qn_runtime_close(t.runtime, PATIENCE));
}

/* ---- Fork and exit ------------------------------------------------------------------------------ */

static uint64_t calls_so_far(void) {
  uint64_t calls = 0;
  for (int i = 0; i < FAKE_CALL_COUNT; i++) calls += fake->calls[i];
  return calls;
}

static int status_of(pid_t child) {
  int status = 0;
  assert_true(child > 0 && waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void test_L6_a_forked_child_calls_no_driver(void **state) {
  (void)state;
  test_device t = test_open("cuda:0");
  qn_queue queue = test_queue(t.device);
  qn_buffer buffer = test_buffer(t.device, 4096);
  const qn_view view = test_view(buffer, 0, QN_WHOLE);
  const uint32_t zero = 0;
  OK(qn_fill(queue, &view, &zero, 4, NULL));
  pid_t child = fork();
  if (child == 0) {
    alarm(60);
    uint64_t before = calls_so_far();
    bool told = qn_fill(queue, &view, &zero, 4, NULL) == QN_ERROR_FORKED &&
                qn_queue_finish(queue, PATIENCE) == QN_ERROR_FORKED && qn_release(buffer) == QN_OK &&
                qn_runtime_close(t.runtime, PATIENCE) == QN_ERROR_FORKED;
    _exit(told && calls_so_far() == before ? 0 : 1);
  }
  assert_int_equal(status_of(child), 0);
  OK(qn_queue_finish(queue, PATIENCE));
  OK(qn_release(buffer));
  OK(qn_release(queue));
  test_close(&t);
}

static qn_queue exit_queue;
static qn_buffer exit_buffer;
static _Atomic uint64_t calls_at_exit;

/* Registered before the runtime, so that it comes after the runtime's: by then no driver is called any longer. */
static void look_after_exit(void) {
  usleep(20000);
  if (calls_so_far() != calls_at_exit) _exit(9);
}
static void *keep_busy(void *user) {
  const uint32_t zero = 0;
  (void)user;
  for (;;) {
    const qn_view view = test_view(exit_buffer, 0, QN_WHOLE);
    if (qn_fill(exit_queue, &view, &zero, 4, NULL) < 0) pause();
  }
  return NULL;
}

/* The runtime's handler lies between these two. */
static void count_calls(void) { calls_at_exit = calls_so_far(); }

static int exit_with_work(void) {
  pthread_t thread;
  if (atexit(look_after_exit) != 0 || atexit(count_calls) != 0) return 3;
  test_device t = test_open("cuda:0");
  exit_queue = test_queue(t.device);
  exit_buffer = test_buffer(t.device, 4096);
  if (pthread_create(&thread, NULL, keep_busy, NULL) != 0) return 4;
  usleep(20000);
  return 0;
}

static void test_L6_no_driver_is_called_once_exit_has_begun(void **state) {
  (void)state;
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    alarm(60);
    exit(exit_with_work());
  }
  assert_int_equal(status_of(child), 0);
}

static int load(void **state) {
  (void)state;
  setenv("QUERN_CUDA_LIBRARY", FAKE_LIBRARY, 1);
  void *library = dlopen(FAKE_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (!library) fail_msg("%s", dlerror());
  fake_cu_control_fn get;
  *(void **)&get = dlsym(library, FAKE_CU_CONTROL_NAME);
  assert_non_null(get);
  fake = get();
  return 0;
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
  const struct CMUnitTest tests[] = {
      /* The first forks before anything is open. */
      TEST(test_L6_no_driver_is_called_once_exit_has_begun), TEST(test_ptx_is_compiled_once_and_kept),
      TEST(test_P1_memory_that_runs_short_is_found_again),   TEST(test_L7_a_lost_context_is_told_with_its_candidates),
      TEST(test_L6_a_forked_child_calls_no_driver),
  };
  return cmocka_run_group_tests(tests, load, NULL);
}
