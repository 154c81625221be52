/* run.c - which processes are started, and what becomes of their reports. */
#include "run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "child.h"
#include "plan.h"

enum { OUTPUT_BYTES = 8000 };

/* ---- Devices ------------------------------------------------------------------------------------- */

static void take_row(cts_device_row *row, const cts_report *report) {
  snprintf(row->selector, sizeof row->selector, "%s", report->selector);
  snprintf(row->name, sizeof row->name, "%.127s", report->expected);
  snprintf(row->driver, sizeof row->driver, "%.127s", report->came);
  snprintf(row->text, sizeof row->text, "%s/%s/%s", row->selector, row->name, row->driver);
  row->features = report->features;
}

static bool ask_devices(const cts_options *options, cts_device_row *rows, uint32_t *out_count) {
  const char *const arguments[] = {"--describe", "-d", options->devices, NULL};
  cts_child child;
  cts_report report, failure = {0};
  cts_ending ending = {0};
  bool ended = false, is_whole = false;
  if (!cts_child_start(&child, arguments, options->timeout_ns)) return false;
  while (cts_children_next(&child, 1, &report, &ended, &ending) >= 0) {
    if (ended) break;
    if (report.outcome == CTS_FAILED)
      failure = report;
    else if (report.outcome == CTS_BEGINS)
      is_whole = true;
    else if (*out_count < CTS_DEVICES)
      take_row(&rows[(*out_count)++], &report);
  }
  char *output = cts_child_output(&child, 0, OUTPUT_BYTES);
  if (failure.outcome == CTS_FAILED)
    fprintf(stderr, "quern-cts: %s\n", failure.came);
  else if (!is_whole)
    fprintf(stderr, "quern-cts: opening the devices '%s': %s\n", options->devices, ending.text);
  else if (*out_count == 0)
    fprintf(stderr, "quern-cts: there are no devices\n");
  bool done = is_whole && *out_count > 0;
  if (!done && output) fputs(output, stderr);
  free(output);
  cts_child_free(&child);
  return done;
}

cts_device_row *cts_run_devices(const cts_options *options, uint32_t *out_count) {
  cts_device_row *rows = calloc(CTS_DEVICES, sizeof *rows);
  *out_count = 0;
  if (rows && ask_devices(options, rows, out_count)) return rows;
  free(rows);
  return NULL;
}

/* Selectors with ',' between. */
static void join_devices(const cts_results *r, char *out, size_t size) {
  size_t used = 0;
  *out = 0;
  for (uint32_t i = 0; i < r->device_count && used < size; i++)
    used += (size_t)snprintf(out + used, size - used, "%s%s", i ? "," : "", r->devices[i].selector);
}

static bool no_process(void) {
  fputs("quern-cts: a process can't be started\n", stderr);
  return false;
}

/* ---- Each test in a process of its own ------------------------------------------------------------- */

typedef struct slot {
  cts_plan_item item;
  cts_report report; /* the last one */
} slot;

typedef struct apart {
  const cts_options *options;
  const cts_gaps *gaps;
  cts_results *results;
  char devices[CTS_DEVICES * 64];
  char seed[32], patience[32];
  cts_child children[256];
  slot slots[256];
} apart;

/* A test that hangs would only cost time. */
static const cts_gap *skipping_gap(const apart *a, const cts_plan_item *item) {
  char name[192];
  cts_plan_name(item, name, sizeof name);
  const cts_gap *gap = cts_gaps_wrong(a->gaps, a->results->devices[item->device].text, name);
  return gap && gap->kind == CTS_GAP_HANGS && !a->options->is_long ? gap : NULL;
}

static bool start_test(apart *a, uint32_t at, const cts_plan_item *item) {
  char name[192];
  cts_plan_name(item, name, sizeof name);
  const char *arguments[16] = {
      "-d",    a->devices,   "--on",      a->results->devices[item->device].selector, "--one", name, "--seed",
      a->seed, "--patience", a->patience, a->options->is_long ? "--long" : NULL,      NULL};
  a->slots[at] = (slot){.item = *item};
  a->slots[at].report.outcome = CTS_BEGINS;
  return cts_child_start(&a->children[at], arguments, a->options->timeout_ns);
}

static bool end_test(apart *a, uint32_t at, const cts_ending *ending) {
  cts_result result;
  slot *s = &a->slots[at];
  cts_judge(a->gaps, a->results->devices, &s->item, &s->report, ending, &result);
  result.output = cts_child_output(&a->children[at], 0, OUTPUT_BYTES);
  cts_child_free(&a->children[at]);
  return cts_results_add(a->results, &result);
}

/* Starts what has room; skips what is not to be run. */
static bool fill_slots(apart *a, const cts_plan *plan, uint32_t *next) {
  for (uint32_t at = 0; at < a->options->jobs; at++) {
    if (a->children[at].pid) continue;
    for (; *next < plan->count; (*next)++) {
      cts_result result;
      const cts_gap *gap = skipping_gap(a, &plan->items[*next]);
      if (!gap) break;
      cts_judge_skipped(&plan->items[*next], gap, &result);
      if (!cts_results_add(a->results, &result)) return false;
    }
    if (*next == plan->count) return true;
    if (!start_test(a, at, &plan->items[(*next)++])) return no_process();
  }
  return true;
}

static bool run_plan(apart *a, const cts_plan *plan) {
  uint32_t next = 0;
  for (;;) {
    cts_report report;
    cts_ending ending;
    bool ended = false;
    if (!fill_slots(a, plan, &next)) return false;
    int at = cts_children_next(a->children, a->options->jobs, &report, &ended, &ending);
    if (at < 0) return true;
    if (!ended)
      a->slots[at].report = report;
    else if (!end_test(a, (uint32_t)at, &ending))
      return false;
  }
}

bool cts_run_apart(const cts_options *options, const cts_gaps *gaps, cts_results *results) {
  static apart the_apart;
  apart *a = &the_apart;
  cts_plan plan;
  a->options = options;
  a->gaps = gaps;
  a->results = results;
  join_devices(results, a->devices, sizeof a->devices);
  snprintf(a->seed, sizeof a->seed, "%" PRIu64, options->seed);
  snprintf(a->patience, sizeof a->patience, "%.3f", (double)options->patience_ns * 1e-9);
  bool done = cts_plan_make(&plan, options, results->device_count) && run_plan(a, &plan);
  cts_plan_free(&plan);
  return done;
}

/* ---- All in one process ---------------------------------------------------------------------------- */

static void push(const char **arguments, size_t *count, const char *name, const char *value) {
  arguments[(*count)++] = name;
  if (value) arguments[(*count)++] = value;
}

static bool start_together(const cts_options *o, const cts_results *results, cts_child *child) {
  const char *arguments[8 + 6 * CTS_PATTERNS + 8];
  char devices[CTS_DEVICES * 64], seed[32], rounds[32], patience[32], every[32];
  size_t count = 0;
  join_devices(results, devices, sizeof devices);
  snprintf(seed, sizeof seed, "%" PRIu64, o->seed);
  snprintf(rounds, sizeof rounds, "%" PRIu64, o->rounds);
  snprintf(patience, sizeof patience, "%.3f", (double)o->patience_ns * 1e-9);
  push(arguments, &count, "-d", devices);
  push(arguments, &count, "--patience", patience);
  push(arguments, &count, "--one-process", NULL);
  push(arguments, &count, "--rounds", rounds);
  push(arguments, &count, o->is_shuffled ? "--shuffle" : "--seed", seed);
  if (o->is_long) push(arguments, &count, "--long", NULL);
  snprintf(every, sizeof every, "%" PRIu64, o->every);
  push(arguments, &count, "--every", every);
  for (uint32_t i = 0; i < o->suite_count; i++) push(arguments, &count, "--suite", o->suites[i]);
  for (uint32_t i = 0; i < o->test_count; i++) push(arguments, &count, "--test", o->tests[i]);
  for (uint32_t i = 0; i < o->gap_file_count; i++) push(arguments, &count, "--gaps", o->gap_files[i]);
  push(arguments, &count, NULL, NULL);
  setenv("QUERN_CHECK", "leaks", 0);
  return cts_child_start(child, arguments, o->timeout_ns);
}

static bool find_item(const cts_results *results, const cts_report *report, cts_plan_item *out) {
  if (!cts_plan_find(report->test, out)) return false;
  for (uint32_t i = 0; i < results->device_count; i++) {
    if (strcmp(results->devices[i].selector, report->selector) != 0) continue;
    out->device = i;
    return true;
  }
  return false;
}

static bool add_report(const cts_gaps *gaps, cts_results *results, const cts_report *report, const cts_ending *ending,
                       const cts_child *child) {
  cts_result result;
  cts_plan_item item;
  bool is_test = find_item(results, report, &item);
  cts_judge(gaps, results->devices, is_test ? &item : NULL, report, ending, &result);
  /* Opening and closing are not tests: they only count when they fail. */
  if (!is_test && result.verdict == CTS_VERDICT_PASS) return true;
  if (result.verdict == CTS_VERDICT_FAIL) result.output = cts_child_output(child, report->output_at, OUTPUT_BYTES);
  return cts_results_add(results, &result);
}

/* Says which order it was, so that it can be had again. */
static void tell_round(const cts_options *o, const cts_report *report) {
  if (o->is_json || !o->is_shuffled || strcmp(report->test, "opening") != 0) return;
  printf("round %u: seed %" PRIu64 "\n", report->round + 1, report->seed);
}

bool cts_run_together(const cts_options *options, const cts_gaps *gaps, cts_results *results) {
  cts_child child;
  cts_report report, last = {0};
  cts_ending ending = {0};
  bool ended = false, done = true;
  if (!start_together(options, results, &child)) return no_process();
  while (done && cts_children_next(&child, 1, &report, &ended, &ending) >= 0 && !ended) {
    if (report.outcome == CTS_BEGINS)
      tell_round(options, &report);
    else
      done = add_report(gaps, results, &report, NULL, &child);
    last = report;
  }
  if (done && (last.outcome == CTS_BEGINS || ending.status != 0))
    done = add_report(gaps, results, &last, &ending, &child);
  cts_child_free(&child);
  return done;
}
