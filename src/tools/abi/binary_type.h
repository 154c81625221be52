/* binary_type.h - types of debug information as ours, and the structs, enums and callbacks that they reach. */
#ifndef QUERN_TOOLS_ABI_BINARY_TYPE_H
#define QUERN_TOOLS_ABI_BINARY_TYPE_H

#include <elfutils/libdw.h>

#include "interface.h"

/* One binary's reading. Debug information may be damaged: every chain is followed a limited number of steps, and what lies
 * beside each other only forward. */
typedef struct binary {
  abi_interface *out;
  uint64_t address_bytes;
  abi_place place; /* of the function whose parts are read, for what has none of its own */
  /* Structs and unions whose entry is there and not yet filled. */
  struct {
    struct binary_pending {
      Dwarf_Die die;
      size_t record; /* in out->records */
    } *items;
    size_t count, capacity;
  } pending;
} binary;

/* The type that `owner` has (DW_AT_type); none is void. `fallback`: the name of what it has in place and has none. */
abi_type binary_type(binary *b, Dwarf_Die *owner, const char *fallback, bool passed);
/* Adds a function, or a callback, with all that its parameters and its result reach. A callback's type has no place of its
 * own: it is declared at `where`. */
void binary_add_function(binary *b, Dwarf_Die *die, Dwarf_Die *where, const char *name, bool is_callback,
                         bool is_prototyped);
/* Fills the structs that were reached, and those that they reach. */
void binary_fill_records(binary *b);

/* Moves to the next one beside it; false: there is none. */
bool binary_next(Dwarf_Die *die);
abi_place binary_place(Dwarf_Die *die);

#endif
