/* literal.h - numbers, characters and strings: the token in f->tok becomes a tree and is passed. */
#ifndef QUERN_COMPILER_FRONT_LITERAL_H
#define QUERN_COMPILER_FRONT_LITERAL_H

#include "compiler/front/ast.h"

front_expr *front_number(front *f);
front_expr *front_character(front *f);
/* Joins neighbours. */
front_expr *front_string(front *f);

#endif
