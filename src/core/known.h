/* known.h - what a queue already waits for: a bounded vector clock (P1, P6).
 *
 * An entry {queue T, value v, since s} says: every command of this queue from value s on runs after T's value v. It comes
 * from a wait that this queue recorded, or from what T knew when v was submitted. Eight other queues are remembered, each
 * with its last value and the one before; more are forgotten. Forgetting doubles a wait or withholds a block from reuse, and
 * is never wrong.
 *
 * The owner's recording writes, under its lock. Anyone may read at any time.
 */
#ifndef QUERN_CORE_KNOWN_H
#define QUERN_CORE_KNOWN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "quern/quern.h"

enum { CORE_KNOWN_QUEUES = 8 };

typedef struct core_known_entry {
  _Atomic uint64_t queue; /* 0: unused */
  _Atomic uint64_t value, since;
  _Atomic uint64_t older_value, older_since; /* 0: none */
} core_known_entry;

typedef struct core_known {
  _Atomic uint32_t version; /* odd while it is being written */
  uint32_t turn;            /* who is forgotten next */
  core_known_entry entries[CORE_KNOWN_QUEUES];
} core_known;

void core_known_clear(core_known *known);
/* From value `since` on this queue waits for `point`. What it learned from another queue drives nothing else out that still
 * matters; what it waits for itself (is_direct) does. */
void core_known_note(core_known *known, const qn_point *point, uint64_t since, bool is_direct);
/* By the owner, or as a hint. */
bool core_known_covers(const core_known *known, const qn_point *point);

/* What commands after `value` wait for; UINT64_MAX: those recorded from now on. At most CORE_KNOWN_QUEUES; returns how many. */
uint32_t core_known_at(const core_known *known, uint64_t value, qn_point *points);

#endif
