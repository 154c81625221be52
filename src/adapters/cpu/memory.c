#include "memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "device.h"

#define HUGE_PAGE (UINT64_C(2) << 20)

/* Large blocks come from the system, aligned so that huge pages fit: fewer page faults and fewer misses in the TLB. */
static uint8_t *map_large(uint64_t size, uint64_t alignment, uint64_t *taken) {
  uint64_t bytes = cpu_align(size, HUGE_PAGE), slack = cpu_max(alignment, HUGE_PAGE);
  if (bytes < size || bytes > UINT64_MAX - slack) return NULL;
  uint8_t *low = mmap(NULL, bytes + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (low == MAP_FAILED) return NULL;
  uint8_t *start = (uint8_t *)(uintptr_t)cpu_align((uintptr_t)low, slack);
  uint8_t *end = low + bytes + slack;
  if (start > low) munmap(low, (size_t)(start - low));
  if (end > start + bytes) munmap(start + bytes, (size_t)(end - start - bytes));
  (void)madvise(start, bytes, MADV_HUGEPAGE); /* a hint: a system without huge pages serves as well */
  *taken = bytes;
  return start;
}

static bool take_bytes(qn_adapter_memory *m, uint64_t alignment) {
  alignment = cpu_max(alignment, CPU_ALIGNMENT);
  m->mapped = m->size_bytes >= HUGE_PAGE;
  if (m->mapped) {
    m->bytes = map_large(m->size_bytes, alignment, &m->taken_bytes);
  } else {
    m->taken_bytes = cpu_align(m->size_bytes, alignment);
    m->bytes = aligned_alloc(alignment, m->taken_bytes);
  }
  return m->bytes != NULL;
}

qn_status cpu_memory_create(qn_adapter_device *device, const qn_adapter_memory_request *request,
                            qn_adapter_memory **out_memory, qn_adapter_memory_info *out_info) {
  const qn_adapter_host *host = device->host;
  if (cpu_forked(device)) return cpu_forked_error(device);
  if (request->size_bytes == 0 || (request->alignment & (request->alignment - 1)) != 0)
    return cpu_error(host, QN_ERROR_INVALID_ARGUMENT, 0,
                     "cpu: %llu bytes aligned to %llu: the size must be at least 1 and the alignment a power of two",
                     (unsigned long long)request->size_bytes, (unsigned long long)request->alignment);
  qn_adapter_memory *m = calloc(1, sizeof *m);
  if (!m) return cpu_error(host, QN_ERROR_OUT_OF_HOST_MEMORY, ENOMEM, "cpu: out of host memory");
  m->host = host;
  m->size_bytes = request->size_bytes;
  if (request->memory == QN_MEMORY_WRAP) {
    m->bytes = request->host_pointer;
    if (!m->bytes) {
      free(m);
      return cpu_error(host, QN_ERROR_INVALID_ARGUMENT, 0, "cpu: wrapped memory needs its address");
    }
  } else if (request->size_bytes > device->info->max_allocation_bytes || !take_bytes(m, request->alignment)) {
    free(m);
    return cpu_error(host, QN_ERROR_OUT_OF_MEMORY, ENOMEM,
                     "cpu: out of memory: %llu bytes are not to be had (the machine has %llu)",
                     (unsigned long long)request->size_bytes, (unsigned long long)device->info->memory_bytes);
  }
  out_info->native = (uint64_t)(uintptr_t)m->bytes;
  out_info->size_bytes = m->taken_bytes ? m->taken_bytes : m->size_bytes;
  out_info->host_pointer = m->bytes;
  *out_memory = m;
  return QN_OK;
}

qn_status cpu_memory_destroy(qn_adapter_device *device, qn_adapter_memory *m) {
  (void)device;
  if (m->taken_bytes && m->mapped)
    munmap(m->bytes, m->taken_bytes);
  else if (m->taken_bytes)
    free(m->bytes);
  free(m);
  return QN_OK;
}
