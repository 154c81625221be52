/* variant.c - modules, layouts and pipelines of a kernel. */
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "kernel.h"
#include "merge.h"

static uint32_t parameter_count(const qn_adapter_kernel *kernel) { return kernel->entry->parameter_count; }

/* ---- Variants ----------------------------------------------------------------------------------- */

static bool merges(const qn_adapter_kernel *kernel) {
  for (uint32_t i = 0; i < parameter_count(kernel); i++)
    if (kernel->holders[i] != i) return true;
  return false;
}

/* Binding 0 is the argument block, at an offset that each launch gives. */
static qn_status make_layout(qn_adapter_kernel *kernel, wg_variant *v, wg_failure *failure) {
  const wg_entry *e = kernel->entry;
  wgl_slot *slots = calloc(e->parameter_count + 1, sizeof *slots);
  uint32_t count = 0;
  if (!slots)
    return wg_fail(failure, QN_ERROR_OUT_OF_HOST_MEMORY, 0, "no memory for the layout of kernel '%s'", e->name);
  if (e->block_bytes > 0)
    slots[count++] = (wgl_slot){.binding = 0, .kind = WGL_BIND_UNIFORM, .least_bytes = e->block_bytes, .has_offset = 1};
  for (uint32_t i = 0; i < e->parameter_count; i++) {
    const wg_parameter *p = &e->parameters[i];
    if (p->kind != WG_BUFFER || p->binding == 0 || v->holders[i] != i) continue;
    bool writes = v->is_merged || p->access & QN_ACCESS_WRITE;
    slots[count++] = (wgl_slot){.binding = p->binding, .kind = writes ? WGL_BIND_WRITE : WGL_BIND_READ};
    v->groups.count++;
  }
  wg_scope_begin(kernel->device);
  v->layout = WGL(kernel->device, layout_create, kernel->device->native, slots, count);
  qn_status status = wg_scope_end(kernel->device, failure, "no layout for the arguments of kernel '%s'", e->name);
  free(slots);
  if (status >= 0 && !v->layout)
    status = wg_fail(failure, QN_ERROR_DEVICE, 0, "no layout for the arguments of kernel '%s'", e->name);
  return status;
}

static qn_status make_module(qn_adapter_kernel *kernel, wg_variant *v, wg_failure *failure) {
  uint64_t size = 0;
  v->module = kernel->program->native;
  if (!v->is_merged) return QN_OK;
  v->module = NULL;
  char *text = wg_merge(&kernel->program->record.merged, kernel->entry, v->holders, &size);
  if (!text)
    return wg_fail(failure, QN_ERROR_OUT_OF_HOST_MEMORY, 0, "no memory for the text of kernel '%s'",
                   kernel->entry->name);
  const wg_text merged = {text, (uint32_t)size};
  qn_status status = wg_module_create(kernel->device, &merged, &v->module, failure);
  free(text);
  return status;
}

static void drop_pipelines(qn_adapter_device *device, wg_pipelined *first) {
  for (wg_pipelined *p = first, *next; p; p = next) {
    next = p->next;
    if (device->stream.pipeline == p->native) device->stream.pipeline = NULL;
    WGL(device, pipeline_release, p->native);
    free(p);
  }
}

static void drop_variants(qn_adapter_device *device, wg_variant *first) {
  for (wg_variant *v = first, *next; v; v = next) {
    next = v->next;
    drop_pipelines(device, v->pipelines);
    wg_groups_close(device, &v->groups);
    if (v->layout) WGL(device, layout_release, v->layout);
    if (v->is_merged && v->module) WGL(device, module_release, v->module);
    free(v);
  }
}

void wg_variants_close(qn_adapter_kernel *kernel) {
  drop_variants(kernel->device, kernel->variants);
  kernel->variants = NULL;
}

static qn_status make_variant(qn_adapter_kernel *kernel, wg_variant **out, wg_failure *failure) {
  size_t size = parameter_count(kernel) * sizeof *kernel->holders;
  wg_variant *v = calloc(1, sizeof *v + size);
  if (!v) return wg_fail(failure, QN_ERROR_OUT_OF_HOST_MEMORY, 0, "no memory for kernel '%s'", kernel->entry->name);
  memcpy(v->holders, kernel->holders, size);
  v->is_merged = merges(kernel);
  qn_status status = make_module(kernel, v, failure);
  if (status >= 0) status = make_layout(kernel, v, failure);
  if (status < 0)
    drop_variants(kernel->device, v);
  else
    *out = v;
  return status;
}

/* The list's first `most` stay. */
static void shorten_variants(qn_adapter_kernel *kernel) {
  wg_variant **at = &kernel->variants;
  for (int i = 0; *at && i < WG_MOST_VARIANTS; i++) at = &(*at)->next;
  drop_variants(kernel->device, *at);
  *at = NULL;
}

qn_status wg_variant_find(qn_adapter_kernel *kernel, wg_variant **out, wg_failure *failure) {
  size_t size = parameter_count(kernel) * sizeof *kernel->holders;
  wg_variant **at = &kernel->variants, *found = NULL;
  while (*at && memcmp((*at)->holders, kernel->holders, size) != 0) at = &(*at)->next;
  found = *at;
  if (found) {
    *at = found->next;
  } else {
    qn_status status = make_variant(kernel, &found, failure);
    if (status < 0) return status;
  }
  found->next = kernel->variants;
  kernel->variants = found;
  shorten_variants(kernel);
  *out = found;
  return QN_OK;
}

/* ---- Pipelines ---------------------------------------------------------------------------------- */

static uint32_t put_constants(const qn_adapter_kernel *kernel) {
  const wg_entry *e = kernel->entry;
  uint32_t count = 0, local = 3;
  for (int d = 0; d < 3; d++)
    if (e->group[d]) kernel->constants[count++] = (wgl_constant){.name = e->group[d], .value = kernel->key[d]};
  for (uint32_t i = 0; i < e->parameter_count; i++) {
    if (e->parameters[i].kind != WG_LOCAL) continue;
    uint32_t length = kernel->key[local++];
    if (*e->parameters[i].name)
      kernel->constants[count++] = (wgl_constant){.name = e->parameters[i].name, .value = length};
  }
  if (kernel->program->record.uses_fused)
    kernel->constants[count++] = (wgl_constant){.name = WG_FUSED, .value = kernel->device->fused == WG_FUSED_YES};
  return count;
}

static qn_status make_pipeline(qn_adapter_kernel *kernel, const wg_variant *v, wg_pipelined **out,
                               wg_failure *failure) {
  qn_adapter_device *device = kernel->device;
  const uint32_t *key = kernel->key;
  const wgl_pipeline_request request = {.struct_size = sizeof request,
                                        .constant_count = put_constants(kernel),
                                        .module = v->module,
                                        .layout = v->layout,
                                        .entry = kernel->entry->entry,
                                        .constants = kernel->constants};
  wg_pipelined *p = calloc(1, sizeof *p + kernel->key_count * sizeof *p->key);
  if (!p) return wg_fail(failure, QN_ERROR_OUT_OF_HOST_MEMORY, 0, "no memory for kernel '%s'", kernel->entry->name);
  memcpy(p->key, key, kernel->key_count * sizeof *p->key);
  wg_scope_begin(device);
  p->native = WGL(device, pipeline_create, device->native, &request);
  qn_status status = wg_scope_end(device, failure, "no pipeline of kernel '%s' with groups of %u x %u x %u",
                                  kernel->entry->name, key[0], key[1], key[2]);
  /* The text was accepted; what is wrong now is a size. */
  if (status == QN_ERROR_DEVICE) status = failure->status = QN_ERROR_LIMIT;
  if (status >= 0 && !p->native)
    status = wg_fail(failure, QN_ERROR_DEVICE, 0, "no pipeline of kernel '%s'", kernel->entry->name);
  if (status >= 0) {
    *out = p;
    return QN_OK;
  }
  if (p->native) WGL(device, pipeline_release, p->native);
  free(p);
  return status;
}

static void shorten_pipelines(qn_adapter_device *device, wg_variant *v) {
  wg_pipelined **at = &v->pipelines;
  for (int i = 0; *at && i < WG_MOST_PIPELINES; i++) at = &(*at)->next;
  drop_pipelines(device, *at);
  *at = NULL;
}

qn_status wg_pipeline_find(qn_adapter_kernel *kernel, wg_variant *variant, wgl_pipeline **out, wg_failure *failure) {
  size_t size = kernel->key_count * sizeof *kernel->key;
  wg_pipelined **at = &variant->pipelines, *found = NULL;
  while (*at && memcmp((*at)->key, kernel->key, size) != 0) at = &(*at)->next;
  found = *at;
  if (found) {
    *at = found->next;
  } else {
    qn_status status = make_pipeline(kernel, variant, &found, failure);
    if (status < 0) return status;
  }
  found->next = variant->pipelines;
  variant->pipelines = found;
  shorten_pipelines(kernel->device, variant);
  *out = found->native;
  return QN_OK;
}
