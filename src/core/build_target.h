/* build_target.h - the targets that `quern build` knows by name. */
#ifndef QUERN_CORE_BUILD_TARGET_H
#define QUERN_CORE_BUILD_TARGET_H

#include <stdint.h>

#include "base/arena.h"
#include "compiler/artifact/artifact.h"
#include "quern/quern.h"

typedef struct core_build_target {
  const char *name;
  const char *arch;     /* the code generator's; NULL: text, or no code is made ahead of time */
  const char *cpu;      /* LLVM's name */
  const char *features; /* what a processor must have to run it */
  qn_artifact_machine machine;
  uint32_t rank; /* of two that run, the higher is the better */
} core_build_target;

/* "host" is the best level that this machine has, so that what is built can be named to others. Errors: INVALID_ARGUMENT with
 * the names that there are, UNSUPPORTED for one whose code generator is not there yet. */
QN_MUST_USE qn_status core_build_target_find(qn_sv name, core_build_target *out);

#endif
