/* schedule.h - who runs what: turns, shares, and waiting between queues. */
#ifndef QUERN_ADAPTERS_CPU_SCHEDULE_H
#define QUERN_ADAPTERS_CPU_SCHEDULE_H

#include "queue.h"

/* Launches that a worker runs in a row before it looks at other queues. */
#define CPU_WORK_BUDGET 256

/* What a thread that works brings along. */
typedef struct cpu_work {
  cpu_crew *crew;
  cpu_seat *seat;
  uint64_t goal;        /* a helping thread stops when the queue has completed this value */
  uint64_t deadline_ns; /* and at this time; UINT64_MAX: none */
  uint32_t budget;      /* launches to begin before other queues get a chance; 0 after a share when they have work */
} cpu_work;

/* The right to move a queue forward. False: another has it. */
bool cpu_queue_take_turn(qn_adapter_queue *queue);

/* Moves a queue that may have been idle: publishes its first record. Runs nothing. */
void cpu_queue_start(qn_adapter_queue *queue);

/* Takes shares of a queue's published work until there are none, the goal is reached or the budget used. True when
 * something was run. */
bool cpu_work_on(qn_adapter_queue *queue, cpu_work *work);

/* Whether a thread that waits until then may take a share of what is published, as far as can be told beforehand. */
bool cpu_may_help(qn_adapter_queue *queue, uint64_t deadline_ns);

/* Lowers the value at which a queue's completion looks for sleepers. */
void cpu_queue_wake_at(qn_adapter_queue *queue, uint64_t value);

#endif
