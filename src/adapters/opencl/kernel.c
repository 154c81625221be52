#include "kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"

/* ---- Life --------------------------------------------------------------------------------------- */

static void free_seat(const qn_adapter_device *device, ocl_seat *seat, cl_int *code) {
  if (seat->native) {
    cl_int released = device->cl->ReleaseKernel(seat->native);
    if (released != CL_SUCCESS) *code = released;
  }
  free(seat->settings);
  free(seat->bytes);
  free(seat->hidden);
  pthread_mutex_destroy(&seat->lock);
}

static cl_int free_kernel(qn_adapter_kernel *kernel) {
  cl_int code = CL_SUCCESS;
  for (int e = 0; e < OCL_ENTRIES; e++) {
    for (int i = 0; i < OCL_SEATS; i++) free_seat(kernel->device, &kernel->entries[e].seats[i], &code);
    free(kernel->entries[e].symbol);
  }
  free(kernel->parameters);
  free(kernel->name);
  free(kernel);
  return code;
}

enum { RANGE_WORDS = sizeof(qn_opencl_range) / sizeof(uint64_t) };

static void count_parameters(qn_adapter_kernel *kernel) {
  for (uint32_t i = 0; i < kernel->parameter_count; i++) {
    if (kernel->parameters[i].kind == QN_ARGUMENT_BUFFER) kernel->buffer_count++;
    if (kernel->parameters[i].kind == QN_ARGUMENT_VALUE) kernel->value_bytes += kernel->parameters[i].size_bytes;
  }
}

static char *offset_symbol(const char *symbol) {
  size_t size = sizeof QN_OPENCL_OFFSET_ENTRY + strlen(symbol);
  char *name = malloc(size);
  if (name) snprintf(name, size, "%s%s", QN_OPENCL_OFFSET_ENTRY, symbol);
  return name;
}

/* adapter.h, "Entries of OpenCL C code". */
static bool list_entries(qn_adapter_kernel *kernel, const char *symbol) {
  ocl_entry *first = &kernel->entries[OCL_FIRST_ENTRY], *with_offsets = &kernel->entries[OCL_OFFSET_ENTRY];
  first->symbol = strdup(symbol);
  first->hidden_words = kernel->takes_range ? RANGE_WORDS + kernel->buffer_count : 0;
  kernel->entry_count = 1;
  if (kernel->takes_range || kernel->buffer_count == 0) return first->symbol != NULL;
  with_offsets->symbol = offset_symbol(symbol);
  with_offsets->hidden_words = kernel->buffer_count;
  kernel->entry_count = 2;
  return first->symbol && with_offsets->symbol;
}

static uint32_t parameters_of(const qn_adapter_kernel *kernel, const ocl_entry *entry) {
  return kernel->parameter_count + (entry->hidden_words > 0 ? 1 : 0);
}

static qn_adapter_kernel *new_kernel(qn_adapter_device *device, const qn_adapter_program *program,
                                     const qn_adapter_kernel_description *description) {
  qn_adapter_kernel *kernel = calloc(1, sizeof *kernel);
  if (!kernel) return NULL;
  kernel->device = device;
  kernel->program = program->native;
  kernel->takes_range = (description->entry_flags & QN_ENTRY_RANGE) != 0;
  kernel->parameter_count = description->parameter_count;
  for (int e = 0; e < OCL_ENTRIES; e++)
    for (int i = 0; i < OCL_SEATS; i++) pthread_mutex_init(&kernel->entries[e].seats[i].lock, NULL);
  kernel->name = strdup(description->name);
  kernel->parameters = calloc(kernel->parameter_count + 1, sizeof *kernel->parameters);
  if (kernel->parameters && kernel->parameter_count > 0)
    memcpy(kernel->parameters, description->parameters, kernel->parameter_count * sizeof *kernel->parameters);
  if (kernel->parameters) count_parameters(kernel);
  if (kernel->parameters && kernel->name && list_entries(kernel, description->symbol)) return kernel;
  (void)free_kernel(kernel);
  return NULL;
}

/* ---- Seats -------------------------------------------------------------------------------------- */

/* Under the seat's lock, or before anybody knows the kernel. */
static qn_status furnish(const qn_adapter_kernel *kernel, const ocl_entry *entry, ocl_seat *seat,
                         ocl_failure *failure) {
  const qn_adapter_device *device = kernel->device;
  cl_int code = CL_SUCCESS;
  if (!seat->settings) seat->settings = calloc(parameters_of(kernel, entry) + 1, sizeof *seat->settings);
  if (!seat->bytes) seat->bytes = calloc(1, kernel->value_bytes + 1);
  if (!seat->hidden) seat->hidden = calloc(2 * (size_t)entry->hidden_words + 1, sizeof *seat->hidden);
  if (!seat->settings || !seat->bytes || !seat->hidden)
    return ocl_fail(failure, QN_ERROR_OUT_OF_HOST_MEMORY, CL_SUCCESS, "no memory for the arguments of kernel '%s'",
                    kernel->name);
  seat->native = device->cl->CreateKernel(kernel->program, entry->symbol, &code);
  if (seat->native) return QN_OK;
  return ocl_fail(failure, ocl_status_of(code), code, "no kernel '%s' (entry '%s')", kernel->name, entry->symbol);
}

/* The queue's own seat, the next that is free, or the own one after a wait. It comes locked. */
static ocl_seat *take_seat(ocl_entry *entry, uint32_t number) {
  for (uint32_t i = 0; i < OCL_SEATS; i++) {
    ocl_seat *seat = &entry->seats[(number + i) % OCL_SEATS];
    if (pthread_mutex_trylock(&seat->lock) == 0) return seat;
  }
  ocl_seat *own = &entry->seats[number % OCL_SEATS];
  pthread_mutex_lock(&own->lock);
  return own;
}

/* ---- Creation ----------------------------------------------------------------------------------- */

static qn_status check_description(const qn_adapter_device *device, const qn_adapter_kernel_description *d) {
  static const uint32_t known = (1u << QN_ARGUMENT_VALUE) | (1u << QN_ARGUMENT_BUFFER) | (1u << QN_ARGUMENT_LOCAL);
  for (uint32_t i = 0; i < d->parameter_count; i++)
    if (d->parameters[i].kind > 31 || !(known >> d->parameters[i].kind & 1))
      return ocl_error(device->host, QN_ERROR_UNSUPPORTED,
                       "parameter %u of kernel '%s' is of kind %u, which the adapter doesn't take", i, d->name,
                       d->parameters[i].kind);
  if (d->entry_flags & ~QN_ENTRY_RANGE)
    return ocl_error(device->host, QN_ERROR_UNSUPPORTED, "kernel '%s' has unknown entry flags 0x%llx", d->name,
                     (unsigned long long)d->entry_flags);
  return QN_OK;
}

/* An entry must have the parameters that launches will set: one that has others would run with garbage. */
static qn_status check_entry(const qn_adapter_kernel *kernel, const ocl_entry *entry) {
  const qn_adapter_device *device = kernel->device;
  cl_uint count = 0, wanted = parameters_of(kernel, entry);
  cl_int code = device->cl->GetKernelInfo(entry->seats[0].native, CL_KERNEL_NUM_ARGS, sizeof count, &count, NULL);
  if (code != CL_SUCCESS) return ocl_refused(device->host, code, "kernel '%s' can't be asked", kernel->name);
  if (count == wanted) return QN_OK;
  return ocl_error(device->host, QN_ERROR_ABI, "the entry '%s' of kernel '%s' has %u parameters; %u are to be set",
                   entry->symbol, kernel->name, count, wanted);
}

static qn_status open_entries(qn_adapter_kernel *kernel) {
  qn_status status = QN_OK;
  for (uint32_t e = 0; e < kernel->entry_count && status >= 0; e++) {
    ocl_entry *entry = &kernel->entries[e];
    ocl_failure failure;
    status = furnish(kernel, entry, &entry->seats[0], &failure);
    if (status < 0) return ocl_tell(kernel->device->host, &failure);
    status = check_entry(kernel, entry);
  }
  return status;
}

/* 0: what the device has. */
static uint64_t group_items(const qn_adapter_kernel *kernel, const ocl_entry *entry) {
  const qn_adapter_device *device = kernel->device;
  size_t items = 0;
  cl_int code = device->cl->GetKernelWorkGroupInfo(entry->seats[0].native, device->found->id, CL_KERNEL_WORK_GROUP_SIZE,
                                                   sizeof items, &items, NULL);
  return code == CL_SUCCESS ? items : 0;
}

static void describe(const qn_adapter_kernel *kernel, qn_adapter_kernel_info *out_info) {
  out_info->native = (uint64_t)(uintptr_t)kernel->entries[OCL_FIRST_ENTRY].seats[0].native;
  out_info->max_group_items = group_items(kernel, &kernel->entries[OCL_FIRST_ENTRY]);
  for (uint32_t e = 1; e < kernel->entry_count; e++) {
    uint64_t items = group_items(kernel, &kernel->entries[e]);
    if (items > 0 && items < out_info->max_group_items) out_info->max_group_items = items;
  }
}

qn_status ocl_kernel_create(qn_adapter_device *device, qn_adapter_program *program,
                            const qn_adapter_kernel_description *description, qn_adapter_kernel **out_kernel,
                            qn_adapter_kernel_info *out_info) {
  qn_status status = ocl_device_check(device);
  if (status >= 0) status = check_description(device, description);
  if (status < 0) return status;
  qn_adapter_kernel *kernel = new_kernel(device, program, description);
  if (!kernel) return ocl_error(device->host, QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for a kernel");
  status = open_entries(kernel);
  if (status < 0) {
    (void)free_kernel(kernel);
    return status;
  }
  describe(kernel, out_info);
  *out_kernel = kernel;
  return QN_OK;
}

qn_status ocl_kernel_destroy(qn_adapter_device *device, qn_adapter_kernel *kernel) {
  cl_int code = free_kernel(kernel);
  if (code == CL_SUCCESS || atomic_load(&device->is_lost)) return QN_OK;
  return ocl_refused(device->host, code, "a kernel can't be released");
}

/* ---- Arguments ---------------------------------------------------------------------------------- */

/* One launch. */
typedef struct launch {
  ocl_place *place;
  const qn_launch_record *record;
  qn_adapter_kernel *kernel;
  ocl_entry *entry;
  ocl_seat *seat;
} launch;

static qn_status refuse_argument(const launch *l, cl_int code, uint32_t i) {
  l->seat->settings[i].is_set = false;
  return ocl_fail(l->place->failure, ocl_status_of(code), code, "argument %u of kernel '%s'", i, l->kernel->name);
}

/* Whether the seat has this argument already; notes that it will. */
static bool is_same(ocl_setting *setting, uint64_t key) {
  if (setting->is_set && setting->key == key) return true;
  setting->key = key;
  setting->is_set = true;
  return false;
}

static qn_status set_bytes(const launch *l, uint32_t i, void *kept, const void *bytes, uint64_t size) {
  ocl_setting *setting = &l->seat->settings[i];
  if (setting->is_set && memcmp(kept, bytes, size) == 0) return QN_OK;
  memcpy(kept, bytes, size);
  setting->is_set = true;
  cl_int code = l->kernel->device->cl->SetKernelArg(l->seat->native, i, (size_t)size, bytes);
  return code == CL_SUCCESS ? QN_OK : refuse_argument(l, code, i);
}

static qn_status set_buffer(const launch *l, uint32_t i, const qn_adapter_memory *memory) {
  const ocl_functions *cl = l->kernel->device->cl;
  if (is_same(&l->seat->settings[i], memory ? memory->number : 0)) return QN_OK;
  cl_int code = memory && memory->shared
                    ? cl->SetKernelArgSVMPointer(l->seat->native, i, memory->shared)
                    : cl->SetKernelArg(l->seat->native, i, sizeof(cl_mem), memory ? &memory->buffer : NULL);
  return code == CL_SUCCESS ? QN_OK : refuse_argument(l, code, i);
}

static qn_status set_local(const launch *l, uint32_t i, uint64_t size) {
  if (is_same(&l->seat->settings[i], size)) return QN_OK;
  cl_int code = l->kernel->device->cl->SetKernelArg(l->seat->native, i, (size_t)size, NULL);
  return code == CL_SUCCESS ? QN_OK : refuse_argument(l, code, i);
}

static qn_status check_argument(const launch *l, uint32_t i) {
  const qn_launch_argument *a = &l->record->arguments[i];
  const qn_adapter_parameter *p = &l->kernel->parameters[i];
  bool fits = a->kind == p->kind && (a->kind != QN_ARGUMENT_VALUE || a->size_bytes == p->size_bytes);
  if (fits) return QN_OK;
  return ocl_fail(l->place->failure, QN_ERROR_INVALID_ARGUMENT, CL_SUCCESS,
                  "argument %u of kernel '%s' is of kind %u and %llu bytes; kind %u and %u bytes are wanted", i,
                  l->kernel->name, a->kind, (unsigned long long)a->size_bytes, p->kind, p->size_bytes);
}

/* Room for the next hidden parameter, and the offsets in it. */
static uint64_t *next_hidden(const launch *l) { return l->seat->hidden + l->entry->hidden_words; }
static uint64_t *next_offsets(const launch *l) { return next_hidden(l) + (l->kernel->takes_range ? RANGE_WORDS : 0); }

static qn_status set_argument(const launch *l, uint32_t i, uint32_t *buffers, uint64_t *bytes) {
  const qn_launch_argument *a = &l->record->arguments[i];
  qn_status status = check_argument(l, i);
  if (status < 0) return status;
  switch (a->kind) {
    case QN_ARGUMENT_BUFFER:
      if (l->entry->hidden_words > 0) next_offsets(l)[(*buffers)++] = a->memory ? a->offset_bytes : 0;
      return set_buffer(l, i, a->memory);
    case QN_ARGUMENT_LOCAL:
      return set_local(l, i, a->size_bytes);
    default:
      status = set_bytes(l, i, l->seat->bytes + *bytes, a->bytes, a->size_bytes);
      *bytes += a->size_bytes;
      return status;
  }
}

static qn_status set_arguments(const launch *l) {
  uint32_t buffers = 0;
  uint64_t bytes = 0;
  if (l->record->argument_count != l->kernel->parameter_count)
    return ocl_fail(l->place->failure, QN_ERROR_INVALID_ARGUMENT, CL_SUCCESS,
                    "kernel '%s' has %u arguments, %u are given", l->kernel->name, l->kernel->parameter_count,
                    l->record->argument_count);
  for (uint32_t i = 0; i < l->kernel->parameter_count; i++) {
    qn_status status = set_argument(l, i, &buffers, &bytes);
    if (status < 0) return status;
  }
  return QN_OK;
}

/* ---- Parts -------------------------------------------------------------------------------------- */

/* The whole groups of a dimension, then the rest, which is one smaller group. In work-items. */
typedef struct span {
  uint64_t start, size, local, first_group;
} span;

static void split(const qn_launch_record *r, uint32_t d, span out[2]) {
  uint64_t local = r->local[d], whole = r->global[d] / local, first = r->group_base[d], rest = r->global[d] % local;
  out[0] = (span){first * local, first < whole ? (whole - first) * local : 0, local, first};
  out[1] = (span){whole * local, first <= whole ? rest : 0, rest, whole};
}

static void put_range(const launch *l, const span *spans[3], qn_opencl_range *out) {
  const qn_launch_record *r = l->record;
  for (uint32_t d = 0; d < 3; d++) {
    bool used = d < r->dimensions;
    uint64_t global = used ? r->global[d] : 1, local = used ? r->local[d] : 1;
    out->global_size[d] = global;
    out->global_offset[d] = used ? r->offset[d] : 0;
    out->group_base[d] = spans[d]->first_group;
    out->num_groups[d] = global / local + (global % local != 0);
    out->enqueued_local[d] = local;
  }
}

static qn_status set_hidden(const launch *l, const span *spans[3]) {
  const qn_adapter_kernel *kernel = l->kernel;
  uint64_t size = l->entry->hidden_words * sizeof(uint64_t);
  qn_opencl_range range;
  if (size == 0) return QN_OK;
  if (kernel->takes_range) {
    put_range(l, spans, &range);
    memcpy(next_hidden(l), &range, sizeof range);
  }
  return set_bytes(l, kernel->parameter_count, l->seat->hidden, next_hidden(l), size);
}

static cl_int give(launch *l, const size_t offset[3], const size_t global[3], const size_t local[3], cl_event *event) {
  const ocl_place *place = l->place;
  return place->cl->EnqueueNDRangeKernel(place->queue, l->seat->native, l->record->dimensions,
                                         offset[0] | offset[1] | offset[2] ? offset : NULL, global, local,
                                         ocl_place_count(place), ocl_place_waits(place), event);
}

static bool is_new_shape(const launch *l, const size_t offset[3], const size_t global[3], const size_t local[3],
                         ocl_shape *out_shape) {
  if (!l->kernel->device->found->quirks->compiles_late) return false;
  *out_shape = ocl_shape_of(l->record->dimensions, offset, global, local);
  return !ocl_shapes_know(&l->seat->shapes, out_shape);
}

/* The driver may compile for it: its end is of interest (compiles.h). */
static cl_int give_new(launch *l, const ocl_shape *shape, const size_t offset[3], const size_t global[3],
                       const size_t local[3], cl_event *event) {
  qn_adapter_device *device = l->kernel->device;
  cl_event own = NULL;
  if (!event) event = &own;
  cl_int code = give(l, offset, global, local, event);
  ocl_compiles_end(device, code == CL_SUCCESS ? *event : NULL);
  if (own) device->cl->ReleaseEvent(own);
  if (code == CL_SUCCESS) ocl_shapes_learn(&l->seat->shapes, shape);
  return code;
}

/* The first part waits, the last one has the event: the queue is in order. */
static qn_status enqueue(launch *l, const span *spans[3], bool is_last) {
  ocl_place *place = l->place;
  size_t offset[3], global[3], local[3];
  qn_status status = set_hidden(l, spans);
  if (status < 0) return status;
  for (uint32_t d = 0; d < 3; d++) {
    offset[d] = (size_t)((d < l->record->dimensions ? l->record->offset[d] : 0) + spans[d]->start);
    global[d] = (size_t)spans[d]->size;
    local[d] = (size_t)spans[d]->local;
  }
  cl_event *event = is_last ? place->event : NULL;
  ocl_shape shape;
  bool is_new = is_new_shape(l, offset, global, local, &shape);
  if (is_new && !ocl_compiles_begin(l->kernel->device))
    return ocl_fail(place->failure, QN_ERROR_CLOSED, CL_SUCCESS, "the process is about to end");
  cl_int code = is_new ? give_new(l, &shape, offset, global, local, event) : give(l, offset, global, local, event);
  if (code != CL_SUCCESS)
    return ocl_fail(place->failure, ocl_status_of(code), code, "launch of kernel '%s' with groups of %zu x %zu x %zu",
                    l->kernel->name, local[0], local[1], local[2]);
  place->taken++;
  return QN_OK;
}

/* Bit d of a part's number: the rest of dimension d. */
static bool part_is_empty(span spans[3][2], uint32_t part) {
  for (uint32_t d = 0; d < 3; d++)
    if (spans[d][part >> d & 1].size == 0) return true;
  return false;
}

static qn_status enqueue_parts(launch *l) {
  const qn_launch_record *r = l->record;
  span spans[3][2] = {{{0, 1, 1, 0}, {0}}, {{0, 1, 1, 0}, {0}}, {{0, 1, 1, 0}, {0}}};
  uint32_t parts[8], count = 0;
  for (uint32_t d = 0; d < r->dimensions; d++) split(r, d, spans[d]);
  for (uint32_t part = 0; part < 8; part++)
    if (!part_is_empty(spans, part)) parts[count++] = part;
  for (uint32_t i = 0; i < count; i++) {
    const span *chosen[3];
    for (uint32_t d = 0; d < 3; d++) chosen[d] = &spans[d][parts[i] >> d & 1];
    qn_status status = enqueue(l, chosen, i + 1 == count);
    if (status < 0) return status;
  }
  return QN_OK;
}

/* Nearly every launch is. */
static bool is_whole(const qn_launch_record *r) {
  bool whole = true;
  for (uint32_t d = 0; d < r->dimensions; d++)
    whole = whole && r->global[d] > 0 && r->global[d] % r->local[d] == 0 && r->group_base[d] == 0;
  return whole;
}

static qn_status enqueue_whole(launch *l) {
  const qn_launch_record *r = l->record;
  span spans[3];
  const span *chosen[3] = {&spans[0], &spans[1], &spans[2]};
  for (uint32_t d = 0; d < 3; d++)
    spans[d] = d < r->dimensions ? (span){0, r->global[d], r->local[d], 0} : (span){0, 1, 1, 0};
  return enqueue(l, chosen, true);
}

/* ---- Launch ------------------------------------------------------------------------------------- */

static qn_status check_range(ocl_place *place, const qn_launch_record *r) {
  bool good = r->dimensions >= 1 && r->dimensions <= 3;
  for (uint32_t d = 0; good && d < r->dimensions; d++) good = r->local[d] > 0;
  if (good) return QN_OK;
  return ocl_fail(place->failure, QN_ERROR_INVALID_ARGUMENT, CL_SUCCESS,
                  "kernel '%s' is launched over %u dimensions with groups of %llu x %llu x %llu", r->kernel->name,
                  r->dimensions, (unsigned long long)r->local[0], (unsigned long long)r->local[1],
                  (unsigned long long)r->local[2]);
}

static qn_status check_ids(ocl_place *place, const qn_launch_record *r) {
  uint32_t bits = r->kernel->device->found->quirks->id_bits;
  for (uint32_t d = 0; d < r->dimensions && bits; d++)
    if (r->offset[d] + r->global[d] > UINT64_C(1) << bits)
      return ocl_fail(
          place->failure, QN_ERROR_UNSUPPORTED, CL_SUCCESS,
          "launch of kernel '%s': identifiers of dimension %u go up to %llu, and this driver counts them with "
          "%u bits; give the kernel a view instead of an offset",
          r->kernel->name, d, (unsigned long long)(r->offset[d] + r->global[d] - 1), bits);
  return QN_OK;
}

static qn_status run_in_seat(launch *l) {
  qn_status status = l->seat->native ? QN_OK : furnish(l->kernel, l->entry, l->seat, l->place->failure);
  if (status >= 0) status = set_arguments(l);
  if (status >= 0) status = is_whole(l->record) ? enqueue_whole(l) : enqueue_parts(l);
  return status;
}

static bool has_offsets(const qn_launch_record *r) {
  bool some = false;
  for (uint32_t i = 0; i < r->argument_count; i++) {
    const qn_launch_argument *a = &r->arguments[i];
    some = some || (a->kind == QN_ARGUMENT_BUFFER && a->memory && a->offset_bytes != 0);
  }
  return some;
}

static ocl_entry *choose_entry(const qn_launch_record *r) {
  qn_adapter_kernel *kernel = r->kernel;
  return &kernel->entries[kernel->entry_count > 1 && has_offsets(r) ? OCL_OFFSET_ENTRY : OCL_FIRST_ENTRY];
}

qn_status ocl_kernel_launch(ocl_place *place, const qn_launch_record *record) {
  launch l = {.place = place, .record = record, .kernel = record->kernel};
  qn_status status = check_range(place, record);
  if (status >= 0) status = check_ids(place, record);
  if (status < 0) return status;
  l.entry = choose_entry(record);
  l.seat = take_seat(l.entry, place->number);
  status = run_in_seat(&l);
  pthread_mutex_unlock(&l.seat->lock);
  return status;
}
