/* judge.c - passes, fails, or is a gap. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cts.h"
#include "result.h"

/* ---- Words --------------------------------------------------------------------------------------- */

/* 0 after a test that passed, 1 after one that failed: anything else comes from a sanitizer, an exit handler, or a crash. */
static bool is_explained(const cts_report *report, const cts_ending *ending) {
  return report->outcome != CTS_BEGINS && ending->status == (report->outcome == CTS_FAILED);
}

static cts_raw put_in_words(const cts_report *report, const cts_ending *ending, const char *file, cts_result *out) {
  if (ending && !is_explained(report, ending)) {
    snprintf(out->expected, sizeof out->expected, "%s",
             ending->is_hung ? "the test ends" : "the process goes on to the test's end");
    if (ending->is_hung)
      snprintf(out->came, sizeof out->came, "%s", ending->text);
    else
      snprintf(out->came, sizeof out->came, "the process ended with %s%s", ending->text,
               report->outcome == CTS_BEGINS ? "" : " after the test");
    if (report->outcome == CTS_FAILED)
      snprintf(out->expected, sizeof out->expected, "%s, and: %s", "the process ends well", report->expected);
    if (ending->line) snprintf(out->where, sizeof out->where, "%s:%u was the last check", file, ending->line);
    return ending->is_hung ? CTS_RAW_HUNG : CTS_RAW_CRASHED;
  }
  if (report->outcome == CTS_PASSED) return CTS_RAW_PASSED;
  snprintf(out->expected, sizeof out->expected, "%s", report->expected);
  snprintf(out->came, sizeof out->came, "%s", report->came);
  snprintf(out->where, sizeof out->where, "%s:%u", report->file, report->line);
  return CTS_RAW_FAILED;
}

__attribute__((format(printf, 2, 3))) static void fail(cts_result *out, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(out->expected, sizeof out->expected, format, args);
  va_end(args);
  out->verdict = CTS_VERDICT_FAIL;
}

static void accept(cts_result *out, const cts_gap *gap) {
  out->verdict = CTS_VERDICT_GAP;
  out->reason = gap->reason;
  out->gap_source = gap->source;
}

/* ---- What a device lacks -------------------------------------------------------------------------- */

/* Without kernels there is nothing that could have doubles. */
static uint64_t lacking_of(const cts_test *test, const cts_device_row *device) {
  const uint64_t of_kernels = QN_FEATURE_DOUBLE | QN_FEATURE_HALF | QN_FEATURE_INT64_ATOMICS;
  uint64_t lacking = test->needs & ~device->features;
  return lacking & QN_FEATURE_KERNELS ? lacking & ~of_kernels : lacking;
}

/* A line for each lacking feature, or the test fails. The first one. */
static const cts_gap *gap_of(const cts_gaps *gaps, const cts_device_row *device, const char *test, uint64_t lacking,
                             cts_result *out) {
  const cts_gap *first = NULL;
  for (uint64_t left = lacking; left; left &= left - 1) {
    uint64_t bit = left & -left;
    const cts_gap *gap = cts_gaps_lacks(gaps, device->text, test, bit);
    if (!gap) {
      fail(out, "a gap says why device %s lacks '%s', which the test needs; add the line: %s | %s | lacks %s | REASON",
           device->selector, cts_feature_name(bit), device->selector, test, cts_feature_name(bit));
      snprintf(out->came, sizeof out->came, "there is no such line in gaps.txt or a file of --gaps");
      return NULL;
    }
    if (!first) first = gap;
  }
  return first;
}

static bool is_refusal(qn_status status) { return status == QN_ERROR_UNSUPPORTED || status == QN_ERROR_COMPILE; }

/* The device has to refuse what it says it lacks. */
static void judge_lack(const cts_gaps *gaps, const cts_device_row *device, uint64_t lacking, cts_raw raw,
                       qn_status status, cts_result *out) {
  const cts_gap *gap = gap_of(gaps, device, out->test, lacking, out);
  const char *name = cts_feature_name(lacking & -lacking);
  if (!gap) return;
  if (raw == CTS_RAW_PASSED) {
    fail(out, "device %s, which doesn't declare '%s', refuses with QN_ERROR_UNSUPPORTED", device->selector, name);
    snprintf(out->came, sizeof out->came, "the test passes: let device_describe tell the feature");
  } else if (raw == CTS_RAW_FAILED && is_refusal(status)) {
    accept(out, gap);
  } else {
    char was[1024];
    snprintf(was, sizeof was, "%.1000s", out->expected);
    fail(out, "device %s, which doesn't declare '%s', refuses with QN_ERROR_UNSUPPORTED where it would be needed (%s)",
         device->selector, name, was);
  }
}

/* ---- What a device does wrong --------------------------------------------------------------------- */

static const char *const kind_words[] = {
    [CTS_GAP_FAILS] = "fails", [CTS_GAP_CRASHES] = "crashes", [CTS_GAP_HANGS] = "hangs"};

static bool is_as_known(const cts_gap *gap, cts_raw raw, const cts_result *result) {
  switch (gap->kind) {
    case CTS_GAP_FAILS:
      return raw == CTS_RAW_FAILED && (strstr(result->came, gap->words) || strstr(result->expected, gap->words));
    case CTS_GAP_CRASHES:
      return raw == CTS_RAW_CRASHED;
    case CTS_GAP_HANGS:
      return raw == CTS_RAW_HUNG;
    case CTS_GAP_LACKS:
      break;
  }
  return false;
}

static void judge_known(const cts_gap *gap, cts_raw raw, cts_result *out) {
  if (is_as_known(gap, raw, out)) {
    accept(out, gap);
  } else if (raw == CTS_RAW_PASSED) {
    fail(out, "a test with a gap %s (%s: %s)", kind_words[gap->kind], gap->source, gap->reason);
    snprintf(out->came, sizeof out->came, "it passes: take the line out");
  } else {
    char was[1024];
    snprintf(was, sizeof was, "%.1000s", out->expected);
    fail(out, "%s; %s says that it %s%s%s, but not so", was, gap->source, kind_words[gap->kind],
         *gap->words ? ": " : "", gap->words);
  }
}

/* ---- Judging ------------------------------------------------------------------------------------- */

static void start(const cts_plan_item *item, cts_result *out) {
  memset(out, 0, sizeof *out);
  out->device = item ? item->device : UINT32_MAX;
  if (!item) return;
  out->rule = item->test->rule;
  cts_plan_name(item, out->test, sizeof out->test);
}

void cts_judge(const cts_gaps *gaps, const cts_device_row *devices, const cts_plan_item *item, const cts_report *report,
               const cts_ending *ending, cts_result *out) {
  char file[64] = "opening or closing";
  start(item, out);
  if (item)
    snprintf(file, sizeof file, "suite_%s.c", item->suite->name);
  else
    snprintf(out->test, sizeof out->test, "%s", report->test);
  out->ns = report->ns;
  out->seed = report->seed;
  out->round = report->round;
  cts_raw raw = put_in_words(report, ending, file, out);
  out->verdict = raw == CTS_RAW_PASSED ? CTS_VERDICT_PASS : CTS_VERDICT_FAIL;
  if (!item) return;
  const cts_device_row *device = &devices[item->device];
  uint64_t lacking = lacking_of(item->test, device);
  const cts_gap *known = cts_gaps_wrong(gaps, device->text, out->test);
  if (lacking)
    judge_lack(gaps, device, lacking, raw, report->status, out);
  else if (known)
    judge_known(known, raw, out);
}

void cts_judge_skipped(const cts_plan_item *item, const cts_gap *gap, cts_result *out) {
  start(item, out);
  accept(out, gap);
}
