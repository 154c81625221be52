#include "base/os/thread.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/os/clock.h"
#include "base/status.h"

/* ---- Futex ---- */

bool qn_futex_wait(_Atomic uint32_t *word, uint32_t expected, uint64_t timeout_ns) {
  struct timespec limit, *given = NULL;
  if (timeout_ns != QN_FOREVER) {
    uint64_t seconds = timeout_ns / 1000000000u;
    if (seconds > INT_MAX) seconds = INT_MAX; /* 68 years; the caller looks again */
    limit.tv_sec = (time_t)seconds;
    limit.tv_nsec = (long)(timeout_ns % 1000000000u);
    given = &limit;
  }
  int saved = errno;
  long result = syscall(SYS_futex, (void *)word, FUTEX_WAIT_PRIVATE, expected, given, NULL, 0);
  bool in_time = !(result < 0 && errno == ETIMEDOUT);
  errno = saved;
  return in_time;
}

void qn_futex_wake(_Atomic uint32_t *word, uint32_t count) {
  int saved = errno;
  int woken = count > INT_MAX ? INT_MAX : (int)count;
  syscall(SYS_futex, (void *)word, FUTEX_WAKE_PRIVATE, woken, NULL, NULL, 0);
  errno = saved;
}

/* ---- Mutex ---- */

_Atomic(qn_lock_hook_fn) qn_lock_hook;

enum { SPINS = 64 }; /* about a microsecond: longer than most critical sections here */

void qn_mutex_lock_slow(qn_mutex *mutex) {
  for (int i = 0; i < SPINS; i++) {
    if (atomic_load_explicit(&mutex->state, memory_order_relaxed) == 0 && qn_mutex_try_lock(mutex)) return;
    qn_cpu_relax();
  }
  /* From here on the state says 2, so that the holder wakes one sleeper; whoever takes the lock this way keeps the 2,
   * for it can't know whether others sleep. */
  while (atomic_exchange_explicit(&mutex->state, 2, memory_order_acquire) != 0)
    qn_futex_wait(&mutex->state, 2, QN_FOREVER);
}

/* ---- Condition ---- */

bool qn_cond_wait(qn_cond *cond, qn_mutex *mutex, uint64_t timeout_ns) {
  /* Read under the mutex: a signal after the unlock changes the sequence, and the sleep ends at once. */
  uint32_t sequence = atomic_load_explicit(&cond->sequence, memory_order_relaxed);
  qn_mutex_unlock(mutex);
  bool in_time = qn_futex_wait(&cond->sequence, sequence, timeout_ns);
  qn_mutex_lock(mutex);
  return in_time;
}

void qn_cond_signal(qn_cond *cond) {
  atomic_fetch_add_explicit(&cond->sequence, 1, memory_order_relaxed);
  qn_futex_wake(&cond->sequence, 1);
}

void qn_cond_broadcast(qn_cond *cond) {
  atomic_fetch_add_explicit(&cond->sequence, 1, memory_order_relaxed);
  qn_futex_wake(&cond->sequence, UINT32_MAX);
}

/* ---- Once ---- */

void qn_once_run_slow(qn_once *once, void (*function)(void)) {
  uint32_t state = 0;
  if (atomic_compare_exchange_strong_explicit(&once->state, &state, 1, memory_order_acquire, memory_order_acquire)) {
    function();
    if (atomic_exchange_explicit(&once->state, 3, memory_order_release) == 2) qn_futex_wake(&once->state, UINT32_MAX);
    return;
  }
  while (state != 3) {
    if (state == 1 &&
        !atomic_compare_exchange_weak_explicit(&once->state, &state, 2, memory_order_acquire, memory_order_acquire))
      continue;
    qn_futex_wait(&once->state, 2, QN_FOREVER);
    state = atomic_load_explicit(&once->state, memory_order_acquire);
  }
}

/* ---- Threads ---- */

_Static_assert(sizeof(pthread_t) <= sizeof(uint64_t), "a thread's name fits");

typedef struct thread_start {
  void (*function)(void *);
  void *argument;
  char name[16]; /* the kernel's limit, with the NUL */
} thread_start;

static void *thread_main(void *given) {
  thread_start start = *(thread_start *)given;
  free(given);
  pthread_setname_np(pthread_self(), start.name);
  start.function(start.argument);
  return NULL;
}

/* Where addresses are few, a stack takes no more of them than it needs. */
static int set_stack(pthread_attr_t *attributes) {
#if UINTPTR_MAX > 0xffffffffu
  (void)attributes;
  return 0;
#else
  return pthread_attr_setstacksize(attributes, 1 << 20);
#endif
}

static int create_with_signals_blocked(pthread_t *native, thread_start *start) {
  sigset_t all, before;
  sigfillset(&all);
  /* A fault's signal is for the thread that made it: blocked, it ends the process without asking any handler. */
  static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) sigdelset(&all, faults[i]);
  pthread_attr_t attributes;
  int error = pthread_attr_init(&attributes);
  if (error) return error;
  pthread_sigmask(SIG_SETMASK, &all, &before);
  error = set_stack(&attributes);
  if (!error) error = pthread_create(native, &attributes, thread_main, start);
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return error;
}

qn_status qn_thread_start(qn_thread *out_thread, const char *name, void (*function)(void *), void *argument) {
  thread_start *start = calloc(1, sizeof *start);
  if (!start) QN_FAIL(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory to start the thread '%s'", name);
  start->function = function;
  start->argument = argument;
  strncpy(start->name, name, sizeof start->name - 1);
  pthread_t native;
  int error = create_with_signals_blocked(&native, start);
  if (error != 0) {
    free(start);
    QN_FAIL(QN_ERROR_LIMIT, "the thread '%s' can't be started: %s; the system limits threads or memory", name,
            strerrordesc_np(error));
  }
  out_thread->native = (uint64_t)native;
  return QN_OK;
}

void qn_thread_join(qn_thread *thread) {
  if (thread->native != 0) pthread_join((pthread_t)thread->native, NULL);
  thread->native = 0;
}

uint64_t qn_thread_id(void) { return (uint64_t)syscall(SYS_gettid); }

void qn_thread_name(char out[QN_THREAD_NAME]) {
  if (pthread_getname_np(pthread_self(), out, QN_THREAD_NAME) != 0) out[0] = '\0';
}

void qn_thread_yield(void) { sched_yield(); }

/* ---- Values of a thread ---- */

static bool key_make(qn_thread_key *key, pthread_key_t *out) {
  uint32_t made = atomic_load_explicit(&key->made, memory_order_acquire);
  if (made == 0) {
    qn_mutex_lock(&key->lock);
    made = atomic_load_explicit(&key->made, memory_order_relaxed);
    pthread_key_t fresh;
    if (made == 0 && pthread_key_create(&fresh, key->end) == 0) {
      made = (uint32_t)fresh + 1;
      atomic_store_explicit(&key->made, made, memory_order_release);
    }
    qn_mutex_unlock(&key->lock);
  }
  *out = (pthread_key_t)(made - 1);
  return made != 0;
}

bool qn_thread_key_set(qn_thread_key *key, void *value) {
  pthread_key_t native;
  return key_make(key, &native) && pthread_setspecific(native, value) == 0;
}

void *qn_thread_key_get(qn_thread_key *key) {
  uint32_t made = atomic_load_explicit(&key->made, memory_order_acquire);
  return made == 0 ? NULL : pthread_getspecific((pthread_key_t)(made - 1));
}
