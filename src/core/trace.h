/* trace.h - QUERN_TRACE=FILE: what happened when, in the Trace Event format that Perfetto and chrome://tracing open.
 *
 * Tracks: each thread of the host with what it did here (submissions, waits, compiles, cache answers, callbacks), each queue
 * with its launches, copies and fills, and for each device a counter of its memory. A queue's times are the device's where the
 * device has timed queues; otherwise the host's, from submission to when it saw the end, and the track says so.
 *
 * Off, each hook costs a load and a branch. On, one lock guards all. It is taken last but for a failure's, under any other lock;
 * under it the adapter is only asked how far its queues are.
 */
#ifndef QUERN_CORE_TRACE_H
#define QUERN_CORE_TRACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/os/clock.h"
#include "quern/adapter.h"

struct core_device;
struct core_queue;
typedef struct core_trace_command core_trace_command;

extern _Atomic uint32_t core_trace_state; /* 1: on */
static inline bool core_trace_on(void) { return atomic_load_explicit(&core_trace_state, memory_order_relaxed) != 0; }

/* Opens the file that QUERN_TRACE names, if it names one and none is open. "%p" in it becomes the process's number. Errors:
 * IO, OUT_OF_HOST_MEMORY, LIMIT (no thread). */
QN_MUST_USE qn_status core_trace_open(void);
/* Writes what there is. A runtime has been closed. Errors: IO: it could not be written to its end; told once. */
QN_MUST_USE qn_status core_trace_flush(void);
/* The process exits: before the gate is shut, the last times are asked for; afterwards the file is ended. */
void core_trace_exit_begin(void);
void core_trace_exit_end(void);

/* ---- Threads of the host ---- */

/* A slice of the calling thread: core_trace_begin, the work, core_trace_end. The texts may be NULL but for `name`. */
static inline uint64_t core_trace_begin(void) { return core_trace_on() ? qn_clock_ns() : 0; }
void core_trace_slice(uint64_t begin_ns, const char *category, const char *name, const char *detail);
static inline void core_trace_end(uint64_t begin_ns, const char *category, const char *name, const char *detail) {
  if (begin_ns != 0) core_trace_slice(begin_ns, category, name, detail);
}
/* A moment of the calling thread. */
void core_trace_moment(const char *category, const char *name, const char *detail);

/* ---- Devices and queues ---- */

typedef struct core_trace_device {
  uint32_t process;  /* the trace's name of the device; 0: none yet */
  bool has_clock;    /* the device's clock is known: */
  int64_t offset_ns; /* host's time - device's */
} core_trace_device;

typedef struct core_trace_queue {
  struct core_queue *queue; /* NULL: not traced */
  uint64_t number;          /* the timeline's */
  bool is_timed;
  uint64_t seen_ns;                  /* the end of the command before, as the host has it */
  core_trace_command *first, **tail; /* not told yet, by value */
  struct core_trace_queue *previous, *next;
} core_trace_queue;

/* The memory of a device has changed. */
void core_trace_memory(struct core_device *device);

/* The flags for the adapter's queue: traced queues are timed where they can be. */
uint64_t core_trace_queue_flags(const struct core_device *device, uint64_t flags);
/* A queue begins, before anybody knows it, and ends, before the adapter's queue does. */
void core_trace_queue_start(struct core_queue *queue);
void core_trace_queue_stop(struct core_queue *queue);
/* A command was recorded; under the queue's lock. `kernel` lives as long as the device. */
void core_trace_recorded(struct core_queue *queue, uint64_t begin_ns, const qn_adapter_command *command,
                         const char *kernel);

#endif
