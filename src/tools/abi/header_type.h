/* header_type.h - a type of libclang's as one of ours, by its spelling: typedefs are followed, not removed. */
#ifndef QUERN_TOOLS_ABI_HEADER_TYPE_H
#define QUERN_TOOLS_ABI_HEADER_TYPE_H

#include <clang-c/Index.h>

#include "interface.h"

/* A text of libclang's, in the pool. */
const char *header_text(CXString string);

/* Whether libclang calls something after its place, because it has no name. */
bool header_is_nameless(const char *spelling);

/* `passed`: as an argument or result, where an array is a pointer (of size 0: not known). `record` stays NULL. */
abi_type header_type(CXType type, bool passed);
/* The declaration of a struct, union or enum that the type is, or an array of; a null cursor when it is none. */
CXCursor header_type_declaration(CXType type);
/* The function type that a type written out in place points to, through pointers and arrays; a typedef is not looked into. */
bool header_function_type(CXType type, CXType *out);
/* The name of a struct, union or enum without its keyword; NULL when it has none. */
const char *header_tag_name(CXCursor declaration);

#endif
