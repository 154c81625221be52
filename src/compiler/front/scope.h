/* scope.h - what names mean. Two name spaces, ordinary and tags; inner scopes hide outer ones. The built-in types and
 * functions lie outside of program scope, so that a program may declare their names again. */
#ifndef QUERN_COMPILER_FRONT_SCOPE_H
#define QUERN_COMPILER_FRONT_SCOPE_H

#include "compiler/front/ast.h"

typedef enum front_symbol_kind { SYMBOL_TYPEDEF, SYMBOL_OBJECT, SYMBOL_FUNCTION, SYMBOL_ENUMERATOR } front_symbol_kind;

typedef struct front_symbol front_symbol;
struct front_symbol {
  front_symbol_kind kind;
  pp_name *name;
  qn_loc loc;
  uint32_t length;
  const front_type *type; /* typedef: what it names; enumerator: int */
  uint64_t align;         /* typedef: attribute aligned, 0 */
  union {
    front_object *object;
    front_func *func;
    uint64_t value; /* enumerator */
  } u;
  struct front_scope *scope; /* NULL: a built-in type */
  front_symbol *hidden;      /* the outer meaning of the name */
  front_symbol *next;        /* in its scope */
};

typedef struct front_tag front_tag;
struct front_tag {
  pp_name *name;
  qn_loc loc;
  bool is_enum;
  front_record *record;   /* not enum */
  const front_type *type; /* of the record, or the enumeration's integer type */
  struct front_scope *scope;
  front_tag *hidden;
  front_tag *next;
};

typedef struct front_scope {
  struct front_scope *outer;
  front_symbol *symbols;
  front_tag *tags;
} front_scope;

/* Hung on a pp_name: what the name means now. */
typedef struct front_name front_name;
struct front_name {
  pp_name *name;
  front_symbol *symbol;
  front_tag *tag;
  const front_builtin *builtin;
  front_func *func; /* the function of this name, the first of its overloads; also out of its scope */
  bool is_told;     /* as undeclared, in this function: once is enough */
  front_name *next;
};

/* False: out of memory. */
bool front_scope_open(front *f);
void front_scope_close(front *f);

/* The symbol, or NULL. Built-in types are found as typedefs. */
front_symbol *front_find(front *f, pp_name *name);
front_tag *front_find_tag(front *f, pp_name *name);
const front_builtin *front_find_builtin(front *f, pp_name *name);
/* Enters a name in the present scope, hiding outer ones; the caller has looked for one in this scope. NULL: out of
 * memory. */
front_symbol *front_declare(front *f, front_symbol_kind kind, pp_name *name, qn_loc loc, uint32_t length,
                            const front_type *type);
front_tag *front_declare_tag(front *f, pp_name *name, qn_loc loc);

/* ---- Did you mean --------------------------------------------------------------------------------- */

typedef enum front_name_class { NAMES_OF_TYPES, NAMES_OF_VALUES, NAMES_OF_FUNCTIONS } front_name_class;
/* The nearest name that is visible, a macro, a keyword or built in, or an empty view when none is near; in the arena. */
qn_sv front_nearest_name(front *f, qn_sv name, front_name_class cls);
/* One candidate after the other: start with *distance = front_near_limit(name). True when `candidate` is nearer than
 * *distance, which then becomes its distance. */
size_t front_near_limit(qn_sv name);
bool front_is_nearer(qn_sv name, qn_sv candidate, size_t *distance);

#endif
