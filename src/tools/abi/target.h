/* target.h - the targets that headers are compiled for (rule A3), and what they are called. */
#ifndef QUERN_TOOLS_ABI_TARGET_H
#define QUERN_TOOLS_ABI_TARGET_H

#include <stddef.h>
#include <stdint.h>

#include "pool.h"

typedef struct abi_target {
  const char *name;   /* "x86_64-linux": in options, layout files and JSON */
  const char *words;  /* "x86-64 Linux": in messages */
  const char *triple; /* for clang; NULL: a target that only binaries have */
} abi_target;

/* The seven; the first is the one that the others are compared with. */
#define ABI_TARGETS 7
extern const abi_target abi_targets[ABI_TARGETS];

/* One of the seven by its name or triple; any other name makes a target of its own without a triple. */
const abi_target *abi_target_named(const char *name);
/* One of the seven, or NULL. */
const abi_target *abi_target_known(const char *name);

/* Sets of targets, as bits of their places in a list of up to 64. */
typedef uint64_t abi_target_set;
/* "x86-64 Linux, i386 Linux and wasm32"; "all targets" when it is all of more than one. */
const char *abi_target_list(const abi_target *const *list, size_t count, abi_target_set set);

#endif
