/* bench.h - measuring two sides in one run. The sides take turns, several times, so that what else the machine does hits
 * both; a side's number is the median of its turns. Each result is one line:
 *
 *   NAME quern X us peer Y us ratio Z budget B ok|MISSED
 *
 * where `ratio` is quern / peer for costs (budget: at most) and peer / quern for speeds (budget: at least). */
#ifndef QUERN_BENCH_BENCH_H
#define QUERN_BENCH_BENCH_H

#include <stdbool.h>
#include <stdint.h>

#include "quern/quern.h"

#define BENCH_MAX_SAMPLES 4096

uint64_t bench_now_ns(void);

typedef struct bench_samples {
  double ns[BENCH_MAX_SAMPLES];
  uint32_t count;
} bench_samples;
void bench_add(bench_samples *samples, double ns);
double bench_median(bench_samples *samples); /* sorts; 0 when there are none */

/* One side of a comparison: does the work once and returns how long a unit of it took, in nanoseconds. */
typedef double (*bench_turn)(void *context);
/* Lets both sides take `turns` turns, alternating who is first, after one turn each that does not count. */
void bench_alternate(bench_turn quern, bench_turn peer, void *context, uint32_t turns, double *out_quern_ns,
                     double *out_peer_ns);

/* Prints a line; remembers a missed budget. A budget of 0 is none. */
void bench_report_cost(const char *name, double quern_ns, double peer_ns, double budget);
void bench_report_speed(const char *name, double quern_ns, double peer_ns, double budget);
/* Line "NAME WHAT ratio Z budget B ok|MISSED", of a geometric mean of speeds; at least the budget. */
void bench_report_mean(const char *name, const char *what, double ratio, double budget);
/* Lines "NAME WHAT X us, FEWER Y us: ratio Z budget B ok|MISSED" and "NAME WHAT X us budget Y us ok|MISSED", of Quern alone. */
void bench_report_growth(const char *name, const char *what, double ns, const char *fewer, double fewer_ns,
                         double budget);
void bench_report_time(const char *name, const char *what, double ns, double budget_ns);
/* What a bench returns when there is no peer: a test that is skipped. */
#define BENCH_NO_PEER 77

/* 0, or 1 when --strict was given and a budget was missed. */
int bench_exit_status(void);

/* Options that every bench knows: --turns N, --only TEXT, --strict, --processor, --help. */
typedef struct bench_options {
  uint32_t turns;   /* 0: the bench's own choice */
  const char *only; /* run what contains it */
} bench_options;
/* Ends the program on --help and on what it does not know. */
bench_options bench_read_options(int count, char **arguments, const char *what);
bool bench_wanted(const bench_options *options, const char *name);

/* Ends the program with Quern's error text. */
void bench_check(qn_status status, const char *what);
/* Ends the program with a message. */
void bench_fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* A file's text with a NUL; ends the program when it can't be read. Freed by the caller. */
char *bench_read_text(const char *path);

#endif
