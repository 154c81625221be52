#include "merge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_name_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

typedef struct merger {
  const wg_entry *entry;
  const uint32_t *holders;
  const char *at, *end;
  char *out;
  size_t size, capacity;
  bool failed;
} merger;

static void put(merger *m, const char *bytes, size_t size) {
  if (m->failed) return;
  if (m->capacity - m->size < size) {
    size_t capacity = (m->capacity + size) * 2;
    char *grown = realloc(m->out, capacity);
    m->failed = !grown;
    if (!grown) return;
    m->out = grown;
    m->capacity = capacity;
  }
  memcpy(m->out + m->size, bytes, size);
  m->size += size;
}

static bool is_merged(const merger *m, uint32_t i) {
  const wg_parameter *p = &m->entry->parameters[i];
  return p->kind == WG_BUFFER && p->binding != 0 && m->holders[i] != i;
}

/* The parameter whose name this is, and that uses another's binding. */
static const wg_parameter *find(const merger *m, const char *name, size_t size, uint32_t *out_index) {
  for (uint32_t i = 0; i < m->entry->parameter_count; i++) {
    const wg_parameter *p = &m->entry->parameters[i];
    if (!is_merged(m, i) || strlen(p->name) != size || memcmp(p->name, name, size) != 0) continue;
    *out_index = i;
    return p;
  }
  return NULL;
}

static size_t name_length(const char *at, const char *end) {
  size_t size = 0;
  while (at + size < end && is_name_letter(at[size])) size++;
  return size;
}

/* Whether the line declares the binding of a parameter that uses another's. */
static bool declares_merged(const merger *m, const char *line, size_t size) {
  char start[64];
  for (uint32_t i = 0; i < m->entry->parameter_count; i++) {
    if (!is_merged(m, i)) continue;
    const wg_parameter *p = &m->entry->parameters[i];
    int n = snprintf(start, sizeof start, "@group(0) @binding(%u) ", p->binding);
    if ((size_t)n > size || memcmp(line, start, (size_t)n) != 0) continue;
    if (memmem(line, size, p->name, strlen(p->name))) return true;
  }
  return false;
}

static void put_line(merger *m, const char *line, size_t size) {
  const char *end = line + size;
  while (line < end) {
    size_t length = name_length(line, end);
    uint32_t index;
    if (length == 0)
      put(m, line, 1);
    else if (find(m, line, length, &index))
      put(m, m->entry->parameters[m->holders[index]].name, strlen(m->entry->parameters[m->holders[index]].name));
    else
      put(m, line, length);
    line += length ? length : 1;
  }
}

char *wg_merge(const wg_text *text, const wg_entry *entry, const uint32_t *holders, uint64_t *out_size) {
  merger m = {.entry = entry, .holders = holders, .at = text->bytes, .end = text->bytes + text->size};
  m.capacity = (size_t)text->size + 64;
  m.out = malloc(m.capacity);
  if (!m.out) return NULL;
  while (m.at < m.end) {
    const char *newline = memchr(m.at, '\n', (size_t)(m.end - m.at));
    size_t size = newline ? (size_t)(newline - m.at) + 1 : (size_t)(m.end - m.at);
    if (!declares_merged(&m, m.at, size)) put_line(&m, m.at, size);
    m.at += size;
  }
  if (m.failed) {
    free(m.out);
    return NULL;
  }
  *out_size = m.size;
  return m.out;
}
