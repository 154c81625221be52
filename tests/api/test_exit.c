/* labels: threads */
/* L6: exit and fork are inert. Each case runs in a process of its own: this program again, with the case's name. */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

/* The thread sanitizer makes every exit last a second. */
#if defined(__SANITIZE_THREAD__)
#define SLOW_EXIT 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SLOW_EXIT 1
#endif
#endif
#ifdef SLOW_EXIT
enum { PROCESSES = 4, THREADS = 4 };
#else
enum { PROCESSES = 40, THREADS = 4 };
#endif

/* ---- Cases -------------------------------------------------------------------------------------- */

static void must(qn_status status) {
  if (status == QN_OK) return;
  fprintf(stderr, "%s: %s\n", qn_status_name(status), qn_error_text());
  _exit(9);
}

typedef struct world {
  qn_runtime runtime;
  qn_device device;
  qn_queue queue;
  qn_buffer buffer;
} world;

static world make_world(void) {
  world w = {0};
  qn_buffer_options o = QN_INIT(qn_buffer_options);
  o.size_bytes = 1 << 20;
  must(qn_runtime_open(NULL, &w.runtime));
  must(qn_device_open(w.runtime, "null", &w.device));
  must(qn_queue_create(w.device, NULL, &w.queue));
  must(qn_buffer_create(w.device, &o, &w.buffer));
  return w;
}

static void submit(const world *w, int count) {
  qn_view view = test_view(w->buffer, 0, QN_WHOLE);
  for (int i = 0; i < count; i++) must(qn_fill(w->queue, &view, "x", 1, NULL));
}

static int with_work_in_flight(void) {
  world w = make_world();
  submit(&w, 500);
  return 0;
}

static int with_everything_released_and_work_in_flight(void) {
  world w = make_world();
  submit(&w, 500);
  must(qn_release(w.runtime));
  must(qn_release(w.buffer));
  must(qn_release(w.queue));
  must(qn_release(w.device));
  return 0;
}

/* Calls until the process is gone. Errors are what exit brings; crashes are what it must not. */
static void *call_for_ever(void *given) {
  world *w = given;
  qn_view view = test_view(w->buffer, 0, QN_WHOLE);
  for (;;) {
    qn_buffer own = NULL;
    qn_point point = {0, 0};
    qn_buffer_options o = QN_INIT(qn_buffer_options);
    o.size_bytes = 100;
    if (qn_buffer_create(w->device, &o, &own) == QN_OK) (void)qn_release(own);
    if (qn_fill(w->queue, &view, "x", 1, &point) == QN_OK) (void)!qn_point_wait(&point, 1000000);
  }
  return NULL;
}

static void start_callers(world *w) {
  for (int i = 0; i < THREADS; i++) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, call_for_ever, w) != 0) _exit(9);
    pthread_detach(thread);
  }
}

static int with_threads_inside(void) {
  static world w;
  w = make_world();
  start_callers(&w);
  usleep(2000);
  return 0;
}

static void *leave(void *given) {
  (void)given;
  exit(0);
}

static int from_another_thread(void) {
  static world w;
  pthread_t thread;
  w = make_world();
  start_callers(&w);
  if (pthread_create(&thread, NULL, leave, NULL) != 0) return 9;
  for (;;) pause();
}

static world late;

/* Registered before the runtime was opened, so that it runs after the library's own handler. */
static void use_it_late(void) {
  qn_point point = {0, 0};
  qn_runtime another = NULL;
  if (qn_queue_last(late.queue, &point) != QN_ERROR_CLOSED) _exit(3);
  if (qn_runtime_open(NULL, &another) != QN_ERROR_CLOSED) _exit(4);
  if (qn_runtime_close(late.runtime, SECOND) != QN_ERROR_CLOSED) _exit(5);
  if (qn_release(late.queue) != QN_OK) _exit(6);
  if (qn_release(late.queue) != QN_OK) _exit(7); /* nothing is done any longer, so nothing is wrong */
}

static int with_calls_after_it_began(void) {
  if (atexit(use_it_late) != 0) return 9;
  late = make_world();
  submit(&late, 100);
  return 0;
}

static int after_closing(void) {
  world w = make_world();
  submit(&w, 10);
  must(qn_runtime_close(w.runtime, 10 * SECOND));
  return 0;
}

static const struct {
  const char *name;
  int (*run)(void);
} cases[] = {
    {"with_work_in_flight", with_work_in_flight},
    {"with_everything_released_and_work_in_flight", with_everything_released_and_work_in_flight},
    {"with_threads_inside", with_threads_inside},
    {"from_another_thread", from_another_thread},
    {"with_calls_after_it_began", with_calls_after_it_began},
    {"after_closing", after_closing},
};
enum { CASES = sizeof cases / sizeof *cases };

/* ---- Running them ------------------------------------------------------------------------------- */

static void assert_ends_well(pid_t child, const char *what) {
  int status = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
  if (WIFSIGNALED(status)) fail_msg("%s: signal %d", what, WTERMSIG(status));
  if (WEXITSTATUS(status) != 0) fail_msg("%s: exit status %d", what, WEXITSTATUS(status));
}

static void run_case(const char *name) {
  fflush(NULL);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    alarm(30); /* a hang becomes a signal */
    execl("/proc/self/exe", "test_exit", name, (char *)NULL);
    _exit(8);
  }
  assert_ends_well(child, name);
}

static void test_L6_exit_is_inert(void **state) {
  (void)state;
  for (size_t i = 0; i < CASES; i++)
    for (int process = 0; process < PROCESSES; process++) run_case(cases[i].name);
}

/* ---- Fork --------------------------------------------------------------------------------------- */

static int check_child(const world *w) {
  qn_runtime runtime = NULL;
  qn_point point = {0, 0};
  qn_view view = test_view(w->buffer, 0, QN_WHOLE);
  uint32_t kind = 0, count = 0;
  bool all = qn_runtime_open(NULL, &runtime) == QN_ERROR_FORKED && qn_queue_last(w->queue, &point) == QN_ERROR_FORKED &&
             qn_fill(w->queue, &view, "x", 1, NULL) == QN_ERROR_FORKED &&
             qn_queue_finish(w->queue, QN_FOREVER) == QN_ERROR_FORKED &&
             qn_device_drain(w->device, QN_FOREVER) == QN_ERROR_FORKED &&
             qn_device_count(w->runtime, &count) == QN_ERROR_FORKED && qn_point_wait(&point, 0) == QN_ERROR_FORKED &&
             qn_retain(w->queue) == QN_ERROR_FORKED && qn_handle_kind(w->queue, &kind) == QN_ERROR_FORKED &&
             qn_runtime_close(w->runtime, QN_FOREVER) == QN_ERROR_FORKED && strstr(qn_error_text(), "fork");
  bool releases = qn_release(w->buffer) == QN_OK && qn_release(w->queue) == QN_OK && qn_release(w->device) == QN_OK &&
                  qn_release(w->runtime) == QN_OK && qn_release(w->runtime) == QN_OK;
  return !all ? 1 : !releases ? 2 : 0;
}

static void test_L6_a_forked_child_is_told_and_its_parent_goes_on(void **state) {
  (void)state;
  world w = make_world();
  for (int round = 0; round < 50; round++) {
    submit(&w, 20); /* work in flight over the fork */
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
      alarm(30);
      exit(check_child(&w)); /* with its exit handlers */
    }
    submit(&w, 20);
    assert_ends_well(child, "the child");
    OK(qn_queue_finish(w.queue, 10 * SECOND));
  }
  OK(qn_runtime_close(w.runtime, 10 * SECOND));
}

int main(int argc, char **argv) {
  for (size_t i = 0; argc > 1 && i < CASES; i++)
    if (strcmp(argv[1], cases[i].name) == 0) return cases[i].run();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_L6_exit_is_inert),
      cmocka_unit_test(test_L6_a_forked_child_is_told_and_its_parent_goes_on),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
