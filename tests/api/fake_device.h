/* fake_device.h - opens a device of the adapter that does as it is told (tests/plugins/fake.c). */
#ifndef QUERN_TEST_FAKE_DEVICE_H
#define QUERN_TEST_FAKE_DEVICE_H

#include "fake.h"
#include "support.h"

typedef struct fixture {
  test_device t;
  fake_control *control;
} fixture;

/* Field by field: the end of the last test's runtime may still be looking at them. */
static inline void reset(fake_control *c) {
  c->fail_at = c->fail_queue = c->open_queue = 0;
  c->reject_submits = c->capacity = c->refuse_destroy = c->no_memory = 0;
  c->block_destroy = c->block_open = c->blocked = c->closed_over = c->watch = c->watched_calls = 0;
  c->memories = c->queues = c->waits = 0;
  c->devices = 1;
  c->allowed = UINT64_MAX;
}

static inline fixture open_fake(void) {
  fixture f = {0};
  uint64_t native = 0;
  qn_runtime_options o = QN_INIT(qn_runtime_options);
  o.adapter_path = QUERN_BINARY_DIR "/tests/plugins/fake";
  OK(qn_runtime_open(&o, &f.t.runtime));
  OK(qn_device_open(f.t.runtime, "fake", &f.t.device));
  OK(qn_native_handle(f.t.device, 0, &native));
  f.control = (fake_control *)(uintptr_t)native;
  reset(f.control);
  return f;
}

static inline void close_fake(fixture *f) {
  fake_control *control = f->control;
  control->allowed = UINT64_MAX;
  test_close(&f->t);
  assert_int_equal(control->memories, 0);
  assert_int_equal(control->queues, 0);
  assert_int_equal(control->devices, 0);
  assert_int_equal(control->closed_over, 0);
}

static inline qn_point fill(qn_queue queue, qn_buffer buffer, char byte) {
  qn_view view = test_view(buffer, 0, QN_WHOLE);
  qn_point point = {0, 0};
  OK(qn_fill(queue, &view, &byte, 1, &point));
  return point;
}

#endif
