/* libgen.c - build tool: compiles library.cl with Quern's front end for both address sizes and writes the table of
 * lib.h as C.
 *
 *   quern-libgen DIRECTORY OUTPUT      DIRECTORY holds library.cl; OUTPUT is replaced when all went well
 *
 * Functions are named NAME__TYPE in the source and "NAME.TYPE" in the table: a name that no kernel can have. */
#include <stdio.h>
#include <stdlib.h>

#include "base/status.h"
#include "compiler/compiler.h"
#include "compiler/lib/lib.h"

/* The tool itself has no library: passes find it empty. */
const qn_library_entry qn_library_entries[] = {{.name = ""}};
const uint32_t qn_library_count = 0;

enum { ITEMS = 1024 };

typedef struct item {
  qn_sv name;
  qn_sv text[2];
  bool is_constant;
} item;

typedef struct library {
  qn_arena arena;
  item items[ITEMS];
  uint32_t count;
} library;

static int fail(const char *what, const char *why) {
  fprintf(stderr, "quern-libgen: %s%s%s\n", what, why ? ": " : "", why ? why : "");
  return 1;
}

/* ---- Compiling ------------------------------------------------------------------------------------- */

/* What only the reflection of kernels wants to know. */
static void forget_source_types(ir_module *m) {
  for (ir_function *f = m->functions; f; f = f->next) {
    for (uint32_t i = 0; i < f->param_count; i++) {
      f->params[i].type_name = NULL;
      f->params[i].element_type = QN_TYPE_NONE;
    }
  }
}

static qn_status compile(library *l, const char *directory, uint32_t address_bits, qn_bytes *out) {
  const char *include_dirs[] = {directory};
  qn_compile_options options = {.include_dirs = include_dirs, .include_dir_count = 1, .std = "CL1.2"};
  qn_sv source = QN_SV("#include \"library.cl\"\n");
  qn_compile_request request = {.source = source,
                                .file_name = "library",
                                .options = &options,
                                .model = {.address_bits = address_bits, .has_double = true}};
  ir_module *m = NULL;
  qn_bytes log = {0};
  qn_status status = qn_compile(&l->arena, &request, &m, &log);
  if (log.size) fputs(log.data, stderr);
  qn_bytes_free(&log);
  if (status != QN_OK) return status;
  forget_source_types(m);
  ir_print(m, out);
  ir_module_free(m);
  return out->failed ? qn_error_set(QN_ERROR_OUT_OF_HOST_MEMORY, "out of memory") : QN_OK;
}

/* ---- Items ----------------------------------------------------------------------------------------- */

static bool starts_item(qn_sv line) {
  return qn_sv_starts_with(line, QN_SV("func ")) || qn_sv_starts_with(line, QN_SV("constant "));
}

static qn_sv next_line(qn_sv *text) {
  const char *end = memchr(text->data, '\n', text->size);
  size_t size = end ? (size_t)(end - text->data) + 1 : text->size;
  qn_sv line = qn_sv_make(text->data, size);
  *text = qn_sv_make(text->data + size, text->size - size);
  return line;
}

static bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

/* A name behind '@'. */
static qn_sv name_at(const char *at, const char *end) {
  size_t size = 0;
  while (at + size < end && is_name_char(at[size])) size++;
  return qn_sv_make(at, size);
}

/* The text with '.' for "__" in names behind '@'. */
static qn_sv renamed(qn_arena *arena, qn_sv text) {
  char *out = qn_arena_alloc(arena, text.size + 1);
  size_t size = 0;
  if (!out) return qn_sv_make(NULL, 0);
  const char *end = text.data + text.size;
  for (const char *at = text.data; at < end;) {
    out[size++] = *at++;
    if (at[-1] != '@') continue;
    qn_sv name = name_at(at, end);
    for (size_t i = 0; i < name.size; i++) {
      bool pair = i + 1 < name.size && name.data[i] == '_' && name.data[i + 1] == '_';
      out[size++] = pair ? '.' : name.data[i];
      i += pair;
    }
    at += name.size;
  }
  return qn_sv_make(out, size);
}

static item *find_item(library *l, qn_sv name) {
  for (uint32_t i = 0; i < l->count; i++)
    if (qn_sv_equal(l->items[i].name, name)) return &l->items[i];
  return NULL;
}

/* Cuts a printed module into its constants and functions. */
static qn_status cut(library *l, qn_sv text, uint32_t which) {
  while (text.size) {
    const char *start = text.data;
    qn_sv line = next_line(&text);
    if (!starts_item(line)) continue;
    while (text.size && !starts_item(text)) next_line(&text);
    const char *at = memchr(line.data, '@', line.size);
    qn_sv name = at ? name_at(at + 1, line.data + line.size) : line;
    item *i = find_item(l, name);
    if (!i && l->count == ITEMS) QN_FAIL(QN_ERROR_LIMIT, "more than %d functions", ITEMS);
    if (!i) i = &l->items[l->count++];
    i->name = name;
    i->is_constant = qn_sv_starts_with(line, QN_SV("constant "));
    i->text[which] = qn_sv_make(start, (size_t)(text.data - start));
  }
  return QN_OK;
}

static int by_name(const void *a, const void *b) {
  const item *x = a, *y = b;
  size_t size = x->name.size < y->name.size ? x->name.size : y->name.size;
  int order = memcmp(x->name.data, y->name.data, size);
  return order ? order : (x->name.size > y->name.size) - (x->name.size < y->name.size);
}

static qn_status read_library(library *l, const char *directory) {
  for (uint32_t which = 0; which < 2; which++) {
    qn_bytes printed = {0};
    qn_status status = compile(l, directory, which ? 64 : 32, &printed);
    qn_sv text = status == QN_OK ? renamed(&l->arena, qn_bytes_view(&printed)) : (qn_sv){0};
    qn_bytes_free(&printed);
    QN_TRY(status);
    if (!text.data) QN_FAIL(QN_ERROR_OUT_OF_HOST_MEMORY, "out of memory");
    QN_TRY(cut(l, text, which));
  }
  qsort(l->items, l->count, sizeof *l->items, by_name);
  return QN_OK;
}

/* ---- Writing --------------------------------------------------------------------------------------- */

static void write_text(FILE *out, const char *name, uint32_t index, qn_sv text) {
  fprintf(out, "static const char %s_%u[] =", name, index);
  while (text.size) {
    qn_sv line = next_line(&text);
    fputs("\n    \"", out);
    for (size_t i = 0; i < line.size; i++) {
      if (line.data[i] == '\n') {
        fputs("\\n", out);
      } else if (line.data[i] == '"' || line.data[i] == '\\') {
        fprintf(out, "\\%c", line.data[i]);
      } else {
        fputc(line.data[i], out);
      }
    }
    fputc('"', out);
  }
  fputs(";\n", out);
}

static void write_needs(FILE *out, library *l, uint32_t index) {
  const item *self = &l->items[index];
  bool named[ITEMS] = {false};
  fprintf(out, "static const uint16_t needs_%u[] = {", index);
  const char *end = self->text[0].data + self->text[0].size;
  for (const char *at = self->text[0].data; at < end; at++) {
    if (*at != '@') continue;
    const item *other = find_item(l, name_at(at + 1, end));
    if (!other || other == self || named[other - l->items]) continue;
    named[other - l->items] = true;
    fprintf(out, "%u, ", (unsigned)(other - l->items));
  }
  fputs("UINT16_MAX};\n", out);
}

static void write_table(FILE *out, library *l) {
  fputs("/* Made by quern-libgen from src/compiler/lib. */\n#include \"compiler/lib/lib.h\"\n\n", out);
  fputs("#pragma GCC diagnostic ignored \"-Woverlength-strings\"\n\n", out);
  for (uint32_t i = 0; i < l->count; i++) {
    write_text(out, "text32", i, l->items[i].text[0]);
    if (!qn_sv_equal(l->items[i].text[0], l->items[i].text[1])) write_text(out, "text64", i, l->items[i].text[1]);
    write_needs(out, l, i);
  }
  fputs("const qn_library_entry qn_library_entries[] = {\n", out);
  for (uint32_t i = 0; i < l->count; i++) {
    const item *x = &l->items[i];
    const char *wide = qn_sv_equal(x->text[0], x->text[1]) ? "text32" : "text64";
    fprintf(out, "    {\"%.*s\", {%zu, %zu}, {text32_%u, %s_%u}, needs_%u, %s},\n", QN_SV_ARG(x->name), x->text[0].size,
            x->text[1].size, i, wide, i, i, x->is_constant ? "true" : "false");
  }
  fprintf(out, "};\nconst uint32_t qn_library_count = %u;\n", l->count);
}

int main(int argc, char **argv) {
  if (argc != 3) return fail("usage: quern-libgen DIRECTORY OUTPUT", NULL);
  library *l = calloc(1, sizeof *l);
  if (!l) return fail("out of memory", NULL);
  qn_arena_init(&l->arena, 0);
  int result = 1;
  if (read_library(l, argv[1]) != QN_OK) {
    fail("library.cl", qn_error_text());
  } else {
    FILE *out = fopen(argv[2], "w");
    if (out) write_table(out, l);
    bool written = out && !ferror(out);
    if (out && fclose(out) != 0) written = false;
    result = written ? 0 : fail(argv[2], "cannot be written");
    if (!written) remove(argv[2]);
  }
  qn_arena_free(&l->arena);
  free(l);
  return result;
}
