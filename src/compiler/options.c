/* options.c - the option string of a build: qn_compile_options_parse. */
#include <ctype.h>
#include <stddef.h>

#include "base/status.h"
#include "compiler/compiler.h"

/* ---- Words ---------------------------------------------------------------------------------------- */

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f'; }

/* A backslash outside quotes takes the next character as it is; in double quotes only before " and itself. */
static qn_status take_word(const char **text, char *to, qn_sv *out) {
  const char *c = *text;
  char *start = to, quote = 0;
  for (; *c && (quote || !is_blank(*c)); c++) {
    if (quote ? *c == quote : *c == '"' || *c == '\'') {
      quote = quote ? 0 : *c;
      continue;
    }
    if (*c == '\\' && quote != '\'' && c[1] && (!quote || c[1] == '"' || c[1] == '\\')) c++;
    *to++ = *c;
  }
  if (quote) QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "compile options: a %c is not closed in: %s", quote, *text);
  *to = 0;
  *out = qn_sv_make(start, (size_t)(to - start));
  *text = c;
  return QN_OK;
}

typedef struct word_list {
  const char **words;
  uint32_t count;
} word_list;

/* Words are never longer than the text, and never more than half its characters. */
static qn_status split(qn_arena *arena, const char *text, word_list *out) {
  size_t size = strlen(text);
  if (size >= UINT32_MAX) QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "compile options: longer than 4 GiB");
  char *bytes = qn_arena_alloc(arena, size + 2);
  out->words = QN_ARENA_ARRAY(arena, const char *, size / 2 + 2);
  if (!bytes || !out->words) QN_FAIL(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for compile options");
  for (;;) {
    while (is_blank(*text)) text++;
    if (!*text) return QN_OK;
    qn_sv word = {0};
    QN_TRY(take_word(&text, bytes, &word));
    out->words[out->count++] = word.data;
    bytes += word.size + 1;
  }
}

/* ---- The table ------------------------------------------------------------------------------------ */

typedef enum kind {
  FLAG,     /* sets a bool */
  IGNORED,  /* means nothing here: it promises what Quern doesn't use, or asks for what it always does */
  LIST,     /* a value, joined or the next word, that is added to a list */
  LANGUAGE, /* -x clc */
  STANDARD  /* -cl-std= */
} kind;

typedef struct option {
  const char *name;
  kind kind;
  uint32_t offset;       /* FLAG: of the bool; LIST: of the array */
  uint32_t count_offset; /* LIST */
  const char *what;      /* LIST: the value */
} option;

#define AT(field) (uint32_t)offsetof(qn_compile_options, field)
static const option options[] = {
    {"-D", LIST, AT(defines), AT(define_count), "NAME or NAME=VALUE"},
    {"-I", LIST, AT(include_dirs), AT(include_dir_count), "a directory"},
    {"-P", LIST, AT(parameters), AT(parameter_count), "NAME=VALUE"},
    {"-w", FLAG, AT(no_warnings), 0, NULL},
    {"-Werror", FLAG, AT(warnings_as_errors), 0, NULL},
    {"-cl-single-precision-constant", FLAG, AT(single_precision_constant), 0, NULL},
    {"-cl-denorms-are-zero", FLAG, AT(denorms_are_zero), 0, NULL},
    {"-cl-fp32-correctly-rounded-divide-sqrt", FLAG, AT(fp32_correctly_rounded_divide_sqrt), 0, NULL},
    {"-cl-opt-disable", FLAG, AT(opt_disable), 0, NULL},
    {"-cl-mad-enable", FLAG, AT(mad_enable), 0, NULL},
    {"-cl-no-signed-zeros", FLAG, AT(no_signed_zeros), 0, NULL},
    {"-cl-unsafe-math-optimizations", FLAG, AT(unsafe_math), 0, NULL},
    {"-cl-finite-math-only", FLAG, AT(finite_math_only), 0, NULL},
    {"-cl-fast-relaxed-math", FLAG, AT(fast_relaxed_math), 0, NULL},
    {"-cl-kernel-arg-info", FLAG, AT(kernel_arg_info), 0, NULL},
    {"-cl-std=", STANDARD, 0, 0, NULL},
    {"-x", LANGUAGE, 0, 0, NULL},
    /* Aliasing rules are not used to optimise; lines are always there; sizes need not be uniform and may be. */
    {"-cl-strict-aliasing", IGNORED, 0, 0, NULL},
    {"-g", IGNORED, 0, 0, NULL},
    {"-cl-uniform-work-group-size", IGNORED, 0, 0, NULL},
};
enum { OPTION_COUNT = sizeof options / sizeof *options };

static const char *const standards[] = {"CL1.0", "CL1.1", "CL1.2", "CL2.0", "CL3.0"};

static const option *find(const char *word) {
  for (size_t i = 0; i < OPTION_COUNT; i++) {
    bool takes_rest = options[i].kind == LIST || options[i].kind == STANDARD;
    if (takes_rest ? strncmp(word, options[i].name, strlen(options[i].name)) == 0 : strcmp(word, options[i].name) == 0)
      return &options[i];
  }
  return NULL;
}

static qn_status tell_unknown(const char *word) {
  const char *best = NULL;
  size_t best_distance = strlen(word) / 3 + 1;
  for (size_t i = 0; i < OPTION_COUNT; i++) {
    size_t distance = qn_sv_distance(qn_sv_from(word), qn_sv_from(options[i].name));
    if (distance >= best_distance) continue;
    best_distance = distance;
    best = options[i].name;
  }
  if (*word != '-')
    QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "compile options: '%s' is no option: options start with '-'", word);
  if (best) QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "compile options: unknown option '%s'; did you mean '%s'?", word, best);
  QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "compile options: unknown option '%s'", word);
}

/* ---- Reading -------------------------------------------------------------------------------------- */

typedef struct reader {
  qn_arena *arena;
  word_list words;
  uint32_t next;
  qn_compile_options *out;
} reader;

/* NAME, NAME=VALUE or NAME(PARAMETERS)=VALUE; what else is wrong the preprocessor tells. */
static bool is_definition(const char *value) {
  size_t size = 0;
  while (value[size] == '_' || isalpha((unsigned char)value[size]) || (size > 0 && isdigit((unsigned char)value[size])))
    size++;
  return size > 0 && (value[size] == '\0' || value[size] == '=' || value[size] == '(');
}

static qn_status add_to_list(reader *r, const option *o, const char *word) {
  const char *value = word + strlen(o->name);
  if (!*value) {
    if (r->next == r->words.count || !*r->words.words[r->next])
      QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "compile options: %s takes %s", o->name, o->what);
    value = r->words.words[r->next++];
  }
  if (strcmp(o->name, "-D") == 0 && !is_definition(value))
    QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "compile options: %s takes %s, not '%s'", o->name, o->what, value);
  const char ***list = (const char ***)(void *)((char *)r->out + o->offset);
  uint32_t *count = (uint32_t *)(void *)((char *)r->out + o->count_offset);
  /* No list is longer than the words. */
  if (!*list) *list = QN_ARENA_ARRAY(r->arena, const char *, r->words.count);
  if (!*list) QN_FAIL(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for compile options");
  (*list)[(*count)++] = value;
  return QN_OK;
}

static qn_status set_standard(reader *r, const option *o, const char *word) {
  const char *value = word + strlen(o->name);
  for (size_t i = 0; i < sizeof standards / sizeof *standards; i++) {
    if (strcmp(value, standards[i]) != 0) continue;
    r->out->std = standards[i];
    return QN_OK;
  }
  QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "compile options: -cl-std takes CL1.0, CL1.1, CL1.2, CL2.0 or CL3.0, not '%s'",
          value);
}

static qn_status check_language(reader *r) {
  const char *language = r->next < r->words.count ? r->words.words[r->next++] : "";
  if (strcmp(language, "clc") == 0 || strcmp(language, "cl") == 0) return QN_OK;
  QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "compile options: -x takes clc (OpenCL C), not '%s'", language);
}

static qn_status read_option(reader *r) {
  const char *word = r->words.words[r->next++];
  const option *o = find(word);
  if (!o) return tell_unknown(word);
  switch (o->kind) {
    case FLAG:
      *(bool *)((char *)r->out + o->offset) = true;
      return QN_OK;
    case LIST:
      return add_to_list(r, o, word);
    case STANDARD:
      return set_standard(r, o, word);
    case LANGUAGE:
      return check_language(r);
    case IGNORED:
      break;
  }
  return QN_OK;
}

/* What one option says for others: OpenCL 1.2, section 5.6.4.2. */
static void imply(qn_compile_options *o) {
  if (o->fast_relaxed_math) o->finite_math_only = o->unsafe_math = true;
  if (o->unsafe_math) o->no_signed_zeros = o->mad_enable = true;
}

qn_status qn_compile_options_parse(qn_arena *arena, const char *text, qn_compile_options *out) {
  qn_compile_options result = {0};
  reader r = {.arena = arena, .out = &result};
  QN_TRY(split(arena, text ? text : "", &r.words));
  while (r.next < r.words.count) QN_TRY(read_option(&r));
  imply(&result);
  *out = result;
  return QN_OK;
}
