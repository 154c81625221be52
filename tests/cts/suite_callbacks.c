/* suite_callbacks.c - qn_queue_call and qn_queue_descriptor: each point's callback once, in order, whatever ends meanwhile. */
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "control.h"
#include "cts.h"

/* What a callback saw. Waited for by the test's thread. */
typedef struct log {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  uint64_t count;
  qn_status first_bad; /* status that was not QN_OK */
  uint64_t order[512]; /* numbers of the callbacks, as they came */
} log;

typedef struct call {
  log *log;
  uint64_t number;
} call;

static log *new_log(cts *c) {
  log *l = cts_alloc(c, sizeof *l);
  pthread_mutex_init(&l->lock, NULL);
  pthread_cond_init(&l->changed, NULL);
  return l;
}

static void note(log *l, uint64_t number, qn_status status) {
  pthread_mutex_lock(&l->lock);
  if (l->count < 512) l->order[l->count] = number;
  l->count++;
  if (status != QN_OK && l->first_bad == QN_OK) l->first_bad = status;
  pthread_cond_broadcast(&l->changed);
  pthread_mutex_unlock(&l->lock);
}

static void called(void *user, qn_status status) {
  const call *k = user;
  note(k->log, k->number, status);
}

/* Until so many have been called. */
static void wait_for(log *l, uint64_t count) {
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_sec += (time_t)(CTS_PATIENCE / CTS_SECOND);
  int failed = 0;
  pthread_mutex_lock(&l->lock);
  while (l->count < count && failed == 0)
    failed = pthread_cond_clockwait(&l->changed, &l->lock, CLOCK_MONOTONIC, &until);
  uint64_t came = l->count;
  pthread_mutex_unlock(&l->lock);
  CTS_SAME("how many callbacks came", came, count);
}

static call *new_calls(cts *c, log *l, uint64_t count) {
  call *calls = cts_alloc(c, count * sizeof *calls);
  for (uint64_t i = 0; i < count; i++) calls[i] = (call){l, i};
  return calls;
}

static void once_and_in_order(cts *c) {
  enum { COUNT = 400 };
  log *l = new_log(c);
  call *calls = new_calls(c, l, COUNT);
  qn_queue queue = cts_queue(c);
  qn_buffer buffer = cts_buffer(c, 20000);
  for (uint64_t i = 0; i < COUNT; i++) {
    qn_point point = cts_fill(queue, buffer, (unsigned char)i);
    CTS_OK(qn_queue_call(queue, i % 2 ? &point : NULL, called, &calls[i]));
  }
  wait_for(l, COUNT);
  cts_sleep_ns(5 * CTS_MILLISECOND);
  wait_for(l, COUNT); /* and not more */
  CTS_SAME("the status that callbacks got", l->first_bad, QN_OK);
  for (uint64_t i = 0; i < COUNT; i++) CTS_SAME("which callback came at its place in the order", l->order[i], i);
}

/* A callback comes when the work is done, not before. */
typedef struct early {
  log *log;
  const unsigned char *out;
  uint64_t size;
  unsigned char byte;
  _Atomic uint64_t wrong;
} early;

static void look(void *user, qn_status status) {
  early *e = user;
  for (uint64_t i = 0; i < e->size; i++)
    if (e->out[i] != e->byte) atomic_fetch_add(&e->wrong, 1);
  note(e->log, 0, status);
}

static void never_early(cts *c) {
  enum { COUNT = 60, SIZE = 60000 };
  log *l = new_log(c);
  early *e = cts_alloc(c, COUNT * sizeof *e);
  unsigned char *out = cts_alloc(c, COUNT * SIZE);
  qn_queue queue = cts_queue(c);
  qn_buffer buffer = cts_buffer(c, SIZE);
  const qn_view view = cts_view(buffer, 0, QN_WHOLE);
  for (int i = 0; i < COUNT; i++) {
    e[i] = (early){.log = l, .out = out + i * SIZE, .size = SIZE, .byte = (unsigned char)(i + 1)};
    cts_fill(queue, buffer, (unsigned char)(i + 1));
    CTS_OK(qn_read(queue, &view, out + i * SIZE, NULL));
    CTS_OK(qn_queue_call(queue, NULL, look, &e[i]));
  }
  wait_for(l, COUNT);
  for (int i = 0; i < COUNT; i++)
    CTS_SAME("bytes that a callback did not see as its work left them", atomic_load(&e[i].wrong), 0);
}

static void complete_points(cts *c) {
  log *l = new_log(c);
  call *calls = new_calls(c, l, 3);
  qn_queue queue = cts_queue(c);
  CTS_OK(qn_queue_call(queue, NULL, called, &calls[0])); /* nothing was submitted */
  qn_point point = cts_fill(queue, cts_buffer(c, 64), 1);
  cts_finish(queue);
  CTS_OK(qn_queue_call(queue, &point, called, &calls[1]));
  CTS_OK(qn_queue_call(queue, NULL, called, &calls[2]));
  wait_for(l, 3);
}

/* Each callback launches the next. */
typedef struct chain {
  log *log;
  qn_queue queue;
  qn_buffer buffer;
  uint64_t left;
} chain;

static void go_on(void *user, qn_status status) {
  chain *k = user;
  const qn_view view = cts_view(k->buffer, 0, QN_WHOLE);
  unsigned char byte = (unsigned char)k->left;
  if (status == QN_OK && k->left > 0) {
    k->left--;
    status = qn_fill(k->queue, &view, &byte, 1, NULL);
    if (status == QN_OK) status = qn_queue_call(k->queue, NULL, go_on, k);
  }
  note(k->log, k->left, status);
}

static void callbacks_submit(cts *c) {
  enum { STEPS = 200 };
  chain *k = cts_alloc(c, sizeof *k);
  *k = (chain){new_log(c), cts_queue(c), cts_buffer(c, 1000), STEPS};
  unsigned char out[1000];
  CTS_OK(qn_queue_call(k->queue, NULL, go_on, k));
  wait_for(k->log, STEPS + 1);
  CTS_SAME("the status of calls in callbacks", k->log->first_bad, QN_OK);
  cts_get(k->queue, k->buffer, out, sizeof out);
  CTS_FILLED("what the last callback's fill wrote", out, 1, sizeof out);
}

/* What would wait says so. */
typedef struct blocked {
  log *log;
  qn_queue other;
  qn_point pending;
  qn_device device;
  qn_status wait, finish, poll;
} blocked;

static void try_to_wait(void *user, qn_status status) {
  blocked *b = user;
  b->poll = qn_point_wait(&b->pending, QN_POLL);
  b->wait = qn_point_wait(&b->pending, CTS_PATIENCE);
  b->finish = qn_queue_finish(b->other, CTS_PATIENCE);
  note(b->log, 0, status);
}

static void callbacks_do_not_wait(cts *c) {
  for (uint64_t ns = CTS_FIRST_TRY; ns < CTS_LAST_TRY; ns *= 4) {
    blocked *b = cts_alloc(c, sizeof *b);
    qn_queue queue = cts_queue(c);
    *b = (blocked){.log = new_log(c), .other = cts_queue(c), .device = c->device};
    cts_busy(c, b->other, ns);
    b->pending = cts_fill(b->other, cts_buffer(c, 64), 1);
    CTS_OK(qn_queue_call(queue, NULL, try_to_wait, b));
    wait_for(b->log, 1);
    cts_wait(&b->pending);
    if (b->poll != QN_NOT_READY || b->wait == QN_OK || b->finish == QN_OK) continue; /* it was over too soon */
    CTS_SAME("the status of a wait in a callback", b->wait, QN_ERROR_WOULD_BLOCK);
    CTS_SAME("the status of qn_queue_finish in a callback", b->finish, QN_ERROR_WOULD_BLOCK);
    return;
  }
  CTS_TRUE(false, "a wait for work in flight gives QN_ERROR_WOULD_BLOCK in a callback");
}

static void released_queues_call(cts *c) {
  enum { COUNT = 100 };
  log *l = new_log(c);
  call *calls = new_calls(c, l, COUNT);
  for (uint64_t i = 0; i < COUNT; i++) {
    qn_queue queue = cts_queue(c);
    qn_buffer buffer = cts_buffer(c, 100000);
    cts_fill(queue, buffer, 1);
    CTS_OK(qn_queue_call(queue, NULL, called, &calls[i]));
    cts_drop(c, queue);
    cts_drop(c, buffer);
  }
  wait_for(l, COUNT);
  CTS_SAME("the status that callbacks of released queues got", l->first_bad, QN_OK);
}

static void release_in_callback(void *user, qn_status status) {
  chain *k = user;
  if (status == QN_OK) status = qn_release(k->buffer);
  if (status == QN_OK) status = qn_release(k->queue);
  note(k->log, 0, status);
}

static void callbacks_release(cts *c) {
  enum { COUNT = 60 };
  log *l = new_log(c);
  chain *chains = cts_alloc(c, COUNT * sizeof *chains);
  for (int i = 0; i < COUNT; i++) {
    chains[i] = (chain){l, cts_queue(c), cts_buffer(c, 50000), 0};
    cts_fill(chains[i].queue, chains[i].buffer, 1);
    cts_forget(c, chains[i].queue);
    cts_forget(c, chains[i].buffer);
    CTS_OK(qn_queue_call(chains[i].queue, NULL, release_in_callback, &chains[i]));
  }
  wait_for(l, COUNT);
  CTS_SAME("the status of releases in callbacks", l->first_bad, QN_OK);
}

static void closing_calls_all(cts *c) {
  enum { COUNT = 50 };
  log *l = new_log(c);
  call *calls = new_calls(c, l, COUNT);
  qn_runtime runtime = cts_runtime(c);
  qn_device device = cts_device_in(c, runtime);
  qn_buffer buffer = cts_buffer_on(c, device, 200000);
  for (uint64_t i = 0; i < COUNT; i++) {
    qn_queue queue = cts_queue_on(c, device);
    cts_fill(queue, buffer, 1);
    CTS_OK(qn_queue_call(queue, NULL, called, &calls[i]));
  }
  cts_close(c, runtime);
  CTS_SAME("callbacks that came before the close returned", l->count, COUNT);
  CTS_SAME("the status that they got", l->first_bad, QN_OK);
}

static void drain_waits_for_callbacks(cts *c) {
  qn_device device = cts_fragile_device(c, NULL);
  const null_control *control = cts_control(c, device);
  log *l = new_log(c);
  call *calls = new_calls(c, l, 200);
  for (uint64_t i = 0; i < 200; i++) {
    null_counts counts;
    qn_queue queue = cts_queue_on(c, device);
    CTS_OK(qn_queue_call(queue, NULL, called, &calls[i]));
    cts_drop(c, queue);
    CTS_OK(qn_device_drain(device, CTS_PATIENCE));
    control->count(control->device, &counts);
    CTS_SAME("queues that the driver holds after a drain", counts.queues, 0);
  }
}

static void failures_are_told(cts *c) {
  qn_device device = cts_fragile_device(c, NULL);
  qn_queue queue = cts_queue_on(c, device);
  log *l = new_log(c);
  call *calls = new_calls(c, l, 1);
  qn_point failed = cts_fault(c, device, queue);
  CTS_OK(qn_queue_call(queue, &failed, called, calls));
  wait_for(l, 1);
  CTS_SAME("the status that the callback of a failed point got", l->first_bad, QN_ERROR_DEVICE);
}

static void descriptors(cts *c) {
  qn_queue queue = cts_queue(c);
  qn_buffer buffer = cts_buffer(c, 100000);
  for (int i = 0; i < 50; i++) {
    int32_t fd = -1;
    qn_point point = cts_fill(queue, buffer, 1);
    CTS_OK(qn_queue_descriptor(queue, i % 2 ? &point : NULL, &fd));
    struct pollfd polled = {.fd = fd, .events = POLLIN};
    int ready = i % 5 ? poll(&polled, 1, (int)(CTS_PATIENCE / CTS_MILLISECOND)) : 1; /* some are closed unheard */
    close(fd);
    CTS_SAME("descriptors that are readable", ready, 1);
    if (i % 5) CTS_OK(qn_point_wait(&point, QN_POLL));
  }
}

static void wrong_points(cts *c) {
  log *l = new_log(c);
  call *calls = new_calls(c, l, 1);
  qn_queue queue = cts_queue(c), other = cts_queue(c);
  qn_point theirs = cts_fill(other, cts_buffer(c, 64), 1), last = {0, 0};
  CTS_OK(qn_queue_last(queue, &last));
  const qn_point future = {last.queue, 5};
  CTS_GIVES(qn_queue_call(queue, &theirs, called, calls), QN_ERROR_INVALID_ARGUMENT);
  CTS_GIVES(qn_queue_call(queue, &future, called, calls), QN_ERROR_INVALID_ARGUMENT);
  CTS_GIVES(qn_queue_call(queue, NULL, NULL, calls), QN_ERROR_INVALID_ARGUMENT);
  CTS_SAME("callbacks that came of calls that were refused", l->count, 0);
}

#define ONCE                                                                                                 \
  "quern.h: 'Exactly once when this returns QN_OK, not at all when it fails'; adapter.h: queue_wait from a " \
  "thread of the library's"

static const cts_test tests[] = {
    {"callbacks_come_once_and_in_order", once_and_in_order, 0, 0, ONCE},
    {"a_callback_is_never_early", never_early, 0, 0,
     "quern.h: 'Calls `function` once when a point of this queue is complete or has failed'"},
    {"complete_points_call_too", complete_points, 0, 0, ONCE},
    {"callbacks_submit_and_ask_for_more", callbacks_submit, 0, 0,
     "quern.h: 'A callback may call everything but qn_runtime_close'"},
    {"callbacks_do_not_wait", callbacks_do_not_wait, 0, 0,
     "quern.h: 'What would have to wait there is QN_ERROR_WOULD_BLOCK instead'"},
    {"released_queues_call", released_queues_call, 0, 0,
     "quern.h: 'The queue lives until they have returned, whoever has released it.'"},
    {"callbacks_release_their_queue", callbacks_release, 0, 0,
     "quern.h: 'A callback may call everything but qn_runtime_close'"},
    {"closing_waits_for_callbacks", closing_calls_all, 0, 0, "docs/runtime.md: 'closing the runtime waits for them'"},
    {"a_drain_waits_for_callbacks_of_released_queues", drain_waits_for_callbacks, CTS_NEEDS_CONTROL, 0,
     "quern.h: 'Returns when the driver holds nothing of ours for this device but what lives.'"},
    {"a_failure_is_told_to_the_callback", failures_are_told, CTS_NEEDS_FAULTS, 0,
     "quern.h: 'the cause of its failure (qn_error_text has its words)'"},
    {"descriptors_become_readable", descriptors, 0, 0,
     "quern.h: 'a descriptor that becomes readable when a point of this queue (NULL: its last) is complete or has "
     "failed'"},
    {"points_of_other_queues_are_refused", wrong_points, 0, 0,
     "quern.h: 'INVALID_ARGUMENT (a point of another queue, or not given out)'"},
};

CTS_SUITE(callbacks, "callbacks and descriptors at a point");
