/* launch.c - a launch record to cuLaunchKernel: adapter.h, "Entries of PTX code". */
#include <stdlib.h>
#include <string.h>

#include "kernel.h"
#include "memory.h"

/* Static local memory of more than this, with the dynamic, must be asked for. */
enum { PLAIN_LOCAL = QN_PTX_STATIC_LOCAL };

typedef struct launch {
  qn_adapter_queue *queue;
  const qn_launch_record *record;
  qn_adapter_kernel *kernel;
  uint32_t dynamic_bytes;
  uint32_t local[3];
  uint64_t global[3], groups[3]; /* of the whole launch; 1 in dimensions that it hasn't */
  qn_ptx_range range;
  uint32_t *taken;
  cu_failure *failure;
} launch;

/* ---- Arguments ---------------------------------------------------------------------------------- */

void cu_arguments_free(cu_arguments *arguments) {
  free(arguments->pointers);
  free(arguments->words);
}

static bool reserve(cu_arguments *arguments, uint32_t count) {
  if (count <= arguments->capacity) return true;
  uint32_t capacity = count > CU_FIRST_ARGUMENTS ? count : CU_FIRST_ARGUMENTS;
  void **pointers = realloc(arguments->pointers, capacity * sizeof *pointers);
  if (pointers) arguments->pointers = pointers;
  uint64_t *words = realloc(arguments->words, capacity * sizeof *words);
  if (words) arguments->words = words;
  if (!pointers || !words) return false;
  arguments->capacity = capacity;
  return true;
}

static qn_status check_argument(const launch *l, uint32_t i) {
  const qn_launch_argument *a = &l->record->arguments[i];
  const qn_adapter_parameter *p = &l->kernel->parameters[i];
  if (a->kind == p->kind && (a->kind != QN_ARGUMENT_VALUE || a->size_bytes == p->size_bytes)) return QN_OK;
  return cu_fail(l->failure, QN_ERROR_INVALID_ARGUMENT, CU_SUCCESS,
                 "argument %u of kernel '%s' is of kind %u and %llu bytes; kind %u and %u bytes are wanted", i,
                 l->kernel->name, a->kind, (unsigned long long)a->size_bytes, p->kind, p->size_bytes);
}

/* Where a block of local memory begins, behind those before it. */
static uint32_t place_local(uint64_t *end, const qn_launch_argument *a) {
  uint64_t alignment = a->alignment ? a->alignment : 1, at = (*end + alignment - 1) / alignment * alignment;
  *end = at + a->size_bytes;
  return (uint32_t)at;
}

static qn_status refuse_local(const launch *l, uint64_t bytes) {
  return cu_fail(l->failure, QN_ERROR_LIMIT, CU_SUCCESS,
                 "kernel '%s' is given %llu bytes of local memory and has %u itself; device '%s' has %llu",
                 l->kernel->name, (unsigned long long)(bytes - l->kernel->front_bytes),
                 l->kernel->static_bytes + l->kernel->front_bytes, l->kernel->device->found->info.name,
                 (unsigned long long)l->kernel->device->found->info.local_memory_bytes);
}

/* The driver reads values where the record has them. */
static qn_status set_arguments(launch *l) {
  const qn_launch_record *r = l->record;
  cu_arguments *to = &l->queue->arguments;
  uint64_t local_end = l->kernel->front_bytes;
  if (r->argument_count != l->kernel->parameter_count)
    return cu_fail(l->failure, QN_ERROR_INVALID_ARGUMENT, CU_SUCCESS, "kernel '%s' has %u arguments, %u are given",
                   l->kernel->name, l->kernel->parameter_count, r->argument_count);
  if (!reserve(to, r->argument_count + 1))
    return cu_fail(l->failure, QN_ERROR_OUT_OF_HOST_MEMORY, CU_SUCCESS, "no memory for the arguments of kernel '%s'",
                   l->kernel->name);
  for (uint32_t i = 0; i < r->argument_count; i++) {
    const qn_launch_argument *a = &r->arguments[i];
    qn_status status = check_argument(l, i);
    if (status < 0) return status;
    to->pointers[i] = &to->words[i];
    if (a->kind == QN_ARGUMENT_VALUE) to->pointers[i] = (void *)(uintptr_t)a->bytes;
    if (a->kind == QN_ARGUMENT_BUFFER) to->words[i] = a->memory ? a->memory->address + a->offset_bytes : 0;
    if (a->kind == QN_ARGUMENT_LOCAL) {
      uint32_t at = place_local(&local_end, a);
      memcpy(&to->words[i], &at, sizeof at);
    }
    if (local_end > l->kernel->most_dynamic) return refuse_local(l, local_end);
  }
  if (local_end > l->kernel->most_dynamic) return refuse_local(l, local_end);
  to->pointers[r->argument_count] = &l->range;
  l->dynamic_bytes = (uint32_t)local_end;
  return QN_OK;
}

/* A function that needs more than the usual local memory is told so, once. */
static qn_status raise_limit(const launch *l) {
  qn_adapter_kernel *kernel = l->kernel;
  if (kernel->static_bytes + l->dynamic_bytes <= PLAIN_LOCAL) return QN_OK;
  if (atomic_load_explicit(&kernel->is_raised, memory_order_acquire)) return QN_OK;
  cu_result code =
      kernel->device->cu->FuncSetAttribute(kernel->function, CU_FUNCTION_MAX_DYNAMIC_SHARED, (int)kernel->most_dynamic);
  if (code != CU_SUCCESS)
    return cu_fail(l->failure, cu_status_of(code), code, "%u bytes of local memory for kernel '%s'", l->dynamic_bytes,
                   kernel->name);
  atomic_store_explicit(&kernel->is_raised, 1, memory_order_release);
  return QN_OK;
}

/* ---- Range -------------------------------------------------------------------------------------- */

static qn_status refuse_range(const launch *l) {
  const qn_launch_record *r = l->record;
  return cu_fail(l->failure, QN_ERROR_INVALID_ARGUMENT, CU_SUCCESS,
                 "kernel '%s' is launched over %u dimensions of %llu x %llu x %llu with groups of %llu x %llu x %llu",
                 l->kernel->name, r->dimensions, (unsigned long long)r->global[0], (unsigned long long)r->global[1],
                 (unsigned long long)r->global[2], (unsigned long long)r->local[0], (unsigned long long)r->local[1],
                 (unsigned long long)r->local[2]);
}

/* A division of 64 bits takes several times as long, and most launches need none. */
static uint64_t count_groups(uint64_t global, uint32_t local) {
  if (global <= UINT32_MAX) {
    uint32_t small = (uint32_t)global;
    return small / local + (small % local != 0);
  }
  return global / local + (global % local != 0);
}

static qn_status check_range(launch *l) {
  const qn_launch_record *r = l->record;
  if (r->dimensions < 1 || r->dimensions > 3) return refuse_range(l);
  for (uint32_t d = 0; d < 3; d++) {
    l->local[d] = 1;
    l->global[d] = l->groups[d] = 1;
    if (d >= r->dimensions) continue;
    if (r->local[d] == 0 || r->local[d] > UINT32_MAX) return refuse_range(l);
    l->local[d] = (uint32_t)r->local[d];
    l->global[d] = r->global[d];
    l->groups[d] = count_groups(r->global[d], l->local[d]);
    if (l->groups[d] > UINT32_MAX) return refuse_range(l);
  }
  return QN_OK;
}

static void put_range(launch *l) {
  const qn_launch_record *r = l->record;
  l->range = (qn_ptx_range){.work_dim = r->dimensions};
  for (uint32_t d = 0; d < 3; d++) {
    l->range.global_size[d] = l->global[d];
    l->range.global_offset[d] = d < r->dimensions ? r->offset[d] : 0;
    l->range.num_groups[d] = (uint32_t)l->groups[d];
  }
}

/* ---- Parts -------------------------------------------------------------------------------------- */

/* One of the driver's launches: groups [first, first + count) of each dimension. */
static qn_status put(launch *l, const uint64_t first[3], const uint32_t count[3]) {
  const qn_adapter_device *device = l->kernel->device;
  l->range.is_uneven = 0;
  for (uint32_t d = 0; d < 3; d++) {
    uint64_t start = first[d] * l->local[d], whole = (uint64_t)count[d] * l->local[d], left = l->global[d] - start;
    l->range.origin[d] = l->range.global_offset[d] + start;
    l->range.group_base[d] = (uint32_t)first[d];
    l->range.items[d] = (uint32_t)(left < whole ? left : whole);
    if (left < whole) l->range.is_uneven = 1;
  }
  cu_result code =
      device->cu->LaunchKernel(l->kernel->function, count[0], count[1], count[2], l->local[0], l->local[1], l->local[2],
                               l->dynamic_bytes, l->queue->stream, l->queue->arguments.pointers, NULL);
  if (code != CU_SUCCESS)
    return cu_fail(l->failure, cu_status_of(code), code, "launch of kernel '%s' with groups of %u x %u x %u",
                   l->kernel->name, l->local[0], l->local[1], l->local[2]);
  ++*l->taken;
  return QN_OK;
}

/* How many groups of a dimension one of the driver's launches may have: the grid's, and work-items are counted with 32 bits. */
static uint64_t most_groups(const launch *l, uint32_t d) {
  uint64_t by_items = UINT32_MAX / l->local[d], by_grid = l->kernel->device->found->grid[d];
  return by_items < by_grid ? by_items : by_grid;
}

static qn_status put_parts(launch *l) {
  const qn_launch_record *r = l->record;
  uint64_t most[3], base[3];
  qn_status status = QN_OK;
  for (uint32_t d = 0; d < 3; d++) {
    most[d] = most_groups(l, d);
    base[d] = d < r->dimensions ? r->group_base[d] : 0;
  }
  for (uint64_t z = base[2]; z < l->groups[2] && status >= 0; z += most[2])
    for (uint64_t y = base[1]; y < l->groups[1] && status >= 0; y += most[1])
      for (uint64_t x = base[0]; x < l->groups[0] && status >= 0; x += most[0]) {
        const uint64_t first[3] = {x, y, z};
        uint32_t count[3];
        for (uint32_t d = 0; d < 3; d++) {
          uint64_t left = l->groups[d] - first[d];
          count[d] = (uint32_t)(left < most[d] ? left : most[d]);
        }
        status = put(l, first, count);
      }
  return status;
}

/* Whether one of the driver's launches holds it, as nearly always; it has work then. */
static bool is_whole(const launch *l) {
  bool whole = true;
  for (uint32_t d = 0; d < 3; d++)
    whole = whole && l->global[d] > 0 && l->global[d] <= UINT32_MAX &&
            l->groups[d] <= l->kernel->device->found->grid[d] &&
            (d >= l->record->dimensions || l->record->group_base[d] == 0);
  return whole;
}

static qn_status put_whole(launch *l) {
  static const uint64_t first[3] = {0, 0, 0};
  const uint32_t count[3] = {(uint32_t)l->groups[0], (uint32_t)l->groups[1], (uint32_t)l->groups[2]};
  return put(l, first, count);
}

qn_status cu_kernel_launch(qn_adapter_queue *queue, const qn_launch_record *record, uint32_t *out_taken,
                           cu_failure *failure) {
  launch l;
  l.queue = queue;
  l.record = record;
  l.kernel = record->kernel;
  l.taken = out_taken;
  l.failure = failure;
  qn_status status = check_range(&l);
  if (status >= 0) status = set_arguments(&l);
  if (status >= 0) status = raise_limit(&l);
  if (status < 0) return status;
  put_range(&l);
  return is_whole(&l) ? put_whole(&l) : put_parts(&l);
}
