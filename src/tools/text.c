#include "text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"

enum { WORD_BYTES = 600, WORD_HEAD = 400, WORD_TAIL = 100, LINE_BYTES = 2000, SPEC_BYTES = 32 };

typedef struct text {
  char *data;
  size_t size, capacity;
} text;

static void append(text *t, const char *data, size_t size) {
  if (t->size + size + 1 > t->capacity) {
    t->capacity = (t->size + size + 1) * 2;
    t->data = tool_grow(t->data, t->capacity, 1);
  }
  memcpy(t->data + t->size, data, size);
  t->size += size;
  t->data[t->size] = '\0';
}

size_t text_character(const char *at, size_t left) {
  unsigned char first = (unsigned char)*at;
  if (first < 0x80) return 1;
  size_t size = first >= 0xf0 && first < 0xf5   ? 4
                : first >= 0xe0 && first < 0xf0 ? 3
                : first >= 0xc2 && first < 0xe0 ? 2
                                                : 0;
  if (size == 0 || size > left) return 0;
  for (size_t i = 1; i < size; i++)
    if (((unsigned char)at[i] & 0xc0) != 0x80) return 0;
  unsigned char second = (unsigned char)at[1];
  bool is_wrong = (first == 0xe0 && second < 0xa0) || (first == 0xed && second >= 0xa0) ||
                  (first == 0xf0 && second < 0x90) || (first == 0xf4 && second >= 0x90);
  return is_wrong ? 0 : size;
}

static void append_clean(text *t, const char *word, size_t size) {
  for (size_t i = 0; i < size;) {
    size_t bytes = text_character(word + i, size - i);
    unsigned char c = (unsigned char)word[i];
    bool is_shown = bytes > 0 && c >= 0x20 && c != 0x7f;
    append(t, is_shown ? word + i : "?", is_shown ? bytes : 1);
    i += is_shown ? bytes : 1;
  }
}

/* Not in the middle of a character. */
static size_t character_start(const char *word, size_t at) {
  while (at > 0 && ((unsigned char)word[at] & 0xc0) == 0x80) at--;
  return at;
}

/* Of more bytes than `most` the middle is left out. */
static void append_word(text *t, const char *word, size_t size, size_t most) {
  if (size <= most) {
    append_clean(t, word, size);
    return;
  }
  size_t tail = character_start(word, size - WORD_TAIL);
  append_clean(t, word, character_start(word, WORD_HEAD));
  append(t, "...", 3);
  append_clean(t, word + tail, size - tail);
}

static void append_string(text *t, const char *word, int precision) {
  if (!word) word = "";
  append_word(t, word, precision < 0 ? strlen(word) : strnlen(word, (size_t)precision), WORD_BYTES);
}

char *text_word(const char *word) {
  text t = {0};
  append(&t, "", 0);
  append_string(&t, word, -1);
  return t.data;
}

char *text_lines(const char *lines) {
  text t = {0};
  append(&t, "", 0);
  while (*lines) {
    size_t size = strcspn(lines, "\n");
    append_word(&t, lines, size, LINE_BYTES);
    append(&t, "\n", 1);
    lines += size + (lines[size] == '\n');
  }
  return t.data;
}

/* One conversion as it is written, "%-5llu", its stars replaced. */
typedef struct conversion {
  char spec[SPEC_BYTES];
  size_t size;
  int precision; /* -1: none */
  int longs;     /* l, ll; z is one */
} conversion;

static void add_spec(conversion *c, char what) {
  if (c->size + 1 < SPEC_BYTES) c->spec[c->size++] = what;
}

static void add_number(conversion *c, int number) {
  int room = (int)(SPEC_BYTES - c->size), size = snprintf(c->spec + c->size, (size_t)room, "%d", number);
  if (size > 0 && size < room) c->size += (size_t)size;
}

/* Behind the '%', to the letter that says what it is. */
static const char *read_conversion(const char *at, va_list *args, conversion *c) {
  bool in_precision = false;
  *c = (conversion){.precision = -1};
  add_spec(c, '%');
  for (; *at && strchr("-+ #0123456789.*lhz", *at); at++) {
    int number = *at == '*' ? va_arg(*args, int) : 0;
    if (*at == '*') {
      add_number(c, number);
      if (in_precision) c->precision = number;
      continue;
    }
    add_spec(c, *at);
    if (*at == '.') {
      in_precision = true;
      c->precision = 0;
    } else if (in_precision && *at >= '0' && *at <= '9') {
      c->precision = c->precision * 10 + (*at - '0');
    }
    c->longs += *at == 'l' || *at == 'z';
  }
  add_spec(c, *at);
  c->spec[c->size] = '\0';
  return at;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static void append_number(text *t, const conversion *c, char letter, va_list *args) {
  char number[512];
  int size;
  if (strchr("gfe", letter))
    size = snprintf(number, sizeof number, c->spec, va_arg(*args, double));
  else if (c->longs)
    size = snprintf(number, sizeof number, c->spec, va_arg(*args, unsigned long long));
  else
    size = snprintf(number, sizeof number, c->spec, va_arg(*args, unsigned));
  if (size > 0) append(t, number, (size_t)size < sizeof number ? (size_t)size : sizeof number - 1);
}
#pragma GCC diagnostic pop

char *text_format(const char *format, va_list args) {
  text t = {0};
  va_list rest;
  va_copy(rest, args);
  append(&t, "", 0);
  for (const char *at = format; *at; at++) {
    if (*at != '%') {
      append(&t, at, 1);
      continue;
    }
    conversion c;
    at = read_conversion(at + 1, &rest, &c);
    if (*at == 's')
      append_string(&t, va_arg(rest, const char *), c.precision);
    else if (*at == '%')
      append(&t, "%", 1);
    else if (*at)
      append_number(&t, &c, *at, &rest);
    if (!*at) break;
  }
  va_end(rest);
  return t.data;
}
