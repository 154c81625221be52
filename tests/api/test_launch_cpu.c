/* labels: threads llvm */
/* The tests of launches, on the processor. */
#define SELECTOR "cpu"
#define ORDER_STEP 31
#include "test_launch.c"
