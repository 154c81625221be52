#include "elf.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The file's layouts, from the System V gABI, chapter 4. All fields little end first, as both hosts are. */
typedef struct file_header {
  uint8_t ident[16];
  uint16_t type, machine;
  uint32_t version;
  uint64_t entry, program_table, section_table;
  uint32_t flags;
  uint16_t header_size, program_entry_size, program_count, section_entry_size, section_count, section_names;
} file_header;
_Static_assert(sizeof(file_header) == 64, "ELF header");
_Static_assert(sizeof(elf_section) == 64, "ELF section");
_Static_assert(sizeof(elf_symbol) == 24, "ELF symbol");

enum { TYPE_RELOCATABLE = 1, CLASS_64 = 2, DATA_LITTLE = 1 };

bool elf_fail(elf_error *error, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(error->text, sizeof error->text, format, args);
  va_end(args);
  return false;
}

static bool in_range(const elf_object *o, uint64_t offset, uint64_t size) {
  return offset <= o->size && size <= o->size - offset;
}

static bool has_bytes(const elf_section *s) { return s->type != ELF_SECTION_NOBITS; }

bool elf_get_section(const elf_object *o, uint32_t index, elf_section *out, elf_error *error) {
  if (index >= o->section_count)
    return elf_fail(error, "section %u is named but the object has %u", index, o->section_count);
  memcpy(out, o->bytes + o->section_table + (uint64_t)index * sizeof *out, sizeof *out);
  if (has_bytes(out) && !in_range(o, out->offset, out->size))
    return elf_fail(error, "section %u lies outside of the object's %llu bytes", index, (unsigned long long)o->size);
  return true;
}

bool elf_get_symbol(const elf_object *o, uint32_t index, elf_symbol *out, elf_error *error) {
  if (index >= o->symbol_count)
    return elf_fail(error, "symbol %u is named but the object has %u", index, o->symbol_count);
  memcpy(out, o->bytes + o->symbols.offset + (uint64_t)index * sizeof *out, sizeof *out);
  return true;
}

bool elf_get_relocation(const elf_object *o, const elf_section *section, uint64_t index, elf_relocation *out,
                        elf_error *error) {
  struct {
    uint64_t offset, info;
    int64_t addend;
  } raw;
  _Static_assert(sizeof raw == ELF_RELOCATION_BYTES, "ELF relocation");
  if (index >= section->size / sizeof raw) return elf_fail(error, "a relocation lies outside of its section");
  memcpy(&raw, o->bytes + section->offset + index * sizeof raw, sizeof raw);
  *out = (elf_relocation){raw.offset, (uint32_t)raw.info, (uint32_t)(raw.info >> 32), raw.addend};
  return true;
}

static const char *name_in(const elf_object *o, const elf_section *strings, uint32_t offset) {
  if (offset >= strings->size) return "?";
  const char *name = (const char *)o->bytes + strings->offset + offset;
  return memchr(name, 0, strings->size - offset) ? name : "?";
}
const char *elf_section_name(const elf_object *o, const elf_section *section) {
  return name_in(o, &o->section_names, section->name);
}
const char *elf_symbol_name(const elf_object *o, const elf_symbol *symbol) {
  return name_in(o, &o->symbol_names, symbol->name);
}

static bool find_symbols(elf_object *o, elf_error *error) {
  for (uint32_t i = 1; i < o->section_count; i++) {
    elf_section s;
    if (!elf_get_section(o, i, &s, error)) return false;
    if (s.type != ELF_SECTION_SYMTAB) continue;
    if (o->symbol_count) return elf_fail(error, "the object has two symbol tables");
    if (s.entry_size != sizeof(elf_symbol)) return elf_fail(error, "the symbol table's entries have a wrong size");
    if (s.size / sizeof(elf_symbol) > UINT32_MAX) return elf_fail(error, "the symbol table is too large");
    if (!elf_get_section(o, s.link, &o->symbol_names, error)) return false;
    if (o->symbol_names.type != ELF_SECTION_STRTAB)
      return elf_fail(error, "the symbol table's names (section %u) are no string table", s.link);
    o->symbols = s;
    o->symbol_count = (uint32_t)(s.size / sizeof(elf_symbol));
  }
  return true;
}

bool elf_open(elf_object *o, const void *bytes, uint64_t size, uint32_t machine, elf_error *error) {
  file_header h;
  memset(o, 0, sizeof *o);
  o->bytes = bytes;
  o->size = size;
  if (size < sizeof h) return elf_fail(error, "%llu bytes are too few for an ELF object", (unsigned long long)size);
  memcpy(&h, bytes, sizeof h);
  if (memcmp(h.ident, "\177ELF", 4) != 0) return elf_fail(error, "not an ELF object");
  if (h.ident[4] != CLASS_64 || h.ident[5] != DATA_LITTLE)
    return elf_fail(error, "not a 64-bit ELF object with the little end first");
  if (h.type != TYPE_RELOCATABLE) return elf_fail(error, "an ELF file of type %u, not a relocatable object", h.type);
  if (h.machine != machine) return elf_fail(error, "an object for machine %u; this one is %u", h.machine, machine);
  if (h.section_entry_size != sizeof(elf_section)) return elf_fail(error, "section headers have a wrong size");
  if (h.section_count == 0) return elf_fail(error, "no sections, or more than 65279");
  if (!in_range(o, h.section_table, (uint64_t)h.section_count * sizeof(elf_section)))
    return elf_fail(error, "the section table lies outside of the object's %llu bytes", (unsigned long long)size);
  o->machine = machine;
  o->section_table = h.section_table;
  o->section_count = h.section_count;
  if (!elf_get_section(o, h.section_names, &o->section_names, error)) return false;
  if (o->section_names.type != ELF_SECTION_STRTAB) o->section_names.size = 0;
  return find_symbols(o, error);
}
