/* token.h - the stream of tokens with lookahead, by one token but for errors; keywords; pragmas are handled on the way. */
#ifndef QUERN_COMPILER_FRONT_TOKEN_H
#define QUERN_COMPILER_FRONT_TOKEN_H

#include "compiler/front/state.h"

/* X(ID, text); other spellings stand in token.c. */
/* The formatter settles on no layout here. */
/* clang-format off */
#define FRONT_KEYWORDS(X) \
  X(GLOBAL, "global") \
  X(LOCAL, "local") \
  X(CONSTANT, "constant") \
  X(PRIVATE, "private") \
  X(GENERIC, "generic") \
  X(KERNEL, "kernel") \
  X(READ_ONLY, "read_only") \
  X(WRITE_ONLY, "write_only") \
  X(READ_WRITE, "read_write") \
  X(CONST, "const") \
  X(VOLATILE, "volatile") \
  X(RESTRICT, "restrict") \
  X(INLINE, "inline") \
  X(SIGNED, "signed") \
  X(UNSIGNED, "unsigned") \
  X(SHORT, "short") \
  X(LONG, "long") X(INT, "int") X(CHAR, "char") X(FLOAT, "float") X(DOUBLE, "double") X(VOID, "void") X(BOOL, "bool") \
      X(STRUCT, "struct") X(UNION, "union") X(ENUM, "enum") X(TYPEDEF, "typedef") X(STATIC, "static") \
          X(EXTERN, "extern") X(REGISTER, "register") X(AUTO, "auto") X(IF, "if") X(ELSE, "else") X(FOR, "for") \
              X(WHILE, "while") X(DO, "do") X(SWITCH, "switch") X(CASE, "case") X(DEFAULT, "default") \
                  X(BREAK, "break") X(CONTINUE, "continue") X(RETURN, "return") X(GOTO, "goto") X(SIZEOF, "sizeof") \
                      X(ALIGNOF, "__alignof__") X(VEC_STEP, "vec_step") X(ATTRIBUTE, "__attribute__") \
                          X(EXTENSION, "__extension__") X(ASM, "asm") X(TYPEOF, "typeof") \
                              X(STATIC_ASSERT, "_Static_assert") X(COMPLEX, "_Complex") X(IMAGINARY, "_Imaginary")
/* clang-format on */
typedef enum front_keyword {
  KW_NONE,
#define QN_X(id, text) KW_##id,
  FRONT_KEYWORDS(QN_X)
#undef QN_X
      KW_COUNT
} front_keyword;

/* Opens the stream and reads the first token. False: out of memory. */
bool front_token_open(front *f);
/* All keywords, for "did you mean". */
void front_keyword_names(void (*fn)(void *user, qn_sv name), void *user);
/* Moves on: f->tok becomes the token behind it. */
void front_next(front *f);
/* The place behind the token before f->tok. */
qn_loc front_last_end(const front *f);
/* The token behind f->tok, not yet taken. */
const front_token *front_peek(front *f);
/* The token so many behind the next one: less than FRONT_AHEAD. */
const front_token *front_peek_at(front *f, uint32_t distance);

static inline bool front_at(const front *f, pp_punct punct) {
  return f->tok.pp.kind == PP_PUNCT && f->tok.pp.punct == punct;
}
static inline bool front_at_keyword(const front *f, front_keyword keyword) { return f->tok.keyword == keyword; }
/* Also when memory is out: nothing more is made of what follows. */
static inline bool front_at_end(const front *f) { return f->tok.pp.kind == PP_EOF || f->failed; }
/* An identifier that is no keyword. */
static inline bool front_at_name(const front *f) { return f->tok.pp.kind == PP_IDENT && f->tok.keyword == KW_NONE; }
/* Takes the token when it is there. */
bool front_accept(front *f, pp_punct punct);
bool front_accept_keyword(front *f, front_keyword keyword);
/* Takes the punctuator or reports "expected ')' ...", once until the parser has recovered. `after` goes behind the
 * message, e.g. " after expression"; may be "". */
bool front_expect(front *f, pp_punct punct, const char *after);
/* A syntax error at the present token: told once until front_recover; parsers return as fast as they can. */
void front_syntax_error(front *f, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The limit on nesting or size was reached: nothing more is read. */
void front_fatal(front *f, qn_loc loc, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Something was told after which nothing is read. */
void front_end(front *f);
/* Nesting of brackets, statements, declarators. False: too deep, reported, and the caller returns. Leave what was
 * entered, also after false. */
bool front_enter(front *f);
static inline void front_leave(front *f) { f->depth--; }
#endif
