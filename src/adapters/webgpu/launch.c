/* launch.c - a launch becomes dispatches. */
#include <string.h>

#include "device.h"
#include "kernel.h"

typedef struct launch {
  qn_adapter_device *device;
  qn_adapter_kernel *kernel;
  const qn_launch_record *record;
  wg_variant *variant;
  wgl_group *group;
  wg_failure *failure;
  bool dry;
} launch;

static qn_status wrong_argument(const launch *l, uint32_t i, const char *what) {
  return wg_fail(l->failure, QN_ERROR_INVALID_ARGUMENT, 0, "argument %u of kernel '%s' %s", i, l->kernel->entry->name,
                 what);
}

/* ---- Arguments ---------------------------------------------------------------------------------- */

static qn_status check_argument(const launch *l, uint32_t i) {
  const qn_launch_argument *a = &l->record->arguments[i];
  const wg_parameter *p = &l->kernel->entry->parameters[i];
  const qn_adapter_parameter *known = &l->kernel->parameters[i];
  if (a->kind != known->kind || (a->kind == QN_ARGUMENT_VALUE && a->size_bytes != known->size_bytes))
    return wrong_argument(l, i, "has another kind or size than the kernel wants");
  if (p->kind == WG_LOCAL && a->size_bytes / p->unit >= UINT32_MAX)
    return wrong_argument(l, i, "is too much local memory");
  if (p->kind != WG_BUFFER || !a->memory || p->align <= 1 || a->offset_bytes % p->align == 0) return QN_OK;
  return wg_fail(l->failure, QN_ERROR_INVALID_ARGUMENT, 0,
                 "argument %u of kernel '%s' begins at byte %llu of its buffer; the kernel accesses it in units of %u "
                 "bytes, so it "
                 "must begin at a multiple of that",
                 i, l->kernel->entry->name, (unsigned long long)a->offset_bytes, p->align);
}

static qn_status check_arguments(const launch *l) {
  const qn_launch_record *r = l->record;
  if (r->argument_count != l->kernel->entry->parameter_count)
    return wg_fail(l->failure, QN_ERROR_INVALID_ARGUMENT, 0, "kernel '%s' has %u arguments, %u are given",
                   l->kernel->entry->name, l->kernel->entry->parameter_count, r->argument_count);
  for (uint32_t i = 0; i < r->argument_count; i++) {
    qn_status status = check_argument(l, i);
    if (status < 0) return status;
  }
  return QN_OK;
}

/* The block that a parameter has bound; NULL: none is, or a null pointer. */
static const qn_adapter_memory *bound(const launch *l, uint32_t i) {
  const wg_parameter *p = &l->kernel->entry->parameters[i];
  return p->kind == WG_BUFFER && p->binding != 0 ? l->record->arguments[i].memory : NULL;
}

/* The first parameter with the same block; itself. */
static uint32_t first_with(const launch *l, uint32_t i) {
  const qn_adapter_memory *memory = bound(l, i);
  for (uint32_t k = 0; memory && k < i; k++)
    if (bound(l, k) == memory) return k;
  return i;
}

static bool writes(const launch *l, uint32_t i) {
  return (l->kernel->entry->parameters[i].access & QN_ACCESS_WRITE) != 0;
}

/* Two that share a block and only read may have a binding each. Once a binding is shared all may write (merge.h). */
static void find_holders(const launch *l) {
  uint32_t *holders = l->kernel->holders, count = l->record->argument_count;
  bool must_merge = false;
  for (uint32_t i = 0; i < count; i++) {
    holders[i] = first_with(l, i);
    for (uint32_t k = 0; k < i; k++)
      if (holders[i] != i && holders[k] == holders[i] && (writes(l, i) || writes(l, k))) must_merge = true;
  }
  for (uint32_t i = 0; i < count && !must_merge; i++) holders[i] = i;
}

/* ---- Bind group --------------------------------------------------------------------------------- */

/* What a null pointer has bound is its own part of a buffer of ours. */
enum { PART = 256, PARTS = 64 };

static qn_status bind_nothing(const launch *l, uint32_t i, bool is_written, wgl_binding *out) {
  qn_adapter_device *device = l->device;
  wgl_buffer **buffer = &device->nothing[is_written];
  uint32_t part = l->kernel->entry->parameters[i].binding;
  if (part >= PARTS)
    return wrong_argument(l, i, "is a null pointer behind more buffers than the adapter has parts for");
  qn_status status =
      *buffer ? QN_OK : wg_buffer_create(device, WGL_STORAGE | WGL_COPY_TARGET, PART * PARTS, buffer, l->failure);
  *out = (wgl_binding){.buffer = *buffer, .offset_bytes = (uint64_t)part * PART, .size_bytes = PART};
  return status;
}

static qn_status make_group(launch *l, uint32_t count) {
  qn_adapter_kernel *kernel = l->kernel;
  qn_adapter_device *device = l->device;
  wg_scope_begin(device);
  wgl_group *group = WGL(device, group_create, device->native, l->variant->layout, kernel->bindings, count);
  qn_status status = wg_scope_end(device, l->failure, "the buffers of kernel '%s' can't be bound", kernel->entry->name);
  if (status < 0) {
    if (group) WGL(device, group_release, group);
    return status;
  }
  if (!group || !wg_groups_put(device, &l->variant->groups, kernel->numbers, group))
    return wg_fail(l->failure, QN_ERROR_OUT_OF_HOST_MEMORY, 0, "no memory for a bind group");
  l->group = group;
  return QN_OK;
}

static qn_status find_group(launch *l) {
  qn_adapter_kernel *kernel = l->kernel;
  const wg_entry *e = kernel->entry;
  uint32_t count = 0, buffers = 0;
  if (e->block_bytes > 0)
    kernel->bindings[count++] = (wgl_binding){.buffer = l->device->stream.blocks, .size_bytes = e->block_bytes};
  for (uint32_t i = 0; i < e->parameter_count; i++) {
    const wg_parameter *p = &e->parameters[i];
    if (p->kind != WG_BUFFER || p->binding == 0 || kernel->holders[i] != i) continue;
    const qn_adapter_memory *memory = bound(l, i);
    wgl_binding *b = &kernel->bindings[count++];
    qn_status status = QN_OK;
    kernel->numbers[buffers++] = memory ? memory->number : 0;
    if (memory)
      *b = (wgl_binding){.buffer = memory->buffer, .size_bytes = memory->size};
    else
      status = bind_nothing(l, i, l->variant->is_merged || writes(l, i), b);
    b->binding = p->binding;
    if (status < 0) return status;
  }
  if (count == 0) return QN_OK;
  l->group = wg_groups_find(&l->variant->groups, kernel->numbers);
  return l->group ? QN_OK : make_group(l, count);
}

/* ---- Argument block ----------------------------------------------------------------------------- */

static void put_word(unsigned char *at, uint32_t word) { memcpy(at, &word, 4); }

/* Addresses rise with the binding and don't overlap; a kernel that compares them finds its way by that. */
static void put_buffer(const launch *l, uint32_t i, unsigned char *block, uint32_t *address) {
  const wg_parameter *p = &l->kernel->entry->parameters[i];
  const qn_launch_argument *a = &l->record->arguments[i];
  put_word(block + p->offset, a->memory ? (uint32_t)a->offset_bytes : WG_NULL);
  if (p->base_offset) put_word(block + p->base_offset, a->memory ? *address : WG_NULL);
  *address += (uint32_t)(a->size_bytes + 255) / 256 * 256 + 256;
}

static void put_arguments(const launch *l, unsigned char *block) {
  uint32_t address = WG_FIRST_ADDRESS;
  for (uint32_t i = 0; i < l->record->argument_count; i++) {
    const wg_parameter *p = &l->kernel->entry->parameters[i];
    const qn_launch_argument *a = &l->record->arguments[i];
    if (p->kind == WG_VALUE) memcpy(block + p->offset, a->bytes, (size_t)a->size_bytes);
    if (p->kind == WG_BUFFER) put_buffer(l, i, block, &address);
  }
}

/* ---- Parts -------------------------------------------------------------------------------------- */

/* Of a dimension: the whole groups, or the rest, which is one smaller group. In work-items. */
typedef struct span {
  uint64_t start, local, groups, first_group;
} span;

static void split(const qn_launch_record *r, uint32_t d, span out[2]) {
  bool is_used = d < r->dimensions;
  uint64_t global = is_used ? r->global[d] : 1, local = is_used ? r->local[d] : 1;
  uint64_t whole = global / local, rest = global % local, first = is_used ? r->group_base[d] : 0;
  out[0] = (span){first * local, local, first < whole ? whole - first : 0, first};
  out[1] = (span){whole * local, rest, first <= whole && rest ? 1 : 0, whole};
}

static void put_range(const launch *l, const span *spans[3], unsigned char *block) {
  const qn_launch_record *r = l->record;
  qn_wgsl_launch_range out = {.work_dim = r->dimensions};
  for (uint32_t d = 0; d < 3; d++) {
    bool is_used = d < r->dimensions;
    uint64_t global = is_used ? r->global[d] : 1, local = is_used ? r->local[d] : 1,
             offset = is_used ? r->offset[d] : 0;
    out.origin[d] = (uint32_t)(offset + spans[d]->start);
    out.global_size[d] = (uint32_t)global;
    out.num_groups[d] = (uint32_t)(global / local + (global % local != 0));
    out.group_base[d] = (uint32_t)spans[d]->first_group;
    out.global_offset[d] = (uint32_t)offset;
    out.enqueued_local[d] = (uint32_t)local;
    out.local_size[d] = (uint32_t)spans[d]->local;
  }
  memcpy(block, &out, sizeof out);
}

/* As many groups as the device takes. */
static qn_status dispatch(const launch *l, wgl_pipeline *pipeline, const span *spans[3]) {
  const wg_entry *e = l->kernel->entry;
  uint32_t offset = UINT32_MAX;
  const uint32_t groups[3] = {(uint32_t)spans[0]->groups, (uint32_t)spans[1]->groups, (uint32_t)spans[2]->groups};
  if (e->block_bytes > 0) {
    unsigned char *block = wg_stream_block(l->device, e->block_bytes, &offset);
    if (!block) return wg_fail(l->failure, QN_ERROR_INTERNAL, 0, "no room for the arguments of kernel '%s'", e->name);
    memset(block, 0, e->block_bytes);
    if (e->takes_range) put_range(l, spans, block);
    put_arguments(l, block);
  }
  wg_stream_dispatch(l->device, pipeline, l->group, offset, groups);
  return QN_OK;
}

/* Cuts what has more groups than the device allows. */
static qn_status dispatch_cut(const launch *l, wgl_pipeline *pipeline, const span *whole[3]) {
  uint64_t most = l->device->found->description.max_groups, steps[3];
  qn_status status = QN_OK;
  for (int d = 0; d < 3; d++) steps[d] = (whole[d]->groups + most - 1) / most;
  for (uint64_t n = 0; n < steps[0] * steps[1] * steps[2] && status >= 0; n++) {
    const uint64_t at[3] = {n % steps[0], n / steps[0] % steps[1], n / steps[0] / steps[1]};
    span parts[3];
    const span *pointers[3];
    for (int d = 0; d < 3; d++) {
      uint64_t skipped = at[d] * most, left = whole[d]->groups - skipped;
      parts[d] = (span){whole[d]->start + skipped * whole[d]->local, whole[d]->local, left < most ? left : most,
                        whole[d]->first_group + skipped};
      pointers[d] = &parts[d];
    }
    status = dispatch(l, pipeline, pointers);
  }
  return status;
}

static void put_key(const launch *l, const span *spans[3]) {
  const wg_entry *e = l->kernel->entry;
  uint32_t local = 3;
  for (int d = 0; d < 3; d++) l->kernel->key[d] = (uint32_t)spans[d]->local;
  for (uint32_t i = 0; i < e->parameter_count; i++) {
    const wg_parameter *p = &e->parameters[i];
    uint64_t size = l->record->arguments[i].size_bytes;
    if (p->kind == WG_LOCAL) l->kernel->key[local++] = (uint32_t)(size > 0 ? (size + p->unit - 1) / p->unit : 1);
  }
}

static qn_status check_group(const launch *l, const span *spans[3]) {
  const wg_entry *e = l->kernel->entry;
  for (int d = 0; d < 3; d++)
    if (!e->group[d] && e->fixed_group[d] != spans[d]->local)
      return wg_fail(l->failure, QN_ERROR_INVALID_ARGUMENT, 0, "kernel '%s' has groups of %u x %u x %u", e->name,
                     e->fixed_group[0], e->fixed_group[1], e->fixed_group[2]);
  return QN_OK;
}

/* All pipelines are made before the first dispatch: nothing is recorded when one can't be. */
static qn_status go_through(const launch *l, bool dry) {
  span spans[3][2];
  qn_status status = QN_OK;
  for (uint32_t d = 0; d < 3; d++) split(l->record, d, spans[d]);
  for (int n = 0; n < 8 && status >= 0; n++) {
    const span *part[3] = {&spans[0][n & 1], &spans[1][n >> 1 & 1], &spans[2][n >> 2 & 1]};
    wgl_pipeline *pipeline = NULL;
    if (part[0]->groups == 0 || part[1]->groups == 0 || part[2]->groups == 0) continue;
    put_key(l, part);
    status = check_group(l, part);
    if (status >= 0) status = wg_pipeline_find(l->kernel, l->variant, &pipeline, l->failure);
    if (status >= 0 && !dry) status = dispatch_cut(l, pipeline, part);
  }
  return status;
}

static bool has_rest(const qn_launch_record *r) {
  for (uint32_t d = 0; d < r->dimensions; d++)
    if (r->global[d] % r->local[d] != 0) return true;
  return false;
}

static qn_status check_range(const launch *l) {
  const qn_launch_record *r = l->record;
  bool is_range = r->dimensions >= 1 && r->dimensions <= 3;
  for (uint32_t d = 0; is_range && d < r->dimensions; d++) is_range = r->local[d] > 0;
  if (is_range) return QN_OK;
  return wg_fail(l->failure, QN_ERROR_INVALID_ARGUMENT, 0,
                 "a launch of kernel '%s' has a range of %u dimensions or an empty group", l->kernel->entry->name,
                 r->dimensions);
}

qn_status wg_launch(qn_adapter_device *device, const qn_launch_record *record, bool dry, wg_failure *failure) {
  launch l = {.device = device, .kernel = record->kernel, .record = record, .failure = failure, .dry = dry};
  qn_status status = check_range(&l);
  if (status >= 0) status = check_arguments(&l);
  if (status < 0) return status;
  find_holders(&l);
  status = wg_variant_find(l.kernel, &l.variant, failure);
  if (status >= 0) status = find_group(&l);
  if (status >= 0 && (dry || has_rest(record))) status = go_through(&l, true);
  return status < 0 || dry ? status : go_through(&l, false);
}
