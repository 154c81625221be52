/* abi.c - `quern abi`: finds quern-abi, a program of its own because it needs libclang and libdw, and becomes it. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tool.h"

#define PROGRAM "quern-abi"

/* Beside this program; *out is empty when it can't be told where that is. */
static void beside(char *out, size_t size) {
  ssize_t length = readlink("/proc/self/exe", out, size - sizeof PROGRAM);
  char *slash = length > 0 ? memrchr(out, '/', (size_t)length) : NULL;
  *out = slash ? *out : 0;
  if (slash) memcpy(slash + 1, PROGRAM, sizeof PROGRAM);
}

int command_abi(int argc, char **argv) {
  char path[4096];
  (void)argc;
  tool_command = "quern abi";
  beside(path, sizeof path);
  if (*path) execv(path, argv);
  if (!*path || errno == ENOENT) execvp(PROGRAM, argv);
  if (errno == ENOENT)
    return tool_error(TOOL_FAILED, "the program " PROGRAM
                                   " is neither beside quern nor in PATH: it is built where libclang-19-dev "
                                   "and libdw-dev are installed");
  return tool_error(TOOL_FAILED, "%s: %s", *path ? path : PROGRAM, strerror(errno));
}
