/* thread.h - mutex, condition, thread, futex, thread-local values. Zero-initialised objects are ready, and none of them
 * needs a destructor, so that all of them may be static and nothing has to run at exit (L1, L6). */
#ifndef QUERN_BASE_OS_THREAD_H
#define QUERN_BASE_OS_THREAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "quern/quern.h"

/* ---- Futex: sleep on a 32-bit word ---- */

/* Sleeps while *word == expected, at most timeout_ns (QN_FOREVER: no limit). May return early without cause: the caller
 * looks at the word again. False when the time limit passed. */
bool qn_futex_wait(_Atomic uint32_t *word, uint32_t expected, uint64_t timeout_ns);
/* Wakes at most `count` sleepers (UINT32_MAX: all). One system call; never waits. */
void qn_futex_wake(_Atomic uint32_t *word, uint32_t count);

/* ---- Mutex: four bytes, not recursive. 0 free, 1 held, 2 held and somebody may sleep ---- */

typedef struct qn_mutex {
  _Atomic uint32_t state;
} qn_mutex;

void qn_mutex_lock_slow(qn_mutex *mutex);

static inline bool qn_mutex_try_lock(qn_mutex *mutex) {
  uint32_t free_state = 0;
  return atomic_compare_exchange_strong_explicit(&mutex->state, &free_state, 1, memory_order_acquire,
                                                 memory_order_relaxed);
}
/* For the test of costs (base/check.h): called at each qn_mutex_lock when it isn't NULL. Set before there are threads. */
typedef void (*qn_lock_hook_fn)(const void *mutex);
extern _Atomic(qn_lock_hook_fn) qn_lock_hook;

static inline void qn_mutex_lock(qn_mutex *mutex) {
  qn_lock_hook_fn hook = atomic_load_explicit(&qn_lock_hook, memory_order_relaxed);
  if (__builtin_expect(hook != (qn_lock_hook_fn)0, 0)) hook(mutex);
  if (!qn_mutex_try_lock(mutex)) qn_mutex_lock_slow(mutex);
}
static inline void qn_mutex_unlock(qn_mutex *mutex) {
  if (atomic_exchange_explicit(&mutex->state, 0, memory_order_release) == 2) qn_futex_wake(&mutex->state, 1);
}

/* ---- Condition: a count of signals; waits may return without cause ---- */

typedef struct qn_cond {
  _Atomic uint32_t sequence;
} qn_cond;

/* Gives up the mutex, sleeps, takes it again. False when the time limit passed. */
bool qn_cond_wait(qn_cond *cond, qn_mutex *mutex, uint64_t timeout_ns);
void qn_cond_signal(qn_cond *cond);
void qn_cond_broadcast(qn_cond *cond);

/* ---- Once ---- */

typedef struct qn_once {
  _Atomic uint32_t state; /* 0 not yet, 1 running, 2 running and somebody may sleep, 3 done */
} qn_once;

void qn_once_run_slow(qn_once *once, void (*function)(void));
/* Runs `function` once; every caller returns after it is done. */
static inline void qn_once_run(qn_once *once, void (*function)(void)) {
  if (atomic_load_explicit(&once->state, memory_order_acquire) != 3) qn_once_run_slow(once, function);
}

/* ---- Threads ---- */

typedef struct qn_thread {
  uint64_t native; /* 0: none */
} qn_thread;

/* Starts a thread with every signal blocked, so that the program's handlers run on the program's threads. `name` is cut
 * to 15 bytes. Errors: LIMIT, OUT_OF_HOST_MEMORY. */
QN_MUST_USE qn_status qn_thread_start(qn_thread *out_thread, const char *name, void (*function)(void *),
                                      void *argument);
/* Waits for the thread's end. The thread is then {0}; joining {0} does nothing. */
void qn_thread_join(qn_thread *thread);
/* A number of the calling thread that no other living thread has. */
uint64_t qn_thread_id(void);
/* The calling thread's name, "" when the system has none. */
enum { QN_THREAD_NAME = 16 };
void qn_thread_name(char out[QN_THREAD_NAME]);
void qn_thread_yield(void);

/* In a spin loop. */
static inline void qn_cpu_relax(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield" ::: "memory");
#else
  __asm__ volatile("" ::: "memory");
#endif
}

/* ---- Values of a thread ---- */

#define QN_THREAD_LOCAL _Thread_local

/* A value a thread whose `end` runs with it when the thread ends, when it isn't NULL. The end of the process runs none.
 */
typedef struct qn_thread_key {
  qn_mutex lock;
  _Atomic uint32_t made; /* 0: not yet; else the system's key + 1 */
  void (*end)(void *value);
} qn_thread_key;
#define QN_THREAD_KEY(end_function) {.end = (end_function)}

/* False: no key or no memory, and `end` will not run. */
bool qn_thread_key_set(qn_thread_key *key, void *value);
/* NULL when the thread has set none. */
void *qn_thread_key_get(qn_thread_key *key);

#endif
