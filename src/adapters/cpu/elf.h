/* elf.h - a relocatable ELF object, read with suspicion: every offset, size and index is checked before it is used, so
 * that no bytes whatever lead outside of the object. Structures are copied out, so the object needs no alignment. */
#ifndef QUERN_ADAPTERS_CPU_ELF_H
#define QUERN_ADAPTERS_CPU_ELF_H

#include <stdbool.h>
#include <stdint.h>

enum { ELF_MACHINE_X86_64 = 62, ELF_MACHINE_AARCH64 = 183 };
#if defined(__x86_64__)
#define ELF_MACHINE_HOST ELF_MACHINE_X86_64
#elif defined(__aarch64__)
#define ELF_MACHINE_HOST ELF_MACHINE_AARCH64
#endif

enum {
  ELF_SECTION_PROGBITS = 1,
  ELF_SECTION_SYMTAB = 2,
  ELF_SECTION_STRTAB = 3,
  ELF_SECTION_RELA = 4,
  ELF_SECTION_NOBITS = 8,
  ELF_SECTION_REL = 9,
  ELF_SECTION_INIT_ARRAY = 14,
  ELF_SECTION_FINI_ARRAY = 15,
  ELF_SECTION_PREINIT_ARRAY = 16
};
enum { ELF_FLAG_WRITE = 1, ELF_FLAG_ALLOC = 2, ELF_FLAG_EXEC = 4, ELF_FLAG_TLS = 0x400 };
enum { ELF_INDEX_UNDEFINED = 0, ELF_INDEX_RESERVED = 0xff00, ELF_INDEX_ABSOLUTE = 0xfff1, ELF_INDEX_COMMON = 0xfff2 };
enum { ELF_BIND_LOCAL = 0, ELF_BIND_GLOBAL = 1, ELF_BIND_WEAK = 2 };
enum { ELF_TYPE_NONE = 0, ELF_TYPE_OBJECT = 1, ELF_TYPE_FUNCTION = 2, ELF_TYPE_SECTION = 3, ELF_TYPE_TLS = 6 };

/* What a loader function found wrong. */
typedef struct elf_error {
  char text[384];
} elf_error;
/* Sets the text, printf style, and returns false. */
bool elf_fail(elf_error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

typedef struct elf_section {
  uint32_t name, type;
  uint64_t flags, address, offset, size;
  uint32_t link, info;
  uint64_t alignment, entry_size;
} elf_section;

typedef struct elf_symbol {
  uint32_t name;
  uint8_t info, other;
  uint16_t section;
  uint64_t value, size;
} elf_symbol;
static inline uint32_t elf_symbol_bind(const elf_symbol *s) { return s->info >> 4; }
static inline uint32_t elf_symbol_type(const elf_symbol *s) { return s->info & 15; }

typedef struct elf_relocation {
  uint64_t offset;
  uint32_t type, symbol;
  int64_t addend;
} elf_relocation;

typedef struct elf_object {
  const uint8_t *bytes; /* borrowed */
  uint64_t size;
  uint64_t section_table;
  uint32_t section_count, machine;
  elf_section section_names, symbols, symbol_names; /* in range; size 0 when there is none */
  uint32_t symbol_count;
} elf_object;

/* Reads the headers. The object must be 64-bit, little end first, relocatable, and for `machine`. */
bool elf_open(elf_object *object, const void *bytes, uint64_t size, uint32_t machine, elf_error *error);
/* A section whose bytes, if it has any, lie inside of the object. */
bool elf_get_section(const elf_object *object, uint32_t index, elf_section *out, elf_error *error);
bool elf_get_symbol(const elf_object *object, uint32_t index, elf_symbol *out, elf_error *error);
/* Relocation `index` of a RELA section that elf_get_section gave. */
bool elf_get_relocation(const elf_object *object, const elf_section *section, uint64_t index, elf_relocation *out,
                        elf_error *error);
/* NUL-terminated, inside of the object; "?" when the name's offset is wrong. */
const char *elf_section_name(const elf_object *object, const elf_section *section);
const char *elf_symbol_name(const elf_object *object, const elf_symbol *symbol);

#define ELF_RELOCATION_BYTES 24

#endif
