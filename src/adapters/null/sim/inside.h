/* inside.h - what the files of the simulated device share.
 *
 * One lock a device, for everything but what is said to be atomic. While a packet is run its stream is busy and the lock
 * is free.
 */
#ifndef NULL_SIM_INSIDE_H
#define NULL_SIM_INSIDE_H

#include <pthread.h>
#include <stdatomic.h>

#include "../control.h"
#include "sim.h"

_Static_assert((int)NULL_COPY == SIM_COPY && (int)NULL_LAUNCH == SIM_LAUNCH && (int)NULL_MARK == SIM_NOTHING,
               "one order");

/* ---- Heap: heap.c ------------------------------------------------------------------------------- */

enum { SIM_ALIGNMENT = 128 };

typedef struct sim_heap {
  void *(*take)(void *state, uint64_t size);
  void (*give)(void *state, void *memory, uint64_t size);
  void *state;
  void *library;
} sim_heap;

sim_result sim_heap_open(const sim_settings *settings, sim_heap *out_heap);
void sim_heap_close(sim_heap *heap);

struct sim_driver {
  sim_settings settings;
  sim_heap heap;
};

/* settings.c: false when a word isn't understood; it is copied to `wrong`. */
bool sim_settings_read(sim_settings *settings, const char *text, char wrong[64]);

/* ---- Clocks: clock.c ---------------------------------------------------------------------------- */

/* What comes before a place on a stream's timeline: for each stream, by its slot, the last value that does. Never
 * changed once it is shared. A slot's values go on where those of the stream before it ended. */
typedef struct sim_clock {
  uint32_t references;
  uint32_t count;
  uint64_t at[];
} sim_clock;

static inline uint64_t sim_clock_at(const sim_clock *clock, uint32_t slot) {
  return clock && slot < clock->count ? clock->at[slot] : 0;
}
sim_clock *sim_clock_keep(sim_clock *clock);
void sim_clock_drop(sim_clock *clock);
/* A new one that has all of both and `value` at `slot`, with one reference. NULL: no memory. Either may be NULL. */
sim_clock *sim_clock_join(const sim_clock *a, const sim_clock *b, uint32_t slot, uint64_t value);
/* Raises a clock that nobody else shares; NULL is an empty one. False: no memory. */
bool sim_clock_raise(sim_clock **clock, uint32_t slot, uint64_t value);

/* ---- Memory: block.c ---------------------------------------------------------------------------- */

/* A packet's use of a range that later uses must be ordered after. */
typedef struct sim_access {
  uint64_t stream; /* its name */
  uint32_t slot;
  uint32_t op;
  uint64_t value; /* on its timeline */
  uint64_t at;    /* in its slot's count */
  uint64_t offset, end;
  uint32_t access;
} sim_access;

struct sim_block {
  char *bytes;
  uint64_t size;
  bool is_wrapped;
  sim_access *accesses; /* those that may still be in flight for all that the host was told */
  uint32_t access_count, access_capacity;
};

/* ---- Streams: stream.c -------------------------------------------------------------------------- */

typedef struct sim_task {
  sim_packet packet;
  uint64_t arrival; /* number of the packet on its device */
  uint64_t arrival_ns, end_ns;
  sim_clock *clock; /* what comes before it; NULL when nothing is checked */
} sim_task;

typedef struct sim_times {
  uint64_t begin_ns, end_ns;
} sim_times;

struct sim_stream {
  sim_device *device;
  sim_stream *previous, *next;               /* all streams */
  sim_stream *previous_active, *next_active; /* those with something in flight, in the order in which it came */
  bool is_active, is_busy;
  uint64_t name;
  sim_task *ring; /* value v at v % capacity */
  uint64_t submitted, done;
  _Atomic uint64_t seen; /* the last value that is shown as complete */
  _Atomic sim_result failed;
  sim_failure failure;
  uint64_t hold_at;      /* nothing runs from this value on; UINT64_MAX: not held */
  uint64_t asleep_until; /* a step */
  sim_failure ordered;   /* a failure that was asked for */
  uint32_t reject;       /* so many submissions */
  uint32_t waiters;      /* recorded waits for it that have not run */
  uint64_t now_ns;       /* virtual */
  sim_times *times;      /* value v at v % SIM_TIMES; NULL: not timed */

  uint32_t slot;     /* in clocks */
  uint64_t base;     /* the slot's count when this stream began */
  uint64_t told;     /* the host knows of completion up to here */
  sim_clock *clock;  /* of the last packet submitted */
  sim_clock *host;   /* the host's, as it was joined last */
  sim_clock *waited; /* waits that it recorded itself */
};

static inline sim_task *sim_task_at(const sim_stream *stream, uint64_t value);

/* ---- Devices: device.c -------------------------------------------------------------------------- */

struct sim_device {
  sim_driver *driver;
  null_control control;
  pthread_mutex_t lock;
  pthread_cond_t changed; /* something was submitted or run */
  sim_settings settings;
  uint64_t random;
  sim_stream *streams, *last_stream, *active, *last_active;
  uint64_t arrivals, steps;
  uint64_t looks;  /* at progress, since somebody submitted or waited */
  uint64_t now_ns; /* virtual */
  uint64_t capacity;
  uint64_t hold_at; /* of streams to come */
  uint32_t reject;  /* submissions to any stream */
  bool is_lost;
  char lost_text[256];
  bool is_checked;
  uint64_t memory_used;
  null_counts counts;
  const void *freed_last;

  pthread_t thread; /* makes steps when the host doesn't */
  bool has_thread, ends;

  sim_clock *host;       /* what the host was told is complete */
  uint64_t *slot_counts; /* where each slot's values stand */
  bool *slot_used;
  uint32_t slot_count;
};

static inline sim_task *sim_task_at(const sim_stream *stream, uint64_t value) {
  return &stream->ring[value % stream->device->capacity];
}

/* ---- Scheduler: scheduler.c --------------------------------------------------------------------- */

/* One step: a packet is run, or completion is shown. False: there is nothing to do. Under the lock. */
bool sim_step(sim_device *device);
/* Whether a thread of the device makes steps; starts it. */
sim_result sim_scheduler_start(sim_device *device);
void sim_scheduler_stop(sim_device *device);
/* What has been submitted may start: by the device's thread, or some steps of it now. */
void sim_scheduler_kick(sim_device *device);
void sim_activate(sim_stream *stream);
void sim_deactivate(sim_stream *stream);
/* Makes the stream fail from its next value on, and the other streams of the same domain with it. Under the lock. */
void sim_fail(sim_stream *stream, sim_result result, int32_t code, const char *text);
uint64_t sim_random(sim_device *device, uint64_t below);
/* True one time in `n`; never when n is 0. */
bool sim_chance(sim_device *device, uint64_t n);

/* run.c: moves what the packet moves. Without the lock. */
void sim_run(const sim_packet *packet);
/* What a packet that failed leaves behind. */
void sim_scribble(const sim_packet *packet);

/* ---- Checker: check.c; all under the lock ------------------------------------------------------- */

/* A packet that was given `value`. Sets its task's clock. */
void sim_check_submit(sim_stream *stream, uint64_t value);
/* The host is told that the stream is complete up to `value`. */
void sim_check_told(sim_stream *stream, uint64_t value);
void sim_check_destroy_block(sim_device *device, sim_block *block);
void sim_check_destroy_stream(sim_stream *stream);
/* Gives the stream its slot. False: no memory. */
bool sim_check_create_stream(sim_stream *stream);
const char *sim_op_name(uint32_t op);

/* ---- Violations: violation.c -------------------------------------------------------------------- */

void sim_violation(const char *format, ...) __attribute__((format(printf, 1, 2)));
uint64_t sim_violation_count(void);
int32_t sim_violation_text(uint32_t index, char *text, uint64_t capacity);
void sim_violations_forget(void);

/* control.c */
void sim_control_init(sim_device *device);

#endif
