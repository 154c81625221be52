/* crew.h - the workers of a device, the seats they and helping threads run kernels in, and how they are woken.
 *
 * A thread that publishes work adds to `signal`; a worker that found nothing sleeps only while `signal` is what it was
 * before it looked. Both orders are sequentially consistent, so no wake-up is lost. Waking costs a system call: it is
 * made only when no worker spins (a spinning one sees the signal) and a seat is free. A worker that takes work looks
 * whether more is left and wakes the next one, so a large launch wakes the crew like a tree.
 *
 * There are as many seats as threads that may run kernels at once. A thread that waits takes a free one and helps;
 * when none is free it sleeps, so that no more threads compete for the cores than there are cores. */
#ifndef QUERN_ADAPTERS_CPU_CREW_H
#define QUERN_ADAPTERS_CPU_CREW_H

#include <pthread.h>
#include <stdatomic.h>

#include "cpu.h"
#include "stack.h"

#define CPU_MAX_QUEUES 4096
#define CPU_READY_WORDS (CPU_MAX_QUEUES / 64)

typedef struct cpu_crew cpu_crew;

/* A place to run kernels, with memory that grows to what the kernels so far needed. */
typedef struct cpu_seat {
  _Alignas(CPU_LINE) _Atomic uint32_t taken;
  uint32_t index;
  uint8_t *memory; /* local memory, then scratch */
  uint64_t memory_bytes;
  cpu_stack stack;    /* of its kernels */
  uint8_t *arguments; /* an argument block with this seat's local addresses */
  qn_cpu_launch launch;
} cpu_seat;

typedef struct cpu_worker {
  cpu_crew *crew;
  uint32_t index;
  pthread_t thread;
} cpu_worker;

struct cpu_crew {
  qn_adapter_device *device;
  uint32_t threads;       /* workers, and seats */
  uint32_t started;       /* workers that run */
  uint32_t spinner_limit; /* workers that may spin at once: one core is left to the program */
  uint64_t ticks_per_us;
  uint64_t spin_ticks;
  cpu_seat *seats;
  cpu_worker *workers;
  _Alignas(CPU_LINE) _Atomic uint32_t signal;
  _Atomic uint32_t stop;
  _Alignas(CPU_LINE) _Atomic uint32_t spinners;
  _Atomic uint32_t parked;
  _Alignas(CPU_LINE) _Atomic uint32_t seats_taken;
  _Alignas(CPU_LINE) _Atomic uint64_t ready[CPU_READY_WORDS]; /* a bit a queue that has shares to take */
  _Atomic uint32_t ready_words;                               /* words in use */
};

qn_status cpu_crew_start(cpu_crew *crew, qn_adapter_device *device, uint32_t threads, uint32_t cores, uint64_t spin_us);
/* Joins the workers. Nothing may be in flight. */
void cpu_crew_stop(cpu_crew *crew);

/* Tells the crew that there is something to look for; wakes a sleeper only with `wake`, and when it would help. */
void cpu_crew_call(cpu_crew *crew, bool wake);
/* True when waking one more would give another thread work. */
static inline bool cpu_crew_can_wake(cpu_crew *crew) {
  return atomic_load(&crew->parked) > 0 && atomic_load(&crew->spinners) == 0 &&
         atomic_load(&crew->seats_taken) < crew->threads;
}

/* Takes a free seat, near `preferred`; NULL when all are taken. */
cpu_seat *cpu_seat_take(cpu_crew *crew, uint32_t preferred);
void cpu_seat_leave(cpu_crew *crew, cpu_seat *seat);
/* Makes `bytes` of memory, aligned to CPU_ALIGNMENT, available in the seat. False: out of memory. */
bool cpu_seat_reserve(cpu_seat *seat, uint64_t bytes);

/* Bits of queues with work. */
void cpu_ready_set(cpu_crew *crew, uint32_t queue_index);
void cpu_ready_clear(cpu_crew *crew, uint32_t queue_index);
/* Is a queue ready, other than `except` (UINT32_MAX: any)? */
bool cpu_ready_any(cpu_crew *crew, uint32_t except);

#endif
