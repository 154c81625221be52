/* fuzz_pp.c - the preprocessor. The input is a main file and, behind lines "@@ NAME", files to include. What is printed
 * must be read again as the same tokens. */
#include <string.h>

#include "compiler/pp/pp.h"
#include "harness.h"

#define FILE_COUNT 8
/* Hostile macros may do this much; the limits themselves have unit tests. */
#define WORK 100000

typedef struct memory {
  qn_sv names[FILE_COUNT], texts[FILE_COUNT]; /* 0: the main file */
  size_t count;
} memory;

static qn_status read_memory(void *user, qn_arena *arena, const char *path, qn_sv *out) {
  const memory *m = user;
  for (size_t i = 1; i < m->count; i++) {
    if (!qn_sv_is(m->names[i], path)) continue;
    const char *copy = qn_arena_copy(arena, m->texts[i]);
    *out = qn_sv_make(copy, m->texts[i].size);
    return copy ? QN_OK : QN_ERROR_OUT_OF_HOST_MEMORY;
  }
  return QN_ERROR_NOT_FOUND;
}

/* The end of the part that starts at `at`: a line that begins with "@@ ", or the end. */
static const char *part_end(const char *at, const char *end) {
  for (const char *c = at; (c = memchr(c, '\n', (size_t)(end - c))) != NULL;)
    if (++c + 3 <= end && memcmp(c, "@@ ", 3) == 0) return c;
  return end;
}

static void split(memory *m, const char *text, size_t size) {
  const char *at = text, *end = text + size;
  while (m->count < FILE_COUNT) {
    const char *behind = m->count + 1 < FILE_COUNT ? part_end(at, end) : end;
    m->texts[m->count++] = qn_sv_make(at, (size_t)(behind - at));
    if (behind == end) return;
    at = memchr(behind, '\n', (size_t)(end - behind));
    at = at ? at + 1 : end;
    m->names[m->count] = qn_sv_make(behind + 3, (size_t)(at - behind - 3));
    if (m->names[m->count].size && at[-1] == '\n') m->names[m->count].size--;
  }
}

typedef struct run {
  qn_arena arena;
  qn_sources sources;
  qn_diags diags;
  pp_files files;
  pp_options options;
  pp *pp;
} run;

static void start(run *r, memory *m, const char *name, qn_sv text) {
  static const char *const defines[] = {"D=1", "F(x)=x+D"};
  static const char *const dirs[] = {"inc"};
  qn_arena_init(&r->arena, (size_t)64 << 20);
  qn_sources_init(&r->sources, &r->arena);
  qn_diags_init(&r->diags, &r->sources);
  r->files = (pp_files){.user = m, .read = read_memory};
  r->options = (pp_options){.files = &r->files, .work_limit = WORK};
  /* A NUL behind it. */
  const char *copy = qn_arena_copy(&r->arena, text);
  if (m) {
    r->options.defines = defines;
    r->options.define_count = 2;
    r->options.include_dirs = dirs;
    r->options.include_dir_count = 1;
    static const char *const parameters[] = {"N=-3", "R=0x1.8p3"};
    r->options.parameters = parameters;
    r->options.parameter_count = strstr(copy, "quern") ? 2 : 0;
    r->options.predefined = QN_SV("#define P 1\n#define Q(x, ...) #x __VA_ARGS__\n");
  }
  qn_source_file *file = qn_sources_add(&r->sources, name, qn_sv_make(copy, text.size), 0);
  FUZZ_CHECK(file);
  r->pp = pp_open(&r->arena, &r->sources, &r->diags, file, &r->options);
  FUZZ_CHECK(r->pp);
}

static void stop(run *r) {
  pp_close(r->pp);
  qn_diags_free(&r->diags);
  qn_arena_free(&r->arena);
}

/* Appends all tokens, with their kinds. False: what is printed cannot be read again, as a '#' or '\' would mean
 * something there. */
static bool read_all(run *r, qn_bytes *out) {
  bool printable = true;
  for (;;) {
    pp_token token = pp_next(r->pp);
    if (token.kind == PP_EOF) break;
    FUZZ_CHECK(qn_sources_find(&r->sources, token.loc) || r->diags.out_of_memory);
    FUZZ_CHECK((token.kind == PP_IDENT) == (token.name != NULL));
    FUZZ_CHECK(token.kind == PP_PRAGMA || token.text.size > 0);
    qn_bytes_append_char(out, (char)('A' + token.kind));
    qn_bytes_append_sv(out, token.text);
    qn_bytes_append_char(out, '\n');
    printable = printable && token.kind != PP_OTHER && token.kind != PP_PRAGMA &&
                !(token.kind == PP_PUNCT && (token.punct == PP_P_HASH || token.text.data[0] == '%'));
  }
  FUZZ_CHECK(pp_next(r->pp).kind == PP_EOF);
  FUZZ_CHECK(r->diags.errors <= 20);
  return printable && r->diags.errors == 0 && !r->diags.out_of_memory;
}

void fuzz_one(const char *text, size_t size) {
  memory m = {0};
  split(&m, text, size);
  run r = {0};
  qn_bytes tokens = {0}, printed = {0}, again = {0};
  start(&r, &m, "main.cl", m.texts[0]);
  bool printable = read_all(&r, &tokens);
  stop(&r);
  start(&r, &m, "main.cl", m.texts[0]);
  pp_print(r.pp, &printed);
  stop(&r);
  if (printable) {
    start(&r, NULL, "printed.cl", qn_bytes_view(&printed));
    r.diags.no_warnings = true;
    read_all(&r, &again);
    FUZZ_CHECK(r.diags.errors == 0 || printed.size > WORK);
    FUZZ_CHECK(r.diags.errors || qn_sv_equal(qn_bytes_view(&tokens), qn_bytes_view(&again)));
    stop(&r);
  }
  qn_bytes_free(&tokens);
  qn_bytes_free(&printed);
  qn_bytes_free(&again);
}
