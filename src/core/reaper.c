#include "core/reaper.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/os/clock.h"
#include "base/os/thread.h"
#include "base/status.h"
#include "core/call.h"
#include "core/exit.h"

struct core_reaper {
  _Atomic(core_object *) released; /* anyone pushes; taken whole */
  _Atomic uint32_t bell;           /* changes at each ring; the thread sleeps on it */
  _Atomic uint32_t is_rung;        /* since the thread looked last */
  _Atomic uint32_t is_asleep;      /* the thread sleeps until it is rung, or is about to */
  _Atomic uint32_t count;
  _Atomic uint32_t stop;
  qn_mutex lock;                        /* the rest */
  core_object *pending, **pending_tail; /* released, not yet ready; in order of release */
  uint32_t pending_count;
  core_refusal refusal;
  core_tidy_fn tidy; /* the thread's */
  void *tidy_user;
  qn_thread thread;
  core_reaper *next_free;
};

/* How long to pause between two looks at objects whose work is not complete: twice as long each time. */
#define SHORTEST_PAUSE_NS UINT64_C(20000)
#define LONGEST_PAUSE_NS UINT64_C(5000000)

static qn_mutex free_lock;
static core_reaper *free_reapers;

/* ---- Refusals ----------------------------------------------------------------------------------- */

void core_refusal_note(core_refusal *refusal, qn_status status, const char *what) {
  if (status >= 0) return;
  QN_LOG(RUNTIME, "the driver refused to destroy a %s: %s", what, qn_error_text());
  if (refusal->status < 0) return;
  refusal->status = status;
  refusal->driver_code = qn_error_driver_code();
  snprintf(refusal->text, sizeof refusal->text, "the driver refused to destroy a %s: %s", what, qn_error_text());
}

qn_status core_reaper_refusal(core_reaper *reaper) {
  qn_mutex_lock(&reaper->lock);
  core_refusal refusal = reaper->refusal;
  reaper->refusal = (core_refusal){0};
  qn_mutex_unlock(&reaper->lock);
  if (refusal.status >= 0) return QN_OK;
  return qn_error_set_driver(refusal.status, refusal.driver_code, "%s", refusal.text);
}

/* ---- Lists -------------------------------------------------------------------------------------- */

static void ring(core_reaper *reaper) {
  atomic_fetch_add(&reaper->bell, 1);
  qn_futex_wake(&reaper->bell, 1);
}

/* Buffers come and go by the million, and who makes the next one collects: a wake for each would cost more than all the
 * rest. They wake the thread from its long sleep only; in a short one it will look soon. */
static bool is_urgent(const core_object *object) { return object->cls->kind != QN_KIND_BUFFER; }

void core_reaper_push(core_reaper *reaper, core_object *object) {
  bool urgent = is_urgent(object);
  atomic_fetch_add(&reaper->count, 1);
  core_object *head = atomic_load_explicit(&reaper->released, memory_order_relaxed);
  do {
    object->next = head;
  } while (!atomic_compare_exchange_weak(&reaper->released, &head, object));
  /* From here on the object may be gone, and with it all that it held. One ring will do until the thread looks again. */
  bool wakes = urgent || atomic_load(&reaper->is_asleep) != 0;
  if (wakes && atomic_exchange(&reaper->is_rung, 1) == 0) ring(reaper);
}

void core_reaper_wake(core_reaper *reaper) {
  if (atomic_load(&reaper->is_asleep) != 0 && atomic_exchange(&reaper->is_rung, 1) == 0) ring(reaper);
}

/* What was released, oldest first. */
static core_object *take_released(core_reaper *reaper) {
  core_object *taken = atomic_exchange_explicit(&reaper->released, NULL, memory_order_acquire);
  core_object *ordered = NULL;
  while (taken) {
    core_object *next = taken->next;
    taken->next = ordered;
    ordered = taken;
    taken = next;
  }
  return ordered;
}

static core_object *pop_pending(core_reaper *reaper) {
  core_object *object = reaper->pending;
  reaper->pending = object->next;
  if (!reaper->pending) reaper->pending_tail = &reaper->pending;
  reaper->pending_count--;
  return object;
}

static void push_pending(core_reaper *reaper, core_object *object) {
  object->next = NULL;
  *reaper->pending_tail = object;
  reaper->pending_tail = &object->next;
  reaper->pending_count++;
}

static void destroy_or_keep(core_reaper *reaper, core_object *object) {
  if (object->cls->ready(object)) {
    free(object->place);
    object->cls->destroy(object, &reaper->refusal);
    atomic_fetch_sub_explicit(&reaper->count, 1, memory_order_release);
  } else {
    push_pending(reaper, object);
  }
}

/* Old ones up to `limit`, then what was released, again and again: a kernel's end may release its program. */
static void collect_locked(core_reaper *reaper, uint32_t limit) {
  uint32_t old = reaper->pending_count < limit ? reaper->pending_count : limit;
  for (uint32_t i = 0; i < old; i++) destroy_or_keep(reaper, pop_pending(reaper));
  for (core_object *fresh = take_released(reaper); fresh; fresh = take_released(reaper)) {
    while (fresh) {
      core_object *next = fresh->next;
      destroy_or_keep(reaper, fresh);
      fresh = next;
    }
  }
}

void core_reaper_collect(core_reaper *reaper, uint32_t limit) {
  qn_mutex_lock(&reaper->lock);
  if (reaper->pending || atomic_load_explicit(&reaper->released, memory_order_relaxed)) {
    /* What a driver refuses here is no error of the caller: the thread's text stays. */
    qn_error_saved saved;
    qn_error_save(&saved);
    collect_locked(reaper, limit);
    qn_error_restore(&saved);
  }
  qn_mutex_unlock(&reaper->lock);
}

uint32_t core_reaper_count(const core_reaper *reaper) {
  return atomic_load_explicit(&reaper->count, memory_order_acquire);
}

qn_status core_reaper_drain(core_reaper *reaper, uint64_t timeout_ns) {
  uint64_t deadline = timeout_ns == QN_POLL ? 0 : qn_clock_deadline(timeout_ns);
  uint64_t pause = SHORTEST_PAUSE_NS;
  for (;;) {
    core_reaper_collect(reaper, UINT32_MAX);
    uint32_t left = core_reaper_count(reaper);
    if (left == 0) return QN_OK;
    uint64_t left_ns = timeout_ns == QN_POLL ? 0 : qn_clock_left(deadline);
    if (left_ns == 0)
      QN_FAIL(QN_ERROR_TIMEOUT, "%u released objects are still in use by work in flight after %llu ns", left,
              (unsigned long long)timeout_ns);
    QN_TRY(core_may_wait("released objects are still in use: the call"));
    qn_clock_sleep(pause < left_ns ? pause : left_ns);
    if (pause < LONGEST_PAUSE_NS) pause *= 2;
  }
}

/* ---- The thread --------------------------------------------------------------------------------- */

static void sleep_for_ever(void) {
  for (;;) qn_clock_sleep(UINT64_C(3600000000000));
}

/* Until the bell, but no longer than `pause` while there is something to look after (`more`: besides objects), or was
 * lately. Whether it was the bell. */
static bool doze(core_reaper *reaper, uint32_t bell, uint64_t pause, bool more) {
  if (more || core_reaper_count(reaper) != 0 || pause < LONGEST_PAUSE_NS)
    return qn_futex_wait(&reaper->bell, bell, pause);
  atomic_store(&reaper->is_asleep, 1);
  /* A push counts, then looks whether we are asleep; we lie down, then look at the count: one sees the other. */
  bool rung = atomic_load(&reaper->count) != 0 || qn_futex_wait(&reaper->bell, bell, QN_FOREVER);
  atomic_store(&reaper->is_asleep, 0);
  return rung;
}

static void reap(void *given) {
  core_reaper *reaper = given;
  uint64_t pause = SHORTEST_PAUSE_NS;
  for (;;) {
    /* The bell first: whoever stops or pushes rings afterwards, so that the sleep below ends at once. */
    uint32_t bell = atomic_load(&reaper->bell);
    if (atomic_load(&reaper->stop) != 0) return;
    atomic_store(&reaper->is_rung, 0);
    if (core_enter() < 0) sleep_for_ever(); /* the process exits: nothing is done any longer */
    core_reaper_collect(reaper, UINT32_MAX);
    bool more = reaper->tidy && reaper->tidy(reaper->tidy_user);
    core_leave();
    bool rung = doze(reaper, bell, pause, more);
    pause = rung ? SHORTEST_PAUSE_NS : pause < LONGEST_PAUSE_NS ? 2 * pause : pause;
  }
}

static core_reaper *take_reaper(void) {
  qn_mutex_lock(&free_lock);
  core_reaper *reaper = free_reapers;
  if (reaper) free_reapers = reaper->next_free;
  qn_mutex_unlock(&free_lock);
  return reaper ? reaper : calloc(1, sizeof *reaper);
}

static void give_reaper(core_reaper *reaper) {
  qn_mutex_lock(&free_lock);
  reaper->next_free = free_reapers;
  free_reapers = reaper;
  qn_mutex_unlock(&free_lock);
}

qn_status core_reaper_open(const char *thread_name, core_tidy_fn tidy, void *user, core_reaper **out_reaper) {
  core_reaper *reaper = take_reaper();
  if (!reaper) QN_FAIL(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for the reaper '%s'", thread_name);
  reaper->pending = NULL;
  reaper->pending_tail = &reaper->pending;
  reaper->pending_count = 0;
  reaper->refusal = (core_refusal){0};
  reaper->tidy = tidy;
  reaper->tidy_user = user;
  atomic_store(&reaper->stop, 0);
  qn_status status = qn_thread_start(&reaper->thread, thread_name, reap, reaper);
  if (status < 0) {
    give_reaper(reaper);
    return status;
  }
  *out_reaper = reaper;
  return QN_OK;
}

void core_reaper_close(core_reaper *reaper) {
  atomic_store(&reaper->stop, 1);
  ring(reaper);
  qn_thread_join(&reaper->thread);
  give_reaper(reaper);
}

/* ---- The keeper --------------------------------------------------------------------------------- */

static qn_mutex keeper_lock;
static core_reaper *keeper;

qn_status core_keeper_get(core_reaper **out_keeper) {
  qn_mutex_lock(&keeper_lock);
  qn_status status = keeper ? QN_OK : core_reaper_open("quern-keeper", NULL, NULL, &keeper);
  *out_keeper = keeper;
  qn_mutex_unlock(&keeper_lock);
  return status;
}
