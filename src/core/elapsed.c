/* elapsed.c - device times of points. */
#include "base/status.h"
#include "core/device.h"
#include "core/exit.h"
#include "core/timeline.h"

static qn_status check_point(const core_timeline *t, const qn_point *point, const char *which) {
  if (!t->is_timed || !t->table->queue_time)
    QN_FAIL(QN_ERROR_UNSUPPORTED, "point %s is of a queue that isn't timed; make it with QN_QUEUE_TIMED", which);
  if (point->value == 0)
    QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "point %s has value 0, before the queue's first submission; it has no time",
            which);
  return QN_OK;
}

static qn_status time_of(core_timeline *t, const qn_point *point, const char *which, uint64_t *out_ns) {
  QN_TRY(check_point(t, point, which));
  switch (core_point_look(point)) {
    case CORE_POINT_COMPLETE:
      return t->table->queue_time(t->queue, point->value, out_ns);
    case CORE_POINT_FAILED:
      return core_failure_status(&t->failure);
    case CORE_POINT_PENDING:
      return QN_NOT_READY;
    case CORE_POINT_UNKNOWN:
      break;
  }
  QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "point %s was not given out", which);
}

static qn_status elapsed_live(core_timeline *ta, core_timeline *tb, const qn_point *a, const qn_point *b,
                              int64_t *out_ns) {
  uint64_t from = 0, to = 0;
  if (ta->device != tb->device)
    QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "points a and b are of two devices, which have clocks of their own");
  qn_status status = time_of(ta, a, "a", &from);
  if (status == QN_OK) status = time_of(tb, b, "b", &to);
  if (status == QN_OK) *out_ns = (int64_t)(to - from);
  return status;
}

static qn_status elapsed(const qn_point *a, const qn_point *b, int64_t *out_ns) {
  if (!a || !b || !out_ns) QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "%s is NULL", !a ? "a" : !b ? "b" : "out_ns");
  core_timeline *ta = core_timeline_begin_use(a->queue);
  core_timeline *tb = core_timeline_begin_use(b->queue);
  qn_status status;
  if (!ta || !tb)
    status = qn_error_set(QN_ERROR_INVALID_ARGUMENT, "point %s is of no living queue; times end with their queue",
                          !ta ? "a" : "b");
  else
    status = elapsed_live(ta, tb, a, b, out_ns);
  if (ta) core_timeline_end_use(ta);
  if (tb) core_timeline_end_use(tb);
  return status;
}

qn_status qn_point_elapsed(const qn_point *a, const qn_point *b, int64_t *out_ns) { CORE_CALL(elapsed(a, b, out_ns)); }
