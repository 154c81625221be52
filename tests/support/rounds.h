/* rounds.h - how often a test repeats: a short count, and the whole one when QUERN_LONG=1,
 * which `./test.sh --long` sets. A line "rounds: WHAT N" says which; `./test.sh`
 * prints these lines. */
#ifndef QUERN_TESTS_ROUNDS_H
#define QUERN_TESTS_ROUNDS_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline uint64_t test_rounds(const char *what, uint64_t in_short, uint64_t in_long) {
  const char *value = getenv("QUERN_LONG");
  uint64_t rounds = value && strcmp(value, "1") == 0 ? in_long : in_short;
  printf("rounds: %s %" PRIu64 "\n", what, rounds);
  fflush(stdout);
  return rounds;
}

/* The same of a program's word: "SHORT,WHOLE", or "N" for both. */
static inline uint64_t test_rounds_of(const char *what, const char *word) {
  char *rest;
  uint64_t in_short = strtoull(word, &rest, 0);
  return test_rounds(what, in_short, *rest == ',' ? strtoull(rest + 1, NULL, 0) : in_short);
}

#endif
