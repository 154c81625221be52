/* header.h - reads a header's declarations as one target's compiler sees them.
 *
 * libclang parses it and gives names, types and layouts (header_type.h, header_declare.h); clang compiles a probe, which
 * confirms the layouts and whose IR tells how each function is lowered (lowering.h).
 */
#ifndef QUERN_TOOLS_ABI_HEADER_H
#define QUERN_TOOLS_ABI_HEADER_H

#include "clang.h"
#include "interface.h"

typedef struct header_options {
  const char *clang;     /* the program */
  const char *resources; /* its own headers, which libclang is to use as well */
  clang_words arguments; /* the user's: -I, -D, -isystem, -std, ... */
  const char *stand_ins; /* directory with stand-ins for the C library's headers */
} header_options;

/* Declarations of system headers (-isystem, the compiler's, the stand-ins) are read where others need them, and are no
 * part of the interface. False: *out_error says why, in lines. */
bool header_read(const char *path, const header_options *options, abi_interface *out, const char **out_error);

/* The compiler's options for a target: libclang and clang get the same. */
clang_words header_arguments(const header_options *options, const abi_target *target);
/* The line that includes the header. */
const char *header_include(const char *path);

#endif
