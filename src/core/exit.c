#include "core/exit.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/log.h"
#include "base/os/clock.h"
#include "base/os/memory.h"
#include "base/os/thread.h"
#include "base/status.h"
#include "core/trace.h"

/* ---- Fork ---- */

/* A page that a forked child finds wiped. NULL until the first call, and for ever where the system can't wipe. */
static _Atomic(_Atomic uint32_t *) fork_page;
enum { OURS = 0x51756572 };

/* A fork may come at any moment of another thread's first call. So nothing here waits for another thread: before the page
 * is seen the child is a process in which nothing has begun, and afterwards it finds the page wiped. */
static void publish_page(void *page) {
  _Atomic uint32_t *none = NULL;
  atomic_store_explicit((_Atomic uint32_t *)page, OURS, memory_order_relaxed);
  if (!atomic_compare_exchange_strong(&fork_page, &none, page)) qn_pages_unmap(page, sizeof(uint32_t));
}

/* False: no memory now. */
static bool make_fork_page(void) {
  void *page = NULL;
  qn_error_saved saved;
  qn_error_save(&saved);
  bool mapped = qn_pages_map(sizeof(uint32_t), QN_PAGES_READ | QN_PAGES_WRITE, &page) == QN_OK;
  if (mapped && qn_pages_wipe_on_fork(page, sizeof(uint32_t)) == QN_OK) {
    publish_page(page);
  } else if (mapped) {
    QN_LOG(RUNTIME, "a fork will not be noticed: %s", qn_error_text());
    qn_pages_unmap(page, sizeof(uint32_t));
  }
  qn_error_restore(&saved);
  return mapped;
}

static bool is_forked(void) {
  _Atomic uint32_t *page = atomic_load_explicit(&fork_page, memory_order_acquire);
  return page && atomic_load_explicit(page, memory_order_relaxed) != OURS;
}

/* ---- The gate ---- */

/* Threads inside, counted in stripes, so that threads which launch at the same time seldom touch the same line. */
enum { STRIPES = 32 };
static struct {
  _Alignas(64) _Atomic uint32_t inside;
} stripes[STRIPES];
static _Atomic uint32_t next_stripe;
static QN_THREAD_LOCAL uint32_t my_stripe; /* + 1; 0: none yet */

static _Atomic uint32_t shut;
static _Atomic uint64_t exiting_thread;
static QN_THREAD_LOCAL bool was_parked;

static inline _Atomic uint32_t *stripe_of_thread(void) {
  if (my_stripe == 0) my_stripe = atomic_fetch_add_explicit(&next_stripe, 1, memory_order_relaxed) % STRIPES + 1;
  return &stripes[my_stripe - 1].inside;
}

static bool somebody_is_inside(void) {
  for (int i = 0; i < STRIPES; i++)
    if (atomic_load(&stripes[i].inside) != 0) return true;
  return false;
}

/* ---- Who is told ---- */

enum { MOST_TOLD = 256 };
static qn_mutex told_lock; /* held over the calls: who is forgotten isn't being told */
static struct {
  void (*call)(void *user);
  void *user;
} told[MOST_TOLD];

static uint32_t told_with(void *user, bool is_free) {
  uint32_t i = 0;
  while (i < MOST_TOLD && (is_free ? told[i].call != NULL : !told[i].call || told[i].user != user)) i++;
  return i;
}

static void shut_gate(void);

static void register_handler(void) {
  /* When it can't be registered, exit is as inert as without us: nothing else is done there. */
  if (atexit(shut_gate) != 0 || at_quick_exit(shut_gate) != 0) QN_LOG(RUNTIME, "the exit handler can't be registered");
}

qn_status core_exit_tell(void (*call)(void *user), void *user) {
  qn_mutex_lock(&told_lock);
  static uint32_t used;
  uint32_t place = told_with(user, false);
  bool is_again = call && place < MOST_TOLD;
  if (call && !is_again) place = told_with(user, true);
  bool is_new = call && place < MOST_TOLD && place >= used;
  if (is_new) used = place + 1;
  if (place < MOST_TOLD) {
    told[place].call = call;
    told[place].user = user;
  }
  qn_mutex_unlock(&told_lock);
  if (is_new || is_again)
    register_handler(); /* what was opened may have brought destructors that are newer than our handler */
  if (place == MOST_TOLD && call)
    QN_FAIL(QN_ERROR_LIMIT, "%d threads of adapters are told when the process exits, and no more", MOST_TOLD);
  return QN_OK;
}

static void tell_all(void) {
  qn_mutex_lock(&told_lock);
  for (uint32_t i = 0; i < MOST_TOLD; i++)
    if (told[i].call) told[i].call(told[i].user);
  qn_mutex_unlock(&told_lock);
}

/* ---- The handler ---- */

static void shut_gate(void) {
  if (is_forked()) return;
  core_trace_exit_begin();
  atomic_store(&exiting_thread, qn_thread_id());
  bool is_first = atomic_exchange(&shut, 1) == 0; /* it is registered several times, and waits once */
  uint64_t deadline = qn_clock_deadline(is_first ? UINT64_C(100000000) : 0);
  while (somebody_is_inside() && qn_clock_left(deadline) > 0) qn_clock_sleep(100000);
  tell_all();
  core_trace_exit_end();
}

void core_exit_register(void) { register_handler(); }

void core_exit_after_llvm(void) {
  static qn_once once;
  qn_once_run(&once, core_exit_register);
}

static _Atomic uint32_t is_set_up;

static void set_up(void) {
  static _Atomic uint32_t is_registered;
  if (!make_fork_page()) return; /* the next call tries again */
  if (atomic_exchange(&is_registered, 1) == 0) {
    core_exit_register();
    qn_check_start();
  }
  atomic_store_explicit(&is_set_up, 1, memory_order_release);
}

static void park(void) {
  if (was_parked || qn_thread_id() == atomic_load(&exiting_thread)) return;
  was_parked = true;
  qn_clock_sleep(UINT64_C(1000000000));
}

qn_status core_enter(void) {
  if (atomic_load_explicit(&is_set_up, memory_order_acquire) == 0) set_up();
  if (is_forked())
    QN_FAIL(QN_ERROR_FORKED, "the runtime was set up before this process was forked; only the parent may use it");
  /* The counter first, the gate second, both in the one total order: either the handler sees us inside, or we see the
   * gate shut. */
  _Atomic uint32_t *inside = stripe_of_thread();
  atomic_fetch_add(inside, 1);
  if (atomic_load(&shut) == 0) return QN_OK;
  atomic_fetch_sub(inside, 1);
  park();
  QN_FAIL(QN_ERROR_CLOSED, "the process is exiting");
}

void core_leave(void) { atomic_fetch_sub_explicit(&stripes[my_stripe - 1].inside, 1, memory_order_release); }

bool core_is_inert(void) { return is_forked() || atomic_load_explicit(&shut, memory_order_relaxed) != 0; }
