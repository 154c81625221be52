/* layout_read.c - reads the text form of interfaces. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "layout.h"

static const char magic[] = "quern-abi layout ";

enum { MAX_WORDS = 24 };

typedef struct reader {
  abi_set *set;
  const char *error;
  /* The line: its words, the place behind '#', the targets behind '@'. */
  const char *words[MAX_WORDS];
  size_t count, used;
  abi_place place;
  abi_target_set targets;
  bool is_quoted[MAX_WORDS];
  /* The item that it belongs to: its targets, and in each target's interface its entry. */
  abi_target_set item_targets;
  const struct item_word *item;
  size_t entries[64];
} reader;

static bool fail(reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool fail(reader *r, const char *format, ...) {
  va_list args;
  va_start(args, format);
  if (!r->error) r->error = pool_format_list(format, args);
  va_end(args);
  return false;
}

/* ---- Words ------------------------------------------------------------------------------------------------------- */

/* The word at *at, which is moved behind it. NULL: a quote isn't closed. */
static const char *take_word(const char **at, const char *end, bool *out_quoted) {
  const char *c = *at;
  *out_quoted = *c == '"';
  if (!*out_quoted) {
    while (c < end && *c != ' ') c++;
    const char *word = pool_copy(*at, (size_t)(c - *at));
    *at = c;
    return word;
  }
  char *word = pool_alloc((size_t)(end - c) + 1), *to = word;
  for (c++; c < end && *c != '"'; c++) {
    bool escaped = *c == '\\' && c + 1 < end;
    if (escaped) c++;
    *to++ = escaped && *c == 'n' ? '\n' : *c;
  }
  if (c == end) return NULL;
  *at = c + 1;
  return word;
}

static bool parse_number(const char *word, uint64_t *out) {
  char *end;
  errno = 0;
  unsigned long long number = strtoull(word, &end, 10);
  if (errno || *end || word[0] < '0' || word[0] > '9') return false;
  *out = number;
  return true;
}

static bool read_targets(reader *r, const char *list) {
  r->targets = 0;
  while (*list) {
    size_t length = strcspn(list, ","), t = 0;
    while (t < r->set->count &&
           (strncmp(r->set->targets[t]->name, list, length) != 0 || r->set->targets[t]->name[length]))
      t++;
    if (t == r->set->count) return fail(r, "target '%.*s' is not in the line `targets`", (int)length, list);
    r->targets |= UINT64_C(1) << t;
    list += length + (list[length] == ',');
  }
  return r->targets ? true : fail(r, "no target behind '@'");
}

/* The last two words behind '#'. */
static bool read_place(reader *r, size_t hash) {
  uint64_t number;
  if (r->count != hash + 3 || !parse_number(r->words[hash + 2], &number) || number > UINT32_MAX)
    return fail(r, "behind '#' stand a file and a line");
  r->place = (abi_place){r->words[hash + 1], (uint32_t)number};
  r->count = hash;
  return true;
}

static bool split(reader *r, const char *at, const char *end) {
  r->count = r->used = 0;
  r->place = (abi_place){0};
  r->targets = r->item_targets;
  while (at < end) {
    if (*at == ' ') {
      at++;
      continue;
    }
    if (r->count == MAX_WORDS) return fail(r, "more than %d words", MAX_WORDS);
    const char *word = take_word(&at, end, &r->is_quoted[r->count]);
    if (!word) return fail(r, "a quote without its end");
    r->words[r->count++] = word;
  }
  if (r->count && !r->is_quoted[r->count - 1] && r->words[r->count - 1][0] == '@') {
    if (!read_targets(r, r->words[--r->count] + 1)) return false;
  }
  for (size_t i = 0; i < r->count; i++)
    if (!r->is_quoted[i] && !strcmp(r->words[i], "#")) return read_place(r, i);
  return true;
}

static const char *next(reader *r) {
  if (r->used < r->count) return r->words[r->used++];
  fail(r, "a word is missing at the end");
  return NULL;
}

static bool next_number(reader *r, uint64_t *out) {
  const char *word = next(r);
  if (!word) return false;
  return parse_number(word, out) ? true : fail(r, "'%s' is no number", word);
}

static bool next_is(reader *r, const char *word) {
  if (r->used == r->count || strcmp(r->words[r->used], word) != 0) return false;
  r->used++;
  return true;
}

static bool next_type(reader *r, abi_type *type) {
  const char *word = next(r);
  if (!word) return false;
  type->kind = ABI_TYPE_KIND_COUNT;
  for (unsigned k = 0; k < ABI_TYPE_KIND_COUNT; k++)
    if (!strcmp(abi_type_words[k], word)) type->kind = (abi_type_kind)k;
  if (type->kind == ABI_TYPE_KIND_COUNT) return fail(r, "'%s' is no kind of type", word);
  type->text = next(r);
  if (!type->text) return false;
  if (next_is(r, "of") && !(type->record = next(r))) return false;
  type->count = 1;
  type->is_flexible = next_is(r, "flexible");
  type->is_array = type->is_flexible;
  if (next_is(r, "count")) {
    type->is_array = true;
    return next_number(r, &type->count);
  }
  return true;
}

/* ---- Items ------------------------------------------------------------------------------------------------------- */

/* Adds to each target's interface; false: the name is there already. */
static bool begin_record(abi_interface *interface, const char *name, abi_place place, bool other) {
  abi_record *record = abi_add_record(interface, name);
  if (!record) return false;
  record->place = place;
  record->is_union = other;
  return true;
}

static bool begin_enum(abi_interface *interface, const char *name, abi_place place, bool other) {
  (void)other;
  abi_enum *e = abi_add_enum(interface, name);
  if (!e) return false;
  e->place = place;
  return true;
}

static bool begin_function(abi_interface *interface, const char *name, abi_place place, bool other) {
  abi_function *f = abi_add_function(interface, name);
  if (!f) return false;
  f->place = place;
  f->is_callback = other;
  f->result.text = "";
  return true;
}

static bool begin_variable(abi_interface *interface, const char *name, abi_place place, bool other) {
  (void)other;
  abi_variable *v = abi_add_variable(interface, name);
  if (!v) return false;
  v->place = place;
  v->type.text = "";
  return true;
}

static bool record_line(reader *r, abi_interface *interface, const char *word) {
  abi_record *record = &interface->records.items[interface->records.count - 1];
  if (!strcmp(word, "size")) return next_number(r, &record->size);
  if (!strcmp(word, "align")) return next_number(r, &record->align);
  if (!strcmp(word, "plain")) return record->is_plain = true;
  if (!strcmp(word, "nested")) return record->is_nested = true;
  abi_field field = {.place = r->place, .is_bits = !strcmp(word, "bits")};
  if (!field.is_bits && strcmp(word, "field") != 0) return fail(r, "'%s' is nothing that a struct has", word);
  field.name = next(r);
  if (!field.name || !next_number(r, &field.offset) || !next_number(r, &field.size) || !next_type(r, &field.type))
    return false;
  field.type.size = field.is_bits ? field.size / 8 : field.size;
  pool_put(&record->field_names, field.name, record->fields.count);
  *POOL_PUSH(&record->fields) = field;
  return true;
}

static bool enum_line(reader *r, abi_interface *interface, const char *word) {
  abi_enum *e = &interface->enums.items[interface->enums.count - 1];
  if (!strcmp(word, "size")) return next_number(r, &e->size);
  if (strcmp(word, "value") != 0) return fail(r, "'%s' is nothing that an enum has", word);
  abi_value value = {.name = next(r), .place = r->place};
  const char *number = value.name ? next(r) : NULL;
  if (!number) return false;
  uint64_t magnitude;
  bool negative = number[0] == '-';
  if (!parse_number(number + negative, &magnitude)) return fail(r, "'%s' is no number", number);
  value.value = (int64_t)(negative ? 0 - magnitude : magnitude);
  *POOL_PUSH(&e->values) = value;
  return true;
}

static bool function_line(reader *r, abi_interface *interface, const char *word) {
  abi_function *f = &interface->functions.items[interface->functions.count - 1];
  if (!strcmp(word, "lowered")) return (f->lowered = next(r)) != NULL;
  if (!strcmp(word, "variadic")) return f->is_variadic = true;
  if (!strcmp(word, "unprototyped")) return f->is_unprototyped = true;
  if (!strcmp(word, "result")) return next_number(r, &f->result.size) && next_type(r, &f->result);
  if (strcmp(word, "parameter") != 0) return fail(r, "'%s' is nothing that a function has", word);
  abi_parameter parameter = {.name = next(r)};
  if (!parameter.name || !next_number(r, &parameter.type.size) || !next_type(r, &parameter.type)) return false;
  *POOL_PUSH(&f->parameters) = parameter;
  return true;
}

static bool variable_line(reader *r, abi_interface *interface, const char *word) {
  abi_variable *v = &interface->variables.items[interface->variables.count - 1];
  if (strcmp(word, "type") != 0) return fail(r, "'%s' is nothing that a variable has", word);
  return next_number(r, &v->type.size) && next_type(r, &v->type);
}

static const struct item_word {
  const char *word;
  bool other; /* union, callback */
  bool (*begin)(abi_interface *interface, const char *name, abi_place place, bool other);
  bool (*line)(reader *r, abi_interface *interface, const char *word);
} item_words[] = {
    {"struct", false, begin_record, record_line},
    {"union", true, begin_record, record_line},
    {"enum", false, begin_enum, enum_line},
    {"function", false, begin_function, function_line},
    {"callback", true, begin_function, function_line},
    {"variable", false, begin_variable, variable_line},
};

static bool read_item(reader *r) {
  const char *word = next(r), *name = word ? next(r) : NULL;
  if (!name) return false;
  r->item = NULL;
  for (size_t i = 0; i < sizeof item_words / sizeof *item_words; i++)
    if (!strcmp(item_words[i].word, word)) r->item = &item_words[i];
  if (!r->item) return fail(r, "'%s' begins no item", word);
  r->item_targets = r->targets;
  for (size_t t = 0; t < r->set->count; t++)
    if (r->targets >> t & 1 && !r->item->begin(r->set->each[t], name, r->place, r->item->other))
      return fail(r, "'%s' is there twice", name);
  return true;
}

/* A line below an item, once for each of its targets. */
static bool read_part(reader *r) {
  if (!r->item) return fail(r, "an indented line before the first item");
  if (r->targets & ~r->item_targets) return fail(r, "a target that its item doesn't have");
  size_t first = r->used;
  for (size_t t = 0; t < r->set->count; t++) {
    if (!(r->targets >> t & 1)) continue;
    r->used = first;
    const char *word = next(r);
    if (!word || !r->item->line(r, r->set->each[t], word)) return false;
  }
  return true;
}

static bool read_header(reader *r, size_t line) {
  if (line == 1) {
    if (r->count != 3 || strcmp(r->words[2], "1") != 0)
      return fail(r, "a layout of another version; write it again with --layout");
    return true;
  }
  if (!next_is(r, "targets") || r->count < 2) return fail(r, "the second line is `targets` and their names");
  r->set->count = r->count - 1;
  r->set->targets = pool_alloc(r->set->count * sizeof *r->set->targets);
  r->set->each = pool_alloc(r->set->count * sizeof *r->set->each);
  for (size_t t = 0; t < r->set->count; t++) {
    r->set->targets[t] = abi_target_named(r->words[t + 1]);
    for (size_t other = 0; other < t; other++)
      if (!strcmp(r->set->targets[other]->name, r->set->targets[t]->name)) return fail(r, "a target is there twice");
    r->set->each[t] = pool_alloc(sizeof(abi_interface));
    r->set->each[t]->target = r->set->targets[t];
  }
  return true;
}

static bool read_line(reader *r, const char *at, const char *end, size_t line) {
  bool indented = *at == ' ';
  if (!indented) r->item_targets = r->set->count ? (UINT64_C(2) << (r->set->count - 1)) - 1 : 0;
  if (!split(r, at, end)) return false;
  if (line <= 2) return read_header(r, line);
  if (!indented && next_is(r, "unread")) {
    uint64_t unread;
    if (!next_number(r, &unread)) return false;
    r->set->unread = (size_t)unread;
  } else if (!(indented ? read_part(r) : read_item(r))) {
    return false;
  }
  return r->used == r->count ? true : fail(r, "'%s' is more than belongs here", r->words[r->used]);
}

bool layout_is(const char *data, size_t size) {
  return size >= sizeof magic - 1 && !memcmp(data, magic, sizeof magic - 1);
}

bool layout_read(const char *text, abi_set *out, const char **out_error) {
  reader r = {.set = out};
  size_t line = 0;
  for (const char *at = text; *at;) {
    const char *end = at + strcspn(at, "\n");
    line++;
    if (end > at && !read_line(&r, at, end, line)) {
      *out_error = pool_format("line %zu: %s", line, r.error ? r.error : "not understood");
      return false;
    }
    at = end + (*end == '\n');
  }
  if (!out->count) {
    *out_error = "the line `targets` is missing";
    return false;
  }
  return true;
}
