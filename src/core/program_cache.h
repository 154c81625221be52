/* program_cache.h - a device's programs by key, in memory (C2).
 *
 * A binary is what the device loaded: the adapter's program and what its kernels' launches need. Programs of one key share
 * one. Of requests for one key at a time, one compiles, outside the lock, and the others wait; should it fail, they get its
 * error, and nothing is kept. Binaries that no program holds any longer are kept for the next who asks, up to a number and to
 * a number of bytes; beyond that the one that was let go first is destroyed, once.
 */
#ifndef QUERN_CORE_PROGRAM_CACHE_H
#define QUERN_CORE_PROGRAM_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/os/thread.h"
#include "core/program_image.h"
#include "core/reaper.h"
#include "quern/adapter.h"
#include "store/key.h"

typedef struct core_binary {
  qn_key key;
  qn_arena arena; /* the descriptions */
  qn_adapter_program *native;
  core_kernel_list kernels;
  uint64_t bytes; /* of the code, filled in by who compiles */
  /* The cache's: */
  enum { CORE_BINARY_COMPILING, CORE_BINARY_READY, CORE_BINARY_FAILED } state;
  uint32_t users;    /* programs, and those who wait for the compiler */
  qn_status failure; /* FAILED: what those who waited are told */
  int64_t driver_code;
  char *failure_text;
  struct core_binary *previous, *next; /* idle ones, the first let go first */
} core_binary;

typedef struct core_program_cache {
  const qn_adapter_table *table;
  qn_adapter_device *device;
  qn_mutex lock; /* the rest */
  qn_cond changed;
  qn_map map; /* key -> core_binary; those that are compiling too */
  core_binary *first_idle, *last_idle;
  uint32_t idle;
  uint64_t idle_bytes;
  uint32_t most_idle; /* how many are kept, and how many bytes of code */
  uint64_t most_idle_bytes;
} core_program_cache;

void core_program_cache_open(core_program_cache *cache, const qn_adapter_table *table, qn_adapter_device *device);
/* No program is left. */
void core_program_cache_close(core_program_cache *cache, core_refusal *refusal);

/* Fills in `kernels`, `native` and `bytes`. */
typedef qn_status (*core_compile_fn)(void *user, core_binary *binary);

/* The binary of a key, compiled by `compile` when there is none. Takes one use, which core_program_cache_put gives back.
 * Errors: those of `compile`, for all who waited, OUT_OF_HOST_MEMORY. */
QN_MUST_USE qn_status core_program_cache_get(core_program_cache *cache, const qn_key *key, core_compile_fn compile,
                                             void *user, core_binary **out_binary, bool *out_hit);
/* Errors: what the adapter refused when an old binary was destroyed. */
QN_MUST_USE qn_status core_program_cache_put(core_program_cache *cache, core_binary *binary);
/* Counts the entries one by one. Errors: INTERNAL when the cache's own counts differ from it. */
QN_MUST_USE qn_status core_program_cache_count(core_program_cache *cache, uint32_t *out_count);
/* Destroys the idle ones. Errors: the first thing that the adapter refused. */
QN_MUST_USE qn_status core_program_cache_trim(core_program_cache *cache);

#endif
