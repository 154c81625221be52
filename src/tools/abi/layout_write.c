/* layout_write.c - writes interfaces as text: renders each target's, then merges the lines that are the same. */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "layout.h"

typedef struct line {
  const char *text;
  abi_place place;
  abi_target_set targets;
} line;

/* An item's first line with the lines below it. */
typedef struct item {
  line head;
  struct {
    line *items;
    size_t count, capacity;
  } lines;
} item;

typedef struct rendering {
  item *items;
  size_t count, capacity;
} rendering;

/* Appends a blank and a word, in quotes when it isn't plain. */
static void add_word(pool_text *out, const char *word) {
  bool plain = *word != 0;
  for (const char *c = word; *c; c++)
    if (!isalnum((unsigned char)*c) && !strchr("_.-", *c)) plain = false;
  if (out->length) pool_append(out, " ", 1);
  if (plain) {
    pool_append(out, word, strlen(word));
    return;
  }
  pool_append(out, "\"", 1);
  for (; *word; word++) {
    if (*word == '\n') {
      pool_append(out, "\\n", 2);
      continue;
    }
    if (*word == '"' || *word == '\\') pool_append(out, "\\", 1);
    pool_append(out, word, 1);
  }
  pool_append(out, "\"", 1);
}

static void add_number(pool_text *out, uint64_t number) { pool_add(out, " %" PRIu64, number); }

static void add_type(pool_text *out, const abi_type *type) {
  add_word(out, abi_type_words[type->kind]);
  add_word(out, type->text);
  if (type->record) add_word(out, "of"), add_word(out, type->record);
  if (type->is_flexible)
    add_word(out, "flexible");
  else if (type->is_array)
    add_word(out, "count"), add_number(out, type->count);
}

static line *add_line(item *i, const char *word) {
  line *l = POOL_PUSH(&i->lines);
  l->text = word;
  return l;
}

static void add_number_line(item *i, const char *word, uint64_t number) {
  add_line(i, pool_format("%s %" PRIu64, word, number));
}

static item *add_item(rendering *r, const char *word, const char *name, abi_place place) {
  pool_text text = {0};
  item *i = POOL_PUSH(r);
  add_word(&text, word);
  add_word(&text, name);
  i->head = (line){.text = text.data, .place = place};
  return i;
}

static void render_record(rendering *r, const abi_record *record) {
  item *i = add_item(r, record->is_union ? "union" : "struct", record->name, record->place);
  add_number_line(i, "size", record->size);
  if (record->align) add_number_line(i, "align", record->align);
  if (record->is_plain) add_line(i, "plain");
  if (record->is_nested) add_line(i, "nested");
  for (size_t n = 0; n < record->fields.count; n++) {
    const abi_field *field = &record->fields.items[n];
    pool_text text = {0};
    add_word(&text, field->is_bits ? "bits" : "field");
    add_word(&text, field->name);
    add_number(&text, field->offset);
    add_number(&text, field->size);
    add_type(&text, &field->type);
    add_line(i, text.data)->place = field->place;
  }
}

static void render_enum(rendering *r, const abi_enum *e) {
  item *i = add_item(r, "enum", e->name, e->place);
  add_number_line(i, "size", e->size);
  for (size_t n = 0; n < e->values.count; n++) {
    pool_text text = {0};
    add_word(&text, "value");
    add_word(&text, e->values.items[n].name);
    pool_add(&text, " %" PRId64, e->values.items[n].value);
    add_line(i, text.data)->place = e->values.items[n].place;
  }
}

static void render_typed(item *i, const char *word, const char *name, const abi_type *type) {
  pool_text text = {0};
  add_word(&text, word);
  if (name) add_word(&text, name);
  add_number(&text, type->size);
  add_type(&text, type);
  add_line(i, text.data);
}

static void render_function(rendering *r, const abi_function *f) {
  item *i = add_item(r, f->is_callback ? "callback" : "function", f->name, f->place);
  if (f->lowered) {
    pool_text text = {0};
    add_word(&text, "lowered");
    add_word(&text, f->lowered);
    add_line(i, text.data);
  }
  render_typed(i, "result", NULL, &f->result);
  for (size_t n = 0; n < f->parameters.count; n++)
    render_typed(i, "parameter", f->parameters.items[n].name, &f->parameters.items[n].type);
  if (f->is_variadic) add_line(i, "variadic");
  if (f->is_unprototyped) add_line(i, "unprototyped");
}

static rendering render(const abi_interface *interface) {
  rendering r = {0};
  for (size_t i = 0; i < interface->enums.count; i++) render_enum(&r, &interface->enums.items[i]);
  for (size_t i = 0; i < interface->records.count; i++) render_record(&r, &interface->records.items[i]);
  for (size_t i = 0; i < interface->functions.count; i++) render_function(&r, &interface->functions.items[i]);
  for (size_t i = 0; i < interface->variables.count; i++) {
    const abi_variable *v = &interface->variables.items[i];
    render_typed(add_item(&r, "variable", v->name, v->place), "type", NULL, &v->type);
  }
  return r;
}

/* Adds a target's lines to those of the targets before it. Each target's own order stays: a line that the others have only
 * further up is written again. */
static void merge_lines(item *into, const item *from, abi_target_set bit) {
  size_t at = 0;
  for (size_t i = 0; i < from->lines.count; i++) {
    const line *l = &from->lines.items[i];
    size_t found = at;
    while (found < into->lines.count && strcmp(into->lines.items[found].text, l->text) != 0) found++;
    if (found == into->lines.count) {
      (void)POOL_PUSH(&into->lines);
      memmove(&into->lines.items[at + 1], &into->lines.items[at], (into->lines.count - 1 - at) * sizeof *l);
      into->lines.items[at] = *l;
      into->lines.items[at].targets = 0;
      found = at;
    }
    into->lines.items[found].targets |= bit;
    at = found + 1;
  }
}

static rendering merge(const abi_set *set) {
  rendering all = {0};
  pool_map heads = {0};
  for (size_t t = 0; t < set->count; t++) {
    rendering one = render(set->each[t]);
    for (size_t i = 0; i < one.count; i++) {
      size_t at = pool_find(&heads, one.items[i].head.text);
      if (at == POOL_NONE) {
        at = all.count;
        POOL_PUSH(&all)->head = one.items[i].head;
        pool_put(&heads, one.items[i].head.text, at);
      }
      all.items[at].head.targets |= UINT64_C(1) << t;
      merge_lines(&all.items[at], &one.items[i], UINT64_C(1) << t);
    }
  }
  return all;
}

/* `all`: the targets that a line has without saying so. */
static void write_line(pool_text *out, const abi_set *set, const line *l, abi_target_set all, bool places) {
  pool_append(out, l->text, strlen(l->text));
  if (places && l->place.file) {
    pool_append(out, " #", 2);
    add_word(out, l->place.file);
    add_number(out, l->place.line);
  }
  if (l->targets != all) {
    const char *before = " @";
    for (size_t t = 0; t < set->count; t++) {
      if (!(l->targets >> t & 1)) continue;
      pool_add(out, "%s%s", before, set->targets[t]->name);
      before = ",";
    }
  }
  pool_append(out, "\n", 1);
}

void layout_write(pool_text *out, const abi_set *set, bool places) {
  rendering all = merge(set);
  abi_target_set every = set->count < 64 ? (UINT64_C(1) << set->count) - 1 : UINT64_MAX;
  pool_add(out, "quern-abi layout 1\ntargets");
  for (size_t t = 0; t < set->count; t++) pool_add(out, " %s", set->targets[t]->name);
  pool_append(out, "\n", 1);
  if (places && set->unread) pool_add(out, "unread %zu\n", set->unread);
  for (size_t i = 0; i < all.count; i++) {
    const item *one = &all.items[i];
    write_line(out, set, &one->head, every, places);
    for (size_t n = 0; n < one->lines.count; n++) {
      pool_append(out, "  ", 2);
      write_line(out, set, &one->lines.items[n], one->head.targets, places);
    }
  }
}
