/* execute.c - one device: compile, buffers, launches, times. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fence.h"
#include "run.h"

#define WAIT_SLICE_NS UINT64_C(100000000)

static tool_status open_device(qn_runtime runtime, const char *selector, run_session *s, run_result *r) {
  const char *asked = selector ? selector : getenv("QUERN_DEVICE"), *shown = asked && *asked ? asked : "default";
  qn_status status = qn_device_open(runtime, selector, &s->device);
  if (status < 0) {
    tool_library_error(status, selector || shown != asked ? "device '%s'" : "QUERN_DEVICE: device '%s'", shown);
    return TOOL_FAILED;
  }
  r->device.struct_size = sizeof r->device;
  if ((status = qn_device_query(s->device, &r->device)) < 0) return tool_library_error(status, "device '%s'", shown);
  if (!(r->device.features & QN_FEATURE_KERNELS))
    return tool_error(TOOL_FAILED, "device '%s' runs no kernels; quern devices lists the others", r->device.selector);
  if ((status = qn_queue_create(s->device, NULL, &s->queue)) < 0) return tool_library_error(status, "queue");
  return TOOL_OK;
}

/* The text is the diagnostics, each with its place. With several devices the same ones are told once. */
static tool_status tell_diagnostics(const run_options *o, const run_result *r, char **told) {
  const char *text = qn_error_text();
  if (*told && strcmp(*told, text) == 0)
    return tool_error(TOOL_FAILED, "%s does not compile for '%s' either, for the same reasons", o->file,
                      r->device.selector);
  free(*told);
  *told = tool_copy(text, strlen(text));
  return tool_error_lines(TOOL_FAILED, *told, "%s does not compile", o->file);
}

static tool_status build_program(const run_options *o, const char *source, uint64_t source_bytes, run_session *s,
                                 const run_result *r, char **told, qn_program_info *out_info) {
  qn_program_options build = QN_INIT(qn_program_options);
  build.source = source;
  build.source_bytes = source_bytes;
  build.file_name = o->file;
  build.options = o->build;
  qn_status status = qn_program_build(s->device, &build, &s->program);
  if (status == QN_ERROR_COMPILE) return tell_diagnostics(o, r, told);
  if (status >= 0) status = qn_program_query(s->program, out_info);
  if (status < 0) return tool_library_error(status, "%s", o->file);
  if (out_info->log_bytes && !o->json) {
    char *log = tool_alloc((size_t)out_info->log_bytes + 1, 1);
    if (qn_program_log(s->program, log, out_info->log_bytes + 1) >= 0) tool_note_warnings(o->file, log);
    free(log);
  }
  return TOOL_OK;
}

/* A kernel's whole name, however long. */
static tool_status kernel_name(const run_session *s, const char *file, uint32_t index, char **out_name) {
  for (size_t capacity = 256;; capacity *= 2) {
    char *name = tool_alloc(capacity, 1);
    qn_status status = qn_program_kernel_name(s->program, index, name, capacity);
    if (status >= 0 && strlen(name) + 1 < capacity) {
      *out_name = name;
      return TOOL_OK;
    }
    free(name); /* it was cut */
    if (status < 0) return tool_library_error(status, "%s", file);
  }
}

static tool_status several_kernels(const run_options *o, const run_session *s, uint32_t count) {
  char list[1024] = "";
  size_t at = 0;
  for (uint32_t i = 0; i < count && at < sizeof list - 80; i++) {
    char *name = NULL;
    TOOL_TRY(kernel_name(s, o->file, i, &name));
    at +=
        (size_t)snprintf(list + at, sizeof list - at, "%s%.60s%s", i ? ", " : "", name, strlen(name) > 60 ? "..." : "");
    free(name);
  }
  return tool_error(TOOL_USAGE, "%s has %u kernels, choose one with -k: %s", o->file, count, list);
}

/* The file's kernel when it has one; else an error that lists them. */
static tool_status get_only_kernel(const run_options *o, run_session *s, uint32_t count, qn_status *out_status) {
  char *name = NULL;
  if (!count) return tool_error(TOOL_FAILED, "%s has no kernel", o->file);
  if (count > 1) return several_kernels(o, s, count);
  TOOL_TRY(kernel_name(s, o->file, 0, &name));
  *out_status = qn_kernel_get(s->program, name, &s->kernel);
  free(name);
  return TOOL_OK;
}

tool_status run_session_open(qn_runtime runtime, const char *selector, const run_options *o, const char *source,
                             uint64_t source_bytes, char **told, run_session *s, run_result *r) {
  qn_program_info info = QN_INIT(qn_program_info);
  qn_status status = QN_OK;
  memset(s, 0, sizeof *s);
  fence_unwatch(); /* of the device before */
  TOOL_TRY(open_device(runtime, selector, s, r));
  TOOL_TRY(build_program(o, source, source_bytes, s, r, told, &info));
  r->compile_ns = info.compile_ns;
  r->cached = info.cached;
  if (o->kernel)
    status = qn_kernel_get(s->program, o->kernel, &s->kernel);
  else
    TOOL_TRY(get_only_kernel(o, s, info.kernel_count, &status));
  if (status == QN_ERROR_NOT_FOUND) {
    tool_library_error(status, "%s", o->file);
    return TOOL_USAGE;
  }
  s->info.struct_size = sizeof s->info;
  if (status >= 0) status = qn_kernel_query(s->kernel, &s->info);
  if (status < 0) return tool_library_error(status, "%s: its kernel", o->file);
  memcpy(r->kernel, s->info.name, sizeof r->kernel);
  return TOOL_OK;
}

void run_session_close(run_session *s) {
  qn_release(s->kernel);
  qn_release(s->program);
  qn_release(s->queue);
  qn_release(s->device);
  memset(s, 0, sizeof *s);
}

typedef struct execution {
  run_session *s;
  const run_options *o;
  const run_arguments *a;
  run_result *r;
  qn_buffer buffers[RUN_MAX_ARGUMENTS];
  unsigned char *staging[RUN_MAX_ARGUMENTS]; /* contents in the device's layout */
  fence fences[RUN_MAX_ARGUMENTS];           /* the buffers' memory, where the device works in ours */
  const char *names[RUN_MAX_ARGUMENTS];
  qn_argument arguments[RUN_MAX_ARGUMENTS];
} execution;

static uint32_t vector_of(const run_argument *a) { return a->info.vector_width; }

/* `step` says what failed, `shown` what is waited for. */
static tool_status finish(execution *e, const char *step, const char *shown, uint64_t done, uint64_t all, progress *p) {
  for (;;) {
    qn_status status = qn_queue_finish(e->s->queue, WAIT_SLICE_NS);
    if (status == QN_OK) return TOOL_OK;
    if (status != QN_ERROR_TIMEOUT) {
      progress_end(p);
      tool_library_error(status, "%s", step);
      return TOOL_FAILED;
    }
    progress_show(p, shown, done, all);
  }
}

static tool_status upload(execution *e, uint32_t i) {
  const run_argument *a = &e->a->items[i];
  qn_view view = {e->buffers[i], 0, QN_WHOLE};
  qn_status status = qn_write(e->s->queue, &view, e->staging[i], NULL);
  return status < 0 ? tool_library_error(status, "writing '%s'", a->info.name) : TOOL_OK;
}

/* Fenced where that can be; an array that is too large for the device gets the device's own error. */
static qn_status create_buffer(execution *e, uint32_t i, uint64_t bytes) {
  const qn_device_info *device = &e->r->device;
  qn_buffer_options options = QN_INIT(qn_buffer_options);
  options.size_bytes = bytes;
  if (fence_is_for(device) && bytes <= device->max_allocation_bytes && fence_take(bytes, &e->fences[i])) {
    options.memory = QN_MEMORY_WRAP;
    options.host_pointer = e->fences[i].memory;
  }
  return qn_buffer_create(e->s->device, &options, &e->buffers[i]);
}

static tool_status prepare(execution *e, progress *p) {
  for (uint32_t i = 0; i < e->a->count; i++) {
    const run_argument *a = &e->a->items[i];
    e->names[i] = a->info.name;
    if (a->info.kind == QN_ARGUMENT_LOCAL) {
      e->arguments[i] = qn_arg_local(a->local_bytes);
    } else if (!a->is_array) {
      e->arguments[i] = qn_arg_bytes(a->value, a->info.element_bytes);
    } else {
      uint64_t bytes = array_device_bytes(&a->data, vector_of(a));
      qn_status status = create_buffer(e, i, bytes);
      if (status < 0) return tool_library_error(status, "memory for '%s'", a->info.name);
      e->staging[i] = tool_try_alloc(bytes);
      if (!e->staging[i]) return tool_error(TOOL_FAILED, "no memory for '%s'", a->info.name);
      array_to_device(&a->data, vector_of(a), e->staging[i]);
      TOOL_TRY(upload(e, i));
      e->arguments[i] = qn_arg_buffer(e->buffers[i]);
    }
  }
  return finish(e, "upload", "upload", 0, 1, p);
}

static int compare_times(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}

/* One warm-up when times are asked for, then `repeat` launches, each on the arrays as they were given. */
static tool_status launches(execution *e, const qn_range *range, progress *p) {
  uint64_t count = e->o->repeat, *times = tool_alloc((size_t)count, sizeof *times);
  uint64_t warm = count > 1 ? 1 : 0;
  tool_status status = TOOL_OK;
  for (uint64_t n = 0; n < count + warm && status == TOOL_OK; n++) {
    for (uint32_t i = 0; n > 0 && i < e->a->count && status == TOOL_OK; i++) {
      const run_argument *a = &e->a->items[i];
      if (a->is_array && run_argument_is_output(a)) status = upload(e, i);
    }
    if (status == TOOL_OK && n > 0) status = finish(e, "upload", "upload", n, count, p);
    if (status != TOOL_OK) break;
    uint64_t start = tool_now_ns();
    qn_status launched = qn_launch(e->s->queue, e->s->kernel, range, e->arguments, e->a->count, NULL);
    if (launched < 0)
      status = tool_library_error(launched, "launch");
    else
      status = finish(e, "launch", e->s->info.name, n, count, p);
    if (n >= warm) times[n - warm] = tool_now_ns() - start;
  }
  progress_end(p);
  qsort(times, (size_t)count, sizeof *times, compare_times);
  e->r->repeat = count;
  e->r->min_ns = (double)times[0];
  e->r->max_ns = (double)times[count - 1];
  e->r->median_ns =
      count % 2 ? (double)times[count / 2] : ((double)times[count / 2 - 1] + (double)times[count / 2]) / 2;
  free(times);
  return status;
}

static tool_status check_fences(const execution *e) {
  for (uint32_t i = 0; i < e->a->count; i++) {
    int damage = fence_damage(&e->fences[i]);
    if (damage != 0)
      return tool_error(TOOL_FAILED, "kernel '%s' writes outside of '%s', %s; '-d check' says which access it is",
                        e->s->info.name, e->names[i], damage < 0 ? "in front of it" : "behind its end");
  }
  return TOOL_OK;
}

static tool_status download(execution *e, progress *p) {
  for (uint32_t i = 0; i < e->a->count; i++) {
    const run_argument *a = &e->a->items[i];
    if (!a->is_array || !(a->out_path || a->print || run_argument_is_output(a))) continue;
    qn_view view = {e->buffers[i], 0, QN_WHOLE};
    qn_status status = qn_read(e->s->queue, &view, e->staging[i], NULL);
    if (status < 0) return tool_library_error(status, "reading '%s'", a->info.name);
  }
  TOOL_TRY(finish(e, "download", "download", 0, 1, p));
  for (uint32_t i = 0; i < e->a->count; i++) {
    const run_argument *a = &e->a->items[i];
    if (!a->is_array || !(a->out_path || a->print || run_argument_is_output(a))) continue;
    TOOL_TRY(array_make(&e->r->outputs[i], a->info.name, a->data.type, a->data.shape, a->data.axes));
    array_from_device(&e->r->outputs[i], vector_of(a), e->staging[i]);
  }
  return TOOL_OK;
}

tool_status run_execute(run_session *s, const run_options *o, const run_arguments *a, const qn_range *range,
                        run_result *r) {
  execution *e = tool_alloc(1, sizeof *e);
  e->s = s;
  e->o = o;
  e->a = a;
  e->r = r;
  r->range = *range;
  progress p = progress_start(o->json);
  uint64_t start = tool_now_ns();
  tool_status status = prepare(e, &p);
  uint64_t uploaded = tool_now_ns();
  if (status == TOOL_OK) {
    if (fence_is_for(&r->device)) fence_watch(s->info.name, e->fences, e->names, a->count);
    status = launches(e, range, &p);
  }
  if (status == TOOL_OK) {
    progress_end(&p);
    status = check_fences(e);
  }
  uint64_t launched = tool_now_ns();
  if (status == TOOL_OK) status = download(e, &p);
  r->transfer_ns = uploaded - start + tool_now_ns() - launched;
  progress_end(&p);
  for (uint32_t i = 0; i < a->count; i++) qn_release(e->buffers[i]);
  if (status != TOOL_OK) (void)!qn_queue_finish(s->queue, QN_FOREVER); /* the staging must outlive what was submitted */
  for (uint32_t i = 0; i < a->count; i++) free(e->staging[i]);
  if (status == TOOL_OK &&
      qn_device_drain(s->device, QN_FOREVER) == QN_OK) /* else the memory stays: it may be in use */
    for (uint32_t i = 0; i < a->count; i++) fence_give(&e->fences[i]);
  free(e);
  return status;
}

void run_result_free(run_result *r) {
  for (uint32_t i = 0; i < RUN_MAX_ARGUMENTS; i++) array_free(&r->outputs[i]);
}
