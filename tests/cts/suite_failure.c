/* suite_failure.c - a command that fails gives its cause at every wait from there on, and nothing else fails with it. */
#include <string.h>

#include "control.h"
#include "cts.h"

/* A queue whose second command fails, between two that are well and one that comes to nothing. */
typedef struct failed_queue {
  qn_runtime runtime;
  qn_device device;
  qn_queue queue;
  qn_buffer buffer;
  qn_point first, failed, later;
} failed_queue;

static failed_queue fail_a_queue(cts *c) {
  failed_queue f = {0};
  f.device = cts_fragile_device(c, &f.runtime);
  f.queue = cts_queue_on(c, f.device);
  f.buffer = cts_buffer_on(c, f.device, 1000);
  f.first = cts_fill(f.queue, f.buffer, 1);
  f.failed = cts_fault(c, f.device, f.queue);
  /* The failure may be known by now, and then the call has its cause. */
  const qn_view view = cts_view(f.buffer, 0, QN_WHOLE);
  f.later = f.failed;
  qn_status status = qn_fill(f.queue, &view, "x", 1, &f.later);
  CTS_TRUE(status == QN_OK || status == QN_ERROR_DEVICE,
           "a command behind one that fails is taken, or has the cause, not %s", qn_status_name(status));
  return f;
}

static void cause_at_each_wait(cts *c) {
  const failed_queue f = fail_a_queue(c);
  for (int i = 0; i < 3; i++) {
    cts_wait(&f.first);
    CTS_FAILS(qn_point_wait(&f.failed, CTS_PATIENCE), QN_ERROR_DEVICE, "value 2");
    CTS_FAILS(qn_point_wait(&f.later, CTS_PATIENCE), QN_ERROR_DEVICE, "value 2");
    CTS_FAILS(qn_queue_finish(f.queue, CTS_PATIENCE), QN_ERROR_DEVICE, "value 2");
    CTS_FAILS(qn_point_wait(&f.failed, QN_POLL), QN_ERROR_DEVICE, "value 2");
  }
}

static void failed_queue_takes_nothing(cts *c) {
  const failed_queue f = fail_a_queue(c);
  CTS_GIVES(qn_queue_finish(f.queue, CTS_PATIENCE), QN_ERROR_DEVICE);
  qn_point before = {0, 0}, after = {0, 0}, point = {7, 8};
  unsigned char host[1000] = {0};
  const qn_view view = cts_view(f.buffer, 0, QN_WHOLE);
  CTS_OK(qn_queue_last(f.queue, &before));
  CTS_GIVES(qn_fill(f.queue, &view, "x", 1, &point), QN_ERROR_DEVICE);
  CTS_GIVES(qn_write(f.queue, &view, host, &point), QN_ERROR_DEVICE);
  CTS_GIVES(qn_read(f.queue, &view, host, &point), QN_ERROR_DEVICE);
  CTS_OK(qn_queue_last(f.queue, &after));
  CTS_SAME("the last value of a failed queue after commands that were refused", after.value, before.value);
  CTS_SAME("the point of a command that was refused", point.queue, 7);
}

static void others_go_on(cts *c) {
  const failed_queue f = fail_a_queue(c);
  unsigned char out[1000];
  CTS_GIVES(qn_queue_finish(f.queue, CTS_PATIENCE), QN_ERROR_DEVICE);
  qn_queue other = cts_queue_on(c, f.device);
  cts_fill(other, f.buffer, 5); /* the failed queue used it too */
  cts_get(other, f.buffer, out, sizeof out);
  CTS_FILLED("a buffer that a failed queue used before", out, 5, sizeof out);
  qn_queue mine = cts_queue(c); /* another opening */
  qn_buffer buffer = cts_buffer(c, sizeof out);
  cts_fill(mine, buffer, 6);
  cts_get(mine, buffer, out, sizeof out);
  CTS_FILLED("a buffer of another opening of the device", out, 6, sizeof out);
}

static void waits_for_it_are_over(cts *c) {
  const failed_queue f = fail_a_queue(c);
  unsigned char out[1000];
  qn_queue other = cts_queue_on(c, f.device);
  cts_fill(other, f.buffer, 9); /* waits on the device for the failed queue's use */
  cts_get(other, f.buffer, out, sizeof out);
  CTS_FILLED("what a queue wrote that had to wait for a failed one", out, 9, sizeof out);
  CTS_GIVES(qn_point_wait(&f.failed, CTS_PATIENCE), QN_ERROR_DEVICE);
  CTS_GIVES(qn_queue_wait(other, &f.failed, 1), QN_ERROR_DEVICE);
  CTS_OK(qn_queue_wait(other, &f.first, 1));
}

/* ---- Waits of a queue that has failed -------------------------------------------------------------- */

/* Work that takes so many turns or, where the device can be told, is held until it is let go. */
static void occupy(cts *c, qn_device device, qn_queue queue, uint32_t turns) {
  static const char source[] =
      "kernel void spin(global uint *out, uint turns) {\n"
      "  for (uint i = 0; i < turns; i++) out[0] = out[0] * 1664525u + i;\n"
      "}\n";
  const null_control *control = cts_control_of(device, &c->info);
  qn_point last = {0, 0};
  CTS_OK(qn_queue_last(queue, &last));
  if (control) {
    control->hold(control->device, last.queue, last.value + 1);
    cts_go_later(c, control, last.queue, turns * UINT64_C(100));
    return;
  }
  qn_kernel spin = cts_kernel(c, cts_make_program(CTS_HERE, c, device, source), "spin");
  qn_buffer out = cts_buffer_on(c, device, sizeof(uint32_t));
  cts_fill(queue, out, 0);
  CTS_OK(qn_launch(queue, spin, QN_RANGE_1D(1), QN_ARGS(out, turns), NULL));
}

/* A slow queue uses a buffer, then one that fails, then a third one. The third waits for the failed one alone, which had to wait for
 * the slow one. False: the slow queue was done too early to tell, or the failed one had failed before it got its wait. */
static bool third_waits_for_first(cts *c, qn_device device, uint32_t turns) {
  enum { SIZE = 1 << 16 };
  qn_queue slow = cts_queue_on(c, device), failing = cts_queue_on(c, device), third = cts_queue_on(c, device);
  qn_buffer buffer = cts_buffer_on(c, device, SIZE);
  const qn_view view = cts_view(buffer, 0, QN_WHOLE);
  unsigned char out[SIZE];
  occupy(c, device, slow, turns);
  qn_point first = cts_fill(slow, buffer, 1);
  occupy(c, device, failing, turns / 8);
  qn_point failed = cts_fault(c, device, failing);
  if (qn_fill(failing, &view, "\2", 1, NULL) < 0) return false;
  CTS_GIVES(qn_point_wait(&failed, CTS_PATIENCE), QN_ERROR_DEVICE);
  qn_point last = cts_fill(third, buffer, 3);
  qn_status early = qn_point_wait(&last, 5 * CTS_MILLISECOND);
  bool told = qn_point_wait(&first, QN_POLL) == QN_NOT_READY;
  CTS_TRUE(
      !told || early == QN_ERROR_TIMEOUT,
      "a command that waits for a failed queue, while what that one had to wait for is not complete, is not complete "
      "either, but it gives %s",
      qn_status_name(early));
  cts_finish(third);
  cts_wait(&first);
  cts_get(third, buffer, out, SIZE);
  CTS_FILLED("a buffer that three queues used one after the other, the second of which failed", out, 3, SIZE);
  return told;
}

static void keeps_waits(cts *c) {
  uint64_t told = 0, wanted = cts_count(c, 3, 100);
  uint32_t turns = 20000;
  qn_device device = cts_fragile_device(c, NULL);
  for (int i = 0; told < wanted && i < 1000; i++) {
    bool is_told = third_waits_for_first(c, device, turns);
    told += is_told;
    if (!is_told && turns < 5000000) turns *= 2;
  }
  CTS_TRUE(told == wanted, "a slow queue outlasts one that fails, in some of 1000 tries");
}

static void failed_for_ever(cts *c) {
  failed_queue f = fail_a_queue(c);
  CTS_GIVES(qn_point_wait(&f.failed, CTS_PATIENCE), QN_ERROR_DEVICE);
  cts_drop(c, f.queue);
  CTS_OK(qn_device_drain(f.device, CTS_PATIENCE));
  for (int i = 0; i < 100; i++) cts_drop(c, cts_queue_on(c, f.device)); /* places of queues are used again */
  CTS_GIVES(qn_point_wait(&f.failed, QN_POLL), QN_ERROR_DEVICE);
  cts_wait(&f.first);
  cts_close(c, f.runtime);
  CTS_FAILS(qn_point_wait(&f.failed, QN_POLL), QN_ERROR_DEVICE, "value 2");
  cts_wait(&f.first);
}

static void released_unheard(cts *c) {
  for (uint64_t i = 0; i < cts_count(c, 20, 500); i++) { /* nobody ever asks */
    const failed_queue f = fail_a_queue(c);
    if (i % 2) {
      cts_drop(c, f.device);
      cts_drop(c, f.buffer);
      cts_drop(c, f.queue);
    }
    cts_close(c, f.runtime);
  }
}

static void many_failures(cts *c) {
  enum { QUEUES = 40 };
  qn_device device = cts_fragile_device(c, NULL);
  qn_queue well = cts_queue_on(c, device);
  qn_buffer buffer = cts_buffer_on(c, device, 4096);
  qn_point failed[QUEUES];
  unsigned char out[4096];
  for (int i = 0; i < QUEUES; i++) failed[i] = cts_fault(c, device, cts_queue_on(c, device));
  cts_fill(well, buffer, 3);
  for (int i = 0; i < QUEUES; i++) CTS_GIVES(qn_point_wait(&failed[i], CTS_PATIENCE), QN_ERROR_DEVICE);
  cts_get(well, buffer, out, sizeof out);
  CTS_FILLED("a buffer of the one queue of forty-one that is well", out, 3, sizeof out);
}

static void map_gives_the_cause(cts *c) {
  const failed_queue f = fail_a_queue(c);
  void *pointer = NULL;
  CTS_GIVES(qn_queue_finish(f.queue, CTS_PATIENCE), QN_ERROR_DEVICE);
  if (f.later.value == f.failed.value) return; /* the buffer's last use was well */
  const qn_view view = cts_view(f.buffer, 0, QN_WHOLE);
  CTS_GIVES(qn_buffer_map(&view, QN_MAP_READ, CTS_PATIENCE, &pointer), QN_ERROR_DEVICE);
}

/* ---- With words of the driver ----------------------------------------------------------------------- */

static void driver_is_quoted(cts *c) {
  qn_device device = cts_fragile_device(c, NULL);
  const null_control *control = cts_control(c, device);
  qn_queue queue = cts_queue_on(c, device);
  qn_buffer buffer = cts_buffer_on(c, device, 64);
  control->fail_at(control->device, cts_queue_id(queue), 3, -777, "the fan fell off");
  for (int i = 0; i < 5; i++) {
    const qn_view view = cts_view(buffer, 0, QN_WHOLE);
    (void)!qn_fill(queue, &view, "x", 1, NULL);
  }
  CTS_FAILS(qn_queue_finish(queue, CTS_PATIENCE), QN_ERROR_DEVICE, "the fan fell off");
  CTS_SAME("the driver's code", qn_error_driver_code(), -777);
}

static void rejected_submissions(cts *c) {
  qn_device device = cts_fragile_device(c, NULL);
  const null_control *control = cts_control(c, device);
  qn_queue queue = cts_queue_on(c, device), other = cts_queue_on(c, device);
  qn_buffer buffer = cts_buffer_on(c, device, 64);
  const qn_view view = cts_view(buffer, 0, QN_WHOLE);
  uint64_t id = cts_queue_id(queue);
  for (uint64_t i = 1; i <= 30; i++) {
    qn_point point = {5, 6};
    control->reject(control->device, id, 1);
    CTS_GIVES(qn_fill(queue, &view, "x", 1, &point), QN_ERROR_DEVICE);
    CTS_SAME("the point of a command that the driver rejected", point.value, 6);
    cts_fill(other, buffer, 1); /* so that the next one has a wait in front of it */
    CTS_OK(qn_fill(queue, &view, "y", 1, &point));
    CTS_TRUE(point.value >= i && point.value <= 2 * i, "values go on without a hole where a command was rejected: %llu",
             (unsigned long long)point.value);
  }
  cts_finish(queue);
  unsigned char out[64];
  cts_get(queue, buffer, out, sizeof out);
  CTS_FILLED("the buffer after commands some of which were rejected", out, 'y', sizeof out);
}

static void refused_memory(cts *c) {
  qn_device device = cts_fragile_device(c, NULL);
  const null_control *control = cts_control(c, device);
  qn_buffer_options options = QN_INIT(qn_buffer_options);
  options.size_bytes = 12345;
  options.wait_timeout_ns = 1;
  CTS_SAME("the control takes a setting", control->set(control->device, "no_memory=1"), 0);
  for (int i = 0; i < 10; i++) {
    qn_buffer buffer = NULL;
    CTS_GIVES(qn_buffer_create(device, &options, &buffer), QN_ERROR_OUT_OF_MEMORY);
    CTS_TRUE(buffer == NULL, "a buffer that is refused gives no handle");
  }
  CTS_SAME("the control takes a setting", control->set(control->device, "no_memory=0"), 0);
  qn_queue queue = cts_queue_on(c, device);
  cts_fill(queue, cts_buffer_on(c, device, 12345), 1);
  cts_finish(queue);
}

static void hung_queue(cts *c) {
  qn_device device = cts_fragile_device(c, NULL);
  const null_control *control = cts_control(c, device);
  qn_queue hung = cts_queue_on(c, device), well = cts_queue_on(c, device);
  qn_buffer stuck = cts_buffer_on(c, device, 5000), buffer = cts_buffer_on(c, device, 5000);
  unsigned char out[5000];
  control->hold(control->device, cts_queue_id(hung), 1);
  qn_point never = cts_fill(hung, stuck, 1);
  for (int i = 0; i < 50; i++) {
    cts_fill(well, buffer, (unsigned char)i);
    cts_get(well, buffer, out, sizeof out);
    CTS_FILLED("a buffer of a queue beside one that hangs", out, (unsigned char)i, sizeof out);
  }
  CTS_GIVES(qn_point_wait(&never, 5 * CTS_MILLISECOND), QN_ERROR_TIMEOUT);
  CTS_GIVES(qn_point_wait(&never, QN_POLL), QN_NOT_READY);
  cts_drop(c, stuck);
  cts_drop(c, hung);
  CTS_GIVES(qn_device_drain(device, 5 * CTS_MILLISECOND), QN_ERROR_TIMEOUT);
  control->go(control->device, never.queue);
  cts_wait(&never);
  CTS_OK(qn_device_drain(device, CTS_PATIENCE));
}

static void domain_fails_whole(cts *c) {
  qn_runtime runtime = NULL;
  qn_device device = cts_fragile_device(c, &runtime), other = cts_device_in(c, runtime);
  const null_control *control = cts_control(c, device);
  qn_queue queues[3] = {cts_queue_on(c, device), cts_queue_on(c, device), cts_queue_on(c, device)};
  qn_point points[3];
  if (control->set(control->device, "domain=3") != 0)
    cts_fail(CTS_HERE, QN_ERROR_UNSUPPORTED, "a device whose failure domain can be set while it is open", "it can't");
  control->hold(control->device, 0, 1);
  for (int i = 0; i < 3; i++) points[i] = cts_fill(queues[i], cts_buffer_on(c, device, 64), 1);
  control->fail_at(control->device, points[1].queue, points[1].value, 11, "short circuit");
  control->go(control->device, 0);
  CTS_FAILS(qn_point_wait(&points[1], CTS_PATIENCE), QN_ERROR_DEVICE, "short circuit");
  qn_queue well = cts_queue_on(c, other);
  cts_fill(well, cts_buffer_on(c, other, 64), 1);
  cts_finish(well); /* nothing outside of it */
}

#define CAUSE                                                                                                      \
  "quern.h: 'TIMEOUT, or the cause of the first failure.'; adapter.h: failed_first: 'first value that failed, 0: " \
  "none. Everything from it on fails'"
#define ALONE "adapter.h: 'Failure domain: who fails together (L7).'; docs/runtime.md, Failures"

static const cts_test tests[] = {
    {"a_failed_command_gives_its_cause_at_each_wait", cause_at_each_wait, CTS_NEEDS_FAULTS, 0, CAUSE},
    {"a_failed_queue_takes_nothing_any_longer", failed_queue_takes_nothing, CTS_NEEDS_FAULTS, 0,
     "quern.h: qn_launch: 'the first cause of a queue that has failed'; adapter.h: queue_completed: 'from the first "
     "failure on its cause'"},
    {"other_queues_go_on", others_go_on, CTS_NEEDS_FAULTS, 0, ALONE},
    {"queues_that_wait_for_a_failed_one_go_on", waits_for_it_are_over, CTS_NEEDS_FAULTS, 0,
     "docs/writing-an-adapter.md: 'done or failed, both let the queue go on'"},
    {"a_failed_queue_keeps_its_waits", keeps_waits, CTS_NEEDS_FAULTS, 0,
     "adapter.h: 'what is complete implies all that it waited for, also after a failure of its queue'"},
    {"a_point_stays_failed_when_its_queue_and_runtime_are_gone", failed_for_ever, CTS_NEEDS_FAULTS, 0,
     "docs/runtime.md: 'A point of a queue that is gone reads as complete, or as failed with the first cause.'"},
    {"a_failure_that_nobody_asks_for_leaves_nothing", released_unheard, CTS_NEEDS_FAULTS, 0,
     "quern.h: 'every order of release is right'"},
    {"many_queues_fail_and_one_is_well", many_failures, CTS_NEEDS_FAULTS, 0, ALONE},
    {"a_map_gives_the_cause", map_gives_the_cause, CTS_NEEDS_FAULTS, 0,
     "quern.h: 'Gives the host an address of a view once the buffer's work is complete.'"},
    {"the_drivers_words_and_code_are_quoted", driver_is_quoted, CTS_NEEDS_CONTROL, 0,
     "quern.h: 'The driver's own code of the calling thread's last error'; adapter.h: driver_code and text of "
     "qn_adapter_progress"},
    {"a_rejected_submission_leaves_no_hole", rejected_submissions, CTS_NEEDS_CONTROL, 0,
     "adapter.h: queue_submit: 'When it fails nothing of the batch was taken.'"},
    {"refused_memory_is_an_error_and_no_more", refused_memory, CTS_NEEDS_CONTROL, 0,
     "quern.h: qn_buffer_create: OUT_OF_MEMORY; adapter.h: memory_create"},
    {"a_hung_queue_holds_back_its_own_alone", hung_queue, CTS_NEEDS_CONTROL, 0, ALONE},
    {"a_failure_goes_no_further_than_its_domain", domain_fails_whole, CTS_NEEDS_CONTROL, 0, ALONE},
};

CTS_SUITE(failure, "a command fails: causes, queues that go on, memory that is refused");
