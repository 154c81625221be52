/* directory.h - a test program's directory of its own, and commands that are run on it. Include cmocka's headers first. */
#ifndef QUERN_TEST_DIRECTORY_H
#define QUERN_TEST_DIRECTORY_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static char directory[256];

static inline bool make_directory(const char *what) {
  snprintf(directory, sizeof directory, "/tmp/quern-%s-XXXXXX", what);
  return mkdtemp(directory);
}

static inline __attribute__((format(printf, 1, 2))) bool can_run(const char *format, ...) {
  char command[1024];
  va_list args;
  va_start(args, format);
  int length = vsnprintf(command, sizeof command, format, args);
  va_end(args);
  return length >= 0 && (size_t)length < sizeof command && system(command) == 0;
}

#define run(...) assert_true(can_run(__VA_ARGS__))

#endif
