/* labels: threads llvm */
/* The tests of launches, on the processor. */
#define TEST_PROCESSOR
#define SELECTOR "cpu"
#define LIVES 4
#include "test_launch.c"
