/* type_name.h - what the names of types mean, for headers and for debug information. */
#ifndef QUERN_TOOLS_ABI_TYPE_NAME_H
#define QUERN_TOOLS_ABI_TYPE_NAME_H

#include "interface.h"

/* Whether a typedef's name fixes what it means, whatever it is made of: uint64_t, size_t, wchar_t, ... */
bool abi_typedef_kind(const char *name, abi_type_kind *out_kind);
/* What the base type of a compiler is, by its name in C or in debug information: "unsigned long", "long unsigned int". */
bool abi_base_kind(const char *name, abi_type_kind *out_kind);

#endif
