#include "crew.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "os.h"
#include "queue.h"
#include "schedule.h"

#define WORKER_STACK_BYTES ((size_t)1 << 20) /* kernels have stacks of their own */
#define SPIN_ROUNDS 16                       /* looks at the signal between two looks at the clock */

/* ---- Seats -------------------------------------------------------------------------------------- */

cpu_seat *cpu_seat_take(cpu_crew *crew, uint32_t preferred) {
  if (atomic_load(&crew->seats_taken) >= crew->threads) return NULL;
  if (atomic_fetch_add(&crew->seats_taken, 1) >= crew->threads) {
    atomic_fetch_sub(&crew->seats_taken, 1);
    return NULL;
  }
  /* Counted in: a free one exists, though another thread may be a step away from freeing or taking it. */
  for (uint32_t i = preferred % crew->threads;; i = (i + 1) % crew->threads) {
    uint32_t free_seat = 0;
    if (atomic_compare_exchange_strong_explicit(&crew->seats[i].taken, &free_seat, 1, memory_order_acquire,
                                                memory_order_relaxed))
      return &crew->seats[i];
  }
}

void cpu_seat_leave(cpu_crew *crew, cpu_seat *seat) {
  atomic_store_explicit(&seat->taken, 0, memory_order_release);
  atomic_fetch_sub(&crew->seats_taken, 1);
}

bool cpu_seat_reserve(cpu_seat *seat, uint64_t bytes) {
  if (bytes <= seat->memory_bytes) return true;
  if (bytes > UINT64_MAX / 2) return false;
  bytes = cpu_align(bytes + bytes / 4, 1 << 16);    /* whole pages, however large */
  cpu_pages_give(seat->memory, seat->memory_bytes); /* what it holds is worth nothing between groups */
  seat->memory = cpu_pages_take(bytes);
  seat->memory_bytes = seat->memory ? bytes : 0;
  return seat->memory != NULL;
}

/* ---- Ready bits --------------------------------------------------------------------------------- */

void cpu_ready_set(cpu_crew *crew, uint32_t index) {
  atomic_fetch_or(&crew->ready[index / 64], UINT64_C(1) << index % 64);
}
void cpu_ready_clear(cpu_crew *crew, uint32_t index) {
  atomic_fetch_and(&crew->ready[index / 64], ~(UINT64_C(1) << index % 64));
}
bool cpu_ready_any(cpu_crew *crew, uint32_t except) {
  uint32_t words = atomic_load(&crew->ready_words);
  for (uint32_t i = 0; i < words; i++) {
    uint64_t bits = atomic_load(&crew->ready[i]);
    if (except / 64 == i) bits &= ~(UINT64_C(1) << except % 64);
    if (bits) return true;
  }
  return false;
}

/* ---- Workers ------------------------------------------------------------------------------------ */

void cpu_crew_call(cpu_crew *crew, bool wake) {
  atomic_fetch_add(&crew->signal, 1);
  if (wake && cpu_crew_can_wake(crew)) cpu_unpark(&crew->signal, 1);
}

/* Goes once around the ready queues, from the one after `*cursor`. True when something was done. */
static bool go_around(cpu_crew *crew, cpu_work *work, uint32_t *cursor) {
  uint32_t words = atomic_load(&crew->ready_words), start = *cursor;
  bool done = false;
  for (uint32_t i = 0; i <= words; i++) {
    uint32_t word = (start / 64 + i) % words;
    uint64_t bits = atomic_load(&crew->ready[word]);
    /* The first word is visited twice: its upper part first, its lower part at the end. */
    uint64_t upper = UINT64_MAX << start % 64;
    if (i == 0) bits &= upper;
    if (i == words) bits &= ~upper;
    for (; bits; bits &= bits - 1) {
      uint32_t index = word * 64 + (uint32_t)__builtin_ctzll(bits);
      work->budget = CPU_WORK_BUDGET;
      if (cpu_work_on(crew->device->queues[index], work)) done = true;
      *cursor = (index + 1) % (words * 64);
    }
  }
  return done;
}

static bool find_work(cpu_worker *worker, uint32_t *cursor) {
  cpu_crew *crew = worker->crew;
  if (!cpu_ready_any(crew, UINT32_MAX)) return false;
  cpu_seat *seat = cpu_seat_take(crew, worker->index);
  if (!seat) return false;
  cpu_work work = {.crew = crew, .seat = seat, .goal = UINT64_MAX, .deadline_ns = UINT64_MAX};
  bool done = go_around(crew, &work, cursor);
  cpu_seat_leave(crew, seat);
  return done;
}

/* Spins while there is a core for it; true when the signal came. */
static bool spin(cpu_crew *crew, uint32_t seen) {
  bool came = false;
  if (atomic_fetch_add(&crew->spinners, 1) < crew->spinner_limit) {
    uint64_t start = cpu_ticks();
    do {
      for (int i = 0; i < SPIN_ROUNDS && !came; i++) {
        cpu_relax();
        came = atomic_load_explicit(&crew->signal, memory_order_relaxed) != seen;
      }
    } while (!came && cpu_ticks() - start < crew->spin_ticks);
  }
  atomic_fetch_sub(&crew->spinners, 1);
  return came;
}

static void rest(cpu_crew *crew, uint32_t seen) {
  if (spin(crew, seen)) return;
  atomic_fetch_add(&crew->parked, 1);
  if (atomic_load(&crew->signal) == seen) cpu_park(&crew->signal, seen, UINT64_MAX);
  atomic_fetch_sub(&crew->parked, 1);
}

static void work_for_life(cpu_worker *worker) {
  cpu_crew *crew = worker->crew;
  uint32_t cursor = 0;
  while (!atomic_load(&crew->stop)) {
    uint32_t seen = atomic_load(&crew->signal);
    if (atomic_load(&crew->stop)) break;
    if (!find_work(worker, &cursor)) rest(crew, seen);
  }
}

static void *live(void *argument) {
  cpu_worker *worker = argument;
  char name[16];
  snprintf(name, sizeof name, "quern-cpu-%u", worker->index % 10000);
  pthread_setname_np(pthread_self(), name);
  (void)cpu_float_enter();
  void *signal_stack = cpu_signal_stack_enter();
  work_for_life(worker);
  cpu_signal_stack_leave(signal_stack);
  return NULL;
}

static int start_worker(cpu_crew *crew, uint32_t index) {
  cpu_worker *worker = &crew->workers[index];
  pthread_attr_t attributes;
  sigset_t all, old;
  *worker = (cpu_worker){.crew = crew, .index = index};
  int rc = pthread_attr_init(&attributes);
  if (rc != 0) return rc;
  pthread_attr_setstacksize(&attributes, WORKER_STACK_BYTES);
  /* A new thread takes over its maker's mask: the program's signals are not for workers. A fault is: with its signal
   * blocked the process would end without asking the program's handler. */
  sigfillset(&all);
  static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) sigdelset(&all, faults[i]);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  rc = pthread_create(&worker->thread, &attributes, live, worker);
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  pthread_attr_destroy(&attributes);
  return rc;
}

qn_status cpu_crew_start(cpu_crew *crew, qn_adapter_device *device, uint32_t threads, uint32_t cores,
                         uint64_t spin_us) {
  crew->device = device;
  crew->threads = threads;
  crew->spinner_limit = threads < cores ? threads : cores - 1;
  crew->ticks_per_us = cpu_ticks_per_us();
  crew->spin_ticks = spin_us * crew->ticks_per_us;
  atomic_store(&crew->ready_words, 1);
  crew->seats = aligned_alloc(CPU_LINE, threads * sizeof *crew->seats);
  if (crew->seats)
    memset(crew->seats, 0, threads * sizeof *crew->seats); /* whatever fails next, stopping looks at them */
  crew->workers = calloc(threads, sizeof *crew->workers);
  if (!crew->seats || !crew->workers)
    return cpu_error(device->host, QN_ERROR_OUT_OF_HOST_MEMORY, ENOMEM, "cpu: out of host memory");
  for (uint32_t i = 0; i < threads; i++) {
    crew->seats[i].index = i;
    crew->seats[i].arguments = aligned_alloc(CPU_ALIGNMENT, CPU_MAX_ARGUMENT_BYTES);
    if (!crew->seats[i].arguments || !cpu_stack_take(&crew->seats[i].stack))
      return cpu_error(device->host, QN_ERROR_OUT_OF_HOST_MEMORY, ENOMEM, "cpu: out of host memory");
  }
  for (; crew->started < threads; crew->started++) {
    int rc = start_worker(crew, crew->started);
    if (rc != 0)
      return cpu_error(device->host, QN_ERROR_OUT_OF_HOST_MEMORY, rc, "cpu: worker thread %u of %u doesn't start: %s",
                       crew->started + 1, threads, strerror(rc));
  }
  return QN_OK;
}

void cpu_crew_stop(cpu_crew *crew) {
  atomic_store(&crew->stop, 1);
  atomic_fetch_add(&crew->signal, 1);
  cpu_unpark(&crew->signal, UINT32_MAX);
  for (uint32_t i = 0; i < crew->started; i++) pthread_join(crew->workers[i].thread, NULL);
  crew->started = 0;
  for (uint32_t i = 0; crew->seats && i < crew->threads; i++) {
    cpu_pages_give(crew->seats[i].memory, crew->seats[i].memory_bytes);
    cpu_stack_give(&crew->seats[i].stack);
    free(crew->seats[i].arguments);
  }
  free(crew->seats);
  free(crew->workers);
  crew->seats = NULL;
  crew->workers = NULL;
}
