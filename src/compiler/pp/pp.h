/* pp.h - the preprocessor: C99 complete, phases 1 to 6 but for the joining of strings. See docs/preprocessor.md.
 *
 * Gives tokens one by one. Pragmas are kept as tokens (PP_PRAGMA with the line's text). Comments and white space
 * vanish; tokens remember whether white space stood before them and whether they start a line, so that -E output and
 * stringising are right. Bounded against hostile input: include depth, nested conditionals, nested macro arguments,
 * tokens that wait in expansions, and work in all; each limit is an error that says so (limits.h).
 *
 * Owner: the caller's arena holds every token's text and name. One thread.
 */
#ifndef QUERN_COMPILER_PP_PP_H
#define QUERN_COMPILER_PP_PP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/string_view.h"
#include "compiler/diag.h"
#include "compiler/source.h"

typedef enum pp_kind {
  PP_EOF,
  PP_IDENT,  /* keywords too */
  PP_NUMBER, /* a pp-number, not yet checked */
  PP_CHAR,   /* with its quotes */
  PP_STRING, /* with its quotes */
  PP_PUNCT,  /* punct says which */
  PP_PRAGMA, /* text: the line after #pragma, or _Pragma's string without quotes and escapes */
  PP_OTHER   /* a stray character */
} pp_kind;

/* Punctuators: X(ID, text). Digraphs are given as what they stand for. */
/* clang-format off */
#define PP_PUNCTS(X) \
  X(LBRACKET, "[") X(RBRACKET, "]") X(LPAREN, "(") X(RPAREN, ")") \
  X(LBRACE, "{") X(RBRACE, "}") X(DOT, ".") X(ARROW, "->") \
  X(INC, "++") X(DEC, "--") X(AMP, "&") X(STAR, "*") \
  X(PLUS, "+") X(MINUS, "-") X(TILDE, "~") X(NOT, "!") \
  X(SLASH, "/") X(PERCENT, "%") X(SHL, "<<") X(SHR, ">>") \
  X(LT, "<") X(GT, ">") X(LE, "<=") X(GE, ">=") \
  X(EQ, "==") X(NE, "!=") X(CARET, "^") X(PIPE, "|") \
  X(ANDAND, "&&") X(OROR, "||") X(QUESTION, "?") X(COLON, ":") \
  X(SEMI, ";") X(ELLIPSIS, "...") X(ASSIGN, "=") X(MUL_ASSIGN, "*=") \
  X(DIV_ASSIGN, "/=") X(MOD_ASSIGN, "%=") X(ADD_ASSIGN, "+=") X(SUB_ASSIGN, "-=") \
  X(SHL_ASSIGN, "<<=") X(SHR_ASSIGN, ">>=") X(AND_ASSIGN, "&=") X(XOR_ASSIGN, "^=") \
  X(OR_ASSIGN, "|=") X(COMMA, ",") X(HASH, "#") X(HASHHASH, "##")
/* clang-format on */
typedef enum pp_punct {
  PP_P_NONE,
#define QN_X(id, text) PP_P_##id,
  PP_PUNCTS(QN_X)
#undef QN_X
} pp_punct;

/* An identifier, interned: one pp has one of each spelling, so that names are compared by pointer and whatever the
 * parser knows about one is found without a look-up. */
typedef struct pp_name {
  qn_sv text;
  uint32_t hash;
  uint32_t keyword;   /* the parser's own, 0 at first */
  void *declarations; /* the parser's own, NULL at first */
  /* What the preprocessor knows: */
  struct pp_macro *macro;       /* NULL: not defined */
  uint32_t directive;           /* pp_directive, when the text is one */
  uint32_t parameter;           /* 1 + index, while a macro that has it is being defined */
  struct pp_param_words *param; /* a generator parameter, as it was declared first; NULL: none */
  bool is_doubtful; /* an error may have taken its declaration or definition away: that it is unknown is no news */
} pp_name;

typedef struct pp_token {
  uint8_t kind;  /* pp_kind */
  uint8_t punct; /* pp_punct */
  bool space_before;
  bool line_start;
  bool after_nothing; /* a macro that expands to nothing stood before */
  bool no_expand;     /* within pp: a macro's name that stays as it is */
  bool is_broken;     /* a literal that isn't closed, which was told: what it says isn't known */
  uint32_t length;    /* bytes to underline at loc */
  qn_loc loc;         /* of a macro's token it says both where the macro is used and where its text is */
  qn_sv text;
  pp_name *name; /* PP_IDENT */
} pp_token;

/* Files by name. `read` gives contents with a NUL behind, allocated in `arena`, or QN_ERROR_NOT_FOUND without an error
 * text. NULL: the disk. Every file read and every place looked at in vain is told to `seen` (for C1's manifest), which
 * may be NULL. */
typedef struct pp_files {
  void *user;
  qn_status (*read)(void *user, qn_arena *arena, const char *path, qn_sv *out_text);
  void (*seen)(void *user, const char *path, bool found, qn_sv text);
} pp_files;

typedef struct pp_options {
  const char *const *include_dirs; /* -I, in order */
  uint32_t include_dir_count;
  const char *const *defines; /* "NAME", "NAME=VALUE", "F(x)=x" in order; "-NAME" undefines (-U) */
  uint32_t define_count;
  const char *const *parameters; /* "NAME=VALUE" for #pragma quern param */
  uint32_t parameter_count;
  qn_sv predefined; /* lines of #define and #undef, read before `defines`; redefining these is not warned about */
  const pp_files *files;
  uint64_t work_limit; /* tokens read and made in all; 0: 10 million */
} pp_options;

typedef struct pp pp;
/* The main file is `file`, already added. NULL: out of memory. */
pp *pp_open(qn_arena *arena, qn_sources *sources, qn_diags *diags, qn_source_file *file, const pp_options *options);
/* The next token; PP_EOF for ever at the end, when diags->stopped, or out of memory (diags->out_of_memory). */
void pp_take(pp *p, pp_token *out);
static inline pp_token pp_next(pp *p) {
  pp_token token;
  pp_take(p, &token);
  return token;
}
/* The name of a spelling, made when it isn't there yet. NULL: out of memory. */
pp_name *pp_intern(pp *p, qn_sv text);
/* The names of all macros that are defined now, in any order. */
void pp_macro_names(const pp *p, void (*fn)(void *user, qn_sv name), void *user);
/* The last macro that expanded to nothing and where its name is defined, 0 when it is built in; NULL: none. */
pp_name *pp_last_nothing(const pp *p, qn_loc *out_loc);
/* Frees what the arena doesn't hold. */
void pp_close(pp *p);
/* -E: the text with line markers. */
void pp_print(pp *p, qn_bytes *out);

#endif
