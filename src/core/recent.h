/* recent.h - which kernel each launch in flight runs, for the text of a failure (L7).
 *
 * A ring by value. The queue's recorder notes; anybody who keeps the queue from being destroyed reads, at any time. When a
 * launch would push out one that is still in flight, the ring grows: what is in flight is bounded, so it soon does no longer.
 * Without memory the oldest name is forgotten.
 */
#ifndef QUERN_CORE_RECENT_H
#define QUERN_CORE_RECENT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { CORE_RECENT_FIRST = 64, CORE_RECENT_LIMIT = 1 << 16 };

typedef struct core_recent_entry {
  _Atomic uint64_t value; /* 0: none */
  _Atomic(const char *) kernel;
} core_recent_entry;

typedef struct core_recent_ring core_recent_ring;
typedef struct core_recent {
  _Atomic(core_recent_ring *) grown; /* NULL: `first` is the ring */
  core_recent_entry first[CORE_RECENT_FIRST];
} core_recent;

/* For a new queue. */
void core_recent_clear(core_recent *recent);
/* Nobody reads any longer. */
void core_recent_free(core_recent *recent);

/* Whether noting `value` would push out a launch that isn't known to be complete. By the recorder. */
bool core_recent_is_full(const core_recent *recent, uint64_t value, uint64_t completed);
void core_recent_grow(core_recent *recent);
/* `kernel` lives as long as the device. By the recorder. */
void core_recent_note(core_recent *recent, uint64_t value, const char *kernel);

/* The kernel that a value launched; NULL when it launched none, or isn't known any longer. */
const char *core_recent_kernel(const core_recent *recent, uint64_t value);

#endif
