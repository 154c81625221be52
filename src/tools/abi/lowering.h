/* lowering.h - the probe that clang compiles for a target, and what its LLVM IR tells: how each function is lowered. */
#ifndef QUERN_TOOLS_ABI_LOWERING_H
#define QUERN_TOOLS_ABI_LOWERING_H

#include "header_declare.h"
#include "interface.h"

/* A C source: a declaration of each function's type, and an assertion of each layout. `include` is its first line. */
const char *lowering_probe(const char *include, const abi_interface *interface, const header_spellings *spellings);

/* Reads the IR of the probe into the interface's functions. */
void lowering_read(const char *ir, abi_interface *interface);

#endif
