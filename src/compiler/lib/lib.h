/* lib.h - the library of functions that built-ins call: the IR text of library.cl, function by function, made at build
 * time by tools/libgen.c with the front end itself. docs/decisions/math-library.md says why text. */
#ifndef QUERN_COMPILER_LIB_LIB_H
#define QUERN_COMPILER_LIB_LIB_H

#include <stdbool.h>
#include <stdint.h>

#include "base/string_view.h"

typedef struct qn_library_entry {
  const char *name; /* "sin.f32"; of a constant too */
  /* Its text without a header, for models of 32 and 64 address bits. */
  uint32_t size[2];
  const char *text[2];
  const uint16_t *needs; /* entries that it names, then UINT16_MAX */
  bool is_constant;
} qn_library_entry;

/* Sorted by name in the order of bytes. */
extern const qn_library_entry qn_library_entries[];
extern const uint32_t qn_library_count;

/* The entry's index, or -1. */
int32_t qn_library_find(qn_sv name);
static inline qn_sv qn_library_text(const qn_library_entry *entry, uint32_t address_bits) {
  return qn_sv_make(entry->text[address_bits == 64], entry->size[address_bits == 64]);
}

#endif
