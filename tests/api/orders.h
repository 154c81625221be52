/* orders.h - every order of {runtime, device, queue, buffer, program, kernel}, and a life that ends in such an order with
 * work in flight. */
#ifndef QUERN_TEST_ORDERS_H
#define QUERN_TEST_ORDERS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "support.h"
#include "support/process.h"

/* ---- Orders ------------------------------------------------------------------------------------- */

typedef struct orders {
  int count;    /* of things */
  int place[6]; /* the present order */
  bool begun;
} orders;

static orders orders_of(int count) {
  orders o = {.count = count};
  for (int i = 0; i < count; i++) o.place[i] = i;
  return o;
}

/* The next order by the numbers; false after the last. */
static bool orders_next(orders *o) {
  int i = o->count - 2, j = o->count - 1, *p = o->place;
  if (!o->begun) return o->begun = true;
  while (i >= 0 && p[i] > p[i + 1]) i--;
  if (i < 0) return false;
  while (p[j] < p[i]) j--;
  int swap = p[i];
  p[i] = p[j], p[j] = swap;
  for (int a = i + 1, b = o->count - 1; a < b; a++, b--) swap = p[a], p[a] = p[b], p[b] = swap;
  return true;
}

/* ---- A life ------------------------------------------------------------------------------------- */

/* Waits for the host, where a device runs it while the host goes on; then adds. */
static const char orders_source[] =
    "kernel void hold(global const volatile int *go) { while (!*go) continue; }\n"
    "kernel void add(global int *sum, int a) { sum[get_global_id(0)] += a; }\n";

enum { SUMS = 1000, LAUNCHES = 4 };

typedef struct life {
  test_device t;
  qn_queue queue;
  qn_buffer buffer;
  qn_program program;
  qn_kernel add;
  _Atomic int32_t go;
  int32_t out[SUMS];
  qn_point done;
} life;

/* `audit` stands in front of cpu. */
static bool is_processor(const char *selector) {
  return strcmp(selector, "cpu") == 0 || strcmp(selector, "audit") == 0;
}
static bool has_kernels(const char *selector) { return strcmp(selector, "null") != 0; }

/* The queue stands still from here on, until `go`. The buffer and the kernel go at once: work in flight keeps them. */
static void hold(life *l) {
  qn_kernel kernel = NULL;
  qn_buffer flag = NULL;
  qn_buffer_options o = QN_INIT(qn_buffer_options);
  o.memory = QN_MEMORY_WRAP;
  o.host_pointer = (void *)&l->go;
  o.size_bytes = sizeof l->go;
  OK(qn_buffer_create(l->t.device, &o, &flag));
  OK(qn_kernel_get(l->program, "hold", &kernel));
  OK(qn_launch(l->queue, kernel, QN_RANGE_1D(1), QN_ARGS(flag), NULL));
  OK(qn_release(flag));
  OK(qn_release(kernel));
}

static void start_life(life *l, const char *selector) {
  qn_program_options o = QN_INIT(qn_program_options);
  o.source = orders_source;
  l->t = test_open(selector);
  l->queue = test_queue(l->t.device);
  l->buffer = test_buffer(l->t.device, sizeof l->out);
  if (has_kernels(selector)) {
    OK(qn_program_build(l->t.device, &o, &l->program));
    OK(qn_kernel_get(l->program, "add", &l->add));
  }
  if (is_processor(selector)) hold(l);
}

static void submit_work(life *l) {
  qn_view view = test_view(l->buffer, 0, QN_WHOLE);
  int32_t number = l->add ? 0 : LAUNCHES;
  OK(qn_fill(l->queue, &view, &number, sizeof number, NULL));
  for (int i = 0; i < LAUNCHES && l->add; i++)
    OK(qn_launch(l->queue, l->add, QN_RANGE_1D(SUMS), QN_ARGS(l->buffer, 1), NULL));
  OK(qn_read(l->queue, &view, l->out, &l->done));
}

/* Releases in an order, or closes the runtime when its turn comes: then every handle is stale. */
static void end_life(life *l, const orders *order, bool closes) {
  const void *all[] = {l->t.runtime, l->t.device, l->queue, l->buffer, l->program, l->add};
  bool is_closed = false;
  for (int i = 0; i < order->count; i++) {
    const void *handle = all[order->place[i]];
    if (closes && handle == l->t.runtime) {
      l->go = 1; /* closing waits for the work */
      OK(qn_runtime_close(l->t.runtime, PATIENCE));
      is_closed = true;
    } else if (is_closed) {
      FAILS(qn_release(handle), QN_ERROR_INVALID_HANDLE, "stale");
    } else {
      OK(qn_release(handle));
    }
  }
  for (int i = 0; i < order->count; i++) FAILS(qn_release(all[i]), QN_ERROR_INVALID_HANDLE, "stale");
}

static void release_in_order(const char *selector, const orders *order, bool closes) {
  life l = {0};
  start_life(&l, selector);
  submit_work(&l);
  if (is_processor(selector)) assert_int_equal(qn_point_wait(&l.done, QN_POLL), QN_NOT_READY);
  end_life(&l, order, closes);
  if (is_processor(selector) && !closes) assert_int_equal(qn_point_wait(&l.done, QN_POLL), QN_NOT_READY);
  l.go = 1;
  OK(qn_point_wait(&l.done, PATIENCE));
  for (int i = 0; i < SUMS; i++) assert_int_equal(l.out[i], LAUNCHES);
}

#endif
