/* labels: llvm opencl once */
/* The processor by our own code and by OpenCL drivers, in one process: two LLVMs (the driver's and ours), several adapters,
 * devices, contexts and threads at once. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include <sys/wait.h>
#include <unistd.h>

#include "../support/rounds.h"
#include "support.h"

enum { MOST_DEVICES = 8, N = 1000 };

static qn_runtime runtime;
static char selectors[MOST_DEVICES][64]; /* cpu, the OpenCL devices, null */
static uint32_t selector_count, opencl_count;

static void find_devices(void) {
  uint32_t count = 0;
  OK(qn_device_count(runtime, &count));
  for (uint32_t i = 0; i < count && selector_count < MOST_DEVICES; i++) {
    qn_device_info info = QN_INIT(qn_device_info);
    OK(qn_device_describe(runtime, i, &info));
    bool is_opencl = strcmp(info.adapter, "opencl") == 0;
    if (!is_opencl && strcmp(info.adapter, "cpu") != 0) continue;
    snprintf(selectors[selector_count++], sizeof *selectors, "%s", info.selector);
    opencl_count += is_opencl;
  }
}

static int begin(void **state) {
  (void)state;
  setenv("POCL_DEVICES", "basic pthread pthread", 0); /* three devices of one driver */
  OK(qn_runtime_open(NULL, &runtime));
  find_devices();
  if (opencl_count == 0) print_message("skipped: no OpenCL device: %s\n", qn_error_text());
  return 0;
}
static int end(void **state) {
  (void)state;
  OK(qn_runtime_close(runtime, PATIENCE));
  return 0;
}

/* ---- A program that nobody has compiled before -------------------------------------------------- */

/* y = x * FACTOR + i, with a barrier and local memory on the way, so that either compiler has something to do. */
static const char source[] =
    "kernel void turn(global const int *x, global int *y, local int *room) {\n"
    "  size_t i = get_global_id(0), l = get_local_id(0), n = get_local_size(0);\n"
    "  room[l] = x[i] * FACTOR;\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  size_t other = n - 1 - l;\n"
    "  y[i - l + other] = room[other] + (int)(i - l + other);\n"
    "}\n";

/* Everything is checked by return, for other threads can't fail a test. NULL, or what is wrong. */
typedef struct turn {
  qn_device device;
  qn_queue queue;
  qn_program program;
  qn_kernel kernel;
  qn_buffer x, y;
  char wrong[512];
} turn;

#define TRY(t, call)                                                            \
  do {                                                                          \
    qn_status try_ = (call);                                                    \
    if (try_ < 0) {                                                             \
      snprintf((t)->wrong, sizeof(t)->wrong, "%s: %s", #call, qn_error_text()); \
      return false;                                                             \
    }                                                                           \
  } while (0)

static bool make_buffer(turn *t, qn_buffer *out) {
  qn_buffer_options options = QN_INIT(qn_buffer_options);
  options.size_bytes = N * sizeof(int32_t);
  TRY(t, qn_buffer_create(t->device, &options, out));
  return true;
}

static bool build(turn *t, int factor) {
  char options[64];
  qn_program_options o = QN_INIT(qn_program_options);
  snprintf(options, sizeof options, "-D FACTOR=%d", factor);
  o.source = source;
  o.options = options;
  TRY(t, qn_program_build(t->device, &o, &t->program));
  TRY(t, qn_kernel_get(t->program, "turn", &t->kernel));
  return true;
}

static bool launch(turn *t, int factor) {
  static const qn_range range = {.struct_size = sizeof range, .dimensions = 1, .global = {N}, .local = {100}};
  int32_t x[N], y[N];
  for (int32_t i = 0; i < N; i++) x[i] = i * 7 - factor;
  const qn_view view_x = test_view(t->x, 0, QN_WHOLE), view_y = test_view(t->y, 0, QN_WHOLE);
  qn_point done;
  TRY(t, qn_write(t->queue, &view_x, x, NULL));
  TRY(t, qn_launch(t->queue, t->kernel, &range, QN_ARGS(t->x, t->y, qn_arg_local(100 * sizeof(int32_t))), NULL));
  TRY(t, qn_read(t->queue, &view_y, y, &done));
  TRY(t, qn_point_wait(&done, QN_FOREVER));
  for (int32_t i = 0; i < N; i++)
    if (y[i] != x[i] * factor + i) {
      snprintf(t->wrong, sizeof t->wrong, "factor %d: y[%d] is %d", factor, i, y[i]);
      return false;
    }
  return true;
}

static bool run(turn *t, const char *selector, int factor) {
  TRY(t, qn_device_open(runtime, selector, &t->device));
  TRY(t, qn_queue_create(t->device, NULL, &t->queue));
  return build(t, factor) && make_buffer(t, &t->x) && make_buffer(t, &t->y) && launch(t, factor);
}

/* Parents before children and children before parents, as the factor has it. */
static void drop(turn *t, int factor) {
  const void *handles[] = {t->device, t->queue, t->program, t->kernel, t->x, t->y};
  for (int i = 0; i < 6; i++) qn_release(handles[factor % 2 ? i : 5 - i]);
}

static bool run_and_drop(turn *t, const char *selector, int factor) {
  bool good = run(t, selector, factor);
  drop(t, factor);
  return good;
}

/* ---- Tests -------------------------------------------------------------------------------------- */

static void test_every_device_of_the_process_compiles_and_runs(void **state) {
  (void)state;
  for (uint32_t i = 0; i < selector_count && opencl_count > 0; i++) {
    turn t = {0};
    if (!run_and_drop(&t, selectors[i], 1000 + (int)i)) fail_msg("%s: %s", selectors[i], t.wrong);
  }
}

typedef struct worker {
  pthread_t thread;
  uint32_t index;
  uint64_t rounds;
  turn turn;
  bool failed;
} worker;

/* Each thread goes from device to device; each of its programs is new to both compilers. */
static void *work(void *given) {
  worker *w = given;
  for (uint64_t round = 0; round < w->rounds && !w->failed; round++) {
    const char *selector = selectors[(w->index + round) % selector_count];
    memset(&w->turn, 0, sizeof w->turn);
    w->failed = !run_and_drop(&w->turn, selector, (int)(w->index * 100 + round % 100) + 2);
  }
  return NULL;
}

static void test_two_compilers_work_at_the_same_time(void **state) {
  (void)state;
  enum { THREADS = 4 };
  static worker workers[THREADS];
  if (opencl_count == 0) return;
  uint64_t rounds = test_rounds("programs that each of 4 threads compiles and runs, on all devices in turn", 8, 400);
  for (uint32_t i = 0; i < THREADS; i++) {
    workers[i] = (worker){.index = i, .rounds = rounds};
    assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
  }
  for (uint32_t i = 0; i < THREADS; i++) {
    pthread_join(workers[i].thread, NULL);
    if (workers[i].failed) fail_msg("thread %u: %s", i, workers[i].turn.wrong);
  }
}

/* A handle of one adapter's device given to another's is an error, never that adapter's object. */
static void test_handles_of_one_adapter_are_refused_by_another(void **state) {
  (void)state;
  if (opencl_count < 2) return;
  const char *const chosen[3] = {"cpu", "opencl:0", "opencl:1"};
  turn t[3] = {{0}};
  for (int i = 0; i < 3; i++)
    if (!run(&t[i], chosen[i], i + 5)) fail_msg("%s: %s", chosen[i], t[i].wrong);
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++) {
      if (i == k) continue;
      const qn_view own = test_view(t[i].x, 0, QN_WHOLE), foreign = test_view(t[k].x, 0, QN_WHOLE);
      FAILS(qn_copy(t[i].queue, &own, &foreign, NULL), QN_ERROR_INVALID_ARGUMENT, "is one of device");
      FAILS(qn_launch(t[i].queue, t[k].kernel, QN_RANGE_1D(100), QN_ARGS(t[k].x, t[k].y, qn_arg_local(400)), NULL),
            QN_ERROR_INVALID_ARGUMENT, "is one of device");
      FAILS(qn_launch(t[i].queue, t[i].kernel, QN_RANGE_1D(100), QN_ARGS(t[k].x, t[i].y, qn_arg_local(400)), NULL),
            QN_ERROR_INVALID_ARGUMENT, "is one of device");
    }
  for (int i = 0; i < 3; i++) drop(&t[i], i);
}

/* A queue waits for a point of another adapter's: the host stands between them. */
static void test_work_goes_from_adapter_to_adapter(void **state) {
  (void)state;
  if (opencl_count == 0) return;
  turn t[2] = {{0}};
  if (!run(&t[0], "cpu", 3) || !run(&t[1], "opencl:0", 3)) fail_msg("%s%s", t[0].wrong, t[1].wrong);
  int32_t words[N], got[N];
  for (int32_t i = 0; i < N; i++) words[i] = i;
  for (int round = 0; round < 20; round++) {
    turn *from = &t[round % 2], *to = &t[1 - round % 2];
    const qn_view view = test_view(from->x, 0, QN_WHOLE), target = test_view(to->y, 0, QN_WHOLE);
    qn_point point;
    OK(qn_write(from->queue, &view, words, NULL));
    OK(qn_read(from->queue, &view, got, &point));
    OK(qn_queue_wait(to->queue, &point, 1));
    OK(qn_write(to->queue, &target, got, NULL));
    OK(qn_read(to->queue, &target, words, &point));
    OK(qn_point_wait(&point, PATIENCE));
    for (int32_t i = 0; i < N; i++) assert_int_equal(words[i]++, i + round);
  }
  drop(&t[0], 0);
  drop(&t[1], 1);
}

/* ---- The end of a process ----------------------------------------------------------------------- */

/* A process by itself: the driver compiles two kernels, none of which it has seen before, and the process ends meanwhile. By return from
 * main, or by exit. */
static int end_while_it_compiles(const char *selector, bool by_return) {
  turn t[2] = {{0}};
  static const qn_range range = {.struct_size = sizeof range, .dimensions = 1, .global = {N}, .local = {100}};
  if (qn_runtime_open(NULL, &runtime) < 0) return 9;
  for (int i = 0; i < 2; i++) {
    if (qn_device_open(runtime, selector, &t[i].device) < 0 || qn_queue_create(t[i].device, NULL, &t[i].queue) < 0 ||
        !build(&t[i], i + 2) || !make_buffer(&t[i], &t[i].x) || !make_buffer(&t[i], &t[i].y))
      return 9;
    if (qn_launch(t[i].queue, t[i].kernel, &range, QN_ARGS(t[i].x, t[i].y, qn_arg_local(400)), NULL) < 0) return 9;
  }
  if (!by_return) exit(7);
  return 7;
}

static int status_of_end(const char *selector, bool by_return) {
  int status = 0;
  char cache[] = "/tmp/quern-opencl-XXXXXX", sweep[64];
  assert_non_null(mkdtemp(cache));
  pid_t child = fork();
  if (child == 0) {
    setenv("POCL_CACHE_DIR", cache, 1);
    execl("/proc/self/exe", "test_opencl", selector, by_return ? "return" : "exit", (char *)NULL);
    _exit(8);
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  snprintf(sweep, sizeof sweep, "rm -rf %s", cache);
  assert_int_equal(system(sweep), 0);
  return status;
}

static void test_L6_a_process_ends_while_the_driver_compiles(void **state) {
  (void)state;
  if (opencl_count == 0) return;
  const char *selector = opencl_count > 1 ? "opencl:1" : "opencl:0"; /* PoCL's first compiles in the calling thread */
  uint64_t rounds = test_rounds("processes that end while OpenCL's driver compiles", 2, 300);
  for (uint64_t i = 0; i < rounds; i++) {
    int status = status_of_end(selector, i % 2 == 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 7) fail_msg("round %d: status 0x%x", (int)i, status);
  }
}

int main(int count, char **arguments) {
  if (count == 3) return end_while_it_compiles(arguments[1], strcmp(arguments[2], "return") == 0);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_device_of_the_process_compiles_and_runs),
      cmocka_unit_test(test_two_compilers_work_at_the_same_time),
      cmocka_unit_test(test_handles_of_one_adapter_are_refused_by_another),
      cmocka_unit_test(test_work_goes_from_adapter_to_adapter),
      cmocka_unit_test(test_L6_a_process_ends_while_the_driver_compiles),
  };
  return cmocka_run_group_tests(tests, begin, end);
}
