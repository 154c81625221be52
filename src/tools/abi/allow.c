/* allow.c - the list of violations that are allowed. */
#include "allow.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "../tool.h"

#define LIST_LIMIT (UINT64_C(1) << 24)

static bool is_kind(const char *word) {
  if (!strcmp(word, "*") || violation_kind_named(word) != VIOLATION_KINDS) return true;
  for (unsigned k = 0; k < VIOLATION_KINDS; k++)
    if (!strcmp(violation_texts[k].rule, word)) return true;
  return false;
}

/* The next word of a line, or NULL; *at is moved behind it. */
static char *take_word(char **at) {
  *at += strspn(*at, " \t\r");
  if (!**at) return NULL;
  char *word = *at;
  *at += strcspn(*at, " \t\r");
  if (**at) *(*at)++ = 0;
  return word;
}

static const char *read_entry(char *line, allow_entry *out) {
  out->kind = take_word(&line);
  out->subject = take_word(&line);
  line += strspn(line, " \t\r");
  size_t length = strlen(line);
  while (length && strchr(" \t\r", line[length - 1])) line[--length] = 0;
  out->reason = line;
  if (!is_kind(out->kind)) return pool_format("there is no kind '%s'; quern abi --kinds lists them", out->kind);
  if (!out->subject) return "an entry is KIND SUBJECT REASON";
  return length ? NULL : pool_format("the entry '%s %s' has no reason: say why it is allowed", out->kind, out->subject);
}

bool allow_read(const char *path, allow_list *out, const char **out_error) {
  char *data;
  uint64_t size;
  pool_text errors = {0};
  unsigned number = 0;
  if (tool_read_file(path, LIST_LIMIT, &data, &size) != TOOL_OK) return *out_error = NULL, false;
  char *text = pool_copy(data, (size_t)size);
  free(data);
  for (char *line = text, *next; line; line = next) {
    next = strchr(line, '\n');
    if (next) *next++ = 0;
    allow_entry entry = {.path = path, .line = ++number};
    char first = line[strspn(line, " \t\r")];
    const char *error = first && first != '#' ? read_entry(line, &entry) : NULL;
    if (error)
      pool_add(&errors, "%s%s:%u: %s", errors.length ? "\n" : "", path, number, error);
    else if (entry.kind)
      *POOL_PUSH(out) = entry;
  }
  *out_error = errors.data;
  return !errors.length;
}

static bool matches(const allow_entry *entry, const violation *v) {
  const violation_text *text = &violation_texts[v->kind];
  if (strcmp(entry->kind, "*") != 0 && strcmp(entry->kind, text->name) != 0 && strcmp(entry->kind, text->rule) != 0)
    return false;
  return fnmatch(entry->subject, v->subject, 0) == 0;
}

void allow_apply(allow_list *list, violations *all) {
  for (size_t i = 0; i < all->count; i++) {
    for (size_t n = 0; n < list->count; n++) {
      if (!matches(&list->items[n], &all->items[i])) continue;
      list->items[n].matched++;
      if (!all->items[i].allowed) all->items[i].allowed = list->items[n].reason;
    }
  }
}
