/* harness.h - what a fuzz target is: one file fuzz_NAME.c with fuzz_one. It is linked with libFuzzer in the sanitizer
 * build of clang, and elsewhere with a driver that replays the committed corpus (tests/fuzz/corpus/NAME), so that an
 * input that ever failed is tried by every build. */
#ifndef QUERN_TESTS_FUZZ_HARNESS_H
#define QUERN_TESTS_FUZZ_HARNESS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Tries one input, and returns. `text` is a copy on the heap of exactly `size` bytes with a NUL behind it, so that the
 * address sanitizer sees a read past it. A wrong answer is FUZZ_CHECK; crashes, leaks, hangs (10 s) and use of more
 * than 2 GiB are found from outside. */
void fuzz_one(const char *text, size_t size);

#define FUZZ_CHECK(condition)                                                 \
  do {                                                                        \
    if (!(condition)) {                                                       \
      fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition); \
      abort();                                                                \
    }                                                                         \
  } while (0)

#endif
