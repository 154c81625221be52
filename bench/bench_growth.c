/* bench_growth - whether the time of a compilation is linear in the source: 100 lines, and the same lines a hundred
 * times under other names, in one program. Processor time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"
#include "quern/quern_build.h"

enum { COPIES = 100, LINES = 100 };
#define BUDGET 100.0
#define FRONT_BUDGET_NS 1e6
#define TEXT_BUDGET_NS 5e6

/* ---- Sources ------------------------------------------------------------------------------------ */

/* The text with `_NUMBER` for each `_0`: names of program scope end in it. */
static char *put_copy(char *out, const char *text, int number) {
  while (*text) {
    if (text[0] == '_' && text[1] == '0') {
      out += sprintf(out, "_%d", number);
      text += 2;
    } else {
      *out++ = *text++;
    }
  }
  *out = 0;
  return out;
}

static char *make_source(const char *text, int first, int copies) {
  char *source = malloc((strlen(text) * 2) * (size_t)copies + 1), *at = source;
  if (!source) bench_fail("no memory");
  for (int i = 0; i < copies; i++) at = put_copy(at, text, first + i);
  return source;
}

static int count_lines(const char *text) {
  int lines = 0;
  for (; *text; text++) lines += *text == '\n';
  return lines;
}

/* ---- Measuring ---------------------------------------------------------------------------------- */

/* Of this process: what else runs on the machine disturbs it least. One thread compiles. */
static uint64_t cpu_time_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

typedef struct growth {
  char *parts[COPIES], *whole;
  uint32_t kind;
} growth;

static double build(const growth *g, const char *source) {
  qn_build_options options = QN_INIT(qn_build_options);
  qn_artifact artifact = QN_INIT(qn_artifact);
  options.kind = g->kind;
  options.source = source;
  uint64_t start = cpu_time_ns();
  bench_check(qn_build(&options, &artifact), "qn_build");
  uint64_t end = cpu_time_ns();
  qn_artifact_free(&artifact);
  return (double)(end - start);
}
static double build_whole(void *context) {
  const growth *g = context;
  return build(g, g->whole);
}
static double build_parts(void *context) {
  const growth *g = context;
  static bench_samples samples;
  samples.count = 0;
  int step = g->kind == QN_ARTIFACT_OBJECT ? 5 : 1; /* as many as give a steady median */
  for (int i = 0; i < COPIES; i += step) bench_add(&samples, build(g, g->parts[i]));
  return bench_median(&samples);
}

static void measure(growth *g, const char *name, uint32_t kind, uint32_t turns, double budget_ns) {
  double whole, part;
  g->kind = kind;
  bench_alternate(build_whole, build_parts, g, turns, &whole, &part);
  bench_report_growth(name, "10,000 lines", whole, "100 lines", part, BUDGET);
  if (budget_ns > 0) bench_report_time(name, "100 lines", part, budget_ns);
}

int main(int count, char **arguments) {
  bench_options options = bench_read_options(count, arguments, "compile time as the source grows");
  static growth g;
  setenv("QUERN_CACHE", "off", 1); /* compiles, not answers from the store */
  char *text = bench_read_text(QUERN_BENCH_KERNELS "/typical.cl");
  if (count_lines(text) != LINES) bench_fail("typical.cl has %d lines, not %d", count_lines(text), LINES);
  for (int i = 0; i < COPIES; i++) g.parts[i] = make_source(text, i, 1);
  g.whole = make_source(text, 0, COPIES);
  if (bench_wanted(&options, "growth/ir"))
    measure(&g, "growth/ir", QN_ARTIFACT_IR, options.turns ? options.turns : 15, FRONT_BUDGET_NS);
  if (bench_wanted(&options, "growth/opencl_c"))
    measure(&g, "growth/opencl_c", QN_ARTIFACT_OPENCL_C, options.turns ? options.turns : 15, TEXT_BUDGET_NS);
  if (bench_wanted(&options, "growth/object"))
    measure(&g, "growth/object", QN_ARTIFACT_OBJECT, options.turns ? options.turns : 1, 0);
  for (int i = 0; i < COPIES; i++) free(g.parts[i]);
  free(g.whole);
  free(text);
  return bench_exit_status();
}
