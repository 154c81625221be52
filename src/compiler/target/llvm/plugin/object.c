/* object.c - looks at an object that is about to be handed out: it must ask for nothing from outside. */
#include <elf.h>
#include <string.h>

#include "emit.h"

static bool in_file(size_t size, uint64_t offset, uint64_t length) { return offset <= size && length <= size - offset; }

/* Appends the names of undefined symbols. The bytes are LLVM's, so a wrong file is an error of ours. */
static bool list_undefined(const char *bytes, size_t size, qn_bytes *names) {
  Elf64_Ehdr header;
  if (size < sizeof header) return false;
  memcpy(&header, bytes, sizeof header);
  for (unsigned i = 0; i < header.e_shnum; i++) {
    Elf64_Shdr section, strings;
    if (!in_file(size, header.e_shoff, (uint64_t)header.e_shnum * sizeof section)) return false;
    memcpy(&section, bytes + header.e_shoff + i * sizeof section, sizeof section);
    if (section.sh_type != SHT_SYMTAB || section.sh_link >= header.e_shnum) continue;
    memcpy(&strings, bytes + header.e_shoff + section.sh_link * sizeof strings, sizeof strings);
    if (!in_file(size, section.sh_offset, section.sh_size) || !in_file(size, strings.sh_offset, strings.sh_size))
      return false;
    for (uint64_t at = sizeof(Elf64_Sym); at + sizeof(Elf64_Sym) <= section.sh_size; at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      memcpy(&symbol, bytes + section.sh_offset + at, sizeof symbol);
      if (symbol.st_shndx != SHN_UNDEF || symbol.st_name >= strings.sh_size) continue;
      const char *name = bytes + strings.sh_offset + symbol.st_name;
      qn_bytes_printf(names, "%s%.*s", names->size ? ", " : "", (int)strnlen(name, strings.sh_size - symbol.st_name),
                      name);
    }
  }
  return true;
}

bool object_check(emitter *e, const char *bytes, size_t size) {
  qn_bytes names = {0};
  bool read = list_undefined(bytes, size, &names);
  if (!read) emit_fail(e, QN_ERROR_INTERNAL, "LLVM's object is not a whole ELF file");
  if (names.failed) emit_fail(e, QN_ERROR_OUT_OF_HOST_MEMORY, "out of memory for an object's symbols");
  if (names.size)
    emit_fail(e, QN_ERROR_INTERNAL, "the object asks for symbols from outside, which CPU code must not: %s",
              names.data);
  qn_bytes_free(&names);
  return e->status >= 0;
}
