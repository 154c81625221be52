#include "bench.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static bool strict, missed;
static clockid_t watch = CLOCK_MONOTONIC;

uint64_t bench_now_ns(void) {
  struct timespec t;
  clock_gettime(watch, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- Samples ------------------------------------------------------------------------------------ */

void bench_add(bench_samples *s, double ns) {
  if (s->count < BENCH_MAX_SAMPLES) s->ns[s->count++] = ns;
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

double bench_median(bench_samples *s) {
  if (s->count == 0) return 0;
  qsort(s->ns, s->count, sizeof *s->ns, compare);
  return s->count % 2 ? s->ns[s->count / 2] : (s->ns[s->count / 2 - 1] + s->ns[s->count / 2]) / 2;
}

void bench_alternate(bench_turn quern, bench_turn peer, void *context, uint32_t turns, double *out_quern_ns,
                     double *out_peer_ns) {
  static bench_samples ours, theirs;
  ours.count = theirs.count = 0;
  quern(context);
  peer(context);
  for (uint32_t i = 0; i < turns; i++) {
    if (i % 2 == 0) bench_add(&ours, quern(context));
    bench_add(&theirs, peer(context));
    if (i % 2 == 1) bench_add(&ours, quern(context));
  }
  *out_quern_ns = bench_median(&ours);
  *out_peer_ns = bench_median(&theirs);
}

/* ---- Reports ------------------------------------------------------------------------------------ */

typedef struct unit {
  double ns;
  const char *name;
} unit;
static unit unit_for(double ns) {
  static const unit units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
  int i = 0;
  while (i < 3 && ns < units[i].ns) i++;
  return units[i];
}

/* A line's end. */
static void judge(bool kept) {
  printf(" %s\n", kept ? "ok" : "MISSED");
  fflush(stdout);
  if (!kept) missed = true;
}

static void report(const char *name, double quern_ns, double peer_ns, double ratio, double budget, bool kept) {
  unit u = unit_for(peer_ns < quern_ns ? peer_ns : quern_ns);
  printf("%-26s quern %8.3g %s peer %8.3g %s ratio %.3f", name, quern_ns / u.ns, u.name, peer_ns / u.ns, u.name, ratio);
  if (budget > 0) printf(" budget %.2f %s", budget, kept ? "ok" : "MISSED");
  printf("\n");
  fflush(stdout);
  if (budget > 0 && !kept) missed = true;
}

void bench_report_cost(const char *name, double quern_ns, double peer_ns, double budget) {
  double ratio = peer_ns > 0 ? quern_ns / peer_ns : 0;
  report(name, quern_ns, peer_ns, ratio, budget, ratio <= budget);
}
void bench_report_speed(const char *name, double quern_ns, double peer_ns, double budget) {
  double ratio = quern_ns > 0 ? peer_ns / quern_ns : 0;
  report(name, quern_ns, peer_ns, ratio, budget, ratio >= budget);
}

void bench_report_growth(const char *name, const char *what, double ns, const char *fewer, double fewer_ns,
                         double budget) {
  unit u = unit_for(ns), v = unit_for(fewer_ns);
  double ratio = fewer_ns > 0 ? ns / fewer_ns : 0;
  printf("%-26s %s %.3g %s, %s %.3g %s: ratio %.1f budget %.0f", name, what, ns / u.ns, u.name, fewer, fewer_ns / v.ns,
         v.name, ratio, budget);
  judge(ratio <= budget);
}
void bench_report_mean(const char *name, const char *what, double ratio, double budget) {
  printf("%-26s %s ratio %.3f budget %.2f", name, what, ratio, budget);
  judge(ratio >= budget);
}
void bench_report_time(const char *name, const char *what, double ns, double budget_ns) {
  unit u = unit_for(ns), v = unit_for(budget_ns);
  printf("%-26s %s %.3g %s budget %.3g %s", name, what, ns / u.ns, u.name, budget_ns / v.ns, v.name);
  judge(ns <= budget_ns);
}

int bench_exit_status(void) { return strict && missed ? 1 : 0; }

/* ---- Options ------------------------------------------------------------------------------------ */

static void help(const char *program, const char *what) {
  printf(
      "%s: %s\n\n"
      "  --turns N    turns of each side (more is steadier)\n"
      "  --only TEXT  only what has TEXT in its name\n"
      "  --strict     exit status 1 when a budget is missed\n"
      "  --processor  the processor's time in place of the clock's, of all threads: for machines that do other work\n",
      program, what);
}

bench_options bench_read_options(int count, char **arguments, const char *what) {
  bench_options options = {0, NULL};
  for (int i = 1; i < count; i++) {
    const char *a = arguments[i];
    if (strcmp(a, "--help") == 0) {
      help(arguments[0], what);
      exit(0);
    }
    if (strcmp(a, "--strict") == 0) {
      strict = true;
    } else if (strcmp(a, "--processor") == 0) {
      watch = CLOCK_PROCESS_CPUTIME_ID;
    } else if (strcmp(a, "--turns") == 0 && i + 1 < count && atoi(arguments[i + 1]) > 0) {
      options.turns = (uint32_t)atoi(arguments[++i]);
    } else if (strcmp(a, "--only") == 0 && i + 1 < count) {
      options.only = arguments[++i];
    } else {
      fprintf(stderr, "%s: unknown or incomplete option '%s'; --help lists them\n", arguments[0], a);
      exit(2);
    }
  }
  return options;
}

bool bench_wanted(const bench_options *options, const char *name) {
  return !options->only || strstr(name, options->only);
}

/* ---- Failures and files ------------------------------------------------------------------------- */

void bench_fail(const char *format, ...) {
  va_list args;
  va_start(args, format);
  fprintf(stderr, "bench: ");
  vfprintf(stderr, format, args);
  fprintf(stderr, "\n");
  va_end(args);
  exit(1);
}

void bench_check(qn_status status, const char *what) {
  if (status < 0) bench_fail("%s: %s: %s", what, qn_status_name(status), qn_error_text());
}

char *bench_read_text(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file) bench_fail("%s can't be read", path);
  fseek(file, 0, SEEK_END);
  long size = ftell(file);
  rewind(file);
  char *text = malloc((size_t)size + 1);
  if (!text || fread(text, 1, (size_t)size, file) != (size_t)size) bench_fail("%s can't be read", path);
  fclose(file);
  text[size] = 0;
  return text;
}
