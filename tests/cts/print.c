/* print.c - lines, the table, the gaps, the last line. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "result.h"

static const char *const verdict_words[] = {"pass", "FAIL", "gap "};

static const char *selector_of(const cts_results *r, const cts_result *result) {
  return result->device < r->device_count ? r->devices[result->device].selector : "-";
}

/* ---- Lines --------------------------------------------------------------------------------------- */

/* Each line of a text behind a margin. */
static void print_indented(const char *label, const char *margin, const char *text) {
  printf("  %-10s", label);
  for (const char *at = text; *at; at++) {
    putchar(*at);
    if (*at == '\n' && at[1]) printf("%s", margin);
  }
  if (*text == 0 || text[strlen(text) - 1] != '\n') putchar('\n');
}

static void print_again(const cts_results *r, const cts_result *result) {
  const cts_options *o = r->options;
  printf("  %-10squern-cts -d ", "again:");
  for (uint32_t i = 0; i < r->device_count; i++) printf("%s%s", i ? "," : "", r->devices[i].selector);
  if (o->is_one_process) {
    printf(" --one-process");
    if (o->is_shuffled) printf(" --shuffle %" PRIu64, result->seed);
  } else {
    printf(" --test %s", result->test);
    if (result->seed != 1) printf(" --seed %" PRIu64, result->seed);
  }
  puts(o->is_long ? " --long" : "");
}

static void print_failure(const cts_results *r, const cts_result *result) {
  const char *margin = "            ";
  print_indented("expected:", margin, result->expected);
  print_indented("came:", margin, result->came);
  if (*result->where) print_indented("where:", margin, result->where);
  if (result->rule) print_indented("rule:", margin, result->rule);
  print_again(r, result);
  if (result->output) print_indented("output:", "          | ", result->output);
}

static void print_result(const cts_results *r, const cts_result *result) {
  printf("%s  %-10s %-60s %8.3f s", verdict_words[result->verdict], selector_of(r, result), result->test,
         (double)result->ns * 1e-9);
  if (r->options->is_one_process && r->options->rounds > 1) printf("  round %u", result->round + 1);
  putchar('\n');
  if (result->verdict == CTS_VERDICT_FAIL)
    print_failure(r, result);
  else if (result->output && r->options->is_verbose)
    print_indented("output:", "          | ", result->output);
  fflush(stdout);
}

bool cts_results_add(cts_results *r, const cts_result *result) {
  if (r->count == r->room) {
    uint32_t room = r->room ? r->room * 2 : 256;
    cts_result **items = realloc(r->items, room * sizeof(cts_result *));
    if (!items) return false;
    r->items = items;
    r->room = room;
  }
  cts_result *copy = malloc(sizeof *copy);
  if (!copy) return false;
  *copy = *result;
  r->items[r->count++] = copy;
  r->passed += result->verdict == CTS_VERDICT_PASS;
  r->failed += result->verdict == CTS_VERDICT_FAIL;
  r->gaps += result->verdict == CTS_VERDICT_GAP;
  if (!r->options->is_json) print_result(r, result);
  return true;
}

/* ---- The table ----------------------------------------------------------------------------------- */

static bool is_of_suite(const cts_result *result, const char *suite) {
  size_t length = strlen(suite);
  return strncmp(result->test, suite, length) == 0 && result->test[length] == '.';
}

/* "12", "12 +3 gaps", "12, 1 FAILED"; false when nothing ran. */
static bool cell(const cts_results *r, uint32_t device, const char *suite, char *out, size_t size) {
  uint32_t counts[3] = {0};
  for (uint32_t i = 0; i < r->count; i++)
    if (r->items[i]->device == device && is_of_suite(r->items[i], suite)) counts[r->items[i]->verdict]++;
  char gaps[32] = "", failed[32] = "";
  if (counts[CTS_VERDICT_GAP]) snprintf(gaps, sizeof gaps, " +%ug", counts[CTS_VERDICT_GAP]);
  if (counts[CTS_VERDICT_FAIL]) snprintf(failed, sizeof failed, " %u!", counts[CTS_VERDICT_FAIL]);
  snprintf(out, size, "%u%s%s", counts[CTS_VERDICT_PASS], gaps, failed);
  return counts[0] + counts[1] + counts[2] > 0;
}

static void print_table(const cts_results *r) {
  printf("\n%-14s", "suite");
  for (uint32_t d = 0; d < r->device_count; d++) printf(" %14s", r->devices[d].selector);
  putchar('\n');
  for (const cts_suite *const *suite = cts_suites; *suite; suite++) {
    char cells[CTS_DEVICES][48];
    bool any = false;
    for (uint32_t d = 0; d < r->device_count; d++) {
      bool ran = cell(r, d, (*suite)->name, cells[d], sizeof cells[d]);
      if (!ran) snprintf(cells[d], sizeof cells[d], "-");
      any = any || ran;
    }
    if (!any) continue;
    printf("%-14s", (*suite)->name);
    for (uint32_t d = 0; d < r->device_count; d++) printf(" %14s", cells[d]);
    putchar('\n');
  }
  puts("(passed; +Ng: gaps; N!: failed)");
}

/* How often a device's results have this reason, from `from` on; 0 when an earlier result has it too. */
static uint32_t count_reason(const cts_results *r, uint32_t from) {
  const cts_result *first = r->items[from];
  uint32_t count = 0;
  for (uint32_t i = 0; i < r->count; i++) {
    const cts_result *other = r->items[i];
    if (other->verdict != CTS_VERDICT_GAP || other->device != first->device || other->gap_source != first->gap_source)
      continue;
    if (i < from) return 0;
    count++;
  }
  return count;
}

static void print_gaps(const cts_results *r) {
  bool any = false;
  for (uint32_t i = 0; i < r->count; i++) {
    if (r->items[i]->verdict != CTS_VERDICT_GAP) continue;
    uint32_t count = count_reason(r, i);
    if (count == 0) continue;
    if (!any) puts("\ngaps");
    any = true;
    printf("  %-10s %3u  %s (%s)\n", selector_of(r, r->items[i]), count, r->items[i]->reason, r->items[i]->gap_source);
  }
}

/* ---- JSON ---------------------------------------------------------------------------------------- */

static void print_json_result(const cts_results *r, json *j, const cts_result *result) {
  static const char *const words[] = {"pass", "fail", "gap"};
  json_open(j, NULL, '{');
  json_string(j, "device", selector_of(r, result));
  json_string(j, "test", result->test);
  json_string(j, "verdict", words[result->verdict]);
  json_number(j, "ns", result->ns);
  if (r->options->is_one_process) json_number(j, "round", result->round + 1);
  json_number(j, "seed", result->seed);
  if (result->verdict == CTS_VERDICT_GAP) json_string(j, "reason", result->reason);
  if (result->verdict == CTS_VERDICT_FAIL) {
    json_string(j, "expected", result->expected);
    json_string(j, "came", result->came);
    json_string(j, "where", result->where);
    if (result->rule) json_string(j, "rule", result->rule);
    if (result->output) json_string(j, "output", result->output);
  }
  json_close(j, '}');
}

static void print_json(const cts_results *r) {
  json j = {.file = stdout};
  json_open(&j, NULL, '{');
  json_open(&j, "devices", '[');
  for (uint32_t d = 0; d < r->device_count; d++) {
    json_open(&j, NULL, '{');
    json_string(&j, "selector", r->devices[d].selector);
    json_string(&j, "name", r->devices[d].name);
    json_string(&j, "driver", r->devices[d].driver);
    json_close(&j, '}');
  }
  json_close(&j, ']');
  json_open(&j, "results", '[');
  for (uint32_t i = 0; i < r->count; i++) print_json_result(r, &j, r->items[i]);
  json_close(&j, ']');
  json_number(&j, "passed", r->passed);
  json_number(&j, "failed", r->failed);
  json_number(&j, "gaps", r->gaps);
  json_close(&j, '}');
  putchar('\n');
}

void cts_results_end(const cts_results *r) {
  if (r->options->is_json) {
    print_json(r);
    return;
  }
  print_table(r);
  print_gaps(r);
  if (r->options->every > 1 && !r->options->is_long)
    printf("\nrounds: conformance tests of devices together: one of each %" PRIu64 "\n", r->options->every);
  printf("\n%u passed, %u failed, %u gaps\n", r->passed, r->failed, r->gaps);
}

/* ---- The list ------------------------------------------------------------------------------------- */

static void print_needs(uint64_t needs) {
  for (uint64_t left = needs; left; left &= left - 1)
    printf("%s%s", left == needs ? "  needs " : ", ", cts_feature_name(left & -left));
}

static void list_text(const cts_plan *plan) {
  const cts_suite *suite = NULL;
  for (uint32_t i = 0; i < plan->count; i++) {
    const cts_plan_item *item = &plan->items[i];
    if (item->suite != suite) printf("%s%s: %s\n", suite ? "\n" : "", item->suite->name, item->suite->what);
    suite = item->suite;
    printf("  %s.%s", suite->name, item->test->name);
    if (item->test->flags & CTS_LONG) printf("  (long)");
    print_needs(item->test->needs);
    printf("\n      %s\n", item->test->rule);
  }
}

static void list_json(const cts_plan *plan) {
  json j = {.file = stdout};
  json_open(&j, NULL, '[');
  for (uint32_t i = 0; i < plan->count; i++) {
    const cts_plan_item *item = &plan->items[i];
    char name[192];
    cts_plan_name(item, name, sizeof name);
    json_open(&j, NULL, '{');
    json_string(&j, "suite", item->suite->name);
    json_string(&j, "test", name);
    json_string(&j, "rule", item->test->rule);
    json_open(&j, "needs", '[');
    for (uint64_t left = item->test->needs; left; left &= left - 1)
      json_string(&j, NULL, cts_feature_name(left & -left));
    json_close(&j, ']');
    json_close(&j, '}');
  }
  json_close(&j, ']');
  putchar('\n');
}

void cts_print_list(const cts_options *options) {
  cts_plan plan;
  cts_options all = *options;
  all.is_long = true;
  if (!cts_plan_make(&plan, &all, 1)) return;
  if (options->is_json)
    list_json(&plan);
  else
    list_text(&plan);
  cts_plan_free(&plan);
}
