#include "option.h"

#include <string.h>

static const tool_option *find(const tool_options *table, const char *word, const char **out_rest) {
  for (size_t i = 0; i < table->count; i++) {
    const tool_option *o = &table->options[i];
    size_t n = strlen(o->name);
    if (strncmp(word, o->name, n) == 0 && (word[n] == 0 || (word[n] == '=' && o->takes_word))) {
      *out_rest = word[n] ? word + n + 1 : NULL;
      return o;
    }
    if (word[1] != '-' && o->short_name && strncmp(word, o->short_name, 2) == 0 && (word[2] == 0 || o->takes_word)) {
      *out_rest = word[2] ? word + 2 : NULL;
      return o;
    }
  }
  return NULL;
}

static tool_status unknown(const tool_options *table, const char *word) {
  const char *names[64];
  size_t listed = table->count < 64 ? table->count : 64;
  for (size_t i = 0; i < listed; i++) names[i] = table->options[i].name;
  const char *near = tool_nearest(word, names, listed);
  return tool_error(TOOL_USAGE, "unknown option '%s'%s%s%s; %s --help lists them", word, near ? "; did you mean '" : "",
                    near ? near : "", near ? "'?" : "", tool_command);
}

/* Nobody means the first word and the last. */
static tool_status note_word(const tool_options *table, const tool_option *o, const char *word) {
  const char **before = &table->words[o - table->options];
  if (*before && !o->repeats && strcmp(*before, word) != 0)
    return tool_error(TOOL_USAGE, "%s is given twice: '%s' and '%s'", o->name, *before, word);
  *before = word;
  return TOOL_OK;
}

tool_status tool_option_take(const tool_options *table, int argc, char **argv, int *at, int *out_id,
                             const char **out_word) {
  const char *word = argv[*at];
  *out_word = NULL;
  const tool_option *o = find(table, word, out_word);
  if (!o) return unknown(table, word);
  if (o->takes_word && !*out_word) {
    if (*at + 1 == argc) return tool_error(TOOL_USAGE, "%s needs a word after it", word);
    *out_word = argv[++*at];
  }
  *out_id = o->id;
  return *out_word ? note_word(table, o, *out_word) : TOOL_OK;
}

void tool_add_build_option(char **text, const char *flag, const char *word) {
  size_t old = *text ? strlen(*text) : 0;
  *text = tool_grow(*text, old + strlen(flag) + strlen(word) * 4 + 8, 1);
  char *at = *text + old;
  if (old) *at++ = ' ';
  at = stpcpy(at, flag);
  if (*flag) *at++ = ' ';
  *at++ = '\'';
  for (; *word; word++) {
    if (*word == '\'')
      at = stpcpy(at, "'\\''");
    else
      *at++ = *word;
  }
  *at++ = '\'';
  *at = 0;
}

bool tool_is_build_option(const char *word) {
  return strncmp(word, "-cl-", 4) == 0 || strcmp(word, "-w") == 0 || strcmp(word, "-Werror") == 0;
}
