/* options.c - the command line. */
#include "options.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef CTS_SLOW /* how many times slower a test may be in this build */
#define CTS_SLOW 1
#endif

typedef enum kind { FLAG, TEXT, TEXTS, NUMBER, SECONDS } kind;

typedef struct option {
  const char *name, *short_name, *value;
  kind kind;
  size_t offset;       /* of the field */
  size_t count_offset; /* TEXTS */
  const char *what;    /* NULL: for this program's own use */
} option;

#define FIELD(name) offsetof(cts_options, name)

static const option known[] = {
    {"--device", "-d", "DEVICE", TEXT, FIELD(devices), 0,
     "what to test: a selector, several with ',' between, or all. All that are named are open\n"
     "at the same time, and each test runs for each of them. Default: cpu"},
    {"--suite", NULL, "SUITE", TEXTS, FIELD(suites), FIELD(suite_count),
     "only this suite (* stands for any text); may be given again"},
    {"--test", NULL, "SUITE.TEST", TEXTS, FIELD(tests), FIELD(test_count),
     "only this test (* stands for any text); may be given again"},
    {"--list", NULL, NULL, FLAG, FIELD(is_list), 0,
     "list the tests, what they need and what they hold a device to; runs nothing"},
    {"--gaps", NULL, "FILE", TEXTS, FIELD(gap_files), FIELD(gap_file_count),
     "more lines of known gaps, for an adapter of your own (docs/conformance.md)"},
    {"--long", NULL, NULL, FLAG, FIELD(is_long), 0,
     "whole counts, and tests that take long or much memory; also QUERN_LONG=1"},
    {"--one", NULL, "SUITE.TEST", TEXT, FIELD(one), 0,
     "run one test in this process, for a debugger; with several devices on the first"},
    {"--one-process", NULL, NULL, FLAG, FIELD(is_one_process), 0,
     "all tests of all devices in one process, under QUERN_CHECK=leaks"},
    {"--shuffle", NULL, "SEED", NUMBER, FIELD(seed), FIELD(is_shuffled),
     "--one-process: in an order by this seed; round N has SEED + N - 1"},
    {"--rounds", NULL, "N", NUMBER, FIELD(rounds), 0,
     "--one-process: so many times, each with a runtime of its own. Default: 1"},
    {"--every", NULL, "N", NUMBER, FIELD(every), 0,
     "only every Nth of the chosen tests of each device, beginning where the seed says; not with --long"},
    {"--seed", NULL, "SEED", NUMBER, FIELD(seed), 0, "what tests with random content go by. Default: 1"},
    {"--timeout", NULL, "SECONDS", SECONDS, FIELD(timeout_ns), 0,
     "how long a test may take before it counts as hung. Default: 120; with --long 1200"},
    {"--patience", NULL, "SECONDS", SECONDS, FIELD(patience_ns), 0,
     "how long a wait within a test may take that must come to an end. Default: 60"},
    {"--jobs", "-j", "N", NUMBER, FIELD(jobs), 0, "so many processes at a time. Default: 1"},
    {"--json", NULL, NULL, FLAG, FIELD(is_json), 0, "one object on standard output, and nothing else"},
    {"--verbose", "-v", NULL, FLAG, FIELD(is_verbose), 0, "what tests print, also of those that pass"},
    {"--on", NULL, "DEVICE", TEXT, FIELD(on), 0, "--one: on this one of the devices"},
    {"--describe", NULL, NULL, FLAG, FIELD(is_describe), 0, NULL},
    {"--report", NULL, "FD", NUMBER, FIELD(report_fd), 0, NULL},
    {"--live", NULL, "FD", NUMBER, FIELD(live_fd), 0, NULL},
    {"--helper", NULL, "NAME", TEXT, FIELD(helper), 0, NULL},
};
enum { OPTION_COUNT = sizeof known / sizeof *known };

static void usage(FILE *out) {
  fputs(
      "quern-cts [-d DEVICE] [--suite S] [...]   does an adapter keep what quern.h and adapter.h promise?\n"
      "\n"
      "Each test runs in a process of its own: a crash or a hang is one failure. Known gaps are run as well, and one "
      "that\n"
      "passes is a failure. Exit status: 0 all is well; 1 a test failed; 2 wrong usage, or there is no such "
      "device.\n\n",
      out);
  for (size_t i = 0; i < OPTION_COUNT; i++) {
    const option *o = &known[i];
    char left[64];
    if (!o->what) continue;
    snprintf(left, sizeof left, "%s%s%s%s%s", o->short_name ? o->short_name : "", o->short_name ? ", " : "", o->name,
             o->value ? " " : "", o->value ? o->value : "");
    fprintf(out, "  %-22s ", left);
    for (const char *at = o->what; *at; at++) {
      fputc(*at, out);
      if (*at == '\n') fprintf(out, "%25s", "");
    }
    fputc('\n', out);
  }
  fputs(
      "\nExamples\n"
      "  quern-cts -d all                               every device, the others open beside it\n"
      "  quern-cts -d mine --suite memory --suite copies -v\n"
      "  quern-cts -d all --one-process --shuffle 7 --rounds 10\n"
      "  gdb --args quern-cts -d mine --one copies.patterns_of_every_size_fill_any_range\n",
      out);
}

__attribute__((format(printf, 1, 2))) static int wrong(const char *format, ...) {
  va_list args;
  va_start(args, format);
  fputs("quern-cts: ", stderr);
  vfprintf(stderr, format, args);
  fputs("; quern-cts --help shows the options\n", stderr);
  va_end(args);
  return CTS_EXIT_USAGE;
}

static void *field(cts_options *out, size_t offset) { return (char *)out + offset; }

static int take_number(cts_options *out, const option *o, const char *text) {
  char *end = NULL;
  errno = 0;
  unsigned long long number = strtoull(text, &end, 0);
  if (end == text || *end || *text == '-' || errno) return wrong("%s %s: it takes a whole number", o->name, text);
  if (o->offset == FIELD(report_fd) || o->offset == FIELD(live_fd))
    *(int *)field(out, o->offset) = (int)number;
  else if (o->offset == FIELD(jobs))
    *(uint32_t *)field(out, o->offset) = (uint32_t)(number > 256 ? 256 : number);
  else
    *(uint64_t *)field(out, o->offset) = number;
  if (o->count_offset) *(bool *)field(out, o->count_offset) = true;
  return -1;
}

static int take(cts_options *out, const option *o, const char *text) {
  switch (o->kind) {
    case FLAG:
      *(bool *)field(out, o->offset) = true;
      return -1;
    case TEXT:
      *(const char **)field(out, o->offset) = text;
      return -1;
    case TEXTS: {
      uint32_t *count = field(out, o->count_offset);
      if (*count == CTS_PATTERNS) return wrong("%s is given more than %d times", o->name, CTS_PATTERNS);
      ((const char **)field(out, o->offset))[(*count)++] = text;
      return -1;
    }
    case NUMBER:
      return take_number(out, o, text);
    case SECONDS: {
      char *end = NULL;
      double seconds = strtod(text, &end);
      if (end == text || *end || !(seconds > 0 && seconds < 1e6))
        return wrong("%s %s: it takes seconds", o->name, text);
      *(uint64_t *)field(out, o->offset) = (uint64_t)(seconds * 1e9);
      return -1;
    }
  }
  return -1;
}

static const option *find(const char *name) {
  for (size_t i = 0; i < OPTION_COUNT; i++)
    if (!strcmp(known[i].name, name) || (known[i].short_name && !strcmp(known[i].short_name, name))) return &known[i];
  return NULL;
}

static int check(const cts_options *o) {
  if (!o->devices || !*o->devices) return wrong("--device has no name");
  if (o->is_shuffled && !o->is_one_process) return wrong("--shuffle is for --one-process");
  if (o->rounds == 0) return wrong("--rounds is 0");
  if (o->every == 0) return wrong("--every is 0");
  if (o->jobs == 0) return wrong("--jobs is 0");
  if (o->one && o->is_one_process) return wrong("--one is not for --one-process");
  return -1;
}

int cts_options_read(int argc, char **argv, cts_options *out) {
  const char *whole = getenv("QUERN_LONG");
  *out = (cts_options){.devices = "cpu", .seed = 1, .rounds = 1, .every = 1, .jobs = 1, .report_fd = -1, .live_fd = -1};
  out->patience_ns = UINT64_C(60000000000);
  out->is_long = whole && !strcmp(whole, "1");
  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
      usage(stdout);
      return CTS_EXIT_OK;
    }
    const char *value = NULL;
    char name[64];
    const char *equals = strchr(argv[i], '=');
    if (!strncmp(argv[i], "--", 2) && equals) {
      snprintf(name, sizeof name, "%.*s", (int)(equals - argv[i]), argv[i]);
      value = equals + 1;
    } else {
      snprintf(name, sizeof name, "%s", argv[i]);
    }
    const option *o = find(name);
    if (!o) return wrong("there is no option '%s'", name);
    if (o->kind == FLAG && value) return wrong("%s takes no value", o->name);
    if (o->kind != FLAG && !value) value = i + 1 < argc ? argv[++i] : NULL;
    if (o->kind != FLAG && !value) return wrong("%s needs %s", o->name, o->value);
    int status = take(out, o, value);
    if (status >= 0) return status;
  }
  if (out->timeout_ns == 0) out->timeout_ns = (out->is_long ? 10 : 1) * UINT64_C(120000000000) * CTS_SLOW;
  return check(out);
}

static bool matches(const char *const *patterns, uint32_t count, const char *text) {
  for (uint32_t i = 0; i < count; i++)
    if (fnmatch(patterns[i], text, 0) == 0) return true;
  return count == 0;
}

bool cts_options_choose(const cts_options *options, const char *suite, const char *test) {
  char name[192];
  snprintf(name, sizeof name, "%s.%s", suite, test);
  return matches(options->suites, options->suite_count, suite) && matches(options->tests, options->test_count, name);
}
