#include "image.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "reloc.h"

enum { SEGMENT_CODE, SEGMENT_CONSTANT, SEGMENT_DATA, SEGMENT_COUNT, SEGMENT_NONE };
static const int protection[SEGMENT_COUNT] = {PROT_READ | PROT_EXEC, PROT_READ, PROT_READ | PROT_WRITE};

#define NO_ENTRY UINT32_MAX

/* All that one load needs; `place` arrays have an element a section or a symbol. */
typedef struct loader {
  elf_object object;
  elf_error *error;
  bool out_of_memory;
  uint64_t page;
  uint64_t *offset; /* of each section in its segment, then in the image */
  uint8_t *segment; /* of each section */
  uint32_t *entry;  /* of each symbol in the table of addresses */
  uint64_t *common; /* offset of each common symbol in the image */
  uint32_t entry_count;
  uint64_t table; /* offset of the table of addresses in the image */
  uint64_t start[SEGMENT_COUNT], size[SEGMENT_COUNT];
  uint64_t total;
  uint8_t *base;
} loader;

static bool no_memory(loader *l, const char *what) {
  l->out_of_memory = true;
  return elf_fail(l->error, "%s: %s", what, strerror(errno));
}

static bool begins_with(const char *s, const char *prefix) { return strncmp(s, prefix, strlen(prefix)) == 0; }

/* ---- Layout ------------------------------------------------------------------------------------- */

/* Takes room in a segment. */
static bool take(loader *l, uint32_t segment, uint64_t size, uint64_t alignment, uint64_t *offset) {
  if (alignment == 0) alignment = 1;
  if (alignment & (alignment - 1))
    return elf_fail(l->error, "an alignment of %llu is no power of two", (unsigned long long)alignment);
  if (alignment > l->page)
    return elf_fail(l->error, "an alignment of %llu is larger than a page", (unsigned long long)alignment);
  uint64_t at = cpu_align(l->size[segment], alignment);
  if (size > IMAGE_MAX_BYTES || at > IMAGE_MAX_BYTES - size)
    return elf_fail(l->error, "the object wants more than %llu MiB of memory",
                    (unsigned long long)(IMAGE_MAX_BYTES >> 20));
  *offset = at;
  l->size[segment] = at + size;
  return true;
}

static bool choose_segment(loader *l, const elf_section *s, uint32_t *segment) {
  const char *name = elf_section_name(&l->object, s);
  *segment = SEGMENT_NONE;
  if (!(s->flags & ELF_FLAG_ALLOC)) return true;
  if (s->flags & ELF_FLAG_TLS) return elf_fail(l->error, "section %s is thread-local, which kernels can't use", name);
  if (s->type == ELF_SECTION_INIT_ARRAY || s->type == ELF_SECTION_FINI_ARRAY || s->type == ELF_SECTION_PREINIT_ARRAY)
    return elf_fail(l->error, "section %s holds constructors, which kernels can't have", name);
  if (s->type != ELF_SECTION_PROGBITS && s->type != ELF_SECTION_NOBITS) return true; /* notes, unwind tables */
  if (strcmp(name, ".eh_frame") == 0) return true;
  if (s->flags & ELF_FLAG_EXEC) {
    if (s->flags & ELF_FLAG_WRITE) return elf_fail(l->error, "section %s is writable and executable", name);
    if (s->type == ELF_SECTION_NOBITS) return elf_fail(l->error, "section %s is executable and has no bytes", name);
    *segment = SEGMENT_CODE;
  } else if (!(s->flags & ELF_FLAG_WRITE) || begins_with(name, ".data.rel.ro")) {
    *segment = SEGMENT_CONSTANT;
  } else {
    *segment = SEGMENT_DATA;
  }
  return true;
}

static bool place_sections(loader *l) {
  for (uint32_t i = 1; i < l->object.section_count; i++) {
    elf_section s;
    uint32_t segment;
    if (!elf_get_section(&l->object, i, &s, l->error) || !choose_segment(l, &s, &segment)) return false;
    l->segment[i] = (uint8_t)segment;
    if (segment != SEGMENT_NONE && !take(l, segment, s.size, s.alignment, &l->offset[i])) return false;
  }
  return true;
}

/* Common symbols have their alignment in `value`. */
static bool place_commons(loader *l) {
  for (uint32_t i = 1; i < l->object.symbol_count; i++) {
    elf_symbol s;
    if (!elf_get_symbol(&l->object, i, &s, l->error)) return false;
    if (s.section == ELF_INDEX_COMMON && !take(l, SEGMENT_DATA, s.size, s.value, &l->common[i])) return false;
  }
  return true;
}

/* Calls `visit` for each relocation of a loaded section. */
static bool each_relocation(loader *l, bool (*visit)(loader *l, const elf_section *section, uint32_t section_index,
                                                     const elf_relocation *r)) {
  for (uint32_t i = 1; i < l->object.section_count; i++) {
    elf_section table, section;
    if (!elf_get_section(&l->object, i, &table, l->error)) return false;
    if (table.type != ELF_SECTION_RELA && table.type != ELF_SECTION_REL) continue;
    if (!elf_get_section(&l->object, table.info, &section, l->error)) return false;
    if (table.info == 0 || l->segment[table.info] == SEGMENT_NONE) continue;
    if (table.type == ELF_SECTION_REL || table.entry_size != ELF_RELOCATION_BYTES)
      return elf_fail(l->error, "section %s holds relocations of an unknown form",
                      elf_section_name(&l->object, &table));
    for (uint64_t n = table.size / ELF_RELOCATION_BYTES, k = 0; k < n; k++) {
      elf_relocation r;
      if (!elf_get_relocation(&l->object, &table, k, &r, l->error) || !visit(l, &section, table.info, &r)) return false;
    }
  }
  return true;
}

static bool count_entry(loader *l, const elf_section *section, uint32_t index, const elf_relocation *r) {
  (void)section, (void)index;
  if (reloc_describe(l->object.machine, r->type).kind != RELOC_GOT) return true;
  if (r->symbol >= l->object.symbol_count)
    return elf_fail(l->error, "a relocation names symbol %u of %u", r->symbol, l->object.symbol_count);
  if (l->entry[r->symbol] == NO_ENTRY) l->entry[r->symbol] = l->entry_count++;
  return true;
}

static bool lay_out(loader *l) {
  for (uint32_t i = 0; i < l->object.section_count; i++) l->segment[i] = SEGMENT_NONE;
  for (uint32_t i = 0; i < l->object.symbol_count; i++) l->entry[i] = NO_ENTRY;
  if (!place_sections(l) || !place_commons(l) || !each_relocation(l, count_entry)) return false;
  if (!take(l, SEGMENT_CONSTANT, (uint64_t)l->entry_count * 8, 8, &l->table)) return false;
  for (int i = 0; i < SEGMENT_COUNT; i++) {
    l->start[i] = l->total;
    l->total += cpu_align(l->size[i], l->page);
  }
  if (l->total > IMAGE_MAX_BYTES)
    return elf_fail(l->error, "the object wants more than %llu MiB of memory",
                    (unsigned long long)(IMAGE_MAX_BYTES >> 20));
  if (l->total == 0) l->total = l->page; /* a program without functions */
  l->table += l->start[SEGMENT_CONSTANT];
  for (uint32_t i = 1; i < l->object.section_count; i++)
    if (l->segment[i] != SEGMENT_NONE) l->offset[i] += l->start[l->segment[i]];
  for (uint32_t i = 1; i < l->object.symbol_count; i++) l->common[i] += l->start[SEGMENT_DATA];
  return true;
}

/* ---- Contents ----------------------------------------------------------------------------------- */

static bool map_and_copy(loader *l) {
  l->base = mmap(NULL, l->total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (l->base == MAP_FAILED) {
    l->base = NULL;
    return no_memory(l, "no memory for code");
  }
  for (uint32_t i = 1; i < l->object.section_count; i++) {
    elf_section s;
    if (l->segment[i] == SEGMENT_NONE) continue;
    if (!elf_get_section(&l->object, i, &s, l->error)) return false;
    if (s.type != ELF_SECTION_NOBITS && s.size > 0) memcpy(l->base + l->offset[i], l->object.bytes + s.offset, s.size);
  }
  return true;
}

static bool symbol_address(loader *l, uint32_t index, uint64_t *out) {
  elf_symbol s;
  elf_section section;
  *out = 0;
  if (index == 0) return true; /* no symbol: the addend is the address */
  if (!elf_get_symbol(&l->object, index, &s, l->error)) return false;
  const char *name = elf_symbol_name(&l->object, &s);
  if (elf_symbol_type(&s) == ELF_TYPE_TLS)
    return elf_fail(l->error, "symbol %s is thread-local, which kernels can't use", name);
  switch (s.section) {
    case ELF_INDEX_UNDEFINED:
      return elf_fail(l->error, "undefined symbol %s: the object must define all that it uses", name);
    case ELF_INDEX_ABSOLUTE:
      *out = s.value;
      return true;
    case ELF_INDEX_COMMON:
      *out = (uint64_t)(uintptr_t)l->base + l->common[index];
      return true;
    default:
      break;
  }
  if (s.section >= ELF_INDEX_RESERVED) return elf_fail(l->error, "symbol %s has an unknown kind of section", name);
  if (!elf_get_section(&l->object, s.section, &section, l->error)) return false;
  if (l->segment[s.section] == SEGMENT_NONE)
    return elf_fail(l->error, "symbol %s lies in section %s, which is not loaded", name,
                    elf_section_name(&l->object, &section));
  if (s.value > section.size) return elf_fail(l->error, "symbol %s lies outside of its section", name);
  *out = (uint64_t)(uintptr_t)l->base + l->offset[s.section] + s.value;
  return true;
}

static bool fill_table(loader *l) {
  for (uint32_t i = 0; i < l->object.symbol_count; i++) {
    uint64_t address;
    if (l->entry[i] == NO_ENTRY) continue;
    if (!symbol_address(l, i, &address)) return false;
    memcpy(l->base + l->table + (uint64_t)l->entry[i] * 8, &address, 8);
  }
  return true;
}

static bool relocate(loader *l, const elf_section *section, uint32_t index, const elf_relocation *r) {
  reloc_type type = reloc_describe(l->object.machine, r->type);
  const char *name = elf_section_name(&l->object, section);
  if (type.kind == RELOC_NONE) return true;
  if (type.kind == RELOC_UNKNOWN)
    return elf_fail(l->error, "relocation type %u in section %s is not supported", r->type, name);
  if (type.kind == RELOC_TLS)
    return elf_fail(l->error, "%s in section %s: kernels can't use thread-local data", type.name, name);
  if (section->type == ELF_SECTION_NOBITS || r->offset > section->size || section->size - r->offset < type.width)
    return elf_fail(l->error, "%s lies outside of section %s", type.name, name);
  reloc_place place = {.place = l->base + l->offset[index] + r->offset, .addend = r->addend};
  place.address = (uint64_t)(uintptr_t)place.place;
  if (type.kind == RELOC_GOT) {
    /* aarch64 counts the addend into the entry; nothing that LLVM makes has one. */
    if (l->object.machine == ELF_MACHINE_AARCH64 && r->addend != 0)
      return elf_fail(l->error, "%s with an addend in section %s is not supported", type.name, name);
    place.target = (uint64_t)(uintptr_t)l->base + l->table + (uint64_t)l->entry[r->symbol] * 8;
  } else if (!symbol_address(l, r->symbol, &place.target)) {
    return false;
  }
  return reloc_apply(l->object.machine, r->type, &place, l->error);
}

static bool protect(loader *l) {
  for (int i = 0; i < SEGMENT_COUNT; i++) {
    uint64_t size = cpu_align(l->size[i], l->page);
    if (size == 0 || i == SEGMENT_DATA) continue;
    if (mprotect(l->base + l->start[i], size, protection[i]) != 0)
      return elf_fail(l->error, "the system refuses to make code executable: %s", strerror(errno));
  }
  char *code = (char *)l->base + l->start[SEGMENT_CODE];
  __builtin___clear_cache(code, code + l->size[SEGMENT_CODE]);
  return true;
}

/* ---- Functions ---------------------------------------------------------------------------------- */

static bool is_function(loader *l, const elf_symbol *s) {
  uint32_t type = elf_symbol_type(s);
  return (type == ELF_TYPE_FUNCTION || type == ELF_TYPE_NONE) && s->section != ELF_INDEX_UNDEFINED &&
         s->section < l->object.section_count && l->segment[s->section] == SEGMENT_CODE;
}

static bool list_functions(loader *l, cpu_image *image) {
  uint64_t count = 0, name_bytes = 0;
  elf_symbol s;
  for (uint32_t i = 1; i < l->object.symbol_count; i++) {
    if (!elf_get_symbol(&l->object, i, &s, l->error)) return false;
    if (!is_function(l, &s)) continue;
    count++;
    name_bytes += strlen(elf_symbol_name(&l->object, &s)) + 1;
  }
  image->symbols = calloc(count + 1, sizeof *image->symbols);
  image->names = malloc(name_bytes + 1);
  if (!image->symbols || !image->names) return no_memory(l, "no memory for the symbols");
  char *next = image->names;
  for (uint32_t i = 1; i < l->object.symbol_count; i++) {
    uint64_t address;
    if (!elf_get_symbol(&l->object, i, &s, l->error)) return false;
    if (!is_function(l, &s)) continue;
    if (!symbol_address(l, i, &address)) return false;
    const char *name = elf_symbol_name(&l->object, &s);
    uint64_t length = strlen(name) + 1;
    memcpy(next, name, length);
    image->symbols[image->symbol_count++] =
        (image_symbol){next, address, s.size, elf_symbol_bind(&s) != ELF_BIND_LOCAL};
    next += length;
  }
  return true;
}

uint64_t cpu_image_find(const cpu_image *image, const char *name) {
  uint64_t found = 0;
  for (uint32_t i = 0; i < image->symbol_count; i++) {
    if (strcmp(image->symbols[i].name, name) != 0) continue;
    if (image->symbols[i].global) return image->symbols[i].address;
    if (!found) found = image->symbols[i].address;
  }
  return found;
}

static void keep_sections(loader *l, cpu_image *image) {
  for (uint32_t i = 0; i < l->object.section_count; i++)
    l->offset[i] = l->segment[i] == SEGMENT_NONE ? 0 : (uint64_t)(uintptr_t)l->base + l->offset[i];
  image->section_address = l->offset;
  image->section_count = l->object.section_count;
  l->offset = NULL;
}

static bool allocate_tables(loader *l) {
  uint64_t sections = l->object.section_count, symbols = (uint64_t)l->object.symbol_count + 1;
  l->offset = calloc(sections, sizeof *l->offset);
  l->segment = calloc(sections, sizeof *l->segment);
  l->entry = calloc(symbols, sizeof *l->entry);
  l->common = calloc(symbols, sizeof *l->common);
  return l->offset && l->segment && l->entry && l->common ? true : no_memory(l, "no memory to load the object");
}

bool cpu_image_load(cpu_image *image, const void *bytes, uint64_t size, elf_error *error, bool *out_memory) {
  loader l = {.error = error, .page = (uint64_t)sysconf(_SC_PAGESIZE)};
  memset(image, 0, sizeof *image);
  bool ok = elf_open(&l.object, bytes, size, ELF_MACHINE_HOST, error) && allocate_tables(&l) && lay_out(&l) &&
            map_and_copy(&l) && fill_table(&l) && each_relocation(&l, relocate) && list_functions(&l, image) &&
            protect(&l);
  image->base = l.base;
  image->bytes = l.total;
  if (ok) keep_sections(&l, image);
  free(l.offset);
  free(l.segment);
  free(l.entry);
  free(l.common);
  *out_memory = l.out_of_memory;
  if (!ok) cpu_image_free(image);
  return ok;
}

void cpu_image_free(cpu_image *image) {
  if (image->base) munmap(image->base, image->bytes);
  free(image->symbols);
  free(image->names);
  free(image->section_address);
  memset(image, 0, sizeof *image);
}
