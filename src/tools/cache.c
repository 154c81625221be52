/* cache.c - `quern cache`: what is in the store, and looking after it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "json.h"
#include "option.h"
#include "quern/quern_build.h"
#include "text.h"
#include "tool.h"

static const char help[] =
    "quern cache [stats|list|verify|prune|clear|export FILE [KEY...]|import FILE] [--json]\n"
    "\n"
    "  stats            where it is, sizes, oldest and newest use; hits, and misses with their reasons, over all "
    "processes\n"
    "  list             every entry: key, kind, size, last use, what it was made from\n"
    "  verify           reads every entry and removes damaged ones\n"
    "  prune [--max S]  removes what was used longest ago until S are left (1.5G, 500M, 64KiB); default: its own "
    "limit\n"
    "  clear            removes every entry\n"
    "  export FILE      writes entries to a file: all, or those whose key begins with KEY (8 digits or more), or "
    "whose\n"
    "                   label is KEY\n"
    "  import FILE      takes them in, on another machine; the whole file is checked first. Older entries make room\n"
    "  --json           stats, list and the others as one JSON object\n"
    "  -h, --help       this text\n"
    "\n"
    "QUERN_CACHE_DIR, QUERN_CACHE_MAX_SIZE and QUERN_CACHE=off|read|write|recache say what the cache does.\n"
    "\n"
    "Examples\n"
    "  quern cache\n"
    "  quern cache prune --max 500M\n"
    "  quern cache export kernels.qnc examples/add.cl\n";

typedef struct cache_options {
  const char *words[64]; /* the verb first */
  uint32_t count;
  const char *max;
  bool json, help;
} cache_options;

/* ---- Statistics --------------------------------------------------------------------------------- */

static void format_time(uint64_t ns, char *out, size_t capacity) {
  time_t seconds = (time_t)(ns / 1000000000u);
  struct tm parts;
  if (!localtime_r(&seconds, &parts) || strftime(out, capacity, "%Y-%m-%d %H:%M:%S", &parts) == 0) out[0] = '\0';
}

/* In the largest unit of which there are two. */
static void print_age(const char *what, uint64_t ns) {
  static const struct {
    const char *name;
    uint64_t seconds;
  } units[] = {{"day", 86400}, {"hour", 3600}, {"minute", 60}, {"second", 1}};
  char when[32];
  uint64_t now = (uint64_t)time(NULL), then = ns / 1000000000u, age = now > then ? now - then : 0;
  size_t unit = 0;
  while (unit < 3 && age < 2 * units[unit].seconds) unit++;
  format_time(ns, when, sizeof when);
  uint64_t count = age / units[unit].seconds;
  printf("%s %s, %" PRIu64 " %s%s ago\n", what, when, count, units[unit].name, count == 1 ? "" : "s");
}

static void print_where(const qn_cache_info *info, const qn_cache_summary *s) {
  char *directory = text_word(info->directory), *reason = text_word(info->reason);
  printf("directory   %s\nmode        %s%s%s\n", directory[0] ? directory : "none", info->mode, reason[0] ? ": " : "",
         reason);
  free(directory);
  free(reason);
  if (info->max_bytes) printf("limit       %" PRIu64 " bytes\n", info->max_bytes);
  if (!info->max_bytes) printf("limit       none\n");
  printf("size        %" PRIu64 " bytes in %" PRIu64 " entries\n", s->bytes, s->entries);
  printf("programs    %" PRIu64 " bytes in %" PRIu64 "\n", s->program_bytes, s->programs);
  printf("manifests   %" PRIu64 " bytes in %" PRIu64 "\n", s->manifest_bytes, s->manifests);
  printf("artifacts   %" PRIu64 " bytes in %" PRIu64 "\n", s->artifact_bytes, s->artifacts);
  if (s->entries) print_age("oldest use ", s->oldest_ns);
  if (s->entries) print_age("newest use ", s->newest_ns);
  putchar('\n');
}

static void write_where(json *j, const qn_cache_info *info, const qn_cache_summary *s) {
  json_string(j, "directory", info->directory);
  json_string(j, "mode", info->mode);
  json_string(j, "reason", info->reason);
  json_u64(j, "max_bytes", info->max_bytes);
  json_u64(j, "programs", s->programs);
  json_u64(j, "program_bytes", s->program_bytes);
  json_u64(j, "manifests", s->manifests);
  json_u64(j, "manifest_bytes", s->manifest_bytes);
  json_u64(j, "artifacts", s->artifacts);
  json_u64(j, "artifact_bytes", s->artifact_bytes);
  json_u64(j, "oldest_use_ns", s->oldest_ns);
  json_u64(j, "newest_use_ns", s->newest_ns);
}

typedef struct counter {
  const char *name, *text;
  int64_t value;
} counter;

/* All of them before the first one is shown. To be freed; NULL: their file is damaged, as the error's text says. */
static counter *read_counters(uint32_t count) {
  counter *counters = tool_alloc(count ? count : 1, sizeof *counters);
  for (uint32_t i = 0; i < count; i++) {
    if (qn_cache_counter(i, &counters[i].name, &counters[i].text, &counters[i].value) >= 0) continue;
    free(counters);
    return NULL;
  }
  return counters;
}

/* Without counters `damage` says why. */
static void print_stats(const qn_cache_info *info, const qn_cache_summary *summary, const counter *counters,
                        const char *damage) {
  print_where(info, summary);
  for (uint32_t i = 0; counters && i < info->counter_count; i++)
    printf("%12" PRId64 "  %-18s %s\n", counters[i].value, counters[i].name, counters[i].text);
  if (!counters) printf("counters    none: %s\n", damage);
}

static void write_stats(const qn_cache_info *info, const qn_cache_summary *summary, const counter *counters,
                        const char *damage) {
  json j = {stdout, false};
  json_open(&j, NULL, '{');
  write_where(&j, info, summary);
  json_string(&j, "damaged", damage);
  for (uint32_t i = 0; counters && i < info->counter_count; i++) json_i64(&j, counters[i].name, counters[i].value);
  json_close(&j, '}');
  putchar('\n');
}

/* Damaged counters are no error: the next use of the cache mends them. */
static tool_status stats(const cache_options *o) {
  qn_cache_info info = QN_INIT(qn_cache_info);
  qn_cache_summary summary = QN_INIT(qn_cache_summary);
  qn_status status = qn_cache_query(&info);
  if (status >= 0) status = qn_cache_summarize(&summary);
  if (status < 0) return tool_library_error(status, "stats");
  counter *counters = read_counters(info.counter_count);
  char *damage = text_word(counters ? "" : qn_error_text());
  if (o->json)
    write_stats(&info, &summary, counters, damage);
  else
    print_stats(&info, &summary, counters, damage);
  if (!counters) tool_note("%s", damage);
  free(damage);
  free(counters);
  return TOOL_OK;
}

/* ---- List --------------------------------------------------------------------------------------- */

typedef struct printer {
  json j;
  bool as_json;
} printer;

static int32_t print_entry(void *user, const qn_cache_entry *entry) {
  printer *p = user;
  if (!p->as_json) {
    printf("%.16s  %-8s %9" PRIu64 "  ", entry->key, entry->kind, entry->file_bytes);
    char when[32];
    format_time(entry->used_ns, when, sizeof when);
    char *label = text_word(entry->whole_label); /* a file's name: anybody's */
    printf("%-19s  %s\n", when, label);
    free(label);
    return 0;
  }
  json_open(&p->j, NULL, '{');
  json_string(&p->j, "key", entry->key);
  json_string(&p->j, "kind", entry->kind);
  json_string(&p->j, "label", entry->whole_label);
  json_u64(&p->j, "file_bytes", entry->file_bytes);
  json_u64(&p->j, "raw_bytes", entry->raw_bytes);
  json_u64(&p->j, "used_ns", entry->used_ns);
  json_close(&p->j, '}');
  return 0;
}

static tool_status list(const cache_options *o) {
  printer p = {{stdout, false}, o->json};
  if (o->json) {
    json_open(&p.j, NULL, '{');
    json_open(&p.j, "entries", '[');
  }
  qn_status status = qn_cache_list(print_entry, &p);
  if (o->json) {
    json_close(&p.j, ']');
    json_close(&p.j, '}');
    putchar('\n');
  }
  return status < 0 ? tool_library_error(status, "list") : TOOL_OK;
}

/* ---- Upkeep ------------------------------------------------------------------------------------- */

static tool_status show(const cache_options *o, qn_status status, const qn_cache_result *r) {
  if (status < 0) return tool_library_error(status, "%s", o->words[0]);
  if (!o->json) {
    printf("%" PRIu64 " entries, %" PRIu64 " bytes; removed %" PRIu64 " entries, %" PRIu64 " bytes; swept %" PRIu64
           " files\n",
           r->entries, r->bytes, r->removed_entries, r->removed_bytes, r->swept);
    return TOOL_OK;
  }
  json j = {stdout, false};
  json_open(&j, NULL, '{');
  json_u64(&j, "entries", r->entries);
  json_u64(&j, "bytes", r->bytes);
  json_u64(&j, "removed_entries", r->removed_entries);
  json_u64(&j, "removed_bytes", r->removed_bytes);
  json_u64(&j, "swept", r->swept);
  json_close(&j, '}');
  putchar('\n');
  return TOOL_OK;
}

static tool_status verify(const cache_options *o) {
  qn_cache_result result = QN_INIT(qn_cache_result);
  return show(o, qn_cache_verify(&result), &result);
}

static tool_status clear(const cache_options *o) {
  qn_cache_result result = QN_INIT(qn_cache_result);
  return show(o, qn_cache_clear(&result), &result);
}

static tool_status prune(const cache_options *o) {
  qn_cache_result result = QN_INIT(qn_cache_result);
  uint64_t max = QN_WHOLE;
  if (o->max && qn_cache_size(o->max, &max) < 0) return tool_library_error(QN_ERROR_INVALID_ARGUMENT, "--max");
  return show(o, qn_cache_prune(max, &result), &result);
}

/* ---- To other machines -------------------------------------------------------------------------- */

static tool_status tell_count(const cache_options *o, const char *what, uint64_t count) {
  if (o->json)
    printf("{\"entries\": %" PRIu64 "}\n", count);
  else
    printf("%s %" PRIu64 " entries\n", what, count);
  return TOOL_OK;
}

static tool_status export_to(const cache_options *o) {
  uint64_t count = 0;
  if (o->count < 2) return tool_error(TOOL_USAGE, "export: to which file?");
  qn_status status = qn_cache_export(o->words[1], o->words + 2, o->count - 2, &count);
  if (status < 0) return tool_library_error(status, "export");
  return tell_count(o, "exported", count);
}

static tool_status import_from(const cache_options *o) {
  uint64_t count = 0;
  if (o->count != 2) return tool_error(TOOL_USAGE, "import: from which file? One at a time");
  qn_status status = qn_cache_import(o->words[1], &count);
  if (status < 0) return tool_library_error(status, "import");
  return tell_count(o, "imported", count);
}

/* ---- The command -------------------------------------------------------------------------------- */

static const struct verb {
  const char *name;
  tool_status (*run)(const cache_options *o);
  bool takes_words;
} verbs[] = {
    {"stats", stats, false}, {"list", list, false},       {"verify", verify, false},     {"prune", prune, false},
    {"clear", clear, false}, {"export", export_to, true}, {"import", import_from, true},
};
#define VERB_COUNT (sizeof verbs / sizeof *verbs)

static tool_status parse(int argc, char **argv, cache_options *o) {
  enum { MAX, JSON, HELP };
  static const tool_option options[] = {
      {"--max", NULL, MAX, true}, {"--json", NULL, JSON, false}, {"--help", "-h", HELP, false}};
  const char *given[sizeof options / sizeof *options] = {0};
  bool only_words = false;
  const tool_options table = {options, sizeof options / sizeof *options, given};
  for (int i = 1; i < argc; i++) {
    const char *word = argv[i];
    int id = 0;
    if (!only_words && strcmp(word, "--") == 0) {
      only_words = true;
      continue;
    }
    if (only_words || word[0] != '-' || !word[1]) {
      if (o->count == sizeof o->words / sizeof *o->words) return tool_error(TOOL_USAGE, "too many words");
      o->words[o->count++] = word;
      continue;
    }
    TOOL_TRY(tool_option_take(&table, argc, argv, &i, &id, &word));
    if (id == MAX) o->max = word;
    o->json |= id == JSON;
    o->help |= id == HELP;
  }
  if (o->count == 0) o->words[o->count++] = "stats";
  return TOOL_OK;
}

static tool_status run(const cache_options *o) {
  const char *names[VERB_COUNT];
  for (size_t i = 0; i < VERB_COUNT; i++) {
    names[i] = verbs[i].name;
    if (strcmp(o->words[0], verbs[i].name) != 0) continue;
    if (o->count > 1 && !verbs[i].takes_words)
      return tool_error(TOOL_USAGE, "%s takes no word '%s'", o->words[0], o->words[1]);
    if (o->max && verbs[i].run != prune) return tool_error(TOOL_USAGE, "--max is for prune");
    return verbs[i].run(o);
  }
  const char *near = tool_nearest(o->words[0], names, VERB_COUNT);
  return tool_error(TOOL_USAGE, "unknown '%s'%s%s%s; there are stats, list, verify, prune, clear, export, import",
                    o->words[0], near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

int command_cache(int argc, char **argv) {
  cache_options o = {0};
  tool_command = "quern cache";
  tool_status status = parse(argc, argv, &o);
  if (status == TOOL_OK && o.help)
    fputs(help, stdout);
  else if (status == TOOL_OK)
    status = run(&o);
  return (int)status;
}
