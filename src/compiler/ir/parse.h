/* parse.h - the parts of the parser. Each function takes what it names from the token stream. */
#ifndef QUERN_COMPILER_IR_PARSE_H
#define QUERN_COMPILER_IR_PARSE_H

#include "base/status.h"
#include "compiler/ir/intern.h"
#include "compiler/ir/lex.h"
#include "compiler/ir/text.h"

typedef struct ir_parser {
  ir_module *m;
  const char *name;
  qn_sv text;
  ir_lexer lexer;
  ir_token token;
  qn_map ops;                                /* text -> entry of ir_op_table */
  qn_map structs, constants;                 /* names in this text -> ir_type, ir_var */
  qn_map values, locals;                     /* of the function: ir_inst */
  qn_map struct_mentions, function_mentions; /* used, not yet defined -> where */
  ir_function *f;
  ir_builder b;
  uint32_t depth; /* of types, constants and blocks that are open */
} ir_parser;

/* ---- Tokens (parse.c) ---- */
QN_MUST_USE qn_status ir_parse_error_at(ir_parser *p, const char *where, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
QN_MUST_USE qn_status ir_parse_expected(ir_parser *p, const char *what);
void ir_parse_next(ir_parser *p);
bool ir_parse_at_punct(const ir_parser *p, char c);
bool ir_parse_take_punct(ir_parser *p, char c);
bool ir_parse_take_word(ir_parser *p, const char *word);
/* Checks the name of a parameter or variable: numbers are for values, which the printer numbers. */
QN_MUST_USE qn_status ir_parse_check_name(ir_parser *p, const ir_token *name);
QN_MUST_USE qn_status ir_parse_punct(ir_parser *p, char c);
QN_MUST_USE qn_status ir_parse_u64(ir_parser *p, uint64_t *out);
QN_MUST_USE qn_status ir_parse_align(ir_parser *p, uint64_t *out);
/* A word of a table; `what` is for the message. */
QN_MUST_USE qn_status ir_parse_choice(ir_parser *p, const char *const *names, uint32_t count, const char *what,
                                      uint32_t *out);
/* -1: the token is none of them. */
int32_t ir_parse_find(const ir_parser *p, const char *const *names, uint32_t count);
QN_MUST_USE qn_status ir_parse_no_memory(void);
/* One level deeper; the caller takes one from p->depth when the level is done. */
QN_MUST_USE qn_status ir_parse_deeper(ir_parser *p);

/* ---- Types and constants (parse_type.c) ---- */
QN_MUST_USE qn_status ir_parse_type(ir_parser *p, const ir_type **out);
/* A type with a size. */
QN_MUST_USE qn_status ir_parse_object_type(ir_parser *p, const ir_type **out);
/* What follows a type. */
QN_MUST_USE qn_status ir_parse_literal(ir_parser *p, const ir_type *type, ir_inst **out);
/* An integer as the bits of `type`. */
QN_MUST_USE qn_status ir_parse_int(ir_parser *p, const ir_type *type, uint64_t *out);

/* ---- Bodies (parse_body.c) ---- */
/* Variables and instructions up to and with the closing brace. */
QN_MUST_USE qn_status ir_parse_body(ir_parser *p);

#endif
