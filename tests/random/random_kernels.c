/* random_kernels.c - random kernels on a device and on `check`; every word must be the same.
 *
 *   random_kernels [--device D] [--seeds N[,LONG]] [--first S] [--print] [--source FILE]
 *
 * A difference prints the seed, which replays: --first S --seeds 1 --print shows its kernel, and --source takes that kernel from
 * a file instead, made smaller by hand. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "generator.h"
#include "quern/quern.h"
#include "support/rounds.h"

static bool failed(const char *what, qn_status status) {
  if (status >= 0) return false;
  fprintf(stderr, "%s: %s: %s\n", what, qn_status_name(status), qn_error_text());
  return true;
}

typedef struct target {
  qn_device device;
  qn_queue queue;
} target;

static bool open_target(qn_runtime runtime, const char *selector, target *t) {
  return !failed(selector, qn_device_open(runtime, selector, &t->device)) &&
         !failed("queue", qn_queue_create(t->device, NULL, &t->queue));
}

/* Runs the kernel; `out` has GENERATOR_RESULTS words for each item. */
static bool run(const target *t, const generated *g, const uint32_t *in, uint32_t *out, uint64_t items) {
  qn_program program = NULL;
  qn_kernel kernel = NULL;
  qn_buffer buffers[2] = {NULL, NULL};
  qn_program_options options = QN_INIT(qn_program_options);
  qn_buffer_options size = QN_INIT(qn_buffer_options);
  qn_range range = QN_INIT(qn_range);
  uint64_t bytes = items * sizeof(uint32_t);
  options.source = g->source;
  range.dimensions = 2;
  for (int d = 0; d < 3; d++) {
    range.local[d] = d < 2 ? g->local[d] : 1;
    range.global[d] = d < 2 ? g->local[d] * g->groups[d] : 1;
  }
  bool good = !failed("build", qn_program_build(t->device, &options, &program)) &&
              !failed("kernel", qn_kernel_get(program, "random_kernel", &kernel));
  size.size_bytes = bytes * GENERATOR_RESULTS;
  good = good && !failed("buffer", qn_buffer_create(t->device, &size, &buffers[0]));
  size.size_bytes = bytes;
  good = good && !failed("buffer", qn_buffer_create(t->device, &size, &buffers[1]));
  if (good) {
    qn_view a = {buffers[0], 0, QN_WHOLE}, b = {buffers[1], 0, QN_WHOLE};
    good =
        !failed("write", qn_write(t->queue, &b, in, NULL)) && !failed("fill", qn_fill(t->queue, &a, "\xee", 1, NULL)) &&
        !failed("launch", qn_launch(t->queue, kernel, &range, QN_ARGS(buffers[0], buffers[1], g->n0, g->n1), NULL)) &&
        !failed("read", qn_read(t->queue, &a, out, NULL)) &&
        !failed("finish", qn_queue_finish(t->queue, UINT64_C(60000000000)));
  }
  for (int i = 0; i < 2; i++) qn_release(buffers[i]);
  qn_release(kernel);
  qn_release(program);
  return good;
}

static char *read_source(const char *path) {
  FILE *f = fopen(path, "rb");
  char *text = calloc(1, 1 << 20);
  if (!f || !text || !fread(text, 1, (1 << 20) - 1, f)) {
    fprintf(stderr, "%s: can't be read\n", path);
    exit(2);
  }
  fclose(f);
  return text;
}

static bool one_seed(const target *device, const target *check, uint64_t seed, bool print, const char *path) {
  generated g = generate(seed);
  if (path) {
    free(g.source);
    g.source = read_source(path);
  }
  uint64_t items = g.local[0] * g.local[1] * g.groups[0] * g.groups[1], words = items * GENERATOR_RESULTS;
  uint32_t *in = malloc(items * sizeof *in), *a = malloc(words * sizeof *a), *b = malloc(words * sizeof *b);
  if (!in || !a || !b) exit(2);
  for (uint64_t i = 0; i < items; i++) in[i] = (uint32_t)((i + seed) * 2654435761u);
  if (print) puts(g.source);
  bool good = run(device, &g, in, a, items) && run(check, &g, in, b, items);
  for (uint64_t i = 0; good && i < words; i++) {
    if (a[i] == b[i]) continue;
    fprintf(stderr, "word %" PRIu64 " of work-item %" PRIu64 ": 0x%08x on the device, 0x%08x on check\n",
            i % GENERATOR_RESULTS, i / GENERATOR_RESULTS, a[i], b[i]);
    good = false;
  }
  if (!good)
    fprintf(stderr,
            "seed %" PRIu64 " failed (local %" PRIu64 "x%" PRIu64 ", groups %" PRIu64 "x%" PRIu64 ", n0 %u, n1 %u)\n",
            seed, g.local[0], g.local[1], g.groups[0], g.groups[1], g.n0, g.n1);
  free(g.source);
  free(in);
  free(a);
  free(b);
  return good;
}

int main(int argc, char **argv) {
  uint64_t seeds = 300, first = 1, bad = 0;
  const char *selector = "cpu", *path = NULL;
  bool print = false;
  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "--print"))
      print = true;
    else if (i + 1 < argc && !strcmp(argv[i], "--device"))
      selector = argv[++i];
    else if (i + 1 < argc && !strcmp(argv[i], "--source"))
      path = argv[++i];
    else if (i + 1 < argc && !strcmp(argv[i], "--seeds"))
      seeds = test_rounds_of("random kernels", argv[++i]);
    else if (i + 1 < argc && !strcmp(argv[i], "--first"))
      first = strtoull(argv[++i], NULL, 0);
    else
      return fprintf(stderr, "random_kernels [--device D] [--seeds N[,LONG]] [--first S] [--print] [--source FILE]\n"),
             2;
  }
  if (!seeds) return fprintf(stderr, "random_kernels: --seeds wants a number over zero\n"), 2;
  qn_runtime runtime;
  target device, check;
  if (failed("runtime", qn_runtime_open(NULL, &runtime)) || !open_target(runtime, selector, &device) ||
      !open_target(runtime, "check", &check))
    return 1;
  for (uint64_t s = first; s < first + seeds; s++) bad += !one_seed(&device, &check, s, print, path);
  printf("%" PRIu64 " random kernels on %s and check, %" PRIu64 " differ\n", seeds, selector, bad);
  if (failed("close", qn_runtime_close(runtime, QN_FOREVER))) return 1;
  return bad != 0;
}
