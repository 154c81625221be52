/* gaps.c - the table of gaps: reading and finding. */
#include "gaps.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cts.h"

/* ---- Words --------------------------------------------------------------------------------------- */

static const struct feature {
  const char *name;
  uint64_t bit;
} features[] = {{"kernels", QN_FEATURE_KERNELS},
                {"double", QN_FEATURE_DOUBLE},
                {"half", QN_FEATURE_HALF},
                {"int64-atomics", QN_FEATURE_INT64_ATOMICS},
                {"shared-memory", QN_FEATURE_SHARED_MEMORY},
                {"wrap-host", QN_FEATURE_WRAP_HOST},
                {"timed-queues", QN_FEATURE_TIMED_QUEUES},
                {"faults", CTS_NEEDS_FAULTS},
                {"control", CTS_NEEDS_CONTROL}};
enum { FEATURE_COUNT = sizeof features / sizeof *features };

const char *cts_feature_name(uint64_t bit) {
  for (size_t i = 0; i < FEATURE_COUNT; i++)
    if (features[i].bit == bit) return features[i].name;
  return "?";
}

uint64_t cts_feature_bit(const char *name) {
  for (size_t i = 0; i < FEATURE_COUNT; i++)
    if (!strcmp(features[i].name, name)) return features[i].bit;
  return 0;
}

static const char *const kinds[] = {
    [CTS_GAP_LACKS] = "lacks", [CTS_GAP_FAILS] = "fails", [CTS_GAP_CRASHES] = "crashes", [CTS_GAP_HANGS] = "hangs"};

/* ---- Reading ------------------------------------------------------------------------------------- */

static char *trim(char *text) {
  while (*text == ' ' || *text == '\t') text++;
  char *end = text + strlen(text);
  while (end > text && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r')) *--end = 0;
  return text;
}

static bool wrong(const char *source, const char *what, const char *text) {
  fprintf(stderr,
          "quern-cts: %s: %s '%s'; a line is DEVICE | TEST | lacks FEATURE, fails [WORDS], crashes or hangs | REASON\n",
          source, what, text);
  return false;
}

/* "lacks kernels" */
static bool read_kind(cts_gap *gap, char *text) {
  char *rest = strchr(text, ' ');
  if (rest) *rest++ = 0;
  gap->words = rest ? trim(rest) : "";
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    if (strcmp(text, kinds[i]) != 0) continue;
    gap->kind = (cts_gap_kind)i;
    if (gap->kind != CTS_GAP_LACKS) return true;
    gap->feature = cts_feature_bit(gap->words);
    return gap->feature != 0 || wrong(gap->source, "no feature has the name", gap->words);
  }
  return wrong(gap->source, "it is not known what this means:", text);
}

static bool matches_a_test(const char *pattern) {
  for (const cts_suite *const *suite = cts_suites; *suite; suite++)
    for (uint32_t i = 0; i < (*suite)->count; i++) {
      char name[192];
      snprintf(name, sizeof name, "%s.%s", (*suite)->name, (*suite)->tests[i].name);
      if (fnmatch(pattern, name, 0) == 0) return true;
    }
  return false;
}

static bool read_line(cts_gap *gap, char *line) {
  char *fields[4] = {line};
  for (int i = 1; i < 4; i++) {
    char *bar = strchr(fields[i - 1], '|');
    if (!bar) return wrong(gap->source, "a field is missing:", line);
    *bar = 0;
    fields[i] = bar + 1;
  }
  gap->device = trim(fields[0]);
  gap->test = trim(fields[1]);
  gap->reason = trim(fields[3]);
  if (!*gap->reason) return wrong(gap->source, "it has no reason:", gap->test);
  if (!matches_a_test(gap->test)) return wrong(gap->source, "no test matches", gap->test);
  return read_kind(gap, trim(fields[2]));
}

static cts_gap *add(cts_gaps *gaps) {
  if (gaps->count == gaps->room) {
    uint32_t room = gaps->room ? gaps->room * 2 : 32;
    cts_gap *items = realloc(gaps->items, room * sizeof *items);
    if (!items) return NULL;
    gaps->items = items;
    gaps->room = room;
  }
  gaps->items[gaps->count] = (cts_gap){0};
  return &gaps->items[gaps->count++];
}

bool cts_gaps_add(cts_gaps *gaps, char *text, const char *name) {
  int number = 1;
  for (char *next = NULL; text; text = next, number++) {
    char source[128];
    next = strchr(text, '\n');
    if (next) *next++ = 0;
    char *line = trim(text);
    if (!*line || *line == '#') continue;
    cts_gap *gap = add(gaps);
    snprintf(source, sizeof source, "%s:%d", name, number);
    char *kept = strdup(source);
    if (!gap || !kept) {
      free(kept);
      fputs("quern-cts: no memory for the table of gaps\n", stderr);
      return false;
    }
    gap->source = kept;
    if (!read_line(gap, line)) return false;
  }
  return true;
}

static char *read_file(const char *path) {
  FILE *file = fopen(path, "r");
  char *text = NULL;
  size_t size = 0, room = 0;
  if (!file) return NULL;
  for (size_t got = 1; got > 0; size += got) {
    if (room - size < 4096) {
      char *grown = realloc(text, room = room * 2 + 8192);
      if (!grown) break;
      text = grown;
    }
    got = fread(text + size, 1, room - size - 1, file);
  }
  bool failed = ferror(file) != 0;
  fclose(file);
  if (text) text[size] = 0;
  if (!failed) return text;
  free(text);
  return NULL;
}

bool cts_gaps_load(cts_gaps *gaps, const char *const *files, uint32_t count) {
  char *text = strdup(cts_gaps_text);
  if (!text || !cts_gaps_add(gaps, text, "gaps.txt")) return false;
  for (uint32_t i = 0; i < count; i++) {
    text = read_file(files[i]);
    if (!text) {
      fprintf(stderr, "quern-cts: %s: %s\n", files[i], strerror(errno));
      return false;
    }
    if (!cts_gaps_add(gaps, text, files[i])) return false;
  }
  return true;
}

/* ---- Finding ------------------------------------------------------------------------------------- */

/* A pattern without '/' is one of the selector. */
static bool is_for(const cts_gap *gap, const char *device, const char *test) {
  char selector[64];
  const char *end = strchr(device, '/');
  snprintf(selector, sizeof selector, "%.*s", (int)(end ? end - device : 63), device);
  return fnmatch(gap->test, test, 0) == 0 && fnmatch(gap->device, strchr(gap->device, '/') ? device : selector, 0) == 0;
}

const cts_gap *cts_gaps_lacks(const cts_gaps *gaps, const char *device, const char *test, uint64_t feature) {
  for (uint32_t i = 0; i < gaps->count; i++) {
    const cts_gap *gap = &gaps->items[i];
    if (gap->kind == CTS_GAP_LACKS && gap->feature == feature && is_for(gap, device, test)) return gap;
  }
  return NULL;
}

const cts_gap *cts_gaps_wrong(const cts_gaps *gaps, const char *device, const char *test) {
  for (uint32_t i = 0; i < gaps->count; i++) {
    const cts_gap *gap = &gaps->items[i];
    if (gap->kind != CTS_GAP_LACKS && is_for(gap, device, test)) return gap;
  }
  return NULL;
}
