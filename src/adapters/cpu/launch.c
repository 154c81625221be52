/* Launches: from the core's record to one of our own, and work-groups to calls of the entry. */
#include <string.h>

#include "memory.h"
#include "record.h"

static uint64_t arguments_offset(void) { return cpu_align(sizeof(cpu_record), CPU_ALIGNMENT); }

uint64_t cpu_launch_size(const qn_launch_record *from) {
  const qn_adapter_kernel *k = from->kernel;
  return arguments_offset() + cpu_align(k->argument_block_bytes, sizeof(uint64_t)) + k->local_count * sizeof(cpu_local);
}

/* ---- Ranges ------------------------------------------------------------------------------------- */

static bool multiply(uint64_t a, uint64_t b, uint64_t *out) { return !__builtin_mul_overflow(a, b, out); }

static qn_status write_range(const qn_adapter_host *host, const qn_launch_record *from, cpu_record *record) {
  cpu_launch *l = &record->launch;
  l->items = record->cells = 1;
  for (uint32_t i = 0; i < 3; i++) {
    bool used = i < from->dimensions;
    uint64_t global = used ? from->global[i] : 1, local = used ? from->local[i] : 1;
    if (local == 0 || !multiply(l->items, local, &l->items) || l->items > CPU_MAX_GROUP_ITEMS)
      return cpu_error(host, QN_ERROR_LIMIT, 0,
                       "cpu: kernel %s: a local size of %llu x %llu x %llu; a work-group has 1 to %u items",
                       l->kernel->name, (unsigned long long)from->local[0], (unsigned long long)from->local[1],
                       (unsigned long long)from->local[2], CPU_MAX_GROUP_ITEMS);
    uint64_t groups = global / local + (global % local != 0);
    l->header.global[i] = global;
    l->header.local[i] = local;
    l->header.offset[i] = used ? from->offset[i] : 0;
    l->header.groups[i] = groups;
    /* A launch in parts runs the groups from its base on. */
    l->base[i] = used ? from->group_base[i] : 0;
    l->count[i] = groups > l->base[i] ? groups - l->base[i] : 0;
    if (!multiply(record->cells, l->count[i], &record->cells))
      return cpu_error(host, QN_ERROR_LIMIT, 0, "cpu: kernel %s: too many work-groups", l->kernel->name);
  }
  return QN_OK;
}

/* Groups in memory: static local memory first, then each local argument, then scratch. */
static qn_status write_memory(const qn_adapter_host *host, const qn_launch_record *from, cpu_launch *l,
                              cpu_local *locals) {
  const qn_adapter_kernel *k = l->kernel;
  uint64_t bytes = cpu_align(k->static_local_bytes, CPU_ALIGNMENT), per_items;
  for (uint32_t i = 0; i < k->parameter_count; i++) {
    const qn_launch_argument *a = &from->arguments[i];
    if (k->parameters[i].kind != QN_ARGUMENT_LOCAL) continue;
    if (a->size_bytes > CPU_LOCAL_MEMORY_BYTES || bytes + a->size_bytes > CPU_LOCAL_MEMORY_BYTES)
      return cpu_error(host, QN_ERROR_LIMIT, 0,
                       "cpu: kernel %s: argument %u brings local memory to %llu bytes; the limit is %llu", k->name, i,
                       (unsigned long long)(bytes + a->size_bytes), (unsigned long long)CPU_LOCAL_MEMORY_BYTES);
    locals[l->local_count++] = (cpu_local){k->parameters[i].slot_offset, bytes};
    bytes = cpu_align(bytes + a->size_bytes, CPU_ALIGNMENT);
  }
  l->local_bytes = bytes;
  uint64_t items = cpu_align(l->items, 8); /* whole vectors of items */
  if (!multiply(k->scratch_bytes_per_item, items, &per_items) ||
      __builtin_add_overflow(per_items, k->scratch_bytes_per_group, &l->scratch_bytes) || l->scratch_bytes > INT64_MAX)
    return cpu_error(host, QN_ERROR_LIMIT, 0, "cpu: kernel %s: its private values don't fit into memory", k->name);
  return QN_OK;
}

/* ---- Arguments ---------------------------------------------------------------------------------- */

static const char *const kind_names[] = {"nothing", "a value", "a buffer", "local memory", "an image", "a sampler"};
static const char *kind_name(uint32_t kind) { return kind < 6 ? kind_names[kind] : "an unknown kind"; }

static qn_status write_buffer(const qn_adapter_host *host, const cpu_launch *l, uint32_t index,
                              const qn_launch_argument *a, uint8_t *slot) {
  uint64_t address = 0, alignment = l->kernel->parameters[index].alignment;
  if (a->memory) {
    if (a->offset_bytes > a->memory->size_bytes)
      return cpu_error(host, QN_ERROR_INVALID_ARGUMENT, 0,
                       "cpu: kernel %s: argument %u begins at %llu of a buffer of %llu bytes", l->kernel->name, index,
                       (unsigned long long)a->offset_bytes, (unsigned long long)a->memory->size_bytes);
    address = (uint64_t)(uintptr_t)a->memory->bytes + a->offset_bytes;
  }
  if (alignment > 1 && address % alignment != 0)
    return cpu_error(host, QN_ERROR_INVALID_ARGUMENT, 0,
                     "cpu: kernel %s: argument %u is at address %#llx, but its elements need multiples of %llu",
                     l->kernel->name, index, (unsigned long long)address, (unsigned long long)alignment);
  memcpy(slot, &address, sizeof address);
  return QN_OK;
}

static qn_status write_arguments(const qn_adapter_host *host, const qn_launch_record *from, const cpu_launch *l,
                                 uint8_t *block) {
  const qn_adapter_kernel *k = l->kernel;
  for (uint32_t i = 0; i < k->parameter_count; i++) {
    const qn_adapter_parameter *p = &k->parameters[i];
    const qn_launch_argument *a = &from->arguments[i];
    uint8_t *slot = block + p->slot_offset;
    if (a->kind != p->kind)
      return cpu_error(host, QN_ERROR_INVALID_ARGUMENT, 0,
                       "cpu: kernel %s: argument %u is %s where the kernel takes %s", k->name, i, kind_name(a->kind),
                       kind_name(p->kind));
    if (p->kind == QN_ARGUMENT_VALUE) {
      if (a->size_bytes != p->size_bytes || (!a->bytes && a->size_bytes))
        return cpu_error(host, QN_ERROR_INVALID_ARGUMENT, 0,
                         "cpu: kernel %s: argument %u has %llu bytes where the kernel takes %u", k->name, i,
                         (unsigned long long)a->size_bytes, p->size_bytes);
      memcpy(slot, a->bytes, p->size_bytes);
    } else if (p->kind == QN_ARGUMENT_BUFFER) {
      qn_status status = write_buffer(host, l, i, a, slot);
      if (status < 0) return status;
    }
  }
  return QN_OK;
}

qn_status cpu_launch_write(const qn_adapter_host *host, const qn_launch_record *from, cpu_record *record) {
  qn_adapter_kernel *k = from->kernel;
  cpu_launch *l = &record->launch;
  uint8_t *block = (uint8_t *)record + arguments_offset();
  cpu_local *locals = (cpu_local *)(void *)(block + cpu_align(k->argument_block_bytes, sizeof(uint64_t)));
  if (from->argument_count != k->parameter_count)
    return cpu_error(host, QN_ERROR_INVALID_ARGUMENT, 0, "cpu: kernel %s takes %u arguments, not %u", k->name,
                     k->parameter_count, from->argument_count);
  if (from->dimensions < 1 || from->dimensions > 3)
    return cpu_error(host, QN_ERROR_INVALID_ARGUMENT, 0, "cpu: kernel %s: %u dimensions; there are 1 to 3", k->name,
                     from->dimensions);
  l->kernel = k;
  l->header.struct_size = sizeof l->header;
  l->header.dimensions = from->dimensions;
  l->header.arguments = block;
  l->header.services = NULL;
  l->locals = locals;
  l->local_count = 0;
  qn_status status = write_range(host, from, record);
  if (status >= 0) status = write_arguments(host, from, l, block);
  if (status >= 0) status = write_memory(host, from, l, locals);
  return status;
}

/* ---- Running ------------------------------------------------------------------------------------ */

/* The launch as this seat's groups see it: with local arguments, a copy that has the seat's addresses. */
static const qn_cpu_launch *bind(cpu_seat *seat, const cpu_launch *l) {
  if (l->local_count == 0) return &l->header;
  memcpy(seat->arguments, l->header.arguments, l->kernel->argument_block_bytes);
  for (uint32_t i = 0; i < l->local_count; i++) {
    uint64_t address = (uint64_t)(uintptr_t)seat->memory + l->locals[i].offset;
    memcpy(seat->arguments + l->locals[i].slot, &address, sizeof address);
  }
  seat->launch = l->header;
  seat->launch.arguments = seat->arguments;
  return &seat->launch;
}

/* Sets one dimension of the group's place; the last group of a range may be smaller. */
static inline void place(qn_cpu_group *group, const cpu_launch *l, int i, uint64_t at) {
  uint64_t id = l->base[i] + at;
  group->id[i] = id;
  group->local[i] = cpu_min(l->header.local[i], l->header.global[i] - id * l->header.local[i]);
}

bool cpu_launch_run(cpu_seat *seat, const cpu_launch *l, uint64_t first, uint64_t count) {
  if (!cpu_seat_reserve(seat, l->local_bytes + l->scratch_bytes)) return false;
  const qn_cpu_launch *launch = bind(seat, l);
  qn_cpu_entry_fn entry = l->kernel->entry;
  qn_cpu_group group = {.local_memory = seat->memory}; /* NULL when the kernel needs neither */
  group.scratch = seat->memory ? seat->memory + l->local_bytes : NULL;
  uint64_t at[3] = {first % l->count[0], first / l->count[0] % l->count[1], first / l->count[0] / l->count[1]};
  for (int i = 0; i < 3; i++) place(&group, l, i, at[i]);
  for (;;) {
    cpu_stack_call(&seat->stack, entry, launch, &group);
    if (--count == 0) return true;
    int i = 0; /* the next group, dimension 0 fastest */
    while (++at[i] == l->count[i]) {
      at[i] = 0;
      place(&group, l, i, 0);
      i++;
    }
    place(&group, l, i, at[i]);
  }
}
