/* clang.h - the compiler that the probes are compiled with: finding it and running it. */
#ifndef QUERN_TOOLS_ABI_CLANG_H
#define QUERN_TOOLS_ABI_CLANG_H

#include "pool.h"

typedef struct clang_words {
  const char **items;
  size_t count, capacity;
} clang_words;
void clang_add(clang_words *words, const char *word);

/* The program's path: `wanted`, which may be a name or a path, or when it is NULL clang-19, then clang. False: there is none. */
bool clang_find(const char *wanted, const char **out_path);

/* Runs a program with `input` on its standard input. False: it could not be run, or failed; *out_errors has what it said, or
 * why it could not be run. Both outputs end with NUL. */
bool clang_run(const char *program, const clang_words *arguments, const char *input, const char **out_text,
               const char **out_errors);

/* Where its own headers are. */
bool clang_resources(const char *program, const char **out_directory, const char **out_errors);

#endif
