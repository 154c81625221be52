/* queue.h - an in-order queue: a ring of records and a timeline.
 *
 * The submitter (one at a time: the core sees to it) writes records and publishes `submitted`. Whoever holds the turn
 * moves the queue forward: it completes what needs no work, and publishes the next record's cells in `claim`, from
 * which workers and helping threads take shares. The thread that finishes the last share takes over the turn, so nobody
 * ever waits for anybody inside of a queue.
 *
 * Queues are never freed before their device: a worker that looks at one that was destroyed finds nothing to claim.
 * Destroyed ones are used again, with another generation. */
#ifndef QUERN_ADAPTERS_CPU_QUEUE_H
#define QUERN_ADAPTERS_CPU_QUEUE_H

#include <pthread.h>
#include <stdatomic.h>

#include "cpu.h"
#include "crew.h"
#include "record.h"

#define CPU_RING_BYTES (UINT64_C(256) << 10)
#define CPU_TIME_COUNT (UINT64_C(1) << 16) /* values whose times a timed queue remembers */

typedef struct cpu_span {
  _Atomic uint64_t begin, end; /* cpu_now_ns */
} cpu_span;

struct qn_adapter_queue {
  /* Fixed while the queue is open. */
  qn_adapter_device *device;
  uint32_t index; /* in the device's table; fixed for ever */
  uint64_t id;
  uint8_t *ring;
  cpu_span *times; /* NULL: not timed */
  qn_adapter_queue *next_free;

  /* The submitter's. Positions in the ring grow for ever; their low bits are offsets. */
  _Alignas(CPU_LINE) uint64_t written;
  uint64_t freed_seen;
  uint64_t last_value;

  _Alignas(CPU_LINE) _Atomic uint64_t submitted; /* position up to which records are there */
  _Atomic uint32_t
      turn; /* 1: somebody moves the queue, or its cells run, or it waits for a queue, or it is nobody's queue */

  /* The timeline. */
  _Alignas(CPU_LINE) _Atomic uint64_t completed;
  _Atomic uint64_t freed;         /* position up to which the ring may be written again */
  _Atomic uint64_t wake_at;       /* the least value that a sleeper or another queue waits for */
  _Atomic uint32_t wake_sequence; /* sleepers sleep on it */
  _Atomic uint32_t sleepers;
  _Atomic uint64_t failed_first;

  /* Shares: number of the publication above, units not yet taken below. */
  _Alignas(CPU_LINE) _Atomic uint64_t claim;
  _Atomic uint64_t remaining;  /* units not yet finished */
  _Atomic uint64_t unit_ticks; /* what one takes, 0: not known; a guess */
  _Atomic uint64_t unit_most;  /* the most that one takes, likewise */

  /* The holder's of the turn; unchanging while units are there to take. */
  _Alignas(CPU_LINE) uint64_t position;
  uint32_t publication;
  bool alone; /* the one unit is the whole record, with the turn */
  const cpu_record *active;
  uint64_t first_cell, unit_cells, units;
  qn_adapter_queue *resume_next;
  qn_status cause; /* of the failure; set before failed_first */
  _Atomic uint32_t failing;
  char failure[512];

  /* Queues that wait for this one, and this queue's own place in such a list. */
  _Alignas(CPU_LINE) pthread_mutex_t lock; /* guards generation, blocked, and blocked_* of the queues in the list */
  uint64_t generation;
  qn_adapter_queue *blocked;
  qn_adapter_queue *blocked_next;
  uint64_t blocked_value;
  _Atomic(qn_adapter_queue *) blocked_on;
};

uint64_t cpu_queue_generation(qn_adapter_queue *queue);
/* Frees a queue's memory, when its device closes. */
void cpu_queue_free(qn_adapter_queue *queue);

/* The table's functions. */
qn_status cpu_queue_create(qn_adapter_device *device, const qn_adapter_queue_options *options,
                           qn_adapter_queue **out_queue);
qn_status cpu_queue_destroy(qn_adapter_device *device, qn_adapter_queue *queue);
qn_status cpu_queue_submit(qn_adapter_queue *queue, const qn_adapter_command *commands, uint32_t count);
qn_status cpu_queue_completed(qn_adapter_queue *queue, uint64_t *out_value);
qn_status cpu_queue_progress(qn_adapter_queue *queue, qn_adapter_progress *out_progress);
qn_status cpu_queue_wait(qn_adapter_queue *queue, uint64_t value, uint64_t timeout_ns);
qn_status cpu_queue_time(qn_adapter_queue *queue, uint64_t value, uint64_t *out_ns);
qn_status cpu_queue_begin(qn_adapter_queue *queue, uint64_t value, uint64_t *out_ns);

#endif
