/* object.c - a small loader of x86-64 objects without undefined symbols: one mapping, sections in order. */
#include "object.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static const Elf64_Ehdr *header(const test_object *o) { return (const Elf64_Ehdr *)(const void *)o->bytes; }

static const Elf64_Shdr *section(const test_object *o, unsigned i) {
  return (const Elf64_Shdr *)(const void *)(o->bytes + header(o)->e_shoff) + i;
}

static uint64_t place(const test_object *o, uint64_t *addresses, uint64_t base) {
  uint64_t at = base;
  for (unsigned i = 0; i < header(o)->e_shnum; i++) {
    const Elf64_Shdr *s = section(o, i);
    if (!(s->sh_flags & SHF_ALLOC) || s->sh_size == 0) continue;
    uint64_t align = s->sh_addralign ? s->sh_addralign : 1;
    at = (at + align - 1) / align * align;
    addresses[i] = at;
    at += s->sh_size;
  }
  return at - base;
}

static int relocate(const test_object *o, const Elf64_Shdr *table, const Elf64_Rela *r) {
  const Elf64_Sym *symbols = (const Elf64_Sym *)(const void *)(o->bytes + section(o, table->sh_link)->sh_offset);
  const Elf64_Sym *symbol = &symbols[ELF64_R_SYM(r->r_info)];
  uint64_t target = o->addresses[symbol->st_shndx] + symbol->st_value + (uint64_t)r->r_addend;
  uint64_t place_at = o->addresses[table->sh_info] + r->r_offset;
  void *where = (void *)(uintptr_t)place_at;
  uint32_t narrow = (uint32_t)(target - place_at);
  switch (ELF64_R_TYPE(r->r_info)) {
    case R_X86_64_64:
      memcpy(where, &target, 8);
      return 1;
    case R_X86_64_PC32:
    case R_X86_64_PLT32:
      memcpy(where, &narrow, 4);
      return 1;
    default:
      fprintf(stderr, "object: relocation %u\n", (unsigned)ELF64_R_TYPE(r->r_info));
      return 0;
  }
}

static int relocate_all(const test_object *o) {
  for (unsigned i = 0; i < header(o)->e_shnum; i++) {
    const Elf64_Shdr *s = section(o, i);
    if (s->sh_type != SHT_RELA || !o->addresses[s->sh_info]) continue;
    const Elf64_Rela *entries = (const Elf64_Rela *)(const void *)(o->bytes + s->sh_offset);
    for (size_t k = 0; k < s->sh_size / sizeof *entries; k++)
      if (!relocate(o, s, &entries[k])) return 0;
  }
  return 1;
}

int test_object_load(test_object *o, const char *bytes, size_t size) {
  *o = (test_object){.bytes = bytes};
  if (size < sizeof(Elf64_Ehdr) || memcmp(bytes, ELFMAG, SELFMAG) != 0) return 0;
  o->addresses = calloc(header(o)->e_shnum + 1u, sizeof *o->addresses);
  o->size = place(o, o->addresses, 4096);
  o->memory = mmap(NULL, o->size, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (o->memory == MAP_FAILED) return 0;
  (void)place(o, o->addresses, (uint64_t)(uintptr_t)o->memory);
  for (unsigned i = 0; i < header(o)->e_shnum; i++)
    if (o->addresses[i] && section(o, i)->sh_type != SHT_NOBITS)
      memcpy((void *)(uintptr_t)o->addresses[i], bytes + section(o, i)->sh_offset, section(o, i)->sh_size);
  return relocate_all(o);
}

static const Elf64_Sym *find(const test_object *o, const char *name) {
  for (unsigned i = 0; i < header(o)->e_shnum; i++) {
    const Elf64_Shdr *s = section(o, i);
    if (s->sh_type != SHT_SYMTAB) continue;
    const Elf64_Sym *symbols = (const Elf64_Sym *)(const void *)(o->bytes + s->sh_offset);
    const char *names = o->bytes + section(o, s->sh_link)->sh_offset;
    for (size_t k = 1; k < s->sh_size / sizeof *symbols; k++)
      if (strcmp(names + symbols[k].st_name, name) == 0) return &symbols[k];
  }
  return NULL;
}

void *test_object_symbol(const test_object *o, const char *name) {
  const Elf64_Sym *symbol = find(o, name);
  return symbol ? (void *)(uintptr_t)(o->addresses[symbol->st_shndx] + symbol->st_value) : NULL;
}

uint64_t test_object_symbol_size(const test_object *o, const char *name) {
  const Elf64_Sym *symbol = find(o, name);
  return symbol ? symbol->st_size : 0;
}

void test_object_free(test_object *o) {
  if (o->memory && o->memory != MAP_FAILED) munmap(o->memory, o->size);
  free(o->addresses);
  *o = (test_object){0};
}
