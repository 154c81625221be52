/* values.h - results of OpenCL C expressions on arrays, from the interpreter and from native code. */
#ifndef QUERN_TEST_VALUES_H
#define QUERN_TEST_VALUES_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/status.h"
#include "runner.h"

/* A kernel under construction: inputs are arrays; each expression is evaluated for item i and its bytes go into an array
 * of its own. */
typedef struct values {
  qn_bytes head, body;
  struct {
    const void *memory;
    size_t size;
  } inputs[8];
  uint32_t input_count;
  uint32_t count;       /* of expressions */
  size_t sizes[1024];   /* of a result of each, in bytes */
  size_t offsets[1024]; /* in the output */
  size_t total;
  uint64_t items;
  const char *options;
} values;

static inline void values_open(values *v, uint64_t items) {
  memset(v, 0, sizeof *v);
  v->items = items;
}

/* `type` of an element as OpenCL C names it; the kernel sees a pointer `name`. */
static inline void values_input(values *v, const char *type, const char *name, const void *memory, size_t size) {
  qn_bytes_printf(&v->head, "global %s *%s, ", type, name);
  v->inputs[v->input_count].memory = memory;
  v->inputs[v->input_count++].size = size;
}

/* Adds an expression in `i` whose value is an array element of type `type`, `lanes` of them (1: a scalar). Vectors are
 * stored packed. Returns its number. */
static inline uint32_t values_add(values *v, const char *type, uint32_t lanes, size_t element_size,
                                  const char *expression) {
  uint32_t k = v->count++;
  v->sizes[k] = element_size * lanes;
  v->offsets[k] = v->total;
  if (lanes == 1) {
    qn_bytes_printf(&v->body, "  ((global %s *)(out + %zu))[i] = %s;\n", type, v->total, expression);
  } else {
    qn_bytes_printf(&v->body, "  vstore%u(%s, i, (global %s *)(out + %zu));\n", lanes, expression, type, v->total);
  }
  v->total += (v->sizes[k] * v->items + 15) / 16 * 16;
  return k;
}

/* Result `k` of item `i`. */
static inline const void *values_at(const values *v, const void *out, uint32_t k, uint64_t i) {
  return (const char *)out + v->offsets[k] + i * v->sizes[k];
}

/* Runs on a device; the output is for the caller to free. */
static inline void *values_run(const values *v, bool is_native) {
  qn_bytes source = {0};
  qn_bytes_printf(&source, "kernel void f(%sglobal uchar *out) {\n  size_t i = get_global_id(0);\n%s}\n", v->head.data,
                  v->body.data ? v->body.data : "");
  runner r;
  if (source.failed || runner_open(&r, source.data, v->options, is_native) != QN_OK)
    fail_msg("%s\n%s", qn_error_text(), source.data);
  interp_argument arguments[9];
  for (uint32_t i = 0; i < v->input_count; i++) {
    void *copy = malloc(v->inputs[i].size);
    memcpy(copy, v->inputs[i].memory, v->inputs[i].size);
    arguments[i] = runner_buffer(copy, v->inputs[i].size);
  }
  void *out = calloc(1, v->total + 64);
  arguments[v->input_count] = runner_buffer(out, v->total);
  if (runner_run(&r, "f", v->items, 1, arguments, v->input_count + 1) != QN_OK)
    fail_msg("%s\n%s", qn_error_text(), source.data);
  for (uint32_t i = 0; i < v->input_count; i++) free(arguments[i].memory);
  runner_close(&r);
  qn_bytes_free(&source);
  return out;
}

static inline void values_close(values *v) {
  qn_bytes_free(&v->head);
  qn_bytes_free(&v->body);
}

/* Both devices where there are two. */
static inline int values_devices(void) { return runner_has_native() ? 2 : 1; }

#endif
