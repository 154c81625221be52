/* suite_loss.c - a device is lost: all that touch it hear of it, and the rest of the process goes on. */
#include <pthread.h>
#include <string.h>

#include "control.h"
#include "cts.h"

typedef struct lost_device {
  qn_runtime runtime;
  qn_device device;
  const null_control *control;
  qn_queue queues[3];
  qn_buffer buffers[3], idle;
  qn_point points[3]; /* in flight when it happens */
} lost_device;

static void start(cts *c, lost_device *d) {
  d->device = cts_fragile_device(c, &d->runtime);
  d->control = cts_control(c, d->device);
  for (int i = 0; i < 3; i++) {
    d->queues[i] = cts_queue_on(c, d->device);
    d->buffers[i] = cts_buffer_on(c, d->device, 3000);
  }
  d->idle = cts_buffer_on(c, d->device, 64);
  d->control->hold(d->control->device, 0, 1);
  for (int i = 0; i < 3; i++) d->points[i] = cts_fill(d->queues[i], d->buffers[i], 1);
}

static void lose(const lost_device *d) {
  d->control->lose(d->control->device, "somebody pulled the plug");
  d->control->go(d->control->device, 0);
}

static void waits_hear_of_it(cts *c) {
  lost_device d;
  start(c, &d);
  lose(&d);
  for (int round = 0; round < 2; round++)
    for (int i = 0; i < 3; i++) {
      CTS_FAILS(qn_point_wait(&d.points[i], CTS_PATIENCE), QN_ERROR_DEVICE_LOST, "pulled the plug");
      CTS_GIVES(qn_queue_finish(d.queues[i], CTS_PATIENCE), QN_ERROR_DEVICE_LOST);
    }
}

static void calls_hear_of_it(cts *c) {
  lost_device d;
  unsigned char host[3000] = {0};
  qn_queue queue = NULL;
  start(c, &d);
  lose(&d);
  for (int i = 0; i < 3; i++) {
    const qn_view view = cts_view(d.buffers[i], 0, QN_WHOLE);
    CTS_GIVES(qn_point_wait(&d.points[i], CTS_PATIENCE), QN_ERROR_DEVICE_LOST);
    CTS_GIVES(qn_fill(d.queues[i], &view, "x", 1, NULL), QN_ERROR_DEVICE_LOST);
    CTS_GIVES(qn_write(d.queues[i], &view, host, NULL), QN_ERROR_DEVICE_LOST);
    CTS_GIVES(qn_read(d.queues[i], &view, host, NULL), QN_ERROR_DEVICE_LOST);
  }
  const qn_view idle = cts_view(d.idle, 0, QN_WHOLE); /* nothing was in flight for it */
  void *pointer = NULL;
  CTS_GIVES(qn_buffer_map(&idle, QN_MAP_READ, CTS_PATIENCE, &pointer), QN_ERROR_DEVICE_LOST);
  qn_status status = qn_queue_create(d.device, NULL, &queue); /* now or at its first command */
  if (status == QN_OK) {
    const qn_view view = cts_view(d.buffers[0], 0, QN_WHOLE);
    qn_point point = {0, 0};
    cts_keep(c, queue);
    status = qn_fill(queue, &view, "x", 1, &point);
    if (status == QN_OK) status = qn_point_wait(&point, CTS_PATIENCE);
  }
  CTS_TRUE(status == QN_ERROR_DEVICE_LOST, "a new queue of a lost device gives QN_ERROR_DEVICE_LOST, not %s",
           qn_status_name(status));
}

static void wait_for_loss(cts *c, uint32_t index, void *user) {
  const lost_device *d = user;
  (void)c;
  if (index == 3) {
    cts_sleep_ns(20 * CTS_MILLISECOND);
    lose(d);
  } else {
    CTS_GIVES(qn_point_wait(&d->points[index], CTS_PATIENCE), QN_ERROR_DEVICE_LOST);
  }
}

static void waiting_threads_wake(cts *c) {
  lost_device d;
  start(c, &d);
  cts_threads(c, 4, wait_for_loss, &d);
}

static void the_rest_goes_on(cts *c) {
  lost_device d;
  unsigned char out[3000];
  start(c, &d);
  lose(&d);
  CTS_GIVES(qn_queue_finish(d.queues[0], CTS_PATIENCE), QN_ERROR_DEVICE_LOST);
  qn_queue queue = cts_queue(c);
  qn_buffer buffer = cts_buffer(c, sizeof out);
  for (int i = 0; i < 20; i++) {
    cts_fill(queue, buffer, (unsigned char)i);
    cts_get(queue, buffer, out, sizeof out);
    CTS_FILLED("a buffer of a device beside a lost one", out, (unsigned char)i, sizeof out);
  }
  for (uint32_t i = 0; i < c->other_count; i++) {
    qn_queue other = cts_queue_on(c, c->others[i]);
    qn_buffer their = cts_buffer_on(c, c->others[i], sizeof out);
    cts_fill(other, their, 77);
    cts_get(other, their, out, sizeof out);
    CTS_FILLED("a buffer of another adapter beside a lost device", out, 77, sizeof out);
  }
}

static void everything_can_be_released(cts *c) {
  for (int i = 0; i < 16; i++) {
    lost_device d;
    start(c, &d);
    if (i % 2) lose(&d);
    const void *handles[] = {d.queues[0], d.buffers[1], d.device,     d.buffers[0],
                             d.queues[2], d.queues[1],  d.buffers[2], d.idle};
    for (int h = 0; h < 8; h++) cts_drop(c, handles[(h + i) % 8]);
    if (!(i % 2)) lose(&d);
    for (int p = 0; p < 3; p++) CTS_GIVES(qn_point_wait(&d.points[p], CTS_PATIENCE), QN_ERROR_DEVICE_LOST);
    qn_status status = qn_runtime_close(d.runtime, CTS_PATIENCE); /* tells what the driver refused, if it did */
    CTS_TRUE(status == QN_OK || status == QN_ERROR_DEVICE_LOST || status == QN_ERROR_DEVICE,
             "closing the runtime of a lost device ends, with QN_OK or what the driver refused, not %s",
             qn_status_name(status));
    cts_forget(c, d.runtime);
    cts_pass_over_leaks();
    for (int p = 0; p < 3; p++) CTS_GIVES(qn_point_wait(&d.points[p], QN_POLL), QN_ERROR_DEVICE_LOST);
  }
}

static void it_opens_again(cts *c) {
  lost_device d;
  unsigned char out[100];
  start(c, &d);
  lose(&d);
  CTS_GIVES(qn_queue_finish(d.queues[0], CTS_PATIENCE), QN_ERROR_DEVICE_LOST);
  qn_device device = cts_fragile_device(c, NULL);
  qn_queue queue = cts_queue_on(c, device);
  qn_buffer buffer = cts_buffer_on(c, device, sizeof out);
  cts_fill(queue, buffer, 4);
  cts_get(queue, buffer, out, sizeof out);
  CTS_FILLED("a buffer of a device that was opened after a loss", out, 4, sizeof out);
}

#define LOST                                                                                                       \
  "quern.h: QN_ERROR_DEVICE_LOST, 'device lost'; adapter.h: cause of qn_adapter_progress, and the status of each " \
  "function"

static const cts_test tests[] = {
    {"every_wait_hears_of_it", waits_hear_of_it, CTS_NEEDS_CONTROL, 0, LOST},
    {"every_call_hears_of_it", calls_hear_of_it, CTS_NEEDS_CONTROL, 0, LOST},
    {"threads_that_wait_wake", waiting_threads_wake, CTS_NEEDS_CONTROL, 0,
     "adapter.h: queue_wait: 'Waits until `value` is complete, done or failed.'"},
    {"other_devices_go_on", the_rest_goes_on, CTS_NEEDS_CONTROL, 0,
     "adapter.h: 'Failure domain: who fails together (L7).'"},
    {"everything_can_be_released", everything_can_be_released, CTS_NEEDS_CONTROL, 0,
     "quern.h: 'every order of release is right'; adapter.h: device_close of a lost device"},
    {"the_device_opens_again", it_opens_again, CTS_NEEDS_CONTROL, 0,
     "adapter.h: instance_open 'May be called again after a close or a failed open.'"},
};

CTS_SUITE(loss, "a device is lost: all that touch it hear of it, the rest goes on");
