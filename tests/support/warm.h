/* warm.h - programs for a test that must not load the code generator itself (label `warm`): a child process builds them into
 * a store of the test's own, and the test finds them there. So the thread sanitizer, which can't see into LLVM, can watch
 * native code being launched, and a thousand openings of a device don't cost a thousand compilations. */
#ifndef QUERN_TESTS_WARM_H
#define QUERN_TESTS_WARM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "quern/quern.h"

static char warm_directory[64];

static inline qn_status warm_build_here(const char *source) {
  qn_runtime runtime = NULL;
  qn_device device = NULL;
  qn_program program = NULL;
  qn_program_options o = QN_INIT(qn_program_options);
  o.source = source;
  qn_status status = qn_runtime_open(NULL, &runtime);
  if (status == QN_OK) status = qn_device_open(runtime, "cpu", &device);
  if (status == QN_OK) status = qn_program_build(device, &o, &program);
  if (status == QN_OK) status = qn_runtime_close(runtime, QN_FOREVER);
  if (status != QN_OK) fprintf(stderr, "%s: %s\n", qn_status_name(status), qn_error_text());
  return status;
}

/* Before the first call of the library. Whether all went well. */
static inline bool warm_start(const char *const *sources, int count) {
  int status = -1;
  strcpy(warm_directory, "/tmp/quern-warm-XXXXXX");
  if (!mkdtemp(warm_directory)) return false;
  setenv("QUERN_CACHE_DIR", warm_directory, 1);
  setenv("QUERN_CACHE", "write", 1);
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < count; i++)
      if (warm_build_here(sources[i]) != QN_OK) _exit(1);
    _exit(0);
  }
  return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static inline void warm_end(void) {
  char command[128];
  snprintf(command, sizeof command, "rm -rf '%s'", warm_directory);
  if (system(command) != 0) fprintf(stderr, "%s is left\n", warm_directory);
}

/* Whether this process has loaded the code generator after all. */
static inline bool has_code_generator(void) {
  char line[4096];
  bool found = false;
  FILE *maps = fopen("/proc/self/maps", "r");
  while (maps && fgets(line, sizeof line, maps)) found |= strstr(line, "libquern-llvm") != NULL;
  if (maps) fclose(maps);
  return found;
}

#endif
