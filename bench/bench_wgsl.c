/* bench_wgsl.c - from source to WGSL, beside what a WebGPU library takes from there to a pipeline, for 100 kernels.
 *
 *   bench_wgsl [--turns N]     QUERN_TEST_WEBGPU names the library (ci/webgpu.sh)
 *
 * Prints the sums of the medians and their ratio. Each turn's texts differ in a constant, so that no cache answers. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/status.h"
#include "wgsl/launch.h"
#include "wgsl/webgpu.h"

enum { KERNELS = 100, MOST_TURNS = 15 };

/* Bodies; $ becomes a number. */
static const char *const bodies[] = {
    "if (i < n) y[i] = a * x[i] + y[i] + $.5f;",
    "t[l] = x[i]; for (int s = 32; s > 0; s >>= 1) { barrier(CLK_LOCAL_MEM_FENCE); if (l < s) t[l] += t[l + s]; }"
    " if (l == 0) y[get_group_id(0)] = t[0] * $;",
    "float4 v = vload4(i, x); y[i] = dot(v, v) + length(v) * $;",
    "float s = 0; for (int k = 0; k < n; k++) s += x[i * n + k] * x[k * n + (i & 63)]; y[i] = s + $;",
    "float v = x[i]; for (int k = 0; k < $ + 3; k++) v = exp(-v * v) + sin(v); y[i] = v;",
    "atomic_add(&w[(uint)x[i] & 63], $); y[i] = w[l & 63];",
    "uint h = as_uint(x[i]) ^ $u; h ^= h >> 16; h *= 0x85ebca6bu; h ^= h >> 13; w[i] = rotate(h, 7u);",
    "uchar4 c = ((global const uchar4 *)x)[i]; ((global uchar4 *)y)[i] = (uchar4)(c.zyx, (uchar)$);",
    "float m = 0; for (int dy = -1; dy <= 1; dy++) for (int dx = -1; dx <= 1; dx++) m = fmax(m, x[i + dy * n + dx]);"
    " y[i] = m * $;",
    "t[l] = x[i]; barrier(CLK_LOCAL_MEM_FENCE); float s = t[l]; for (int d = 1; d < 64; d <<= 1) { if (l >= d) s += "
    "t[l - d];"
    " barrier(CLK_LOCAL_MEM_FENCE); t[l] = s; barrier(CLK_LOCAL_MEM_FENCE); } y[i] = s / $.25f;",
};
enum { BODIES = sizeof bodies / sizeof *bodies };

static uint64_t now_ns(void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void make_source(uint32_t index, uint32_t number, qn_bytes *out) {
  qn_bytes_append_str(
      out,
      "kernel void k(global float *y, global const float *x, global uint *w, local float *t, float a, int n) {\n"
      "  int i = get_global_id(0), l = get_local_id(0);\n  ");
  for (const char *at = bodies[index % BODIES]; *at; at++) {
    if (*at == '$')
      qn_bytes_printf(out, "%" PRIu32, number);
    else
      qn_bytes_append_char(out, *at);
  }
  qn_bytes_append_str(out, "\n}\n");
}

static int compare(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static uint64_t median(uint64_t *values, uint32_t count) {
  qsort(values, count, sizeof *values, compare);
  return values[count / 2];
}

static bool measure(uint32_t index, uint32_t number, uint64_t *text_ns, uint64_t *pipeline_ns) {
  qn_bytes source = {0};
  wgsl_made w;
  make_source(index, number, &source);
  uint64_t begin = now_ns();
  qn_status status = wgsl_make(&w, source.data, NULL, false);
  *text_ns = now_ns() - begin;
  if (status >= 0) {
    begin = now_ns();
    status = wgsl_check(&w);
    *pipeline_ns = now_ns() - begin;
    wgsl_free(&w);
  }
  if (status < 0) fprintf(stderr, "%s\n%s\n", qn_error_text(), source.data);
  qn_bytes_free(&source);
  return status >= 0;
}

int main(int argc, char **argv) {
  uint32_t turns = argc == 3 && strcmp(argv[1], "--turns") == 0 ? (uint32_t)strtoul(argv[2], NULL, 10) : 3;
  uint64_t texts = 0, pipelines = 0, first_ns, second_ns;
  const char *why;
  if (turns < 1 || turns > MOST_TURNS) return 2;
  if (!webgpu_open(&why)) {
    fprintf(stderr, "no WebGPU library: %s\n", why);
    return 77;
  }
  if (!measure(0, 1, &first_ns, &second_ns)) return 1; /* both sides are awake */
  for (uint32_t i = 0; i < KERNELS; i++) {
    uint64_t text_ns[MOST_TURNS], pipeline_ns[MOST_TURNS];
    for (uint32_t k = 0; k < turns; k++)
      if (!measure(i, 2 + i / BODIES + 10 * k, &text_ns[k], &pipeline_ns[k])) return 1;
    texts += median(text_ns, turns);
    pipelines += median(pipeline_ns, turns);
  }
  printf("measured: %d kernels, source to WGSL %.1f ms, WGSL to pipelines %.1f ms, ratio %.3f\n", KERNELS,
         (double)texts / 1e6, (double)pipelines / 1e6, (double)texts / (double)pipelines);
  return 0;
}
