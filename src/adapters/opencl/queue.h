/* queue.h - an in-order command queue and its timeline.
 *
 * The timeline is known by marks: events of some of its commands, each with its value. An in-order queue's event is complete
 * when everything before it is. Marks are set every so many commands, OCL_MARKS_IN_FLIGHT in a full queue, and when somebody asks for a value that none
 * covers; a launch alone has none. A timed queue marks each command, for its time.
 *
 * What the driver has in flight is bounded: a queue that is OCL_IN_FLIGHT values ahead of what is known to be complete is
 * full, or fewer where the driver itself takes no more (quirks.c). */
#ifndef QUERN_ADAPTERS_OPENCL_QUEUE_H
#define QUERN_ADAPTERS_OPENCL_QUEUE_H

#include "device.h"

enum {
  OCL_IN_FLIGHT = 4096,
  OCL_MARKS_IN_FLIGHT = 16,
  OCL_EAGER = 4,      /* so many commands in flight have a mark each */
  OCL_MARKS = 64,     /* that a queue remembers; a timed one OCL_IN_FLIGHT */
  OCL_TIMES = 1 << 17 /* values whose times a timed queue has room for */
};

typedef struct ocl_times {
  _Atomic uint64_t begin, end; /* 0: the driver gave none */
} ocl_times;

typedef struct ocl_mark {
  uint64_t value;
  cl_event event;
  bool rings; /* its end wakes those who wait with a limit */
} ocl_mark;

/* A wait of the command with `value` for another queue (order.h). */
typedef struct ocl_kept {
  uint64_t value;
  qn_adapter_queue *source;
  uint64_t source_value;
} ocl_kept;

struct qn_adapter_queue {
  qn_adapter_device *device;
  cl_command_queue native;
  uint64_t id;
  uint32_t number;
  bool is_timed;
  uint32_t in_flight;

  _Atomic uint64_t completed;    /* every value up to it is known to be complete, done or failed; at most `reached` */
  _Atomic uint64_t failed_first; /* 0: nothing failed. Set after `failure`, before `completed` covers it */
  _Atomic uint64_t submitted;    /* the last value that was given to the driver */

  pthread_mutex_t lock; /* held over each command that is enqueued, and guards the rest */
  uint64_t reached;     /* the driver has ended every value up to it */
  uint64_t marked;      /* the last value with a mark */
  ocl_mark *marks;      /* a ring */
  uint32_t first, count, capacity;
  ocl_times *times; /* of a timed queue, by value */
  ocl_kept *kept;   /* a ring, by value */
  uint32_t kept_first, kept_count, kept_capacity;
  bool is_visited; /* a thread that holds the device's `order` is at it */
  ocl_failure failure;
};

/* ---- Marks (marks.c), under the lock ------------------------------------------------------------ */

/* Looks how far the marks are complete. On a lost device everything is: it has failed. */
void ocl_marks_look(qn_adapter_queue *queue);
/* Takes over an event of the queue's last command. */
void ocl_marks_add(qn_adapter_queue *queue, cl_event event);
/* Marks the last command, unless it is marked or complete, or no further mark can be remembered. */
void ocl_marks_set(qn_adapter_queue *queue);
/* The first mark at `value` or after it, with an event to be released by the caller; one that `rings` when that is asked for.
 * False: the driver gives none, and the device has been judged by that. */
bool ocl_marks_cover(qn_adapter_queue *queue, uint64_t value, bool rings, ocl_mark *out_mark);
/* The event of such a mark is complete or failed, as `state` says. */
void ocl_marks_reached(qn_adapter_queue *queue, uint64_t value, cl_int state);
/* What comes after `value` - 1 fails. The first failure is kept. */
void ocl_queue_fail(qn_adapter_queue *queue, uint64_t value, ocl_failure *failure);

/* Sees how far the queue is, unless another thread has it just now: then that one does. Never waits. */
void ocl_queue_look(qn_adapter_queue *queue);

/* ---- The table's functions ---------------------------------------------------------------------- */

qn_status ocl_queue_create(qn_adapter_device *device, const qn_adapter_queue_options *options,
                           qn_adapter_queue **out_queue);
qn_status ocl_queue_destroy(qn_adapter_device *device, qn_adapter_queue *queue);
qn_status ocl_queue_submit(qn_adapter_queue *queue, const qn_adapter_command *commands, uint32_t count);
qn_status ocl_queue_completed(qn_adapter_queue *queue, uint64_t *out_value);
qn_status ocl_queue_progress(qn_adapter_queue *queue, qn_adapter_progress *out_progress);
qn_status ocl_queue_wait(qn_adapter_queue *queue, uint64_t value, uint64_t timeout_ns);
qn_status ocl_queue_time(qn_adapter_queue *queue, uint64_t value, uint64_t *out_ns);
qn_status ocl_queue_begin(qn_adapter_queue *queue, uint64_t value, uint64_t *out_ns);

#endif
