#include "wrap.h"

#include <stdlib.h>
#include <unistd.h>

/* In order of addresses. */
typedef struct cu_span {
  struct cu_span *next;
  uintptr_t begin, end;
  uint64_t blocks; /* that lie in it */
} cu_span;

typedef struct pages {
  uintptr_t begin, end;
} pages;

static pages pages_of(const void *pointer, uint64_t size) {
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), at = (uintptr_t)pointer;
  return (pages){at / page * page, (at + (uintptr_t)size + page - 1) / page * page};
}

static bool overlap(const cu_span *span, const pages *p) { return span->begin < p->end && p->begin < span->end; }

/* Counts the block in its spans, or takes it out. */
static void count(const qn_adapter_device *device, const pages *p, int64_t by) {
  for (cu_span *span = device->spans; span; span = span->next)
    if (overlap(span, p)) span->blocks += (uint64_t)by;
}

/* Drops spans in which no block lies. */
static cu_result drop_unused(qn_adapter_device *device) {
  cu_result code = CU_SUCCESS;
  for (cu_span **link = &device->spans; *link;) {
    cu_span *span = *link;
    if (span->blocks > 0) {
      link = &span->next;
      continue;
    }
    *link = span->next;
    cu_result dropped = device->cu->MemHostUnregister((void *)span->begin);
    if (code == CU_SUCCESS) code = dropped;
    free(span);
  }
  return code;
}

/* A span without a block yet, before `*link`. */
static cu_result add_span(qn_adapter_device *device, cu_span **link, uintptr_t begin, uintptr_t end) {
  cu_span *span = malloc(sizeof *span);
  if (!span) return CU_OUT_OF_MEMORY;
  cu_result code = device->cu->MemHostRegister_v2((void *)begin, end - begin, CU_HOST_PORTABLE | CU_HOST_DEVICE_MAP);
  if (code != CU_SUCCESS) {
    free(span);
    return code;
  }
  *span = (cu_span){*link, begin, end, 0};
  *link = span;
  return CU_SUCCESS;
}

/* Pins what isn't pinned of the pages. */
static cu_result fill_gaps(qn_adapter_device *device, const pages *p) {
  uintptr_t at = p->begin;
  cu_span **link = &device->spans;
  while (at < p->end) {
    cu_span *span = *link;
    if (span && span->begin <= at) { /* it lies before, or there already */
      if (span->end > at) at = span->end;
      link = &span->next;
      continue;
    }
    uintptr_t end = span && span->begin < p->end ? span->begin : p->end;
    cu_result code = add_span(device, link, at, end);
    if (code != CU_SUCCESS) return code;
  }
  return CU_SUCCESS;
}

static bool is_range(const void *pointer, uint64_t size) {
  return size <= UINTPTR_MAX - (uintptr_t)sysconf(_SC_PAGESIZE) - (uintptr_t)pointer;
}

qn_status cu_wrap(qn_adapter_device *device, void *pointer, uint64_t size) {
  if (!is_range(pointer, size))
    return cu_error(device->host, QN_ERROR_INVALID_ARGUMENT, "wrapped memory ends beyond all memory");
  const pages p = pages_of(pointer, size);
  pthread_mutex_lock(&device->lock);
  cu_result code = fill_gaps(device, &p);
  if (code == CU_SUCCESS) count(device, &p, 1);
  if (code != CU_SUCCESS) (void)drop_unused(device);
  pthread_mutex_unlock(&device->lock);
  if (code == CU_SUCCESS) return QN_OK;
  cu_device_judge(device, code, "memory can't be pinned");
  qn_status status = code == CU_INVALID_VALUE ? QN_ERROR_UNSUPPORTED : cu_status_of(code);
  return cu_refused_as(device->host, status, code, "%llu bytes at %p can't be pinned; make a buffer and copy",
                       (unsigned long long)size, pointer);
}

cu_result cu_unwrap(qn_adapter_device *device, void *pointer, uint64_t size) {
  const pages p = pages_of(pointer, size);
  pthread_mutex_lock(&device->lock);
  count(device, &p, -1);
  cu_result code = drop_unused(device);
  pthread_mutex_unlock(&device->lock);
  return code;
}

uint64_t cu_wrap_extent(qn_adapter_device *device, uintptr_t pointer) {
  uint64_t extent = UINT64_MAX;
  pthread_mutex_lock(&device->lock);
  for (const cu_span *span = device->spans; span; span = span->next)
    if (span->begin <= pointer && pointer < span->end) extent = span->end - pointer;
  pthread_mutex_unlock(&device->lock);
  return extent;
}
