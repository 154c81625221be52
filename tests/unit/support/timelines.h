/* timelines.h - timelines of queues without a device: a test says how far each is. */
#ifndef QUERN_TEST_TIMELINES_H
#define QUERN_TEST_TIMELINES_H

#include <stdint.h>
#include <string.h>

#include "base/status.h"
#include "core/timeline.h"
/* After the test's own includes of cmocka. */

struct qn_adapter_queue {
  uint64_t completed, failed_first;
};

static inline qn_status tl_completed(qn_adapter_queue *queue, uint64_t *out_value) {
  *out_value = queue->completed;
  return queue->failed_first ? QN_ERROR_DEVICE : QN_OK;
}
static inline qn_status tl_progress(qn_adapter_queue *queue, qn_adapter_progress *out_progress) {
  out_progress->completed = queue->completed;
  out_progress->failed_first = queue->failed_first;
  out_progress->cause = queue->failed_first ? QN_ERROR_DEVICE : QN_OK;
  return QN_OK;
}
static const qn_adapter_table tl_table = {
    .struct_size = sizeof tl_table, .queue_completed = tl_completed, .queue_progress = tl_progress};
static core_failure_domain tl_domain = {.kind = QN_FAILURE_QUEUE};

typedef struct tl_queue {
  uint64_t id;
  core_timeline *timeline;
  qn_adapter_queue queue;
} tl_queue;

static inline void tl_open(tl_queue *q, uint64_t submitted) {
  q->queue = (qn_adapter_queue){0, 0};
  assert_int_equal(core_timeline_reserve(&q->timeline, &q->id), QN_OK);
  const core_timeline_source source = {.device = q, .domain = &tl_domain, .table = &tl_table, .queue = &q->queue};
  core_timeline_start(q->timeline, q->id, &source);
  atomic_store(&q->timeline->submitted, submitted);
}

static inline void tl_close(tl_queue *q) {
  q->queue.completed = atomic_load(&q->timeline->submitted);
  core_timeline_refresh(q->timeline);
  core_timeline_retire(q->timeline);
  core_timeline_free(q->timeline);
}

static inline void tl_complete(tl_queue *q, uint64_t value) {
  q->queue.completed = value;
  core_timeline_refresh(q->timeline);
}

#endif
