#include "transfer.h"

#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "memory.h"

static uint64_t down(uint64_t n) { return n / 4 * 4; }
static uint64_t up(uint64_t n) { return (n + 3) / 4 * 4; }

/* ---- Fill --------------------------------------------------------------------------------------- */

static bool is_zero(const unsigned char *bytes, uint64_t size) {
  for (uint64_t i = 0; i < size; i++)
    if (bytes[i]) return false;
  return true;
}

enum { TILE = 1 << 20 };

/* Large fills are copies of a tile: the device's memory is faster than a kernel of a word an item. The pattern's size divides the
 * tile's, so that each copy begins where the pattern does. */
static bool wants_tile(const qn_adapter_command *c) {
  bool is_whole = c->target_offset % 4 == 0 && c->size_bytes % 4 == 0;
  return is_whole && c->size_bytes >= 4 * (uint64_t)TILE && c->pattern_bytes > 0 && TILE % c->pattern_bytes == 0;
}

static qn_status fill_by_tile(qn_adapter_device *device, const qn_adapter_command *c, wg_failure *failure) {
  qn_adapter_memory *tile = &device->tile;
  qn_status status = QN_OK;
  if (!tile->buffer) {
    status = wg_buffer_create(device, WGL_STORAGE | WGL_COPY_SOURCE | WGL_COPY_TARGET, TILE, &tile->buffer, failure);
    tile->number = atomic_fetch_add_explicit(&device->last_memory, 1, memory_order_relaxed) + 1;
    tile->size = TILE;
  }
  if (status >= 0) status = wg_bytes_fill(device, tile, 0, TILE, c->pattern, c->pattern_bytes, failure);
  if (status < 0) return status;
  for (uint64_t at = 0; at < c->size_bytes; at += TILE) {
    uint64_t left = c->size_bytes - at;
    wgl_encoder *encoder = wg_stream_encoder(device);
    if (encoder)
      WGL(device, copy, encoder, tile->buffer, 0, c->target->buffer, c->target_offset + at, left < TILE ? left : TILE);
  }
  return QN_OK;
}

static qn_status fill(qn_adapter_device *device, const qn_adapter_command *c, wg_failure *failure) {
  bool is_whole = c->target_offset % 4 == 0 && c->size_bytes % 4 == 0;
  if (wants_tile(c) && !is_zero(c->pattern, c->pattern_bytes)) return fill_by_tile(device, c, failure);
  if (!is_whole || !is_zero(c->pattern, c->pattern_bytes))
    return wg_bytes_fill(device, c->target, c->target_offset, c->size_bytes, c->pattern, c->pattern_bytes, failure);
  wgl_encoder *encoder = wg_stream_encoder(device);
  if (encoder) WGL(device, clear, encoder, c->target->buffer, c->target_offset, c->size_bytes);
  return QN_OK;
}

/* ---- Copy --------------------------------------------------------------------------------------- */

static qn_status copy(qn_adapter_device *device, const qn_adapter_command *c, wg_failure *failure) {
  bool is_whole = c->source_offset % 4 == 0 && c->target_offset % 4 == 0 && c->size_bytes % 4 == 0;
  if (!is_whole || c->source == c->target)
    return wg_bytes_copy(device, c->target, c->target_offset, c->source, c->source_offset, c->size_bytes, failure);
  wgl_encoder *encoder = wg_stream_encoder(device);
  if (encoder)
    WGL(device, copy, encoder, c->source->buffer, c->source_offset, c->target->buffer, c->target_offset, c->size_bytes);
  return QN_OK;
}

/* ---- Write -------------------------------------------------------------------------------------- */

/* Up to three bytes of a word, by a fill with themselves. */
static qn_status write_edge(qn_adapter_device *device, qn_adapter_memory *target, uint64_t at,
                            const unsigned char *bytes, uint64_t size, wg_failure *failure) {
  return size == 0 ? QN_OK : wg_bytes_fill(device, target, at, size, bytes, size, failure);
}

/* The edges first: they alone may fail. */
static qn_status write_bytes(qn_adapter_device *device, const qn_adapter_command *c, wg_failure *failure) {
  const unsigned char *bytes = c->host;
  uint64_t from = c->target_offset, to = from + c->size_bytes, first = up(from), last = down(to);
  if (first > last) return write_edge(device, c->target, from, bytes, c->size_bytes, failure);
  qn_status status = write_edge(device, c->target, from, bytes, first - from, failure);
  if (status >= 0) status = write_edge(device, c->target, last, bytes + (last - from), to - last, failure);
  if (status >= 0 && last > first)
    wg_stream_write(device, c->target->buffer, first, bytes + (first - from), last - first);
  return status;
}

/* ---- Read --------------------------------------------------------------------------------------- */

static qn_status read_bytes(qn_adapter_device *device, const qn_adapter_command *c, wg_failure *failure) {
  uint64_t from = down(c->source_offset), to = up(c->source_offset + c->size_bytes);
  wg_read *read = calloc(1, sizeof *read);
  if (!read) return wg_fail(failure, QN_ERROR_OUT_OF_HOST_MEMORY, 0, "no memory for the record of a read");
  qn_status status = wg_staging_take(device, to - from, &read->staged, failure);
  if (status < 0) {
    free(read);
    return status;
  }
  read->host = c->host;
  read->skip_bytes = c->source_offset - from;
  read->size_bytes = c->size_bytes;
  wgl_encoder *encoder = wg_stream_encoder(device);
  if (encoder) WGL(device, copy, encoder, c->source->buffer, from, read->staged->buffer, 0, to - from);
  wg_stream_read(device, read);
  return QN_OK;
}

qn_status wg_transfer(qn_adapter_device *device, const qn_adapter_command *c, wg_failure *failure) {
  if (c->size_bytes == 0) return QN_OK;
  switch (c->kind) {
    case QN_COMMAND_COPY:
      return copy(device, c, failure);
    case QN_COMMAND_FILL:
      return fill(device, c, failure);
    case QN_COMMAND_WRITE:
      return write_bytes(device, c, failure);
    default:
      return read_bytes(device, c, failure);
  }
}
