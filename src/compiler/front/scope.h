/* scope.h - what names mean. Two name spaces, ordinary and tags; inner scopes hide outer ones. The built-in types and
 * functions lie outside of program scope, so that a program may declare their names again. */
#ifndef QUERN_COMPILER_FRONT_SCOPE_H
#define QUERN_COMPILER_FRONT_SCOPE_H

#include "compiler/front/ast.h"

typedef enum front_symbol_kind { SYMBOL_TYPEDEF, SYMBOL_OBJECT, SYMBOL_FUNCTION, SYMBOL_ENUMERATOR } front_symbol_kind;

typedef struct front_symbol front_symbol;
struct front_symbol {
  front_symbol_kind kind;
  qn_sv name;
  qn_loc loc;
  uint32_t length;
  const front_type *type; /* typedef: what it names; enumerator: int */
  uint64_t align;         /* typedef: attribute aligned, 0 */
  union {
    front_object *object;
    front_func *func;
    uint64_t value; /* enumerator */
  } u;
  struct front_scope *scope;
  front_symbol *hidden; /* the outer meaning of the name */
  front_symbol *next;   /* in its scope */
};

typedef struct front_tag front_tag;
struct front_tag {
  qn_sv name;
  qn_loc loc;
  bool is_enum;
  front_record *record;   /* not enum */
  const front_type *type; /* of the record, or the enumeration's integer type; NULL: enum not yet defined */
  struct front_scope *scope;
  front_tag *hidden;
  front_tag *next;
};

typedef struct front_scope {
  struct front_scope *outer;
  front_symbol *symbols;
  front_tag *tags;
} front_scope;

/* False: out of memory. */
bool front_scope_open(front *f);
void front_scope_close(front *f);
void front_names_free(front *f);

/* The symbol, or NULL. Built-in types are found as typedefs. */
front_symbol *front_find(front *f, qn_sv name);
front_tag *front_find_tag(front *f, qn_sv name);
static inline bool front_is_here(const front *f, const front_scope *scope) { return f->scope == scope; }
/* Enters a name in the present scope, hiding outer ones; the caller has looked for one in this scope. NULL: out of
 * memory. */
front_symbol *front_declare(front *f, front_symbol_kind kind, qn_sv name, qn_loc loc, uint32_t length,
                            const front_type *type);
front_tag *front_declare_tag(front *f, qn_sv name, qn_loc loc);
/* The nearest visible name, or an empty view when none is near. `types` asks for names of types, else for functions and
 * objects. */
qn_sv front_nearest_name(front *f, qn_sv name, bool types);
/* Whether `candidate` is nearer to `name` than *best_distance; then sets it. For "did you mean". */
bool front_is_nearer(qn_sv name, qn_sv candidate, size_t *best_distance);
/* The distance at which names stop to be alike. */
size_t front_near_limit(qn_sv name);

#endif
