/* header_declare.h - the declarations of a parsed header, put into an interface. */
#ifndef QUERN_TOOLS_ABI_HEADER_DECLARE_H
#define QUERN_TOOLS_ABI_HEADER_DECLARE_H

#include <clang-c/Index.h>

#include "interface.h"

/* How the probe names the type of one of the functions: their places are those in the interface's list. */
typedef struct header_spellings {
  const char **items; /* for __typeof__(...); NULL: it can't be named */
  size_t count, capacity;
} header_spellings;

void header_declare(CXTranslationUnit unit, abi_interface *out, header_spellings *out_spellings);

#endif
