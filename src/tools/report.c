/* report.c - what `quern run` tells and writes. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "json.h"
#include "run.h"

static tool_status raw_write(const char *path, const char *shown, const array *a) {
  FILE *f = fopen(path, "wb");
  size_t bytes = (size_t)(a->count * array_type_of(a->type)->bytes);
  bool good = f && fwrite(a->data, 1, bytes, f) == bytes;
  int error = errno;
  if (f && fclose(f) != 0) {
    if (good) error = errno;
    good = false;
  }
  return good ? TOOL_OK : tool_error(TOOL_FAILED, "%s: can't be written: %s", shown, strerror(error));
}

static tool_status write_output(const run_options *o, const run_argument *a, const array *data, const char *path) {
  const char *shown = a->out_path;
  if (tool_ends_with(shown, ".npy")) return npy_write(path, shown, data);
  if (tool_ends_with(shown, ".bin") || tool_ends_with(shown, ".raw")) return raw_write(path, shown, data);
  uint32_t type = image_type(shown, data->type);
  if (!o->convert || data->type == type) return image_write(path, shown, data);
  array converted;
  TOOL_TRY(image_convert(data, type, shown, &converted));
  tool_status status = image_write(path, shown, &converted);
  array_free(&converted);
  return status;
}

static tool_status write_outputs(const run_options *o, const run_arguments *all, const run_result *r) {
  tool_outputs outputs = {0};
  tool_status status = TOOL_OK;
  for (uint32_t i = 0; i < all->count && status == TOOL_OK; i++) {
    const char *temporary;
    if (!all->items[i].out_path) continue;
    status = tool_outputs_add(&outputs, all->items[i].out_path, &temporary);
    if (status == TOOL_OK) status = write_output(o, &all->items[i], &r->outputs[i], temporary);
  }
  if (status == TOOL_OK) return tool_outputs_commit(&outputs);
  tool_outputs_discard(&outputs);
  return status;
}

static uint64_t printed_elements(const run_argument *a) {
  uint64_t n = a->print_count == UINT64_MAX ? RUN_PRINT_DEFAULT : a->print_count;
  return n < a->elements ? n : a->elements;
}

/* `device`: which one it is of, where there are several; else NULL. */
static void print_array(const run_argument *a, const array *data, const char *device) {
  char text[64];
  uint64_t n = printed_elements(a), per = a->elements ? data->count / a->elements : 1;
  printf("%s%s%s:", a->info.name, device ? " on " : "", device ? device : "");
  for (uint64_t i = 0; i < n; i++) {
    fputs(per > 1 ? " (" : " ", stdout);
    for (uint64_t k = 0; k < per; k++) {
      array_print_scalar(data, i * per + k, text);
      printf("%s%s", k ? "," : "", text);
    }
    if (per > 1) fputc(')', stdout);
  }
  puts(n < a->elements && a->print_count == UINT64_MAX ? " ..." : "");
}

static const char *time_text(double ns, char text[32]) {
  if (ns < 1e3)
    snprintf(text, 32, "%.0f ns", ns);
  else if (ns < 1e6)
    snprintf(text, 32, "%.2f us", ns * 1e-3);
  else if (ns < 1e9)
    snprintf(text, 32, "%.2f ms", ns * 1e-6);
  else
    snprintf(text, 32, "%.3f s", ns * 1e-9);
  return text;
}

static const char *cache_word(uint32_t cached) { return cached == 0 ? "none" : cached == 1 ? "memory" : "disk"; }

static void report_text(const run_options *o, const run_arguments *all, const run_result *r) {
  char a[32], b[32], c[32], d[32], e[32];
  for (uint32_t i = 0; i < all->count; i++)
    if (all->items[i].print) print_array(&all->items[i], &r->outputs[i], run_is_on_all(o) ? r->device.selector : NULL);
  for (uint32_t i = 0; i < all->count; i++)
    if (all->items[i].out_path) printf("%s -> %s\n", all->items[i].info.name, all->items[i].out_path);
  if (!o->time) return;
  printf("%s on %s: compile %s, transfer %s, kernel median %s, min %s, max %s over %" PRIu64 " launch%s\n", r->kernel,
         r->device.selector, time_text((double)r->compile_ns, a), time_text((double)r->transfer_ns, b),
         time_text(r->median_ns, c), time_text(r->min_ns, d), time_text(r->max_ns, e), r->repeat,
         r->repeat == 1 ? "" : "es");
}

static void json_sizes(json *j, const char *key, const uint64_t sizes[3], uint32_t n) {
  json_open(j, key, '[');
  for (uint32_t i = 0; i < n; i++) json_u64(j, NULL, sizes[i]);
  json_close(j, ']');
}

static void json_output(json *j, const run_argument *a, const array *data) {
  json_open(j, a->info.name, '{');
  json_string(j, "type", array_type_of(data->type)->name);
  json_open(j, "shape", '[');
  for (uint32_t i = 0; i < data->axes; i++) json_u64(j, NULL, data->shape[i]);
  json_close(j, ']');
  if (a->out_path) json_string(j, "file", a->out_path);
  if (a->print) {
    char text[64];
    uint64_t per = a->elements ? data->count / a->elements : 1;
    json_open(j, "values", '[');
    for (uint64_t i = 0; i < printed_elements(a) * per; i++) {
      if (array_type_of(data->type)->is_float) {
        json_f64(j, NULL, array_get_f64(data, i));
      } else {
        array_print_scalar(data, i, text);
        json_raw(j, NULL, text);
      }
    }
    json_close(j, ']');
  }
  json_close(j, '}');
}

static void report_json(const run_arguments *all, const run_result *r) {
  json j = {stdout, false};
  bool local = r->range.local[0] != 0;
  json_open(&j, NULL, '{');
  json_string(&j, "device", r->device.selector);
  json_string(&j, "kernel", r->kernel);
  json_sizes(&j, "global", r->range.global, r->range.dimensions);
  if (local)
    json_sizes(&j, "local", r->range.local, r->range.dimensions);
  else
    json_raw(&j, "local", "null");
  json_u64(&j, "compile_ns", r->compile_ns);
  json_string(&j, "cache", cache_word(r->cached));
  json_u64(&j, "transfer_ns", r->transfer_ns);
  json_f64(&j, "kernel_ns_median", r->median_ns);
  json_f64(&j, "kernel_ns_min", r->min_ns);
  json_f64(&j, "kernel_ns_max", r->max_ns);
  json_u64(&j, "repeat", r->repeat);
  json_open(&j, "out", '{');
  for (uint32_t i = 0; i < all->count; i++)
    if (all->items[i].out_path || all->items[i].print) json_output(&j, &all->items[i], &r->outputs[i]);
  json_close(&j, '}');
  json_close(&j, '}');
  putchar('\n');
}

tool_status run_report(const run_options *o, const run_arguments *all, const run_result *r) {
  TOOL_TRY(write_outputs(o, all, r));
  if (o->json)
    report_json(all, r);
  else
    report_text(o, all, r);
  if (fflush(stdout) != 0 || ferror(stdout)) return tool_error(TOOL_FAILED, "standard output: %s", strerror(errno));
  return TOOL_OK;
}
