/* exits.h - processes that end without closing anything: in each way, in each state (L6). A test that includes this is its
 * own child program: `PROGRAM WAY STATE DEVICE` is such a process. */
#ifndef QUERN_TEST_EXITS_H
#define QUERN_TEST_EXITS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"
#include "support/process.h"

/* ---- A process's world -------------------------------------------------------------------------- */

static const char exits_source[] = "kernel void add(global int *sum, int a) { sum[get_global_id(0)] += a; }\n";

typedef struct world {
  qn_runtime runtime;
  qn_device device;
  qn_queue queue;
  qn_buffer buffer;
  qn_program program; /* NULL where no kernel runs */
  qn_kernel kernel;
} world;

static void must(qn_status status) {
  if (status == QN_OK) return;
  fprintf(stderr, "%s: %s\n", qn_status_name(status), qn_error_text());
  _exit(9);
}

static void make_kernel(world *w) {
  qn_program_options o = QN_INIT(qn_program_options);
  o.source = exits_source;
  must(qn_program_build(w->device, &o, &w->program));
  must(qn_kernel_get(w->program, "add", &w->kernel));
}

static inline world make_world(const char *selector) {
  world w = {0};
  qn_buffer_options o = QN_INIT(qn_buffer_options);
  o.size_bytes = 1 << 18;
  must(qn_runtime_open(NULL, &w.runtime));
  must(qn_device_open(w.runtime, selector, &w.device));
  must(qn_queue_create(w.device, NULL, &w.queue));
  must(qn_buffer_create(w.device, &o, &w.buffer));
  if (strcmp(selector, "null") != 0) make_kernel(&w);
  return w;
}

static qn_status submit_one(const world *w, qn_point *out_point) {
  qn_view view = test_view(w->buffer, 0, QN_WHOLE);
  if (!w->kernel) return qn_fill(w->queue, &view, "x", 1, out_point);
  return qn_launch(w->queue, w->kernel, QN_RANGE_1D(1 << 10), QN_ARGS(w->buffer, 1), out_point);
}

static inline void submit(const world *w, int count) {
  for (int i = 0; i < count; i++) must(submit_one(w, NULL));
}

/* ---- States ------------------------------------------------------------------------------------- */

static world the_world;
enum { EXIT_THREADS = 3 };

static void start_threads(void *(*run)(void *), int count) {
  for (int i = 0; i < count; i++) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, run, NULL) != 0) _exit(9);
    pthread_detach(thread);
  }
}

static void with_work_in_flight(void) { submit(&the_world, 300); }

static void with_all_released(void) {
  const void *all[] = {the_world.runtime, the_world.buffer,  the_world.kernel,
                       the_world.queue,   the_world.program, the_world.device};
  submit(&the_world, 300);
  for (int i = 0; i < 6; i++) must(qn_release(all[i]));
}

/* Calls until the process is gone. Errors are what exit brings; crashes are what it must not. */
static void *call_for_ever(void *given) {
  (void)given;
  for (;;) {
    qn_buffer buffer = NULL;
    qn_queue queue = NULL;
    qn_point point = {0, 0};
    qn_buffer_options o = QN_INIT(qn_buffer_options);
    o.size_bytes = 100;
    bool has_buffer = qn_buffer_create(the_world.device, &o, &buffer) == QN_OK;
    bool has_queue = qn_queue_create(the_world.device, NULL, &queue) == QN_OK;
    if (submit_one(&the_world, &point) == QN_OK) (void)!qn_point_wait(&point, 1000000);
    if (has_buffer) (void)qn_release(buffer);
    if (has_queue) (void)qn_release(queue);
  }
  return NULL;
}

static void with_threads_inside(void) {
  start_threads(call_for_ever, EXIT_THREADS);
  usleep((useconds_t)(getpid() % 7) * 400);
}

static void *release_for_ever(void *given) {
  (void)given;
  for (;;) {
    const void *made[64];
    int count = 0;
    qn_buffer_options o = QN_INIT(qn_buffer_options);
    o.size_bytes = 64;
    while (count < 64 && qn_buffer_create(the_world.device, &o, (qn_buffer *)(void *)&made[count]) == QN_OK) count++;
    (void)!submit_one(&the_world, NULL);
    for (int i = 0; i < count; i++) (void)qn_release(made[i]);
  }
  return NULL;
}

static void with_releases_racing(void) {
  submit(&the_world, 100);
  start_threads(release_for_ever, EXIT_THREADS);
  usleep((useconds_t)(getpid() % 5) * 300);
}

static void call_again(void *user, qn_status status) {
  (void)user;
  if (status == QN_OK && submit_one(&the_world, NULL) == QN_OK)
    (void)!qn_queue_call(the_world.queue, NULL, call_again, NULL);
}

static void with_callbacks_coming(void) {
  submit(&the_world, 100);
  for (int i = 0; i < 10; i++) must(qn_queue_call(the_world.queue, NULL, call_again, NULL));
}

/* A source that takes far longer than the 100 ms that exit waits: LLVM is at work while its own exit handlers run. */
static char *long_source(int seed) {
  enum { LINES = 150, ROOM = 120 };
  char *text = malloc((LINES + 2) * ROOM);
  if (!text) _exit(9);
  size_t at = (size_t)sprintf(text, "kernel void k(global float *x) {\n");
  for (int i = 0; i < LINES; i++)
    at += (size_t)sprintf(text + at, "  for (int i = 0; i < %d; i++) x[i] += sin(x[i + %d]) * pow(x[i], %d.5f);\n",
                          i + 2, i, seed + i);
  strcpy(text + at, "}\n");
  return text;
}

/* Threads compile all the while, without a store: they are in LLVM when the process ends. */
static _Atomic int next_seed;
static void *compile_for_ever(void *given) {
  (void)given;
  for (;;) {
    char *source = long_source(next_seed++);
    qn_program program = NULL;
    qn_program_options o = QN_INIT(qn_program_options);
    o.source = source;
    if (qn_program_build(the_world.device, &o, &program) == QN_OK) (void)qn_release(program);
    free(source);
  }
  return NULL;
}

static void with_compilers_at_work(void) {
  start_threads(compile_for_ever, 2);
  usleep((useconds_t)(getpid() % 13) * 3000);
}

typedef struct exit_state {
  const char *name;
  void (*enter)(void);
} exit_state;

static const exit_state exit_states[] = {
    {"with_work_in_flight", with_work_in_flight},     {"with_all_released", with_all_released},
    {"with_threads_inside", with_threads_inside},     {"with_releases_racing", with_releases_racing},
    {"with_callbacks_coming", with_callbacks_coming},
};
static const exit_state compiling_state = {"with_compilers_at_work", with_compilers_at_work};
enum { EXIT_STATES = sizeof exit_states / sizeof *exit_states };

/* ---- Ways --------------------------------------------------------------------------------------- */

static void by_return(void) {}
static void by_exit(void) { exit(0); }
static void by_quick_exit(void) { quick_exit(0); }
static void by_underscore_exit(void) { _exit(0); }

static void *leave_here(void *given) {
  (void)given;
  exit(0);
}
static void wait_for_the_end(void) {
  for (;;) (void)!submit_one(&the_world, NULL);
}
static void by_another_thread(void) {
  start_threads(leave_here, 1);
  wait_for_the_end();
}
static void leave_from_callback(void *user, qn_status status) {
  (void)user, (void)status;
  exit(0);
}
static void by_callback(void) {
  qn_queue queue = NULL; /* of its own: the world's may be released */
  qn_device device = NULL;
  qn_runtime runtime = NULL;
  must(qn_runtime_open(NULL, &runtime));
  must(qn_device_open(runtime, "null", &device));
  must(qn_queue_create(device, NULL, &queue));
  must(qn_queue_call(queue, NULL, leave_from_callback, NULL));
  wait_for_the_end();
}

static const struct {
  const char *name;
  void (*leave)(void);
} exit_ways[] = {
    {"by_return", by_return},
    {"by_exit", by_exit},
    {"by_quick_exit", by_quick_exit},
    {"by_underscore_exit", by_underscore_exit},
    {"by_another_thread", by_another_thread},
    {"by_callback", by_callback},
};
enum { EXIT_WAYS = sizeof exit_ways / sizeof *exit_ways };

/* ---- The child program -------------------------------------------------------------------------- */

static const exit_state *find_state(const char *name) {
  for (int i = 0; i < EXIT_STATES; i++)
    if (strcmp(name, exit_states[i].name) == 0) return &exit_states[i];
  return strcmp(name, compiling_state.name) == 0 ? &compiling_state : NULL;
}

/* `arguments`: way, state, device. */
static inline int exit_child(char **arguments) {
  const exit_state *state = find_state(arguments[1]);
  if (!state) return 8;
  the_world = make_world(arguments[2]);
  state->enter();
  for (int i = 0; i < EXIT_WAYS; i++)
    if (strcmp(arguments[0], exit_ways[i].name) == 0) exit_ways[i].leave();
  return 0;
}

/* ---- Running it --------------------------------------------------------------------------------- */

static inline void assert_ends_well(pid_t child, const char *what) {
  int status = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
  if (WIFSIGNALED(status)) fail_msg("%s: signal %d", what, WTERMSIG(status));
  if (WEXITSTATUS(status) != 0) fail_msg("%s: exit status %d", what, WEXITSTATUS(status));
}

/* The thread sanitizer would make every exit last a second; tells of threads that have ended and that nobody has joined yet,
 * which who ends without closing leaves; and ends a forked child that starts a thread. It reads its options when a process
 * starts: so this program starts again. First in main. */
static inline void tame_thread_sanitizer(char **argv) {
  static const char tame[] = "atexit_sleep_ms=0:report_thread_leaks=0:die_after_fork=0";
  const char *options = getenv("TSAN_OPTIONS");
  char more[4096];
  if (!SANITIZER_THREADS || (options && strstr(options, tame))) return;
  snprintf(more, sizeof more, "%s:%s", options ? options : "", tame);
  setenv("TSAN_OPTIONS", more, 1);
  execv("/proc/self/exe", argv);
}

static inline void run_exit(const char *way, const char *state, const char *device) {
  char what[256];
  snprintf(what, sizeof what, "%s %s on %s", way, state, device);
  fflush(NULL);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    alarm(60); /* a hang becomes a signal */
    execl("/proc/self/exe", "exits", way, state, device, (char *)NULL);
    _exit(8);
  }
  assert_ends_well(child, what);
}

static inline void run_exits(const exit_state *state, const char *device, uint64_t rounds) {
  for (uint64_t round = 0; round < rounds; round++)
    for (int way = 0; way < EXIT_WAYS; way++) run_exit(exit_ways[way].name, state->name, device);
}

#endif
