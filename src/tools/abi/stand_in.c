/* stand_in.c - stand-ins for the C library's headers. */
#include "stand_in.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pool.h"

#define SIZES "#include <stddef.h>\n"

static const struct {
  const char *name, *text;
} files[] = {
    {"assert.h", "#define assert(condition) ((void)0)\n#define static_assert _Static_assert\n"},
    {"ctype.h", ""},
    {"errno.h", ""},
    {"inttypes.h", "#include <stdint.h>\n"},
    {"math.h", ""},
    {"memory.h", SIZES},
    {"signal.h", ""},
    {"stdio.h", SIZES "#include <stdarg.h>\ntypedef struct quern_abi_file FILE;\n"},
    {"stdlib.h", SIZES},
    {"string.h", SIZES},
    {"strings.h", SIZES},
    {"time.h", SIZES "typedef long time_t;\nstruct timespec { time_t tv_sec; long tv_nsec; };\nstruct tm;\n"},
    {"unistd.h", SIZES "typedef long ssize_t;\n"},
    {"wchar.h", SIZES},
    {"sys/types.h", SIZES "#include <stdint.h>\ntypedef long ssize_t;\ntypedef long off_t;\ntypedef int pid_t;\n"},
};
#define FILE_COUNT (sizeof files / sizeof *files)

/* What is to be removed, files before their directories. */
static const char *made[FILE_COUNT + 2];

static bool write_file(const char *path, const char *text) {
  FILE *file = fopen(path, "w");
  bool written = file && fputs(text, file) >= 0;
  if (file && fclose(file) != 0) written = false;
  return written;
}

void stand_in_remove(void) {
  for (size_t i = 0; i < FILE_COUNT + 2; i++) {
    if (made[i]) i < FILE_COUNT ? unlink(made[i]) : rmdir(made[i]);
    made[i] = NULL;
  }
}

static void end_by_signal(int number) {
  stand_in_remove();
  signal(number, SIG_DFL);
  raise(number);
}

bool stand_in_make(const char **out_directory, const char **out_error) {
  const char *place = getenv("TMPDIR");
  char *directory = pool_format("%s/quern-abi-XXXXXX", place && *place ? place : "/tmp");
  if (!mkdtemp(directory)) {
    *out_error = pool_format("a temporary directory %s: %s (TMPDIR says where)", directory, strerror(errno));
    return false;
  }
  made[FILE_COUNT + 1] = directory;
  signal(SIGINT, end_by_signal);
  signal(SIGTERM, end_by_signal);
  signal(SIGHUP, end_by_signal);
  made[FILE_COUNT] = pool_format("%s/sys", directory);
  bool done = mkdir(made[FILE_COUNT], 0700) == 0;
  for (size_t i = 0; done && i < FILE_COUNT; i++) {
    made[i] = pool_format("%s/%s", directory, files[i].name);
    done = write_file(made[i], files[i].text);
  }
  if (done) return *out_directory = directory, true;
  *out_error = pool_format("writing into %s: %s", directory, strerror(errno));
  stand_in_remove();
  return false;
}
