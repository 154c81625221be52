/* binary.h - reads an ELF file's debug information: the functions that it exports, and the types that they reach. */
#ifndef QUERN_TOOLS_ABI_BINARY_H
#define QUERN_TOOLS_ABI_BINARY_H

#include "interface.h"

/* A shared library or an object; debug information in the file itself or in a separate file where the system keeps them.
 * `out->target` is set from the file. *out_unread: exported functions that the debug information doesn't tell of as
 * functions of C. False: *out_error says why. */
bool binary_read(const char *path, abi_interface *out, size_t *out_unread, const char **out_error);

#endif
