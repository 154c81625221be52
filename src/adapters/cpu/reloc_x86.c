/* x86-64 relocations: System V ABI, AMD64 supplement, section 4.4.1. */
#include <string.h>

#include "reloc.h"

/* X(name, number, kind, width, pc-relative, signed range: 0 none, 1 signed 32, 2 unsigned 32) */
#define RELOCATIONS(X)                                \
  X(R_X86_64_NONE, 0, RELOC_NONE, 0, 0, 0)            \
  X(R_X86_64_64, 1, RELOC_SYMBOL, 8, 0, 0)            \
  X(R_X86_64_PC32, 2, RELOC_SYMBOL, 4, 1, 1)          \
  X(R_X86_64_PLT32, 4, RELOC_SYMBOL, 4, 1, 1)         \
  X(R_X86_64_GOTPCREL, 9, RELOC_GOT, 4, 1, 1)         \
  X(R_X86_64_32, 10, RELOC_SYMBOL, 4, 0, 2)           \
  X(R_X86_64_32S, 11, RELOC_SYMBOL, 4, 0, 1)          \
  X(R_X86_64_DTPMOD64, 16, RELOC_TLS, 8, 0, 0)        \
  X(R_X86_64_DTPOFF64, 17, RELOC_TLS, 8, 0, 0)        \
  X(R_X86_64_TPOFF64, 18, RELOC_TLS, 8, 0, 0)         \
  X(R_X86_64_TLSGD, 19, RELOC_TLS, 4, 0, 0)           \
  X(R_X86_64_TLSLD, 20, RELOC_TLS, 4, 0, 0)           \
  X(R_X86_64_DTPOFF32, 21, RELOC_TLS, 4, 0, 0)        \
  X(R_X86_64_GOTTPOFF, 22, RELOC_TLS, 4, 0, 0)        \
  X(R_X86_64_TPOFF32, 23, RELOC_TLS, 4, 0, 0)         \
  X(R_X86_64_PC64, 24, RELOC_SYMBOL, 8, 1, 0)         \
  X(R_X86_64_GOTPC32_TLSDESC, 34, RELOC_TLS, 4, 0, 0) \
  X(R_X86_64_TLSDESC_CALL, 35, RELOC_TLS, 0, 0, 0)    \
  X(R_X86_64_GOTPCRELX, 41, RELOC_GOT, 4, 1, 1)       \
  X(R_X86_64_REX_GOTPCRELX, 42, RELOC_GOT, 4, 1, 1)

static const struct {
  uint32_t number;
  reloc_type type;
  uint8_t relative, range;
} rows[] = {
#define X(name, number, kind, width, relative, range) {number, {kind, width, #name}, relative, range},
    RELOCATIONS(X)
#undef X
};
#define ROW_COUNT (sizeof rows / sizeof *rows)

reloc_type reloc_describe_x86(uint32_t type) {
  for (size_t i = 0; i < ROW_COUNT; i++)
    if (rows[i].number == type) return rows[i].type;
  return (reloc_type){RELOC_UNKNOWN, 0, "unknown"};
}

bool reloc_apply_x86(uint32_t type, const reloc_place *r, elf_error *error) {
  for (size_t i = 0; i < ROW_COUNT; i++) {
    if (rows[i].number != type) continue;
    uint64_t value = r->target + (uint64_t)r->addend - (rows[i].relative ? r->address : 0);
    if (rows[i].range == 1 && (int64_t)value != (int32_t)value)
      return elf_fail(error, "%s is out of its range of 2 GiB; compile for position-independent code",
                      rows[i].type.name);
    if (rows[i].range == 2 && value > UINT32_MAX)
      return elf_fail(error, "%s is out of its range of 4 GiB; compile for position-independent code",
                      rows[i].type.name);
    memcpy(r->place, &value, rows[i].type.width);
    return true;
  }
  return elf_fail(error, "relocation type %u is unknown", type);
}
