#include "compiler/front/token.h"

#include <stdio.h>
#include <string.h>

#include "compiler/front/parse.h"
#include "compiler/front/recover.h"

enum { NESTING_LIMIT = 256 };

/* ---- Keywords ------------------------------------------------------------------------------------ */

typedef struct keyword_text {
  const char *text;
  front_keyword id;
} keyword_text;

static const keyword_text keyword_table[] = {
#define QN_X(id, text) {text, KW_##id},
    FRONT_KEYWORDS(QN_X)
#undef QN_X
    /* other spellings */
    {"__global", KW_GLOBAL},
    {"__local", KW_LOCAL},
    {"__constant", KW_CONSTANT},
    {"__private", KW_PRIVATE},
    {"__generic", KW_GENERIC},
    {"__kernel", KW_KERNEL},
    {"__read_only", KW_READ_ONLY},
    {"__write_only", KW_WRITE_ONLY},
    {"__read_write", KW_READ_WRITE},
    {"__const", KW_CONST},
    {"__const__", KW_CONST},
    {"__volatile", KW_VOLATILE},
    {"__volatile__", KW_VOLATILE},
    {"__restrict", KW_RESTRICT},
    {"__restrict__", KW_RESTRICT},
    {"__inline", KW_INLINE},
    {"__inline__", KW_INLINE},
    {"__signed", KW_SIGNED},
    {"__signed__", KW_SIGNED},
    {"_Bool", KW_BOOL},
    {"__attribute", KW_ATTRIBUTE},
    {"__alignof", KW_ALIGNOF},
    {"_Alignof", KW_ALIGNOF},
    {"__asm", KW_ASM},
    {"__asm__", KW_ASM},
    {"__typeof", KW_TYPEOF},
    {"__typeof__", KW_TYPEOF},
    {"static_assert", KW_STATIC_ASSERT},
};

void front_keyword_names(void (*fn)(void *user, qn_sv name), void *user) {
  for (size_t i = 0; i < sizeof(keyword_table) / sizeof(keyword_table[0]); i++) {
    fn(user, qn_sv_from(keyword_table[i].text));
  }
}

static bool enter_keywords(front *f) {
  for (size_t i = 0; i < sizeof(keyword_table) / sizeof(keyword_table[0]); i++) {
    const keyword_text *k = &keyword_table[i];
    pp_name *name = pp_intern(f->p, qn_sv_from(k->text));
    if (name == NULL) return false;
    name->keyword = (uint32_t)k->id;
  }
  return true;
}

/* ---- Pragmas ------------------------------------------------------------------------------------- */

/* Extensions that may be named. Those that need something of the model say what. */
typedef enum extension_need { NEED_NOTHING, NEED_DOUBLE, NEED_HALF, NEED_INT64_ATOMICS } extension_need;
static const struct {
  const char *name;
  extension_need need;
} extensions[] = {
    {"cl_khr_fp64", NEED_DOUBLE},
    {"cl_amd_fp64", NEED_DOUBLE},
    {"cl_khr_fp16", NEED_HALF},
    {"cl_khr_int64_base_atomics", NEED_INT64_ATOMICS},
    {"cl_khr_int64_extended_atomics", NEED_INT64_ATOMICS},
    {"cl_khr_global_int32_base_atomics", NEED_NOTHING},
    {"cl_khr_global_int32_extended_atomics", NEED_NOTHING},
    {"cl_khr_local_int32_base_atomics", NEED_NOTHING},
    {"cl_khr_local_int32_extended_atomics", NEED_NOTHING},
    {"cl_khr_byte_addressable_store", NEED_NOTHING},
    {"cl_khr_select_fprounding_mode", NEED_NOTHING},
    {"cl_khr_3d_image_writes", NEED_NOTHING},
    {"cl_khr_subgroups", NEED_NOTHING},
    {"cl_intel_subgroups", NEED_NOTHING},
    {"cl_amd_printf", NEED_NOTHING},
    {"cl_amd_media_ops", NEED_NOTHING},
    {"cl_intel_printf", NEED_NOTHING},
    {"cl_nv_pragma_unroll", NEED_NOTHING},
    {"cl_nv_compiler_options", NEED_NOTHING},
    {"cles_khr_int64", NEED_NOTHING},
    {"all", NEED_NOTHING},
};

static bool model_has(const front *f, extension_need need) {
  const qn_model *model = &f->m->model;
  return need == NEED_NOTHING || (need == NEED_DOUBLE && model->has_double) || (need == NEED_HALF && model->has_half) ||
         (need == NEED_INT64_ATOMICS && model->has_int64_atomics);
}

static bool is_word_char(char c) {
  return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* Cuts the next word, or single other character, off the front of `text`. */
static qn_sv take_word(qn_sv *text) {
  size_t at = 0;
  while (at < text->size && (text->data[at] == ' ' || text->data[at] == '\t')) at++;
  size_t end = at;
  while (end < text->size && is_word_char(text->data[end])) end++;
  if (end == at && end < text->size) end++;
  qn_sv word = qn_sv_make(text->data + at, end - at);
  *text = qn_sv_make(text->data + end, text->size - end);
  return word;
}

static void pragma_extension(front *f, const pp_token *pragma, qn_sv rest) {
  qn_sv name = take_word(&rest);
  qn_sv colon = take_word(&rest);
  qn_sv behavior = take_word(&rest);
  bool enables = qn_sv_is(behavior, "enable") || qn_sv_is(behavior, "require");
  if (!qn_sv_is(colon, ":") || !(enables || qn_sv_is(behavior, "disable") || qn_sv_is(behavior, "warn"))) {
    front_warning(f, pragma->loc, pragma->length,
                  "malformed extension pragma: write '#pragma OPENCL EXTENSION name : enable' (ignored)");
    return;
  }
  for (size_t i = 0; i < sizeof(extensions) / sizeof(extensions[0]); i++) {
    if (!qn_sv_is(name, extensions[i].name)) continue;
    if (enables && !model_has(f, extensions[i].need)) {
      front_warning(f, pragma->loc, pragma->length, "OpenCL extension '%.*s' is not supported by the device (ignored)",
                    QN_SV_ARG(name));
    }
    return;
  }
  front_warning(f, pragma->loc, pragma->length, "unknown OpenCL extension '%.*s' (ignored)", QN_SV_ARG(name));
}

static void pragma_opencl(front *f, const pp_token *pragma, qn_sv rest) {
  qn_sv what = take_word(&rest);
  if (qn_sv_is(what, "EXTENSION")) {
    pragma_extension(f, pragma, rest);
  } else if (qn_sv_is(what, "FP_CONTRACT")) {
    qn_sv state = take_word(&rest);
    bool on = qn_sv_is(state, "ON") || qn_sv_is(state, "DEFAULT");
    if (on || qn_sv_is(state, "OFF")) {
      f->fp_contract = on;
    } else {
      front_warning(f, pragma->loc, pragma->length, "expected ON, OFF or DEFAULT after FP_CONTRACT (ignored)");
    }
  } else {
    front_warning(f, pragma->loc, pragma->length, "unknown OpenCL pragma '%.*s' (ignored)", QN_SV_ARG(what));
  }
}

static void pragma(front *f, const pp_token *token) {
  static const char *const silent[] = {"unroll", "nounroll", "quern", "once", "clang", "GCC", "ivdep", "region"};
  qn_sv rest = token->text;
  qn_sv first = take_word(&rest);
  if (qn_sv_is(first, "OPENCL")) {
    pragma_opencl(f, token, rest);
    return;
  }
  if (qn_sv_is(first, "STDC")) {
    if (qn_sv_is(take_word(&rest), "FP_CONTRACT")) f->fp_contract = !qn_sv_is(take_word(&rest), "OFF");
    return;
  }
  for (size_t i = 0; i < sizeof(silent) / sizeof(silent[0]); i++) {
    if (qn_sv_is(first, silent[i])) return;
  }
  front_warning(f, token->loc, token->length, "unknown pragma '%.*s' (ignored)", QN_SV_ARG(first));
}

qn_loc front_last_end(const front *f) { return qn_sources_behind(f->diags->sources, f->last_loc, f->last_length); }

/* ---- The stream ---------------------------------------------------------------------------------- */

static front_token read_token(front *f) {
  front_token token = {0};
  if (f->is_fatal || f->failed || f->diags->stopped) {
    token.pp.kind = PP_EOF;
    token.pp.loc = front_last_end(f);
    return token;
  }
  do {
    pp_take(f->p, &token.pp);
    if (token.pp.kind == PP_PRAGMA) pragma(f, &token.pp);
  } while (token.pp.kind == PP_PRAGMA);
  if (token.pp.kind == PP_IDENT) token.keyword = (uint16_t)token.pp.name->keyword;
  return token;
}

bool front_token_open(front *f) {
  if (!enter_keywords(f)) return false;
  f->fp_contract = true;
  f->tok = read_token(f);
  return true;
}

static bool is_space_word(const front *f) {
  uint16_t keyword = f->tok.keyword;
  return (keyword == KW_GLOBAL || keyword == KW_LOCAL || keyword == KW_CONSTANT || keyword == KW_PRIVATE) &&
         f->tok.pp.text.data[0] != '_';
}

void front_next(front *f) {
  f->last_is_brace = front_at(f, PP_P_RBRACE);
  f->last_space_word = is_space_word(f) ? f->tok.pp.name : NULL;
  f->last_loc = f->tok.pp.loc;
  f->last_length = f->tok.pp.length;
  if (front_at_name(f)) front_pass_name(f, f->tok.pp.name);
  if (f->ahead_count > 0) {
    f->tok = f->ahead[0];
    memmove(f->ahead, f->ahead + 1, --f->ahead_count * sizeof *f->ahead);
  } else {
    f->tok = read_token(f);
  }
}

const front_token *front_peek_at(front *f, uint32_t distance) {
  while (f->ahead_count <= distance) f->ahead[f->ahead_count++] = read_token(f);
  return &f->ahead[distance];
}

const front_token *front_peek(front *f) { return front_peek_at(f, 0); }

bool front_accept(front *f, pp_punct punct) {
  if (!front_at(f, punct)) return false;
  front_next(f);
  return true;
}

bool front_accept_keyword(front *f, front_keyword keyword) {
  if (!front_at_keyword(f, keyword)) return false;
  front_next(f);
  return true;
}

static const char *punct_text(pp_punct punct) {
  static const char *const texts[] = {"",
#define QN_X(id, text) text,
                                      PP_PUNCTS(QN_X)
#undef QN_X
  };
  return texts[punct];
}

/* A character that no token starts with is the fault, whatever was expected in its place. */
static bool tell_stray(front *f) {
  if (f->tok.pp.kind != PP_OTHER) return false;
  bool is_ascii = (unsigned char)f->tok.pp.text.data[0] < 0x80;
  front_error(f, f->tok.pp.loc, f->tok.pp.length, "'%.*s' can't stand here%s", QN_SV_ARG(f->tok.pp.text),
              is_ascii ? "" : ": names are of ASCII letters");
  front_panic(f);
  return true;
}

static bool is_silent(front *f) { return front_is_old_news(f) || tell_stray(f); }

bool front_expect(front *f, pp_punct punct, const char *after) {
  if (front_accept(f, punct)) {
    f->recovery.is_past_end |= f->is_panicking && punct == PP_P_SEMI;
    return true;
  }
  if (is_silent(f)) return false;
  /* A ';' is missed at the end of the line where it should stand; what follows is most likely right. */
  bool is_missed = punct == PP_P_SEMI && (f->tok.pp.line_start || front_at(f, PP_P_RBRACE));
  if (is_missed || punct == PP_P_SEMI) {
    front_error(f, front_last_end(f), 1, "expected ';'%s", after);
  } else {
    front_error(f, f->tok.pp.loc, f->tok.pp.length, "expected '%s'%s", punct_text(punct), after);
    front_told_syntax(f);
  }
  if (!is_missed) {
    front_panic(f);
  } else if (front_at(f, PP_P_RBRACE) || (f->func == NULL && !front_starts_type(f))) {
    front_damage(f); /* a brace may be what is wrong */
  }
  return is_missed;
}

void front_syntax_error(front *f, const char *format, ...) {
  if (is_silent(f)) return;
  front_panic(f);
  va_list args;
  va_start(args, format);
  if (!f->is_fatal) qn_diagv(f->diags, QN_ERROR, f->tok.pp.loc, f->tok.pp.length, format, args);
  va_end(args);
  front_told_syntax(f);
}

void front_end(front *f) {
  f->is_fatal = true;
  front_panic(f);
  f->ahead_count = 0;
  f->tok = read_token(f);
}

void front_fatal(front *f, qn_loc loc, const char *format, ...) {
  if (f->is_fatal) return;
  va_list args;
  va_start(args, format);
  qn_diagv(f->diags, QN_ERROR, loc, 1, format, args);
  va_end(args);
  front_end(f);
}

bool front_enter(front *f) {
  if (++f->depth <= NESTING_LIMIT) return true;
  front_fatal(f, f->tok.pp.loc, "nested more than %d deep: brackets, statements or declarators", NESTING_LIMIT);
  return false;
}
