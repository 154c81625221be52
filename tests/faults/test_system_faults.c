/* Every allocation and every system call of a program's life made to fail in turn (section 10): a call then succeeds or says
 * what is wanting; nothing crashes, hangs or is lost; and the same call, tried again, succeeds. In fresh processes, where
 * what is set up once can fail, and in one process again and again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
/* cmocka asks for some of the above. */
#include <cmocka.h>

#include "base/handle.h"
#include "quern/quern.h"
#include "support/process.h"
#include "support/rounds.h"
#include "support/warm.h"
#include "unit/support/failing.h"

static const char source[] = "kernel void add(global int *sum, int a) { sum[get_global_id(0)] += a; }\n";
enum { ITEMS = 64 };

/* ---- A life, in steps --------------------------------------------------------------------------- */

typedef struct life {
  const char *selector;
  qn_runtime runtime;
  qn_device device;
  qn_queue queue, other;
  qn_buffer buffer;
  qn_program program;
  qn_kernel kernel;
  void *mapped;
  int32_t out[ITEMS];
  int32_t launches;
  int32_t asked;   /* calls */
  int32_t is_lost; /* a queue failed: the fault was in the work itself */
} life;

static qn_status open_runtime(life *l) {
  qn_runtime_options o = QN_INIT(qn_runtime_options);
  o.adapter_path = FAULTS_ADAPTERS ":" QUERN_BINARY_DIR;
  return qn_runtime_open(&o, &l->runtime);
}
static qn_status list_devices(life *l) {
  uint32_t count = 0;
  qn_status status = qn_device_count(l->runtime, &count);
  if (status == QN_OK && count == 0) abort();
  return status;
}
static qn_status open_device(life *l) { return qn_device_open(l->runtime, l->selector, &l->device); }
static qn_status create_queue(life *l) { return qn_queue_create(l->device, NULL, &l->queue); }
static qn_status create_other(life *l) { return qn_queue_create(l->device, NULL, &l->other); }
static qn_status create_buffer(life *l) {
  qn_buffer_options o = QN_INIT(qn_buffer_options);
  o.size_bytes = sizeof l->out;
  return qn_buffer_create(l->device, &o, &l->buffer);
}
static qn_status build_program(life *l) {
  qn_program_options o = QN_INIT(qn_program_options);
  o.source = source;
  return qn_program_build(l->device, &o, &l->program);
}
static qn_status get_kernel(life *l) { return qn_kernel_get(l->program, "add", &l->kernel); }

static qn_view whole(const life *l) {
  qn_view view = {0};
  view.buffer = l->buffer;
  view.size_bytes = QN_WHOLE;
  return view;
}
static qn_status fill(life *l) {
  const int32_t zero = 0;
  const qn_view view = whole(l);
  return qn_fill(l->queue, &view, &zero, sizeof zero, NULL);
}
static qn_status launch_on(life *l, qn_queue queue) {
  qn_status status = qn_launch(queue, l->kernel, QN_RANGE_1D(ITEMS), QN_ARGS(l->buffer, 1), NULL);
  l->launches += status == QN_OK;
  return status;
}
static qn_status launch(life *l) { return l->kernel ? launch_on(l, l->queue) : QN_OK; }
static qn_status launch_other(life *l) { return l->kernel ? launch_on(l, l->other) : QN_OK; }
static qn_status read_back(life *l) {
  const qn_view view = whole(l);
  return qn_read(l->queue, &view, l->out, NULL);
}
static qn_status finish(life *l) { return qn_queue_finish(l->queue, QN_FOREVER); }
static qn_status finish_other(life *l) { return qn_queue_finish(l->other, QN_FOREVER); }
static qn_status map(life *l) {
  const qn_view view = whole(l);
  return qn_buffer_map(&view, QN_MAP_READ, QN_FOREVER, &l->mapped);
}
static qn_status unmap(life *l) { return qn_buffer_unmap(l->buffer, l->mapped); }
static void count_call(void *user, qn_status status) {
  atomic_fetch_add((_Atomic int *)user, status == QN_OK ? 1 : 1000);
}
static _Atomic int calls;
static qn_status call(life *l) {
  qn_status status = qn_queue_call(l->queue, NULL, count_call, &calls);
  l->asked += status == QN_OK;
  return status;
}
static qn_status describe_memory(life *l) {
  char text[4096];
  uint64_t needed = 0;
  return qn_memory_snapshot(l->device, text, sizeof text, &needed);
}
static qn_status release_and_drain(life *l) {
  if (l->other) (void)qn_release(l->other);
  l->other = NULL;
  return qn_device_drain(l->device, QN_FOREVER);
}

typedef struct step {
  const char *name;
  qn_status (*run)(life *l);
  int needs_kernels;
} step;

static const step steps[] = {
    {"open_runtime", open_runtime, 0},
    {"list_devices", list_devices, 0},
    {"open_device", open_device, 0},
    {"create_queue", create_queue, 0},
    {"create_other", create_other, 0},
    {"create_buffer", create_buffer, 0},
    {"build_program", build_program, 1},
    {"get_kernel", get_kernel, 1},
    {"fill", fill, 0},
    {"launch", launch, 0},
    {"launch_other", launch_other, 0},
    {"read_back", read_back, 0},
    {"finish_other", finish_other, 0},
    {"finish", finish, 0},
    {"map", map, 0},
    {"unmap", unmap, 0},
    {"call", call, 0},
    {"describe_memory", describe_memory, 0},
    {"release_and_drain", release_and_drain, 0},
};
enum { STEPS = sizeof steps / sizeof *steps };

/* ---- One life with a fault ---------------------------------------------------------------------- */

/* What may be told of a system that refuses something. A misuse or a wrong result would be another status. */
static int is_fault(qn_status status) {
  static const qn_status all[] = {
      QN_ERROR_OUT_OF_HOST_MEMORY, QN_ERROR_OUT_OF_MEMORY, QN_ERROR_LIMIT,    QN_ERROR_IO,
      QN_ERROR_NOT_FOUND,          QN_ERROR_UNSUPPORTED,   QN_ERROR_INTERNAL, QN_ERROR_DEVICE};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (status == all[i]) return qn_error_text()[0] != '\0';
  return 0;
}

static int complain(const char *what, const char *name, qn_status status) {
  fprintf(stderr, "%s %s: %s: %s\n", name, what, qn_status_name(status), qn_error_text());
  return 1;
}

/* A step that fails is tried again, without a fault, and must succeed then. But a queue that has failed stays failed: who
 * has lost it ends there. 0: all was well. */
static int run_step(life *l, const step *s, int *out_failed) {
  qn_status status = s->run(l);
  if (status == QN_OK) return 0;
  *out_failed = 1;
  failing_pause();
  if (!is_fault(status)) return complain("failed", s->name, status);
  status = s->run(l);
  l->is_lost = status != QN_OK && strstr(qn_error_text(), "failed at value") != NULL;
  return status == QN_OK || l->is_lost ? 0 : complain("tried again", s->name, status);
}

static int check_results(const life *l) {
  for (int i = 0; i < ITEMS; i++)
    if (l->out[i] != l->launches) {
      fprintf(stderr, "element %d is %d, not %d\n", i, l->out[i], l->launches);
      return 1;
    }
  return 0;
}

static int close_life(life *l) {
  qn_status status = l->runtime ? qn_runtime_close(l->runtime, QN_FOREVER) : QN_OK;
  for (int i = 0; i < 10000 && calls < l->asked; i++) usleep(100);
  if (calls != l->asked) fprintf(stderr, "%d calls came, %d were asked for\n", calls, l->asked);
  return status == QN_OK && calls == l->asked ? 0 : complain("failed", "close", status);
}

/* With the fault at its `n`th place; -1: without. */
static int live(const char *selector, int64_t n, int *out_failed) {
  life l = {.selector = selector};
  int wrong = 0;
  calls = 0;
  *out_failed = 0;
  if (n >= 0) failing_start((uint64_t)n, false);
  for (int i = 0; i < STEPS && !wrong && !l.is_lost; i++)
    if (!steps[i].needs_kernels || strcmp(selector, "null") != 0) wrong = run_step(&l, &steps[i], out_failed);
  failing_pause();
  if (!wrong && !l.is_lost) wrong = check_results(&l);
  return close_life(&l) || wrong;
}

/* ---- In fresh processes ------------------------------------------------------------------------- */

enum { LAST = 100, WRONG = 101 };

static int child(const char *selector, int64_t n) {
  int failed = 0;
  alarm(60);
  int wrong = live(selector, n, &failed);
  uint64_t faults = failing_stop();
  if (!wrong) wrong = live(selector, -1, &failed); /* and another life after it */
  return wrong ? WRONG : faults == 0 ? LAST : 0;
}

/* Every `stride`th place. How many there were. */
static uint64_t in_fresh_processes(const char *selector, uint64_t stride) {
  for (uint64_t n = 0;; n += stride) {
    int status = 0;
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) exit(child(selector, (int64_t)n));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (WIFSIGNALED(status)) fail_msg("%s, place %llu: signal %d", selector, (unsigned long long)n, WTERMSIG(status));
    if (WEXITSTATUS(status) == LAST) return n;
    if (WEXITSTATUS(status) != 0)
      fail_msg("%s, place %llu: exit status %d", selector, (unsigned long long)n, WEXITSTATUS(status));
  }
}

/* Under a sanitizer a process takes ten times as long. */
#ifdef HAS_SANITIZER
enum { SLOWNESS = 8 };
#else
enum { SLOWNESS = 1 };
#endif

static void fresh(const char *selector, uint64_t least, uint64_t in_short) {
  char what[96];
  snprintf(what, sizeof what, "of how many places of faults in a fresh process on %s one is taken:", selector);
  uint64_t stride = test_rounds(what, in_short * SLOWNESS, 1);
  uint64_t places = in_fresh_processes(selector, stride);
  printf("measured: %llu places of faults in a fresh process on %s\n", (unsigned long long)places, selector);
  assert_true(places >= least);
}

static void every_fault_of_a_fresh_process_on_cpu(void **state) {
  (void)state;
  fresh("cpu", 100, 4);
}
static void every_fault_of_a_fresh_process_on_check(void **state) {
  (void)state;
  fresh("check", 100, 9);
}
static void every_fault_of_a_fresh_process_on_null(void **state) {
  (void)state;
  fresh("null", 40, 4);
}

/* ---- In one process ----------------------------------------------------------------------------- */

static void again(const char *selector, uint64_t in_short) {
  char what[96];
  int failed = 0;
  snprintf(what, sizeof what, "of how many places of faults in one process on %s one is taken:", selector);
  uint64_t stride = test_rounds(what, in_short * SLOWNESS, 1), places = 0, told = 0;
  assert_int_equal(live(selector, -1, &failed), 0);
  uint64_t descriptors = count_descriptors();
  for (uint64_t faults = 1; faults != 0; places += stride) {
    if (live(selector, (int64_t)places, &failed) != 0) fail_msg("%s, place %llu", selector, (unsigned long long)places);
    faults = failing_stop();
    told += (uint64_t)failed;
  }
  printf("measured: %llu places of faults in one process on %s, %llu of those taken were errors\n",
         (unsigned long long)places, selector, (unsigned long long)told);
  assert_int_equal(count_descriptors(), descriptors);
  assert_true(threads_fall_to(2 + SANITIZER_THREADS));
  for (uint32_t kind = QN_KIND_RUNTIME; kind <= QN_KIND_KERNEL; kind++)
    for (uint32_t owner = 1; owner < 4; owner++) assert_int_equal(qn_handle_count(owner, kind), 0);
}

static void every_fault_in_one_process(void **state) {
  (void)state;
  again("cpu", 2);
  again("check", 5);
  again("null", 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_fault_of_a_fresh_process_on_cpu),
      cmocka_unit_test(every_fault_of_a_fresh_process_on_check),
      cmocka_unit_test(every_fault_of_a_fresh_process_on_null),
      cmocka_unit_test(every_fault_in_one_process), /* last: from then on this process is no fresh one */
  };
  const char *const sources[] = {source};
  if (!warm_start(sources, 1)) return 1;
  setenv("QUERN_ADAPTERS", "cpu,check,null", 1); /* vendors' drivers keep threads and descriptors for ever */
  int result = cmocka_run_group_tests(tests, NULL, NULL);
  warm_end();
  return result;
}
