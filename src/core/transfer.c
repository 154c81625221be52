/* transfer.c - copies, fills, writes and reads. */
#include <stddef.h>

#include "base/handle.h"
#include "base/status.h"
#include "core/buffer.h"
#include "core/exit.h"
#include "core/queue.h"

/* A pinned view. */
typedef struct place {
  qn_view view; /* the caller's, copied; QN_WHOLE put in numbers */
  core_buffer *buffer;
} place;

static qn_status pin_place(core_queue *queue, const qn_view *view, const char *what, place *out) {
  if (!view) QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "%s is NULL", what);
  out->view = *view;
  QN_TRY(core_buffer_pin(out->view.buffer, what, &out->buffer));
  qn_status status = core_device_match(queue->device, out->buffer->device, what);
  if (status == QN_OK)
    status = core_buffer_range(out->buffer, out->view.offset_bytes, out->view.size_bytes, what, &out->view.size_bytes);
  if (status < 0) qn_handle_unpin(out->view.buffer);
  return status;
}

static void unpin_place(const place *p) { qn_handle_unpin(p->view.buffer); }

/* ---- Copy --------------------------------------------------------------------------------------- */

static qn_status check_copy(const place *target, const place *source) {
  uint64_t size = target->view.size_bytes;
  if (size != source->view.size_bytes)
    QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "target has %llu bytes and source %llu; a copy takes views of equal size",
            (unsigned long long)size, (unsigned long long)source->view.size_bytes);
  uint64_t t = target->view.offset_bytes, s = source->view.offset_bytes;
  if (target->buffer == source->buffer && size > 0 && t < s + size && s < t + size)
    QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "target (bytes %llu to %llu) and source (%llu to %llu) overlap",
            (unsigned long long)t, (unsigned long long)(t + size), (unsigned long long)s,
            (unsigned long long)(s + size));
  return QN_OK;
}

static qn_status record_copy(core_queue *queue, const place *target, const place *source, qn_point *out_point) {
  QN_TRY(check_copy(target, source));
  if (target->view.size_bytes == 0) return core_queue_mark(queue, out_point);
  qn_adapter_command command = {.struct_size = sizeof command,
                                .kind = QN_COMMAND_COPY,
                                .target = target->buffer->block.memory,
                                .source = source->buffer->block.memory,
                                .target_offset = target->view.offset_bytes,
                                .source_offset = source->view.offset_bytes,
                                .size_bytes = target->view.size_bytes};
  core_use uses[2];
  core_buffer_use(target->buffer, QN_ACCESS_WRITE, &uses[0]);
  core_buffer_use(source->buffer, QN_ACCESS_READ, &uses[1]);
  return core_queue_record(queue, uses, 2, &command, NULL, out_point);
}

static qn_status copy_views(core_queue *queue, const qn_view *target, const qn_view *source, qn_point *out_point) {
  place to, from;
  QN_TRY(pin_place(queue, target, "target", &to));
  qn_status status = pin_place(queue, source, "source", &from);
  if (status == QN_OK) {
    status = record_copy(queue, &to, &from, out_point);
    unpin_place(&from);
  }
  unpin_place(&to);
  return status;
}

static qn_status copy(qn_queue handle, const qn_view *target, const qn_view *source, qn_point *out_point) {
  core_queue *queue = NULL;
  QN_TRY(core_queue_pin(handle, &queue));
  qn_status status = copy_views(queue, target, source, out_point);
  qn_handle_unpin(handle);
  return status;
}

qn_status qn_copy(qn_queue queue, const qn_view *target, const qn_view *source, qn_point *out_point) {
  CORE_CALL(copy(queue, target, source, out_point));
}

/* ---- Fill, write, read: one view ---------------------------------------------------------------- */

typedef struct transfer {
  uint32_t kind;    /* QN_COMMAND_... */
  uint32_t access;  /* to the view */
  const char *what; /* the view's name */
  void *host;
  const void *pattern;
  uint32_t pattern_bytes;
} transfer;

static qn_status check_fill(const transfer *t, const place *target) {
  uint32_t bytes = t->pattern_bytes;
  if (!t->pattern) QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "pattern is NULL");
  if (bytes == 0 || bytes > 128 || (bytes & (bytes - 1)) != 0)
    QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "pattern_bytes is %u; it is 1, 2, 4, 8, 16, 32, 64 or 128", bytes);
  if (target->view.size_bytes % bytes != 0)
    QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "target has %llu bytes, which is no multiple of pattern_bytes %u",
            (unsigned long long)target->view.size_bytes, bytes);
  return QN_OK;
}

static qn_status check_host(const transfer *t, const place *view) {
  const char *name = t->kind == QN_COMMAND_READ ? "target" : "source";
  uint64_t bytes = view->view.size_bytes;
  if (bytes == 0) return QN_OK;
  if (!t->host) QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "%s, the host memory, is NULL", name);
  if (bytes > UINTPTR_MAX - (uintptr_t)t->host)
    QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "%s, the host memory at %p with %llu bytes, goes past the end of memory", name,
            t->host, (unsigned long long)bytes);
  return QN_OK;
}

static qn_status record_transfer(core_queue *queue, const transfer *t, const place *view, qn_point *out_point) {
  QN_TRY(t->kind == QN_COMMAND_FILL ? check_fill(t, view) : check_host(t, view));
  if (view->view.size_bytes == 0) return core_queue_mark(queue, out_point);
  bool reads = t->kind == QN_COMMAND_READ;
  qn_adapter_memory *memory = view->buffer->block.memory;
  qn_adapter_command command = {.struct_size = sizeof command,
                                .kind = t->kind,
                                .target = reads ? NULL : memory,
                                .source = reads ? memory : NULL,
                                .target_offset = reads ? 0 : view->view.offset_bytes,
                                .source_offset = reads ? view->view.offset_bytes : 0,
                                .size_bytes = view->view.size_bytes,
                                .host = t->host,
                                .pattern = t->pattern,
                                .pattern_bytes = t->pattern_bytes};
  core_use use;
  core_buffer_use(view->buffer, t->access, &use);
  return core_queue_record(queue, &use, 1, &command, NULL, out_point);
}

static qn_status run_transfer(qn_queue handle, const transfer *t, const qn_view *view, qn_point *out_point) {
  core_queue *queue = NULL;
  place pinned;
  QN_TRY(core_queue_pin(handle, &queue));
  qn_status status = pin_place(queue, view, t->what, &pinned);
  if (status == QN_OK) {
    status = record_transfer(queue, t, &pinned, out_point);
    unpin_place(&pinned);
  }
  qn_handle_unpin(handle);
  return status;
}

qn_status qn_fill(qn_queue queue, const qn_view *target, const void *pattern, uint32_t pattern_bytes,
                  qn_point *out_point) {
  const transfer t = {.kind = QN_COMMAND_FILL,
                      .access = QN_ACCESS_WRITE,
                      .what = "target",
                      .pattern = pattern,
                      .pattern_bytes = pattern_bytes};
  CORE_CALL(run_transfer(queue, &t, target, out_point));
}

qn_status qn_write(qn_queue queue, const qn_view *target, const void *source, qn_point *out_point) {
  const transfer t = {
      .kind = QN_COMMAND_WRITE, .access = QN_ACCESS_WRITE, .what = "target", .host = (void *)(uintptr_t)source};
  CORE_CALL(run_transfer(queue, &t, target, out_point));
}

qn_status qn_read(qn_queue queue, const qn_view *source, void *target, qn_point *out_point) {
  const transfer t = {.kind = QN_COMMAND_READ, .access = QN_ACCESS_READ, .what = "source", .host = target};
  CORE_CALL(run_transfer(queue, &t, source, out_point));
}
