/* reloc.h - relocations of both machines. Pure arithmetic on bytes: `place` is where the bytes are, `address` is where
 * they will run, so that either machine's relocations can be tested on the other. */
#ifndef QUERN_ADAPTERS_CPU_RELOC_H
#define QUERN_ADAPTERS_CPU_RELOC_H

#include "elf.h"

/* What a relocation needs. */
typedef enum reloc_kind {
  RELOC_UNKNOWN, /* not supported */
  RELOC_NONE,    /* does nothing */
  RELOC_SYMBOL,  /* the symbol's address */
  RELOC_GOT,     /* the address of a table entry that holds the symbol's address */
  RELOC_TLS      /* thread-local: refused */
} reloc_kind;

typedef struct reloc_type {
  reloc_kind kind;
  uint32_t width; /* bytes that it changes */
  const char *name;
} reloc_type;

/* One relocation, all resolved. `target` is the symbol's address, or its table entry's, without the addend. */
typedef struct reloc_place {
  uint8_t *place;
  uint64_t address;
  uint64_t target;
  int64_t addend;
} reloc_place;

reloc_type reloc_describe(uint32_t machine, uint32_t type);
/* Errors: out of range, misaligned. The caller has checked that `width` bytes are there. */
bool reloc_apply(uint32_t machine, uint32_t type, const reloc_place *r, elf_error *error);

/* One machine's part. */
reloc_type reloc_describe_x86(uint32_t type);
bool reloc_apply_x86(uint32_t type, const reloc_place *r, elf_error *error);
reloc_type reloc_describe_arm(uint32_t type);
bool reloc_apply_arm(uint32_t type, const reloc_place *r, elf_error *error);

#endif
