#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "option.h"
#include "run.h"

/* What an option does with its word. */
typedef enum option_kind {
  KERNEL,
  DEVICE,
  ARG,
  GLOBAL,
  LOCAL,
  DEFINE,
  INCLUDE,
  PARAMETER,
  BUILD_OPTION,
  OUT,
  PRINT,
  REPEAT,
  COMPARE,
  TIME,
  JSON,
  CONVERT,
  HELP
} option_kind;

static const tool_option options[] = {
    {"--kernel", "-k", KERNEL, true},
    {"--device", "-d", DEVICE, true},
    {"--arg", "-a", ARG, true, true},
    {"--global", "-g", GLOBAL, true},
    {"--local", "-l", LOCAL, true},
    {"--define", "-D", DEFINE, true, true},
    {"--include", "-I", INCLUDE, true, true},
    {"--param", "-P", PARAMETER, true, true},
    {"--build-option", "-b", BUILD_OPTION, true, true},
    {"--out", "-o", OUT, true, true},
    {"--print", "-p", PRINT, true, true},
    {"--repeat", "-r", REPEAT, true},
    {"--compare", NULL, COMPARE, false},
    {"--time", "-t", TIME, false},
    {"--json", NULL, JSON, false},
    {"--convert", NULL, CONVERT, false},
    {"--help", "-h", HELP, false},
};
#define OPTION_COUNT (sizeof options / sizeof *options)

static tool_status add_pair(const char *option, const char *word, char separator, bool needs_value, run_pair *pairs,
                            uint32_t *count) {
  const char *at = strchr(word, separator);
  if ((!at && needs_value) || at == word || !*word)
    return tool_error(TOOL_USAGE, "%s %s: expected NAME%c%s", option, word, separator,
                      separator == '=' ? "VALUE" : "N");
  size_t length = at ? (size_t)(at - word) : strlen(word);
  for (uint32_t i = 0; i < *count; i++) {
    if (strlen(pairs[i].name) != length || strncmp(pairs[i].name, word, length) != 0) continue;
    if (strcmp(pairs[i].word, word) == 0) return TOOL_OK;
    return tool_error(TOOL_USAGE, "%s: '%s' is given twice: '%s' and '%s'", option, pairs[i].name, pairs[i].word, word);
  }
  if (*count == RUN_MAX_ARGUMENTS) return tool_error(TOOL_USAGE, "more than %d of %s", RUN_MAX_ARGUMENTS, option);
  pairs[*count].name = tool_copy(word, length);
  pairs[*count].word = word;
  pairs[*count].value = at ? at + 1 : NULL;
  pairs[*count].used = false;
  ++*count;
  return TOOL_OK;
}

static tool_status parse_sizes(const char *option, const char *word, uint64_t sizes[3], uint32_t *out_dimensions) {
  char part[32];
  const char *at = word;
  *out_dimensions = 0;
  for (;;) {
    size_t n = strcspn(at, ",");
    bool good = n > 0 && n < sizeof part && *out_dimensions < 3;
    if (good) {
      memcpy(part, at, n);
      part[n] = 0;
      good = tool_parse_u64(part, &sizes[*out_dimensions]) && sizes[*out_dimensions] > 0;
    }
    if (!good)
      return tool_error(TOOL_USAGE, "%s %s: expected one to three whole numbers over zero, as in 1024,768", option,
                        word);
    ++*out_dimensions;
    if (!at[n]) break;
    at += n + 1;
  }
  for (uint32_t i = *out_dimensions; i < 3; i++) sizes[i] = 1;
  return TOOL_OK;
}

static void add_build(run_options *o, const char *flag, const char *word) {
  tool_add_build_option(&o->build, flag, word);
}

static tool_status add_output(const char *word, run_options *o) {
  uint32_t before = o->out_count;
  TOOL_TRY(add_pair("--out", word, '=', true, o->outs, &o->out_count));
  if (o->out_count == before) return TOOL_OK; /* it was there */
  run_pair *out = &o->outs[before];
  if (out->value[0] != '@' || !out->value[1]) return tool_error(TOOL_USAGE, "--out %s: expected NAME=@FILE", word);
  out->value++;
  return TOOL_OK;
}

static tool_status apply(option_kind kind, const char *word, run_options *o) {
  uint64_t number;
  switch (kind) {
    case KERNEL:
      o->kernel = word;
      break;
    case DEVICE:
      o->device = word;
      break;
    case ARG:
      return add_pair("--arg", word, '=', true, o->args, &o->arg_count);
    case OUT:
      return add_output(word, o);
    case PRINT:
      TOOL_TRY(add_pair("--print", word, ':', false, o->prints, &o->print_count));
      if (o->prints[o->print_count - 1].value && !tool_parse_u64(o->prints[o->print_count - 1].value, &number))
        return tool_error(TOOL_USAGE, "--print %s: expected NAME or NAME:N, N being how many elements", word);
      break;
    case GLOBAL:
      return parse_sizes("--global", word, o->global, &o->global_dimensions);
    case LOCAL:
      return parse_sizes("--local", word, o->local, &o->local_dimensions);
    case DEFINE:
      add_build(o, "-D", word);
      break;
    case INCLUDE:
      add_build(o, "-I", word);
      break;
    case PARAMETER:
      add_build(o, "-P", word);
      break;
    case BUILD_OPTION:
      add_build(o, "", word);
      break;
    case REPEAT:
      if (!tool_parse_u64(word, &o->repeat) || o->repeat == 0 || o->repeat > 1000000)
        return tool_error(TOOL_USAGE, "--repeat %s: expected a whole number from 1 to 1000000", word);
      break;
    case COMPARE:
      o->compare = true;
      break;
    case TIME:
      o->time = true;
      break;
    case JSON:
      o->json = true;
      break;
    case CONVERT:
      o->convert = true;
      break;
    case HELP:
      o->help = true;
      break;
  }
  return TOOL_OK;
}

bool run_is_on_all(const run_options *o) { return o->device && strcmp(o->device, "all") == 0; }

tool_status run_options_parse(int argc, char **argv, run_options *o) {
  memset(o, 0, sizeof *o);
  o->repeat = 1;
  const char *given[OPTION_COUNT] = {0};
  bool only_words = false;
  const tool_options table = {options, OPTION_COUNT, given};
  for (int i = 1; i < argc; i++) {
    const char *word = argv[i], *rest = NULL;
    if (!only_words && strcmp(word, "--") == 0) {
      only_words = true;
      continue;
    }
    if (only_words || word[0] != '-' || !word[1]) {
      if (o->file) return tool_error(TOOL_USAGE, "one file at a time: '%s' and '%s'", o->file, word);
      o->file = word;
      continue;
    }
    if (tool_is_build_option(word)) {
      add_build(o, "", word);
      continue;
    }
    int kind = 0;
    TOOL_TRY(tool_option_take(&table, argc, argv, &i, &kind, &rest));
    TOOL_TRY(apply((option_kind)kind, rest, o));
    if (o->help) return TOOL_OK;
  }
  const char *everywhere = o->device ? NULL : getenv("QUERN_DEVICE"); /* any other value is the library's to read */
  if (everywhere && strcmp(everywhere, "all") == 0) o->device = everywhere;
  if (!o->file)
    return tool_error(TOOL_USAGE, "which file? quern run FILE.cl --arg NAME=VALUE...; quern run --help shows examples");
  return TOOL_OK;
}

void run_options_free(run_options *o) {
  for (uint32_t i = 0; i < o->arg_count; i++) free(o->args[i].name);
  for (uint32_t i = 0; i < o->out_count; i++) free(o->outs[i].name);
  for (uint32_t i = 0; i < o->print_count; i++) free(o->prints[i].name);
  free(o->build);
}
