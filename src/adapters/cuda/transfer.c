#include "transfer.h"

#include <string.h>

#include "memory.h"
#include "staging.h"

/* One command. */
typedef struct job {
  qn_adapter_queue *queue;
  const cu_functions *cu;
  cu_stream stream;
  uint32_t *taken;
  cu_failure *failure;
} job;

/* Counts a part that the driver took, or says what it refused. */
static qn_status judge(const job *j, cu_result code, const char *what, uint64_t size) {
  if (code == CU_SUCCESS) {
    ++*j->taken;
    return QN_OK;
  }
  return cu_fail(j->failure, cu_status_of(code), code, "%s of %llu bytes", what, (unsigned long long)size);
}

static uint64_t smaller(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* ---- Copy --------------------------------------------------------------------------------------- */

/* Asked once for each peer. Where a device can't reach it, the driver's copy goes through the host's memory. */
static void reach_peer(qn_adapter_device *device, const qn_adapter_device *peer) {
  uint64_t bit = UINT64_C(1) << (peer->found->id & 63);
  int can = 0;
  if (atomic_fetch_or(&device->peers, bit) & bit) return;
  if (device->cu->DeviceCanAccessPeer(&can, device->found->id, peer->found->id) != CU_SUCCESS || !can) return;
  cu_result code = device->cu->CtxEnablePeerAccess(peer->context, 0);
  if (code != CU_SUCCESS && code != CU_PEER_ACCESS_ALREADY_ENABLED)
    cu_log(device->host, "'%s' can't reach '%s' directly: code %d", device->found->info.name, peer->found->info.name,
           code);
}

static cu_result copy_part(const job *j, const qn_adapter_memory *target, cu_pointer to,
                           const qn_adapter_memory *source, cu_pointer from, uint64_t size) {
  qn_adapter_device *own = j->queue->device;
  if (target->device == source->device) return j->cu->MemcpyAsync(to, from, (size_t)size, j->stream);
  reach_peer(own, target->device == own ? source->device : target->device);
  return j->cu->MemcpyPeerAsync(to, target->device->context, from, source->device->context, (size_t)size, j->stream);
}

static qn_status copy(const job *j, const qn_adapter_memory *target, uint64_t target_offset,
                      const qn_adapter_memory *source, uint64_t source_offset, uint64_t size) {
  qn_status status = QN_OK;
  for (uint64_t done = 0, part; done < size && status >= 0; done += part) {
    uint64_t to = target_offset + done, from = source_offset + done;
    part = smaller(smaller(cu_memory_extent(target, to), cu_memory_extent(source, from)), size - done);
    status = judge(
        j, copy_part(j, target, target->address + (cu_pointer)to, source, source->address + (cu_pointer)from, part),
        "copy", size);
  }
  return status;
}

/* ---- Fill --------------------------------------------------------------------------------------- */

/* The driver fills with units of 1, 2 or 4 bytes, at multiples of their size. */
static uint32_t unit_of(cu_pointer address, uint64_t pattern_bytes) {
  cu_pointer both = address | (cu_pointer)pattern_bytes;
  return both % 4 == 0 ? 4 : both % 2 == 0 ? 2 : 1;
}

static uint32_t read_unit(const unsigned char *pattern, uint32_t unit) {
  uint32_t value = 0;
  memcpy(&value, pattern, unit); /* little end first */
  return value;
}

static cu_result set(const job *j, cu_pointer at, uint32_t value, uint32_t unit, uint64_t count) {
  if (unit == 4) return j->cu->MemsetD32Async(at, value, (size_t)count, j->stream);
  if (unit == 2) return j->cu->MemsetD16Async(at, (unsigned short)value, (size_t)count, j->stream);
  return j->cu->MemsetD8Async(at, (unsigned char)value, (size_t)count, j->stream);
}

/* One unit in each `pitch` bytes, `count` times. */
static cu_result set_column(const job *j, cu_pointer at, uint64_t pitch, uint32_t value, uint32_t unit,
                            uint64_t count) {
  if (unit == 4) return j->cu->MemsetD2D32Async(at, (size_t)pitch, value, 1, (size_t)count, j->stream);
  if (unit == 2) return j->cu->MemsetD2D16Async(at, (size_t)pitch, (unsigned short)value, 1, (size_t)count, j->stream);
  return j->cu->MemsetD2D8Async(at, (size_t)pitch, (unsigned char)value, 1, (size_t)count, j->stream);
}

static bool is_one_unit(const unsigned char *pattern, uint64_t bytes, uint32_t unit) {
  return memcmp(pattern, pattern + unit, (size_t)(bytes - unit)) == 0;
}

enum { TILE_BYTES = 64 << 10 };

/* A tile of patterns is made column by column, then copied to twice, four times, ... its size. */
static qn_status fill_by_tiles(const job *j, const qn_adapter_command *c, uint32_t unit) {
  const unsigned char *pattern = c->pattern;
  uint64_t bytes = c->pattern_bytes;
  /* A tile lies in one span; where that ends within the first pattern, the tile is that pattern, unit by unit. */
  uint64_t extent = cu_memory_extent(c->target, c->target_offset) / bytes * bytes;
  uint64_t done = smaller(smaller(TILE_BYTES / bytes * bytes, c->size_bytes), extent > 0 ? extent : bytes);
  cu_pointer start = c->target->address + (cu_pointer)c->target_offset;
  qn_status status = QN_OK;
  for (uint64_t at = 0; at < bytes && status >= 0; at += unit)
    status = judge(j, set_column(j, start + (cu_pointer)at, bytes, read_unit(pattern + at, unit), unit, done / bytes),
                   "fill", c->size_bytes);
  for (uint64_t more; done < c->size_bytes && status >= 0; done += more) {
    more = smaller(done, c->size_bytes - done);
    status = copy(j, c->target, c->target_offset + done, c->target, c->target_offset, more);
  }
  return status;
}

static qn_status fill_by_units(const job *j, const qn_adapter_command *c, uint32_t unit) {
  uint32_t value = read_unit(c->pattern, unit);
  qn_status status = QN_OK;
  for (uint64_t done = 0, part; done < c->size_bytes && status >= 0; done += part) {
    uint64_t at = c->target_offset + done;
    part = smaller(cu_memory_extent(c->target, at), c->size_bytes - done);
    status = judge(j, set(j, c->target->address + (cu_pointer)at, value, unit, part / unit), "fill", c->size_bytes);
  }
  return status;
}

static qn_status fill(const job *j, const qn_adapter_command *c) {
  uint32_t unit = unit_of(c->target->address + (cu_pointer)c->target_offset, c->pattern_bytes);
  return is_one_unit(c->pattern, c->pattern_bytes, unit) ? fill_by_units(j, c, unit) : fill_by_tiles(j, c, unit);
}

/* ---- Write and read ----------------------------------------------------------------------------- */

/* Whether the driver copies from or to it by itself: it is pinned, or managed, all of it. */
static bool is_reached(const job *j, const void *host, uint64_t size) {
  unsigned what[] = {CU_POINTER_MEMORY_TYPE, CU_POINTER_RANGE_START, CU_POINTER_RANGE_SIZE};
  uint32_t type = 0;
  cu_pointer start = 0, at = (cu_pointer)host;
  size_t length = 0;
  void *out[] = {&type, &start, &length};
  if (j->cu->PointerGetAttributes(sizeof what / sizeof *what, what, out, at) != CU_SUCCESS || type == 0) return false;
  return start <= at && at - start <= length && size <= length - (at - start);
}

/* The driver copies this much while the call lasts, and doesn't wait for the stream. */
enum { AT_ONCE_BYTES = 64 << 10 };

static qn_status write(const job *j, const qn_adapter_command *c) {
  const unsigned char *from = c->host;
  qn_status status = QN_OK;
  bool is_direct = c->size_bytes <= AT_ONCE_BYTES || is_reached(j, from, c->size_bytes);
  for (uint64_t done = 0, part; done < c->size_bytes && status >= 0; done += part) {
    uint64_t at = c->target_offset + done;
    cu_pointer to = c->target->address + (cu_pointer)at;
    part = smaller(cu_memory_extent(c->target, at), c->size_bytes - done);
    status = is_direct ? judge(j, j->cu->MemcpyAsync(to, (cu_pointer)(from + done), (size_t)part, j->stream), "write",
                               c->size_bytes)
                       : cu_stage_write(j->queue, to, from + done, part, j->taken, j->failure);
  }
  return status;
}

static qn_status read(const job *j, const qn_adapter_command *c) {
  unsigned char *to = c->host;
  qn_status status = QN_OK;
  bool is_direct = is_reached(j, to, c->size_bytes);
  for (uint64_t done = 0, part; done < c->size_bytes && status >= 0; done += part) {
    uint64_t at = c->source_offset + done;
    cu_pointer from = c->source->address + (cu_pointer)at;
    part = smaller(cu_memory_extent(c->source, at), c->size_bytes - done);
    status = is_direct ? judge(j, j->cu->MemcpyAsync((cu_pointer)(to + done), from, (size_t)part, j->stream), "read",
                               c->size_bytes)
                       : cu_stage_read(j->queue, to + done, from, part, j->taken, j->failure);
  }
  return status;
}

/* ---- By kind ------------------------------------------------------------------------------------ */

qn_status cu_transfer(qn_adapter_queue *queue, const qn_adapter_command *c, uint32_t *out_taken, cu_failure *failure) {
  const job j = {queue, queue->device->cu, queue->stream, out_taken, failure};
  if (c->size_bytes == 0) return QN_OK;
  switch (c->kind) {
    case QN_COMMAND_COPY:
      return copy(&j, c->target, c->target_offset, c->source, c->source_offset, c->size_bytes);
    case QN_COMMAND_FILL:
      return fill(&j, c);
    case QN_COMMAND_WRITE:
      return write(&j, c);
    default:
      return read(&j, c);
  }
}
