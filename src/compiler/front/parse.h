/* parse.h - the parsers of the grammar's parts; each starts at f->tok and ends behind what it has read. After a syntax
 * error (f->is_panicking) they return what they have; statements and declarations recover. */
#ifndef QUERN_COMPILER_FRONT_PARSE_H
#define QUERN_COMPILER_FRONT_PARSE_H

#include "compiler/front/ast.h"
#include "compiler/front/scope.h"

/* ---- expr.c: never NULL ---- */
front_expr *front_expression(front *f);
front_expr *front_assignment_expression(front *f);
front_expr *front_conditional_expression(front *f);
/* An integer constant expression, as in case labels and array lengths; `what` names it. False: reported. */
bool front_constant_expression(front *f, const char *what, front_expr **out_expr, uint64_t *out_value);

/* A growing list of trees. */
typedef struct front_exprs {
  front_expr **items;
  uint32_t count, capacity;
} front_exprs;
bool front_exprs_add(front *f, front_exprs *list, front_expr *e);

/* ---- decl.c ---- */
typedef enum front_storage { STORAGE_NONE, STORAGE_TYPEDEF, STORAGE_STATIC, STORAGE_EXTERN } front_storage;
typedef struct front_specifiers {
  const front_type *type;
  qn_sv spelled; /* the typedef's or built-in type's name, when the type is one; else empty */
  qn_loc loc;
  uint32_t length;
  front_storage storage;
  bool is_kernel, is_inline;
  qn_loc record_end; /* behind the '}' of a struct, union or enum that is defined here; 0: none */
  bool declares;     /* a struct, union or enum, with a tag or members */
  bool is_unknown;   /* a name that is no type was reported and taken as the type error */
  front_attributes attributes;
} front_specifiers;
typedef struct front_declarator {
  pp_name *name; /* NULL: none */
  qn_loc loc;
  uint32_t length;
  const front_type *type;
  bool is_function; /* the declarator itself is a function's: its parameters are here */
  front_object **params;
  uint32_t param_count;
  front_attributes attributes;
} front_declarator;

/* Whether the present token starts declaration specifiers or a type name. */
bool front_starts_type(front *f);
bool front_token_starts_type(front *f, const front_token *token);
/* Whether a declaration starts here, or a type in parentheses, whose type's name is nothing yet. */
bool front_at_unknown_type(front *f);
bool front_at_unknown_type_in_parentheses(front *f);
bool front_specifiers_read(front *f, front_specifiers *out);
/* `name_rule`: whether there may, must or must not be a name. */
typedef enum front_name_rule { NAME_NEEDED, NAME_OPTIONAL, NAME_FORBIDDEN } front_name_rule;
bool front_declarator_read(front *f, const front_specifiers *specifiers, front_name_rule rule, front_declarator *out);
/* type-name: specifiers and an abstract declarator. The type error: reported. */
const front_type *front_type_name(front *f);
/* A declaration within a function; adds its statements to the list. */
void front_local_declaration(front *f, front_stmt ***tail);
/* One declaration or definition of program scope. */
void front_external_declaration(front *f);

/* ---- record.c: at the keyword ---- */
const front_type *front_record_specifier(front *f);
const front_type *front_enum_specifier(front *f);

/* ---- attribute.c: any number of __attribute__((...)) ---- */
void front_attributes_read(front *f, front_attributes *out);
/* `from` stands behind `into`. */
void front_attributes_merge(front *f, front_attributes *into, const front_attributes *from);

/* ---- init.c ---- */
/* The initialiser of an object of *type, whose unknown length it sets. NULL: reported. */
front_init *front_initializer(front *f, const front_type **type);
/* The initialiser as a constant of the IR. NULL: some part isn't constant; reported. */
ir_inst *front_init_constant(front *f, const front_init *init, const front_type *type);
/* (type){...}, at the brace. */
front_expr *front_compound_literal(front *f, qn_loc loc, const front_type *type);

/* ---- stmt.c ---- */
front_stmt *front_compound_statement(front *f);
front_stmt *front_stmt_new(front *f, front_stmt_kind kind, qn_loc loc);

/* ---- function.c ---- */
/* A function's declarator was read: a prototype, or at '{' a definition. */
void front_function(front *f, const front_specifiers *specifiers, const front_declarator *declarator);
/* At the end: calls of what isn't defined, recursion. */
void front_check_calls(front *f);

#endif
