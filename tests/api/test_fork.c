/* labels: threads warm once */
/* L6: in a forked child everything says so, releases do nothing, and the parent goes on. */
#include "entries.h"
#include "exits.h"
#include "support/rounds.h"
#include "support/warm.h"

/* ---- What a child sees -------------------------------------------------------------------------- */

/* Every function, with each live handle that it could take. 0: all is as it should be. */
static int check_entries(void) {
  const void *all[LIVE_KINDS];
  entries_live(all);
  for (size_t e = 0; e < ENTRIES; e++)
    for (size_t i = 0; i < LIVE_KINDS; i++) {
      qn_status wanted = entries[e].call == call_qn_release ? QN_OK : QN_ERROR_FORKED;
      if (entries[e].call(all[i]) != wanted) {
        fprintf(stderr, "%s in a child: not %s\n", entries[e].name, qn_status_name(wanted));
        return 1;
      }
    }
  for (size_t i = 0; i < PLAIN; i++)
    if (plain[i].call && (plain[i].call() != QN_ERROR_FORKED || !strstr(qn_error_text(), "fork"))) {
      fprintf(stderr, "%s in a child: not forked\n", plain[i].name);
      return 2;
    }
  return 0;
}

/* A release of anything is nothing, as often as one likes. */
static int check_releases(void) {
  const void *all[LIVE_KINDS];
  entries_live(all);
  for (int round = 0; round < 3; round++)
    for (size_t i = 0; i < LIVE_KINDS; i++)
      if (qn_release(all[i]) != QN_OK) return 3;
  return qn_release(&all) == QN_OK && qn_release(NULL) == QN_OK ? 0 : 4;
}

static int check_child(void) {
  int wrong = check_entries();
  return wrong ? wrong : check_releases();
}

/* ---- Ways to end a child ------------------------------------------------------------------------ */

static void end_by_exec(int result) {
  execl("/bin/sh", "sh", "-c", result ? "exit 1" : "exit 0", (char *)NULL);
  _exit(7);
}
static void end_by_grandchild(int result) {
  int status = 0;
  pid_t child = fork();
  if (child == 0) {
    alarm(60);
    exit(check_child());
  }
  if (child < 0 || waitpid(child, &status, 0) != child) _exit(6);
  exit(result ? result : WIFEXITED(status) ? WEXITSTATUS(status) : 5);
}
static void (*const endings[])(int) = {exit, _exit, quick_exit, end_by_exec, end_by_grandchild};
enum { ENDINGS = sizeof endings / sizeof *endings };

static pid_t fork_child(uint64_t ending) {
  fflush(NULL);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    alarm(60);
    endings[ending % ENDINGS](check_child());
    _exit(20);
  }
  return child;
}

/* ---- Parent and child go on --------------------------------------------------------------------- */

static void submit_live(int count) {
  qn_argument argument = qn_arg_buffer(live.buffer);
  for (int i = 0; i < count; i++) OK(qn_launch(live.queue, live.kernel, &some_range, &argument, 1, NULL));
}

static void fork_with_work_in_flight(const char *selector, uint64_t rounds) {
  entries_open(selector);
  for (uint64_t round = 0; round < rounds; round++) {
    submit_live(20);
    pid_t child = fork_child(round);
    submit_live(20);
    OK(qn_queue_finish(live.queue, PATIENCE));
    assert_ends_well(child, "a child");
  }
  entries_close();
}

static void test_L6_a_forked_child_is_told_and_its_parent_goes_on(void **state) {
  (void)state;
  uint64_t rounds = test_rounds("forks with work in flight, on check and cpu, of each", 40, 1000);
  fork_with_work_in_flight("check", rounds);
  fork_with_work_in_flight("cpu", rounds);
}

/* Threads are anywhere in the library when the process forks. */
static _Atomic bool stop;
static void *work_on(void *given) {
  world *w = given;
  while (!stop) {
    qn_point point = {0, 0};
    qn_buffer buffer = NULL;
    qn_buffer_options o = QN_INIT(qn_buffer_options);
    o.size_bytes = 100;
    must(qn_buffer_create(w->device, &o, &buffer));
    must(submit_one(w, &point));
    must(qn_point_wait(&point, PATIENCE));
    must(qn_release(buffer));
  }
  return NULL;
}

static void test_L6_a_fork_under_threads_that_go_on(void **state) {
  (void)state;
  enum { THREADS = 4 };
  pthread_t threads[THREADS];
  uint64_t rounds = test_rounds("forks under threads at work", 40, 1000);
  entries_open("cpu");
  world w = make_world("cpu");
  stop = false;
  for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, work_on, &w), 0);
  for (uint64_t round = 0; round < rounds; round++) assert_ends_well(fork_child(round), "a child under threads");
  stop = true;
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  OK(qn_runtime_close(w.runtime, PATIENCE));
  entries_close();
}

/* A callback forks. */
static _Atomic int from_callback;
static void fork_in_callback(void *user, qn_status status) {
  (void)user;
  int result = 0;
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    alarm(60);
    exit(check_child());
  }
  bool well = status == QN_OK && waitpid(child, &result, 0) == child && result == 0;
  from_callback = well ? 1 : 2;
}

static void test_L6_a_callback_may_fork(void **state) {
  (void)state;
  uint64_t rounds = test_rounds("forks in callbacks", 10, 1000);
  entries_open("check");
  for (uint64_t round = 0; round < rounds; round++) {
    from_callback = 0;
    submit_live(5);
    OK(qn_queue_call(live.queue, NULL, fork_in_callback, NULL));
    while (from_callback == 0) usleep(100);
    assert_int_equal(from_callback, 1);
  }
  entries_close();
}

/* ---- Before the first call ---------------------------------------------------------------------- */

/* These run in a fresh process each: PROGRAM first|racing. */

/* A library that is loaded and not used yet is nobody's: the child may use it, and so may the parent. */
static int fork_before_the_first_call(void) {
  int status = 0;
  pid_t child = fork();
  world w = make_world("null");
  submit(&w, 10);
  must(qn_runtime_close(w.runtime, PATIENCE));
  if (child == 0) return 0;
  return waitpid(child, &status, 0) == child && status == 0 ? 0 : 1;
}

static void *open_first(void *given) {
  world *w = given;
  *w = make_world("null");
  return NULL;
}

/* One thread makes the process's first call while another forks: the child is told, or may use the library; it never hangs. */
static int fork_during_the_first_call(void) {
  world w = {0};
  pthread_t thread;
  int status = 0;
  if (pthread_create(&thread, NULL, open_first, &w) != 0) return 9;
  for (int i = 0; i < getpid() % 400; i++) __asm__ volatile("");
  pid_t child = fork();
  if (child == 0) {
    qn_runtime runtime = NULL;
    alarm(60);
    qn_status opened = qn_runtime_open(NULL, &runtime);
    exit(opened == QN_OK || opened == QN_ERROR_FORKED ? 0 : 1);
  }
  pthread_join(thread, NULL);
  submit(&w, 10);
  must(qn_runtime_close(w.runtime, PATIENCE));
  return waitpid(child, &status, 0) == child && status == 0 ? 0 : 1;
}

static void test_L6_a_fork_before_the_first_call_changes_nothing(void **state) {
  (void)state;
  for (int i = 0; i < 3; i++) run_exit("first", "", "");
}

static void test_L6_a_fork_during_the_first_call_does_not_hang(void **state) {
  (void)state;
  uint64_t rounds = test_rounds("forks during the first call", 20, 1000);
  for (uint64_t i = 0; i < rounds; i++) run_exit("racing", "", "");
}

/* In a forked child the parent's other threads are missing, and what they held in the middle of a call would be told as
 * leaks; the sanitizer says so itself. Its options are read when a process starts: so this program starts again. Leaks are
 * looked for by the other tests. */
static void tame_leak_check(char **argv) {
  static const char tame[] = "detect_leaks=0";
  const char *options = getenv("ASAN_OPTIONS");
  char more[4096];
  if (options && strstr(options, tame)) return;
  snprintf(more, sizeof more, "%s:%s", options ? options : "", tame);
  setenv("ASAN_OPTIONS", more, 1);
  execv("/proc/self/exe", argv);
}

int main(int argc, char **argv) {
  tame_thread_sanitizer(argv);
  tame_leak_check(argv);
  if (argc == 4 && strcmp(argv[1], "first") == 0) return fork_before_the_first_call();
  if (argc == 4 && strcmp(argv[1], "racing") == 0) return fork_during_the_first_call();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_L6_a_fork_before_the_first_call_changes_nothing),
      cmocka_unit_test(test_L6_a_fork_during_the_first_call_does_not_hang),
      cmocka_unit_test(test_L6_a_forked_child_is_told_and_its_parent_goes_on),
      cmocka_unit_test(test_L6_a_fork_under_threads_that_go_on),
      cmocka_unit_test(test_L6_a_callback_may_fork),
  };
  const char *const sources[] = {exits_source, entry_source};
  if (!warm_start(sources, 2)) return 1;
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  warm_end();
  return failed;
}
