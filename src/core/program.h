/* program.h - compiled programs: the device's binary, and what is told about their kernels. */
#ifndef QUERN_CORE_PROGRAM_H
#define QUERN_CORE_PROGRAM_H

#include <stdint.h>

#include "base/arena.h"
#include "core/device.h"
#include "core/object.h"
#include "core/program_cache.h"
#include "core/program_source.h"
#include "quern/quern.h"

typedef struct core_program {
  core_object object;
  core_device *device; /* held */
  core_binary *binary; /* one use of the cache's */
  qn_arena arena;      /* the rest */
  core_source source;  /* its kernels: as many as the binary's, in the same order */
  uint64_t compile_ns;
  uint32_t cached;
} core_program;

/* Pins a program for a call. Unpin with qn_handle_unpin(handle). */
QN_MUST_USE qn_status core_program_pin(qn_program handle, core_program **out_program);

/* Makes a program object for a device and holds that; `binary` is filled in by the caller. NULL: no memory. */
core_program *core_program_new(core_device *device);
/* Undoes core_program_new when the program was not published; gives the binary back. */
void core_program_discard(core_program *program);
QN_MUST_USE qn_status core_program_publish(core_program *program, qn_program *out_program);

/* Errors: UNSUPPORTED when the device runs no kernels. */
QN_MUST_USE qn_status core_program_check_device(const core_device *device);
/* qn_program_load within a call. */
QN_MUST_USE qn_status core_program_load(core_device *device, qn_sv image, qn_program *out_program);

#endif
