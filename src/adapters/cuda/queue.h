/* queue.h - a stream and its timeline.
 *
 * The timeline is known by marks. A mark is put behind every CU_MARK_EVERY values, and where somebody asks for a value that none
 * covers; a launch alone has none. There are two kinds (marks.h): events, and words of pinned memory that the device writes.
 * A timed queue has two events a command, for its times. That everything is over is asked of the stream itself, without a mark.
 *
 * What the driver has in flight is bounded, for behind a long kernel it takes about a thousand commands, then a call blocks: a
 * queue that is CU_IN_FLIGHT values ahead of what is known to be complete is full. */
#ifndef QUERN_ADAPTERS_CUDA_QUEUE_H
#define QUERN_ADAPTERS_CUDA_QUEUE_H

#include "device.h"
#include "words.h"

enum {
  CU_IN_FLIGHT = 512,
  CU_MARK_EVERY = 32,
  CU_MARKS = 64,      /* that a queue remembers; a timed one CU_IN_FLIGHT */
  CU_TIMES = 1 << 17, /* values whose times a timed queue has room for */
  CU_FIRST_ARGUMENTS = 32
};

typedef struct cu_times {
  _Atomic uint64_t begin, end; /* 0: the driver gave none */
} cu_times;

/* Its events are made at its first use and live as long as the queue. */
typedef struct cu_mark {
  uint64_t value;
  cu_event begin, end; /* begin: of a timed queue */
} cu_mark;

/* Room for a launch's parameters: one launch at a time is given to a queue. */
typedef struct cu_arguments {
  void **pointers;
  uint64_t *words;
  uint32_t capacity;
} cu_arguments;

struct cu_marks_kind;

struct qn_adapter_queue {
  qn_adapter_device *device;
  cu_stream stream;
  uint64_t id;
  bool is_timed;
  uint32_t in_flight;
  const struct cu_marks_kind *kind;
  cu_arguments arguments;   /* of the thread that submits */
  struct cu_stager *stager; /* of the thread that submits; NULL: no pageable memory was used so far */

  _Atomic uint64_t completed;    /* every value up to it is known to be complete, done or failed */
  _Atomic uint64_t failed_first; /* 0: nothing failed. Set after `failure`, before `completed` covers it */
  _Atomic uint64_t submitted;    /* the last value that was given to the driver */

  pthread_mutex_t lock; /* held over each command that is given to the driver, and guards the rest */
  uint64_t marked;      /* the last value with a mark */
  cu_mark *marks;       /* a ring */
  uint32_t first, count, capacity;
  cu_word word;    /* of a queue with words */
  uint32_t looks;  /* without news, since the last word */
  cu_times *times; /* of a timed queue, by value */
  cu_failure failure;
};

/* Under the lock. What comes after `value` - 1 fails. The first failure is kept. */
void cu_queue_fail(qn_adapter_queue *queue, uint64_t value, const cu_failure *failure);

/* Frees what launches need. */
void cu_arguments_free(cu_arguments *arguments);

/* ---- The table's functions ---------------------------------------------------------------------- */

qn_status cu_queue_create(qn_adapter_device *device, const qn_adapter_queue_options *options,
                          qn_adapter_queue **out_queue);
qn_status cu_queue_destroy(qn_adapter_device *device, qn_adapter_queue *queue);
qn_status cu_queue_submit(qn_adapter_queue *queue, const qn_adapter_command *commands, uint32_t count);
qn_status cu_queue_completed(qn_adapter_queue *queue, uint64_t *out_value);
qn_status cu_queue_progress(qn_adapter_queue *queue, qn_adapter_progress *out_progress);
qn_status cu_queue_wait(qn_adapter_queue *queue, uint64_t value, uint64_t timeout_ns);
qn_status cu_queue_time(qn_adapter_queue *queue, uint64_t value, uint64_t *out_ns);
qn_status cu_queue_begin(qn_adapter_queue *queue, uint64_t value, uint64_t *out_ns);

#endif
