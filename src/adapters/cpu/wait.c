/* A thread that waits: it helps when there is a seat, spins while a core is free for it, then sleeps. */
#include <stdatomic.h>

#include "device.h"
#include "os.h"
#include "schedule.h"

#define CHAIN_LIMIT 16 /* queues that wait for queues, followed by a helping thread */

static bool is_complete(qn_adapter_queue *q, uint64_t value) {
  return atomic_load_explicit(&q->completed, memory_order_acquire) >= value;
}

static bool has_shares(qn_adapter_queue *q) {
  return (atomic_load_explicit(&q->claim, memory_order_relaxed) & UINT32_MAX) != 0;
}

/* The queue that `q` waits for, if it does, and so on. */
static qn_adapter_queue *what_holds_back(qn_adapter_queue *q) {
  for (int i = 0; i < CHAIN_LIMIT; i++) {
    qn_adapter_queue *on = atomic_load(&q->blocked_on);
    if (!on) break;
    q = on;
  }
  return q;
}

/* Runs shares of what `q` needs, if they will be over by the time limit. True when something was done. `*helps` becomes false when other queues have work: this
 * thread would keep a seat from the workers, who look after all queues alike. */
static bool help(qn_adapter_queue *q, uint64_t value, uint64_t deadline_ns, bool *helps) {
  cpu_crew *crew = &q->device->crew;
  qn_adapter_queue *target = what_holds_back(q);
  if (!has_shares(target) || !cpu_may_help(target, deadline_ns)) return false;
  cpu_seat *seat = cpu_seat_take(crew, crew->threads - 1);
  if (!seat) return false;
  cpu_work work = {crew, seat, target == q ? value : UINT64_MAX, deadline_ns, CPU_WORK_BUDGET};
  cpu_float_environment old = cpu_float_enter();
  bool done = cpu_work_on(target, &work);
  cpu_float_leave(old);
  cpu_seat_leave(crew, seat);
  *helps = work.budget > 0 || !cpu_ready_any(crew, target->index);
  /* Workers may have found no seat because of this one. */
  if (cpu_ready_any(crew, UINT32_MAX)) cpu_crew_call(crew, true);
  return done;
}

static void sleep_until(qn_adapter_queue *q, uint64_t value, uint64_t deadline_ns) {
  uint64_t now = deadline_ns == UINT64_MAX ? 0 : cpu_now_ns();
  atomic_fetch_add(&q->sleepers, 1);
  uint32_t sequence = atomic_load(&q->wake_sequence);
  cpu_queue_wake_at(q, value);
  if (atomic_load(&q->completed) < value && now < deadline_ns)
    cpu_park(&q->wake_sequence, sequence, deadline_ns == UINT64_MAX ? UINT64_MAX : deadline_ns - now);
  atomic_fetch_sub(&q->sleepers, 1);
}

/* Spins for a while. True: look again; false: sleep. With every seat taken the cores have better things to do. */
static bool spin(qn_adapter_queue *q, uint64_t value, uint64_t *spun_ticks) {
  cpu_crew *crew = &q->device->crew;
  if (*spun_ticks >= crew->spin_ticks || atomic_load(&crew->seats_taken) >= crew->threads) return false;
  uint64_t start = cpu_ticks();
  for (int i = 0; i < 32 && !is_complete(q, value) && !has_shares(q); i++) cpu_relax();
  *spun_ticks += cpu_ticks() - start + 1;
  return true;
}

qn_status cpu_queue_wait(qn_adapter_queue *q, uint64_t value, uint64_t timeout_ns) {
  if (is_complete(q, value)) return QN_OK;
  if (cpu_forked(q->device)) return cpu_forked_error(q->device);
  uint64_t deadline_ns = UINT64_MAX, spun_ticks = 0;
  if (timeout_ns != QN_FOREVER) {
    uint64_t now = cpu_now_ns();
    deadline_ns = timeout_ns > UINT64_MAX - 1 - now ? UINT64_MAX - 1 : now + timeout_ns;
  }
  bool helps = timeout_ns != QN_POLL;
  for (;;) {
    if (helps && help(q, value, deadline_ns, &helps)) spun_ticks = 0;
    if (is_complete(q, value)) return QN_OK;
    if (deadline_ns != UINT64_MAX && cpu_now_ns() >= deadline_ns)
      return cpu_error(q->device->host, QN_ERROR_TIMEOUT, 0, "cpu: queue %llu did not complete value %llu in %llu ns",
                       (unsigned long long)q->id, (unsigned long long)value, (unsigned long long)timeout_ns);
    if (!spin(q, value, &spun_ticks)) sleep_until(q, value, deadline_ns);
  }
}
