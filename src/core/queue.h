/* queue.h - in-order streams: recording commands, with the waits for other queues that they need. */
#ifndef QUERN_CORE_QUEUE_H
#define QUERN_CORE_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/call.h"
#include "core/device.h"
#include "core/launch_image.h"
#include "core/object.h"
#include "core/timeline.h"
#include "core/trace.h"
#include "core/tracking.h"
#include "quern/adapter.h"

typedef struct core_queue {
  core_object object;
  core_device *device; /* held */
  uint64_t id;
  core_timeline *timeline;
  qn_adapter_queue *native;
  uint64_t submit_timeout_ns;         /* QN_FOREVER: no limit */
  struct core_queue *previous, *next; /* the device's list */
  uint64_t launches, copies, fills;   /* under the timeline's lock */
  struct qn_pool_lane *lane;
  enum { CORE_QUEUE_WORKS, CORE_QUEUE_RETIRED } stage; /* the reaper's */
  core_caller caller;
  core_image_list images;
  core_trace_queue trace;
} core_queue;

/* Pins a queue for a call. Unpin with qn_handle_unpin(handle). */
QN_MUST_USE qn_status core_queue_pin(qn_queue handle, core_queue **out_queue);

/* Records one command, after the waits that its uses of buffers need. Waits on the host only when the queue is full.
 * `kernel` (a name that lives as long as the device, or NULL) is for the text of a failure. `command->value` is set here.
 * `out_point` may be NULL. The queue and all that the command names are pinned. Errors: TIMEOUT, LIMIT, the cause of a
 * queue that has failed, what the adapter says. */
QN_MUST_USE qn_status core_queue_record(core_queue *queue, core_use *uses, uint32_t use_count,
                                        qn_adapter_command *command, const char *kernel, qn_point *out_point);

/* A command that does nothing, for calls of size 0. */
QN_MUST_USE qn_status core_queue_mark(core_queue *queue, qn_point *out_point);

#endif
