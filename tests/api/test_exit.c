/* labels: threads warm once */
/* L6: exit is inert, whatever is in flight and however the process ends. test_exit_llvm.c has the cases with LLVM loaded,
 * test_fork.c what a fork does. */
#include "entries.h"
#include "exits.h"
#include "support/rounds.h"
#include "support/warm.h"

static void test_L6_exit_is_inert_on(const char *device) {
  char what[64];
  snprintf(what, sizeof what, "exits in each way and state on %s", device);
  uint64_t rounds = test_rounds(what, 1, 200);
  for (int state = 0; state < EXIT_STATES; state++) run_exits(&exit_states[state], device, rounds);
}

static void test_L6_exit_is_inert_on_null(void **state) {
  (void)state;
  test_L6_exit_is_inert_on("null");
}
static void test_L6_exit_is_inert_on_check(void **state) {
  (void)state;
  test_L6_exit_is_inert_on("check");
}
static void test_L6_exit_is_inert_on_cpu(void **state) {
  (void)state;
  test_L6_exit_is_inert_on("cpu");
}

/* ---- Calls after it began ----------------------------------------------------------------------- */

/* Registered before the library's first call, so that it runs after the library's own handler. Each function says that it
 * is too late, but releases: nothing is done any longer, so nothing is wrong. */
static void use_everything_late(void) {
  const void *all[LIVE_KINDS];
  entries_live(all);
  for (size_t e = 0; e < ENTRIES; e++)
    for (size_t i = 0; i < LIVE_KINDS; i++) {
      qn_status wanted = entries[e].call == call_qn_release ? QN_OK : QN_ERROR_CLOSED;
      if ((entries[e].kind == QN_KIND_NONE || entries[e].kind == live_kinds[i]) && entries[e].call(all[i]) != wanted) {
        fprintf(stderr, "%s: not %s\n", entries[e].name, qn_status_name(wanted));
        _exit(3);
      }
    }
  for (size_t i = 0; i < PLAIN; i++)
    if (plain[i].call && plain[i].call() != QN_ERROR_CLOSED) {
      fprintf(stderr, "%s: not closed\n", plain[i].name);
      _exit(4);
    }
}

static int late_child(const char *way) {
  if (atexit(use_everything_late) != 0 || at_quick_exit(use_everything_late) != 0) return 9;
  entries_open("check");
  if (strcmp(way, "late_by_quick_exit") == 0) quick_exit(0);
  return 0;
}

static void test_L6_calls_after_exit_began_are_errors(void **state) {
  (void)state;
  uint64_t rounds = test_rounds("exits with every function called afterwards", 3, 1000);
  for (uint64_t i = 0; i < rounds; i++) {
    run_exit("late_by_exit", "", "");
    run_exit("late_by_quick_exit", "", "");
  }
}

/* ---- Closed before ------------------------------------------------------------------------------ */

static int closed_child(void) {
  the_world = make_world("null");
  submit(&the_world, 10);
  must(qn_runtime_close(the_world.runtime, PATIENCE));
  return 0;
}

static void test_L6_exit_after_closing(void **state) {
  (void)state;
  for (int i = 0; i < 5; i++) run_exit("closed", "", "");
}

int main(int argc, char **argv) {
  tame_thread_sanitizer(argv);
  if (argc == 4 && strcmp(argv[1], "closed") == 0) return closed_child();
  if (argc == 4 && strncmp(argv[1], "late", 4) == 0) return late_child(argv[1]);
  if (argc == 4) return exit_child(argv + 1);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_L6_exit_is_inert_on_null), cmocka_unit_test(test_L6_exit_is_inert_on_check),
      cmocka_unit_test(test_L6_exit_is_inert_on_cpu),  cmocka_unit_test(test_L6_calls_after_exit_began_are_errors),
      cmocka_unit_test(test_L6_exit_after_closing),
  };
  const char *const sources[] = {exits_source};
  if (!warm_start(sources, 1)) return 1;
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  warm_end();
  return failed;
}
