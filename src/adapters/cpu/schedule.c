#include "schedule.h"

#include <stdio.h>

#include "device.h"
#include "os.h"

/* Times that steer sharing, in microseconds. */
#define ALONE_CELL_US 1   /* cells cheaper than this are begun by one thread alone */
#define ALONE_US 2        /* which shares the rest after this time */
#define SHARE_US 4        /* the least share: against it a claim costs nothing */
#define SHARE_MAX_US 1000 /* the largest share: other queues and time limits get their chance */
#define WAKE_US 10        /* waking a worker costs about this much: work that is left must be worth it */

/* Queues whose wait is over, to be moved by the thread that found out. */
typedef struct resume_list {
  qn_adapter_queue *first;
} resume_list;

bool cpu_queue_take_turn(qn_adapter_queue *q) {
  uint32_t idle = 0;
  return atomic_compare_exchange_strong(&q->turn, &idle, 1);
}

/* ---- Waiting between queues --------------------------------------------------------------------- */

void cpu_queue_wake_at(qn_adapter_queue *q, uint64_t value) {
  uint64_t now = atomic_load(&q->wake_at);
  while (value < now && !atomic_compare_exchange_weak(&q->wake_at, &now, value)) {
  }
}

/* Puts `q`, whose turn the caller has, on the list of the queue that its record waits for. False: no need. After true
 * the turn belongs to the list, and `q` may move at once. */
static bool block(qn_adapter_queue *q, const cpu_wait *w) {
  qn_adapter_queue *on = w->queue;
  uint64_t value = w->value;
  if (atomic_load(&on->completed) >= value) return false;
  pthread_mutex_lock(&on->lock);
  bool blocked = on->generation == w->generation;
  if (blocked) {
    /* First be found, then look again: a completion in between sees one of the two. */
    cpu_queue_wake_at(on, value);
    blocked = atomic_load(&on->completed) < value;
  }
  if (blocked) {
    q->blocked_value = value;
    q->blocked_next = on->blocked;
    on->blocked = q;
    atomic_store(&q->blocked_on, on);
  }
  pthread_mutex_unlock(&on->lock);
  return blocked;
}

/* Wakes those that wait for `value` or less; queues go to the list. */
static void notify(qn_adapter_queue *q, uint64_t value, resume_list *resume) {
  atomic_exchange(&q->wake_at, UINT64_MAX);
  pthread_mutex_lock(&q->lock);
  for (qn_adapter_queue **link = &q->blocked; *link;) {
    qn_adapter_queue *waiting = *link;
    if (waiting->blocked_value > value) {
      cpu_queue_wake_at(q, waiting->blocked_value);
      link = &waiting->blocked_next;
      continue;
    }
    *link = waiting->blocked_next;
    atomic_store(&waiting->blocked_on, NULL);
    waiting->resume_next = resume->first;
    resume->first = waiting;
  }
  pthread_mutex_unlock(&q->lock);
  if (atomic_load(&q->sleepers)) {
    atomic_fetch_add(&q->wake_sequence, 1);
    cpu_unpark(&q->wake_sequence, UINT32_MAX);
  }
}

/* ---- Completion --------------------------------------------------------------------------------- */

/* A record's work begins, on a timed queue. Before that the value before was completed: readers of what is written over
 * look at that (cpu_queue_time). */
static void note_begin(qn_adapter_queue *q, const cpu_record *r) {
  if (q->times) atomic_store_explicit(&q->times[r->value % CPU_TIME_COUNT].begin, cpu_now_ns(), memory_order_release);
}

/* Completes the record at the queue's position. Whoever knows the value may then free what the record names. */
static void complete(qn_adapter_queue *q, const cpu_record *r, resume_list *resume) {
  uint64_t value = r->value;
  if (q->times) atomic_store_explicit(&q->times[value % CPU_TIME_COUNT].end, cpu_now_ns(), memory_order_release);
  q->position += r->bytes;
  atomic_store_explicit(&q->freed, q->position, memory_order_release);
  cpu_store_and_fence(&q->completed, value);
  if (value >= atomic_load(&q->wake_at)) notify(q, value, resume);
}

/* A share found no memory. The first one to fail writes the cause; its own share is not finished before. */
static void fail(qn_adapter_queue *q, const cpu_record *r) {
  if (atomic_exchange(&q->failing, 1)) return;
  const cpu_launch *l = &r->launch;
  snprintf(q->failure, sizeof q->failure,
           "cpu: kernel %s needs %llu bytes of local memory and scratch for each thread; out of memory",
           l->kernel->name, (unsigned long long)(l->local_bytes + l->scratch_bytes));
  q->cause = QN_ERROR_OUT_OF_MEMORY;
  atomic_store(&q->failed_first, r->value);
}

/* Moves to the next record that has cells to run, completing what has none. NULL: the turn is given away, because the
 * queue is empty or waits for another one. */
static const cpu_record *next_record(qn_adapter_queue *q, resume_list *resume) {
  for (;;) {
    uint64_t position = q->position;
    if (position == atomic_load_explicit(&q->submitted, memory_order_acquire)) {
      cpu_store_and_fence(&q->turn, 0);
      /* A submission in between saw the turn taken: look again. */
      if (atomic_load(&q->submitted) == position || !cpu_queue_take_turn(q)) return NULL;
      continue;
    }
    const cpu_record *r = (const cpu_record *)(const void *)(q->ring + position % CPU_RING_BYTES);
    if (r->kind == RECORD_SKIP) {
      q->position += r->bytes;
      continue;
    }
    bool failed = atomic_load_explicit(&q->failed_first, memory_order_relaxed) != 0;
    if (r->kind == QN_COMMAND_WAIT && block(q, &r->wait)) return NULL; /* after a failure too: adapter.h */
    if (!failed && r->cells > 0) return r;
    note_begin(q, r);
    complete(q, r, resume);
  }
}

/* ---- Sharing ------------------------------------------------------------------------------------ */

/* May one thread begin the record by itself? Cheap ones are often over before another thread could join. */
static bool begins_alone(qn_adapter_queue *q, const cpu_record *r) {
  uint64_t cost = cpu_record_cost(r, q->device->crew.ticks_per_us);
  return r->cells == 1 || (cost && cost < ALONE_CELL_US * q->device->crew.ticks_per_us);
}

/* Puts up a record's cells, from `first` on, to be taken. The turn goes to whoever finishes the last of them. With
 * `alone` there is one unit, the whole record, and the turn goes with it. */
static void publish(qn_adapter_queue *q, const cpu_record *r, uint64_t first, bool alone, bool wake) {
  uint64_t cells = r->cells - first;
  cpu_crew *crew = &q->device->crew;
  q->active = r;
  q->alone = alone;
  q->first_cell = first;
  q->unit_cells = alone ? cells : cells / UINT32_MAX + 1;
  q->units = alone ? 1 : (cells - 1) / q->unit_cells + 1;
  q->publication++;
  atomic_store_explicit(&q->remaining, q->units, memory_order_relaxed);
  atomic_store_explicit(&q->unit_ticks, cpu_record_cost(r, crew->ticks_per_us) * q->unit_cells, memory_order_relaxed);
  atomic_store_explicit(&q->unit_most, cpu_record_most(r, crew->ticks_per_us) * q->unit_cells, memory_order_relaxed);
  atomic_store(&q->claim, (uint64_t)q->publication << 32 | q->units);
  cpu_ready_set(crew, q->index);
  cpu_crew_call(crew, wake);
}

/* Moves queues whose wait is over. Each may free others: the list grows while it is worked off. */
static void resume_all(resume_list *resume) {
  while (resume->first) {
    qn_adapter_queue *q = resume->first;
    resume->first = q->resume_next;
    const cpu_record *r = next_record(q, resume);
    if (r) publish(q, r, 0, begins_alone(q, r), true);
  }
}

void cpu_queue_start(qn_adapter_queue *q) {
  if (!cpu_queue_take_turn(q)) return;
  resume_list resume = {.first = q};
  q->resume_next = NULL;
  resume_all(&resume);
}

/* ---- Running ------------------------------------------------------------------------------------ */

/* What a group takes is known from groups before, and may be wrong by so much: a thread with a time limit begins work only
 * when that often is left. */
#define LIMIT_MARGIN 16

/* Whether a thread with this time limit may begin work that took `ticks` before; 0: it is not known. A group can't be left
 * before its end, and there are workers for what may take too long. */
static bool fits(const cpu_crew *crew, uint64_t deadline_ns, uint64_t ticks) {
  if (deadline_ns == UINT64_MAX) return true;
  uint64_t now = ticks ? cpu_now_ns() : UINT64_MAX;
  return now < deadline_ns && ticks / crew->ticks_per_us + 1 <= (deadline_ns - now) / 1000 / LIMIT_MARGIN;
}

bool cpu_may_help(qn_adapter_queue *q, uint64_t deadline_ns) {
  return fits(&q->device->crew, deadline_ns, atomic_load_explicit(&q->unit_most, memory_order_relaxed));
}

/* One cell, or all that one thread runs before it shares. */
static bool fits_alone(const cpu_work *w, const cpu_record *r) {
  return w->deadline_ns == UINT64_MAX || fits(w->crew, w->deadline_ns, cpu_record_most(r, w->crew->ticks_per_us));
}

static bool should_stop(const cpu_work *w, qn_adapter_queue *q) {
  if (w->budget == 0 || atomic_load_explicit(&q->completed, memory_order_acquire) >= w->goal) return true;
  return w->deadline_ns != UINT64_MAX && cpu_now_ns() >= w->deadline_ns;
}

/* A record of one cell. Its cost steers nothing but the waits with a limit: looking at the clock each time would be felt in
 * a batch of small launches. */
#define LEARN_EACH 16
static void run_cell(qn_adapter_queue *q, const cpu_work *w, const cpu_record *r, bool learns) {
  uint64_t start = learns ? cpu_ticks() : 0;
  if (!cpu_record_run(w->seat, r, 0, 1))
    fail(q, r);
  else if (learns)
    cpu_record_learn(r, 1, cpu_ticks() - start);
}

/* Runs a record by this thread alone for a short time. Returns the cells that are done. */
static uint64_t run_alone(qn_adapter_queue *q, cpu_work *w, const cpu_record *r) {
  if (w->budget > 0) w->budget--;
  note_begin(q, r);
  uint64_t limit = ALONE_US * w->crew->ticks_per_us, cost = cpu_record_cost(r, w->crew->ticks_per_us);
  if (r->cells == 1) {
    run_cell(q, w, r, cost == 0 || w->deadline_ns != UINT64_MAX || w->budget % LEARN_EACH == 0);
    return 1;
  }
  uint64_t start = cpu_ticks(), spent = 0, done = 0, step = cost ? limit / cost : 1;
  while (done < r->cells && spent < limit) {
    step = cpu_min(cpu_max(step, 1), r->cells - done);
    if (!cpu_record_run(w->seat, r, done, step)) {
      fail(q, r);
      return r->cells;
    }
    done += step;
    spent = cpu_ticks() - start;
    step = spent ? done * (limit - cpu_min(spent, limit)) / spent : done;
  }
  cpu_record_learn(r, done, spent);
  return done;
}

/* Moves the queue, whose turn the caller has, from record `r` (NULL: the next one) on, running cheap records itself.
 * Gives the turn away in the end. */
static void drive(qn_adapter_queue *q, cpu_work *w, const cpu_record *r, resume_list *resume) {
  for (;;) {
    if (!r) {
      r = next_record(q, resume);
      resume_all(resume);
      if (!r) return;
      bool alone = begins_alone(q, r);
      if (!alone || should_stop(w, q) || !fits_alone(w, r)) {
        publish(q, r, 0, alone, false);
        return;
      }
    }
    uint64_t done = run_alone(q, w, r);
    if (done < r->cells) {
      publish(q, r, done, false, false);
      return;
    }
    complete(q, r, resume);
    r = NULL;
  }
}

typedef struct share {
  const cpu_record *record;
  uint64_t first, cells; /* cells to run */
  uint64_t units;
  uint64_t left; /* units that are still to be taken */
  bool alone;
} share;

/* Shares are a part of what is left, so that threads finish together; not so small that taking them costs, and not so
 * large that others wait. */
static uint64_t share_units(const cpu_work *w, uint64_t cost, uint64_t left) {
  uint64_t us = w->crew->ticks_per_us;
  if (cost == 0) return 1;
  uint64_t units = cpu_max(left / (2 * w->crew->threads), SHARE_US * us / cost);
  uint64_t most = (w->deadline_ns == UINT64_MAX ? SHARE_MAX_US : SHARE_MAX_US / 10) * us / cost;
  return cpu_min(cpu_max(cpu_min(units, most), 1), left);
}

static bool claim(qn_adapter_queue *q, const cpu_work *w, share *out) {
  uint64_t word = atomic_load_explicit(&q->claim, memory_order_acquire), left, units;
  do {
    left = word & UINT32_MAX;
    if (left == 0) return false;
    units = share_units(w, atomic_load_explicit(&q->unit_ticks, memory_order_relaxed), left);
    if (!fits(w->crew, w->deadline_ns, units * atomic_load_explicit(&q->unit_most, memory_order_relaxed))) return false;
  } while (!atomic_compare_exchange_weak_explicit(&q->claim, &word, word - units, memory_order_acq_rel,
                                                  memory_order_acquire));
  /* From here on the publication stays as it is until these units are finished. */
  if (left == units) cpu_ready_clear(w->crew, q->index);
  out->record = q->active;
  out->alone = q->alone;
  out->units = units;
  out->left = left - units;
  out->first = q->first_cell + (q->units - left) * q->unit_cells;
  out->cells = cpu_min(units * q->unit_cells, q->active->cells - out->first);
  return true;
}

/* Wakes one more worker when what is left is worth it; that one does the same. */
static void spread(qn_adapter_queue *q, const cpu_work *w, const share *s) {
  if (!cpu_crew_can_wake(w->crew)) return;
  uint64_t cost = atomic_load_explicit(&q->unit_ticks, memory_order_relaxed);
  bool worth = s->left > 0 && (cost == 0 || s->left * cost > WAKE_US * w->crew->ticks_per_us);
  if (worth || cpu_ready_any(w->crew, q->index)) cpu_crew_call(w->crew, true);
}

static void run_share(qn_adapter_queue *q, cpu_work *w, const share *s, resume_list *resume) {
  if (s->first == 0) note_begin(q, s->record);
  uint64_t start = cpu_ticks();
  if (!cpu_record_run(w->seat, s->record, s->first, s->cells)) fail(q, s->record);
  uint64_t ticks = cpu_ticks() - start;
  atomic_store_explicit(&q->unit_ticks, ticks / s->units + 1, memory_order_relaxed);
  if (ticks / s->units >= atomic_load_explicit(&q->unit_most, memory_order_relaxed))
    atomic_store_explicit(&q->unit_most, ticks / s->units + 1, memory_order_relaxed);
  cpu_record_learn(s->record, s->cells, ticks);
  if (cpu_ready_any(w->crew, q->index)) w->budget = 0; /* others have work: go around */
  if (atomic_fetch_sub_explicit(&q->remaining, s->units, memory_order_acq_rel) != s->units) return;
  complete(q, s->record, resume); /* the last one has the turn */
  drive(q, w, NULL, resume);
}

bool cpu_work_on(qn_adapter_queue *q, cpu_work *w) {
  resume_list resume = {NULL};
  bool done = false;
  share s;
  while (claim(q, w, &s)) {
    done = true;
    spread(q, w, &s);
    if (s.alone)
      drive(q, w, s.record, &resume);
    else
      run_share(q, w, &s, &resume);
    if (should_stop(w, q)) break;
  }
  return done;
}
