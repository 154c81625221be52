/* What programs compute as native code: the texts of test_front_values.c. */
/* labels: llvm */
/* sources: tests/unit/support/runner.c tests/unit/support/driver.c */
#define FRONT_VALUES_NATIVE
#include "test_front_values.c"
