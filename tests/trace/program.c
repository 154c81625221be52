/* program.c - gives a trace something to tell, and says on standard output what that was.
 *
 *   trace_program DEVICE CASE      DEVICE `fake` is the adapter of tests/plugins, which has no timed queues
 *   CASE: close, exit, quick_exit, busy (exits with work in flight), kill (is killed in the middle), threads, fail, open_twice,
 *         fork, again (two runtimes, one after the other), rest (as exit, long after the work was done)
 *
 * Output: lines "NAME COUNT". */
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "api/fake.h"
#include "quern/quern.h"

static void must(qn_status status, const char *what) {
  if (status == QN_OK) return;
  fprintf(stderr, "%s: %s: %s\n", what, qn_status_name(status), qn_error_text());
  exit(3);
}
#define MUST(call) must((call), #call)

static const char source[] =
    "kernel void first(global int *a) { a[get_global_id(0)] += 1; }\n"
    "kernel void second(global int *a, int n) { for (int i = 0; i < n; i++) a[get_global_id(0)] += i; }\n";

enum { QUEUES = 3, LAUNCHES = 8, COPIES = 8, FILLS = 4, THREADS = 4, TURNS = 2 };

typedef struct world {
  const char *selector;
  qn_runtime runtime;
  qn_device device;
  qn_queue queues[QUEUES];
  qn_buffer buffers[QUEUES];
  qn_kernel first, second; /* NULL: the device runs no kernels */
} world;

static qn_view view_of(qn_buffer buffer) {
  qn_view view = {0};
  view.buffer = buffer;
  view.size_bytes = QN_WHOLE;
  return view;
}

/* ---- Building ----------------------------------------------------------------------------------- */

static bool runs_kernels(const world *w) {
  qn_device_info info = QN_INIT(qn_device_info);
  MUST(qn_device_query(w->device, &info));
  return (info.features & QN_FEATURE_KERNELS) != 0;
}

static void build(world *w) {
  qn_program program = NULL;
  qn_program_options o = QN_INIT(qn_program_options);
  o.source = source;
  o.file_name = "a \"file\"\\ with\tan odd \x01 \xff name.cl";
  MUST(qn_program_build(w->device, &o, &program));
  MUST(qn_kernel_get(program, "first", &w->first));
  MUST(qn_kernel_get(program, "second", &w->second));
  MUST(qn_release(program));
  MUST(qn_program_build(w->device, &o, &program)); /* from memory */
  MUST(qn_release(program));
}

static void let_run(const world *w) {
  uint64_t control = 0;
  MUST(qn_native_handle(w->device, 0, &control));
  ((fake_control *)(uintptr_t)control)->allowed = UINT64_MAX;
}

static world open_world(const char *selector) {
  world w = {.selector = selector};
  MUST(qn_runtime_open(NULL, &w.runtime));
  MUST(qn_device_open(w.runtime, selector, &w.device));
  if (strcmp(selector, "fake") == 0) let_run(&w);
  if (runs_kernels(&w)) build(&w);
  for (int i = 0; i < QUEUES; i++) {
    qn_buffer_options o = QN_INIT(qn_buffer_options);
    o.size_bytes = 4096;
    MUST(qn_buffer_create(w.device, &o, &w.buffers[i]));
    MUST(qn_queue_create(w.device, NULL, &w.queues[i]));
  }
  return w;
}

/* ---- Working ------------------------------------------------------------------------------------ */

static void called(void *user, qn_status status) { (void)user, (void)status; }

static void work(const world *w, int q) {
  static char host[4096];
  qn_view own = view_of(w->buffers[q]), other = view_of(w->buffers[(q + 1) % QUEUES]);
  for (int i = 0; i < FILLS; i++) MUST(qn_fill(w->queues[q], &own, "\0\0\0", 4, NULL));
  for (int i = 0; i < LAUNCHES && w->first; i++) {
    MUST(qn_launch(w->queues[q], w->first, QN_RANGE_1D(128), QN_ARGS(w->buffers[q]), NULL));
    MUST(qn_launch(w->queues[q], w->second, QN_RANGE_1D(64), QN_ARGS(w->buffers[q], 10), NULL));
  }
  for (int i = 0; i < COPIES; i++) MUST(qn_copy(w->queues[q], &other, &own, NULL));
  MUST(qn_write(w->queues[q], &own, host, NULL));
  MUST(qn_queue_call(w->queues[q], NULL, called, NULL));
}

static void work_and_wait(const world *w) {
  for (int q = 0; q < QUEUES; q++) work(w, q);
  for (int q = 0; q < QUEUES; q++) MUST(qn_queue_finish(w->queues[q], QN_FOREVER));
}

static void tell(const world *w, int times) {
  printf("launch %d\n", w->first ? 2 * LAUNCHES * QUEUES * times : 0);
  printf("copy %d\n", (COPIES + 1) * QUEUES * times);
  printf("fill %d\n", FILLS * QUEUES * times);
  printf("callback %d\n", QUEUES * times);
  fflush(stdout);
}

/* ---- Cases -------------------------------------------------------------------------------------- */

static int case_close(world *w) {
  work_and_wait(w);
  tell(w, 1);
  MUST(qn_runtime_close(w->runtime, QN_FOREVER));
  return 0;
}

static int case_exit(world *w) {
  work_and_wait(w);
  tell(w, 1);
  return 0; /* nothing is closed */
}

static int case_quick_exit(world *w) {
  work_and_wait(w);
  tell(w, 1);
  quick_exit(0);
}

static int case_rest(world *w) {
  work_and_wait(w);
  tell(w, 1);
  nanosleep(&(struct timespec){0, 400000000}, NULL);
  kill(getpid(), SIGKILL); /* all was flushed by then */
  return 1;
}

static int case_busy(world *w) {
  for (int i = 0; i < 4; i++)
    for (int q = 0; q < QUEUES; q++) work(w, q);
  tell(w, 4);
  return 0;
}

static int case_kill(world *w) {
  struct timespec start, now;
  clock_gettime(CLOCK_MONOTONIC, &start);
  do {
    work_and_wait(w);
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while ((now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000 < 350);
  for (int q = 0; q < QUEUES; q++) work(w, q);
  kill(getpid(), SIGKILL);
  return 1;
}

static void *work_on(void *given) {
  const world *w = given;
  for (int i = 0; i < TURNS; i++)
    for (int q = 0; q < QUEUES; q++) work(w, q);
  return NULL;
}

static int case_threads(world *w) {
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++)
    if (pthread_create(&threads[i], NULL, work_on, w) != 0) return 4;
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  tell(w, TURNS * THREADS);
  MUST(qn_runtime_close(w->runtime, QN_FOREVER));
  return 0;
}

static int case_again(world *w) {
  work_and_wait(w);
  MUST(qn_runtime_close(w->runtime, QN_FOREVER));
  *w = open_world(w->selector);
  work_and_wait(w);
  tell(w, 2);
  MUST(qn_runtime_close(w->runtime, QN_FOREVER));
  return 0;
}

/* A kernel that fails, and what comes after it. */
static int case_fail(world *w) {
  qn_program program = NULL;
  qn_kernel wild = NULL;
  qn_program_options o = QN_INIT(qn_program_options);
  o.source = "kernel void wild(global int *a) { a[1000000000] = 1; }\n";
  MUST(qn_program_build(w->device, &o, &program));
  MUST(qn_kernel_get(program, "wild", &wild));
  MUST(qn_launch(w->queues[0], w->first, QN_RANGE_1D(8), QN_ARGS(w->buffers[0]), NULL));
  MUST(qn_launch(w->queues[0], wild, QN_RANGE_1D(1), QN_ARGS(w->buffers[0]), NULL));
  if (qn_queue_finish(w->queues[0], QN_FOREVER) == QN_OK) return 5;
  printf("launch 2\nfailed 1\n");
  MUST(qn_runtime_close(w->runtime, QN_FOREVER));
  return 0;
}

/* The child must leave the file alone. */
static int case_fork(world *w) {
  work_and_wait(w);
  pid_t child = fork();
  if (child == 0) {
    qn_runtime other = NULL;
    quick_exit(qn_runtime_open(NULL, &other) == QN_ERROR_FORKED ? 0 : 6); /* no look for leaks: threads are gone */
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (status != 0) return 7;
  work_and_wait(w);
  tell(w, 2);
  MUST(qn_runtime_close(w->runtime, QN_FOREVER));
  return 0;
}

static const struct {
  const char *name;
  int (*run)(world *w);
} cases[] = {{"close", case_close}, {"exit", case_exit}, {"quick_exit", case_quick_exit}, {"rest", case_rest},
             {"busy", case_busy},   {"kill", case_kill}, {"threads", case_threads},       {"again", case_again},
             {"fail", case_fail},   {"fork", case_fork}};

int main(int count, char **arguments) {
  if (count != 3) return 2;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    if (strcmp(cases[i].name, arguments[2]) != 0) continue;
    world w = open_world(arguments[1]);
    return cases[i].run(&w);
  }
  return 2;
}
