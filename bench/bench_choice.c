/* bench_choice - kernels that suit vectors badly: as the compiler chooses, beside one item after another. */
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "kernel.h"

#define KI 1024.0
#define ITEMS 65536
#define BUDGET 0.9
enum { TURNS = 11 };

/* Results are exact: the order of sums is the source's in both. Small enough for the caches: what the code costs counts. */
#define ROW(name, out, ...)                                                                        \
  {#name, "choice.cl", #name, "",                                                                  \
   1,     {ITEMS},     {256}, {{BENCH_ZEROS, (uint64_t)(out * KI), 0, BENCH_FLOATS}, __VA_ARGS__}, \
   1e-5,  0,           0}
#define EXACT(name, out, ...)                                                                        \
  {                                                                                                  \
      #name, "choice.cl", #name, "",                                                                 \
      1,     {ITEMS},     {256}, {{BENCH_ZEROS, (uint64_t)(out * KI), 0, BENCH_EXACT}, __VA_ARGS__}, \
      0,     0,           0}
#define IN(fill, kib, limit) {fill, (uint64_t)((kib) * KI), limit, BENCH_INPUT}

static const bench_kernel kernels[] = {
    ROW(gather_sum, 256, IN(BENCH_INDICES, 4096, 65536), IN(BENCH_RANDOM, 256, 0)),
    ROW(rows, 256, IN(BENCH_RANDOM, 4096, 0), {BENCH_INT, 4, 16, BENCH_INPUT}),
    ROW(structs, 256, IN(BENCH_RANDOM, 2048, 0)),
    ROW(vectors8, 256, IN(BENCH_RANDOM, 2048, 0), IN(BENCH_INDICES, 256, 65536)),
    EXACT(table_bytes, 64, IN(BENCH_BYTES, 64, 0), IN(BENCH_BYTES, 1, 0)),
    EXACT(chase, 256, IN(BENCH_INDICES, 256, 65536), {BENCH_INT, 4, 16, BENCH_INPUT}),
    EXACT(search, 256, IN(BENCH_ROWS, 256, 7), IN(BENCH_INDICES, 256, 458752)),
    EXACT(bytes_strided, 64, IN(BENCH_BYTES, 193, 0)),
    EXACT(bytes, 64, IN(BENCH_BYTES, 65, 0)),
    EXACT(longs, 512, IN(BENCH_BYTES, 512, 0)),
    EXACT(branches, 256, IN(BENCH_INDICES, 256, 65536)),
    EXACT(long_division, 512, IN(BENCH_BYTES, 513, 0)),
    EXACT(pixels_gathered, 256, IN(BENCH_BYTES, 256, 0), IN(BENCH_INDICES, 256, 65536)),
    EXACT(pick, 256, IN(BENCH_INDICES, 256, 65536), IN(BENCH_INDICES, 256, 65536)),
};

typedef struct pair {
  bench_run chosen, single;
} pair;
static double run_chosen(void *context) { return bench_run_quern(&((pair *)context)->chosen); }
static double run_single(void *context) { return bench_run_quern(&((pair *)context)->single); }

static void compare(const bench_kernel *k, const bench_options *options, bench_quern *quern) {
  static pair p;
  double ours, theirs;
  bench_run_open(&p.chosen, k, quern, NULL);
  setenv("QUERN_CPU_SCALAR", "1", 1);
  bench_run_open(&p.single, k, quern, NULL);
  unsetenv("QUERN_CPU_SCALAR");
  bench_alternate(run_chosen, run_single, &p, options->turns ? options->turns : TURNS, &ours, &theirs);
  bench_report_speed(k->name, ours, theirs, BUDGET);
  bench_run_close(&p.chosen);
  bench_run_close(&p.single);
}

int main(int count, char **arguments) {
  bench_options options =
      bench_read_options(count, arguments, "kernels that suit vectors badly, beside one item at a time");
  static bench_quern quern;
  bench_quern_open(&quern);
  for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
    if (bench_wanted(&options, kernels[i].name)) compare(&kernels[i], &options, &quern);
  bench_quern_close(&quern);
  return bench_exit_status();
}
