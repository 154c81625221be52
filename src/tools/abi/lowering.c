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

/* Asserts with __typeof__, because a name alone may be a tag or a typedef. */
static void assert_layout(pool_text *out, const abi_record *record) {
  if (record->is_nested || !is_plain_name(record->name) || !record->fields.count) return;
  const char *keyword = record->is_union ? "union" : "struct";
  pool_add(out, "#undef %s\n", record->name);
  pool_add(out, PREFIX "SIZE(%s, %s, %" PRIu64 ")\n", keyword, record->name, record->size);
  for (size_t i = 0; i < record->fields.count; i++) {
    const abi_field *field = &record->fields.items[i];
    if (field->is_bits || !is_plain_name(field->name)) continue;
    pool_add(out, "#undef %s\n" PREFIX "OFFSET(%s, %s, %s, %" PRIu64 ")\n", field->name, keyword, record->name,
             field->name, field->offset);
  }
}

const char *lowering_probe(const char *include, const abi_interface *interface, const header_spellings *spellings) {
  pool_text out = {0};
  pool_add(&out, "%s", include);
  for (size_t i = 0; i < interface->functions.count; i++)
    if (!interface->functions.items[i].is_callback) pool_add(&out, "#undef %s\n", interface->functions.items[i].name);
  for (size_t i = 0; i < spellings->count; i++)
    if (spellings->items[i]) pool_add(&out, "extern __typeof__(%s) " PREFIX "%zu;\n", spellings->items[i], i);
  pool_add(&out, "void *" PREFIX "users[] = {0");
  for (size_t i = 0; i < spellings->count; i++)
    if (spellings->items[i]) pool_add(&out, ", (void *)&" PREFIX "%zu", i);
  pool_add(&out, "};\n");
  /* A tag that only a typedef names is no `struct NAME`: then the typedef is meant. */
  pool_add(&out, "#define " PREFIX
                 "SIZE(keyword, name, n) _Static_assert(sizeof(keyword name) == n, #name);\n"
                 "#define " PREFIX
                 "OFFSET(keyword, name, field, n) "
                 "_Static_assert(__builtin_offsetof(keyword name, field) == n, #name \".\" #field);\n");
  for (size_t i = 0; i < interface->records.count; i++) assert_layout(&out, &interface->records.items[i]);
  return out.data;
}

/* ---- The IR --------------------------------------------------------------------------------------------------------- */

/* Words that say nothing on how something is passed. */
static const char *const idle_words[] = {"noundef",      "dso_local", "local_unnamed_addr",
                                         "unnamed_addr", "hidden",    "protected"};

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
