/* labels: llvm once */
/* L6: exit is inert with LLVM loaded, also while threads are compiling in it. */
#include "exits.h"
#include "support/rounds.h"

static void test_L6_exit_is_inert_with_llvm_loaded(void **state) {
  (void)state;
  uint64_t rounds = test_rounds("exits in each way and state with LLVM loaded", 1, 200);
  for (int i = 0; i < EXIT_STATES; i++) run_exits(&exit_states[i], "cpu", rounds);
}

static void test_L6_exit_is_inert_while_threads_compile(void **state) {
  (void)state;
  uint64_t rounds = test_rounds("exits in each of six ways while threads compile", 3, 167);
  run_exits(&compiling_state, "cpu", rounds);
}

int main(int argc, char **argv) {
  if (argc == 4) return exit_child(argv + 1);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_L6_exit_is_inert_with_llvm_loaded),
      cmocka_unit_test(test_L6_exit_is_inert_while_threads_compile),
  };
  setenv("QUERN_CACHE", "off", 1);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
