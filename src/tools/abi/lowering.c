/* lowering.c - the probe and its IR. */
#include "lowering.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX "quern_abi_"

/* ---- The probe ------------------------------------------------------------------------------------------------------ */

/* Whether C can name it: all but nameless parts of others. */
static bool is_plain_name(const char *name) {
  for (; *name; name++)
    if (!isalnum((unsigned char)*name) && *name != '_') return false;
  return true;
}

static void assert_layout(pool_text *out, const abi_record *record) {
  if (record->is_nested || !is_plain_name(record->name) || !record->fields.count) return;
  pool_add(out, "#undef %s\n_Static_assert(sizeof(%s) == %" PRIu64 ", \"size\");\n", record->name, record->spelling,
           record->size);
  for (size_t i = 0; i < record->fields.count; i++) {
    const abi_field *field = &record->fields.items[i];
    if (field->is_bits || !is_plain_name(field->name)) continue;
    pool_add(out, "#undef %s\n_Static_assert(__builtin_offsetof(%s, %s) == %" PRIu64 ", \"offset\");\n", field->name,
             record->spelling, field->name, field->offset);
  }
}

/* A declaration of a function's type. An attribute at the type's end, a calling convention, can't stand inside of __typeof__:
 * it goes behind the name. One inside of parentheses is of a pointer, and changes nothing of how that is passed. */
static void declare(pool_text *out, const char *spelling, size_t number) {
  static const char attribute[] = " __attribute__((";
  pool_text type = {0}, behind = {0};
  int depth = 0;
  for (const char *at = spelling; *at;) {
    size_t length = 1;
    if (!strncmp(at, attribute, sizeof attribute - 1)) {
      int open = 0;
      for (length = 0; at[length]; length++) {
        open += (at[length] == '(') - (at[length] == ')');
        if (at[length] == ')' && open == 0) break;
      }
      length += at[length] != 0;
      if (depth == 0) pool_append(&behind, at, length);
    } else {
      depth += (*at == '(') - (*at == ')');
      pool_append(&type, at, 1);
    }
    at += length;
  }
  pool_add(out, "extern __typeof__(%s) " PREFIX "%zu%s;\n", type.data, number, behind.data ? behind.data : "");
}

const char *lowering_probe(const char *include, const abi_interface *interface, const header_spellings *spellings) {
  pool_text out = {0};
  pool_add(&out, "%s", include);
  for (size_t i = 0; i < interface->functions.count; i++)
    if (!interface->functions.items[i].is_callback) pool_add(&out, "#undef %s\n", interface->functions.items[i].name);
  for (size_t i = 0; i < spellings->count; i++)
    if (spellings->items[i]) declare(&out, spellings->items[i], i);
  pool_add(&out, "void *" PREFIX "users[] = {0");
  for (size_t i = 0; i < spellings->count; i++)
    if (spellings->items[i]) pool_add(&out, ", (void *)&" PREFIX "%zu", i);
  pool_add(&out, "};\n");
  for (size_t i = 0; i < interface->records.count; i++) assert_layout(&out, &interface->records.items[i]);
  return out.data;
}

/* ---- The IR --------------------------------------------------------------------------------------------------------- */

/* Words that say nothing on how something is passed. */
static const char *const idle_words[] = {"noundef", "dso_local", "local_unnamed_addr", "unnamed_addr",
                                         "hidden",  "protected", "dead_on_unwind",     "writable"};

static bool is_idle(const char *word, size_t length) {
  for (size_t i = 0; i < sizeof idle_words / sizeof *idle_words; i++)
    if (strlen(idle_words[i]) == length && !memcmp(idle_words[i], word, length)) return true;
  return false;
}

/* Named types and their bodies: the same name is another thing on another target, so lowerings have the bodies. */
typedef struct bodies {
  pool_map names;
  struct {
    const char **items;
    size_t count, capacity;
  } texts;
} bodies;

static size_t name_length(const char *at) {
  size_t length = 0;
  if (*at == '"') {
    length = 1 + strcspn(at + 1, "\"");
    return at[length] ? length + 1 : length;
  }
  while (isalnum((unsigned char)at[length]) || (at[length] && strchr("._$-", at[length]))) length++;
  return length;
}

/* Copies IR without its idle words, and with types' bodies for their names. */
static void normalise(pool_text *out, const char *at, const char *end, const bodies *types, int depth) {
  bool blank = false;
  while (at < end) {
    if (*at == ' ') {
      blank = true;
      at++;
      continue;
    }
    size_t length = 1;
    if (*at == '%') {
      length += name_length(at + 1);
    } else if (isalnum((unsigned char)*at) || *at == '_') {
      while (at + length < end && (isalnum((unsigned char)at[length]) || at[length] == '_')) length++;
      if (is_idle(at, length)) {
        at += length;
        continue;
      }
    }
    char before = out->length ? out->data[out->length - 1] : '(';
    if (blank && before != '(' && *at != ',' && *at != ')') pool_append(out, " ", 1);
    blank = false;
    size_t type = *at == '%' && depth < 16 ? pool_find(&types->names, pool_copy(at, length)) : POOL_NONE;
    if (type == POOL_NONE)
      pool_append(out, at, length);
    else
      normalise(out, types->texts.items[type], types->texts.items[type] + strlen(types->texts.items[type]), types,
                depth + 1);
    at += length;
  }
}

static void read_type(bodies *types, const char *line, const char *end) {
  size_t length = 1 + name_length(line + 1);
  static const char middle[] = " = type ";
  if (strncmp(line + length, middle, sizeof middle - 1) != 0) return;
  const char *body = line + length + sizeof middle - 1;
  pool_put(&types->names, pool_copy(line, length), types->texts.count);
  *POOL_PUSH(&types->texts) = pool_copy(body, (size_t)(end - body));
}

/* declare RESULT @quern_abi_N(PARAMETERS) ... */
static void read_function(const bodies *types, const char *line, const char *end, abi_interface *interface) {
  static const char declare[] = "declare ";
  const char *name = strstr(line, "@" PREFIX);
  if (strncmp(line, declare, sizeof declare - 1) != 0 || !name || name >= end) return;
  char *open;
  unsigned long at = strtoul(name + sizeof "@" PREFIX - 1, &open, 10);
  if (*open != '(' || at >= interface->functions.count) return;
  const char *close = open;
  for (int depth = 0; close < end; close++) {
    depth += (*close == '(') - (*close == ')');
    if (depth == 0) break;
  }
  pool_text text = {0};
  normalise(&text, line + sizeof declare - 1, name, types, 0);
  pool_append(&text, " ", 1);
  normalise(&text, open, close < end ? close + 1 : end, types, 0);
  interface->functions.items[at].lowered = text.data;
}

void lowering_read(const char *ir, abi_interface *interface) {
  bodies types = {0};
  for (int pass = 0; pass < 2; pass++) {
    for (const char *line = ir; *line;) {
      const char *end = line + strcspn(line, "\n");
      if (pass == 0 && *line == '%') read_type(&types, line, end);
      if (pass == 1 && *line == 'd') read_function(&types, line, end, interface);
      line = end + (*end == '\n');
    }
  }
}
