/* elf.c - ELF files that hold nothing but data under two symbols. */
#include <string.h>

#include "compiler/artifact/artifact.h"

enum {
  HEADER_BYTES = 64,
  SEGMENT_BYTES = 56,
  SECTION_BYTES = 64,
  SYMBOL_BYTES = 24,
  DATA_ALIGN = 64,
  PAGE = 65536, /* the largest of all machines */
  MOST_SECTIONS = 8
};
enum { TYPE_PROGBITS = 1, TYPE_SYMTAB = 2, TYPE_STRTAB = 3, TYPE_HASH = 5, TYPE_DYNAMIC = 6, TYPE_DYNSYM = 11 };
enum { FLAG_WRITE = 1, FLAG_ALLOC = 2 };
enum { FILE_RELOCATABLE = 1, FILE_SHARED = 3 };
enum { SEGMENT_LOAD = 1, SEGMENT_DYNAMIC = 2, SEGMENT_STACK = 0x6474e551 };

typedef struct section {
  const char *name;
  uint32_t type, link, info;
  uint64_t flags, align, entry_bytes;
  qn_sv bytes;
  uint64_t offset; /* in the file; of a shared library its address too */
  uint32_t name_at;
} section;

typedef struct file {
  section sections[MOST_SECTIONS]; /* from 1 on */
  uint32_t count;
  qn_bytes names;
} file;

/* ---- Pieces ------------------------------------------------------------------------------------- */

static void put(qn_bytes *out, uint64_t value, unsigned bytes) {
  unsigned char text[8];
  for (unsigned i = 0; i < bytes; i++) text[i] = (unsigned char)(value >> (8 * i));
  qn_bytes_append(out, text, bytes);
}

static void pad_to(qn_bytes *out, uint64_t offset) {
  static const char zeros[64];
  while (out->size < offset && !out->failed) {
    uint64_t left = offset - out->size;
    qn_bytes_append(out, zeros, left < sizeof zeros ? (size_t)left : sizeof zeros);
  }
}

static uint64_t align_up(uint64_t value, uint64_t align) { return (value + align - 1) / align * align; }

/* Appends a name with its NUL; where it starts. */
static uint32_t add_name(qn_bytes *names, const char *name) {
  if (names->size == 0) qn_bytes_append(names, "", 1);
  uint32_t at = (uint32_t)names->size;
  qn_bytes_append(names, name, strlen(name) + 1);
  return at;
}

static uint32_t add_section(file *f, section s) {
  s.name_at = add_name(&f->names, s.name);
  f->sections[++f->count] = s;
  return f->count;
}

static void put_header(qn_bytes *out, const qn_artifact_data *data, uint32_t type, uint32_t segments, const file *f,
                       uint64_t section_table) {
  static const unsigned char start[16] = {0x7f, 'E', 'L', 'F', 2, 1, 1};
  qn_bytes_append(out, start, sizeof start);
  put(out, type, 2);
  put(out, data->machine == QN_MACHINE_AARCH64 ? 183 : 62, 2);
  put(out, 1, 4);
  put(out, 0, 8); /* entry */
  put(out, segments ? HEADER_BYTES : 0, 8);
  put(out, section_table, 8);
  put(out, 0, 4); /* flags */
  put(out, HEADER_BYTES, 2);
  put(out, segments ? SEGMENT_BYTES : 0, 2);
  put(out, segments, 2);
  put(out, SECTION_BYTES, 2);
  put(out, f->count + 1, 2);
  put(out, f->count, 2); /* the names stand last */
}

static void put_section(qn_bytes *out, const section *s, bool has_addresses) {
  put(out, s->name_at, 4);
  put(out, s->type, 4);
  put(out, s->flags, 8);
  put(out, has_addresses && (s->flags & FLAG_ALLOC) ? s->offset : 0, 8);
  put(out, s->offset, 8);
  put(out, s->bytes.size, 8);
  put(out, s->link, 4);
  put(out, s->info, 4);
  put(out, s->align, 8);
  put(out, s->entry_bytes, 8);
}

static void put_sections(qn_bytes *out, const file *f, uint64_t start, bool has_addresses) {
  static const section none = {0};
  for (uint32_t i = 1; i <= f->count; i++) {
    pad_to(out, start + f->sections[i].offset);
    qn_bytes_append_sv(out, f->sections[i].bytes);
  }
  pad_to(out, start + align_up(out->size - start, 8));
  for (uint32_t i = 0; i <= f->count; i++) put_section(out, i ? &f->sections[i] : &none, has_addresses);
}

/* Offsets one after the other from `at`; what may be written starts a page of its own. Returns the end. */
static uint64_t place(file *f, uint64_t at) {
  for (uint32_t i = 1; i <= f->count; i++) {
    section *s = &f->sections[i];
    at = align_up(at, s->flags & FLAG_WRITE ? PAGE : s->align);
    s->offset = at;
    at += s->bytes.size;
  }
  return at;
}

/* ---- Symbols ------------------------------------------------------------------------------------ */

typedef struct symbols {
  qn_bytes table, names;
} symbols;

static void add_symbol(symbols *s, const char *name, uint32_t index, uint64_t value, uint64_t size) {
  put(&s->table, add_name(&s->names, name), 4);
  put(&s->table, 1 << 4 | 1, 1); /* global, an object */
  put(&s->table, 0, 1);
  put(&s->table, index, 2);
  put(&s->table, value, 8);
  put(&s->table, size, 8);
}

/* The image, and its size behind it. `base`: the address of the data. */
static void add_symbols(symbols *s, const qn_artifact_data *data, uint32_t index, uint64_t base) {
  qn_bytes name = {0};
  pad_to(&s->table, SYMBOL_BYTES);
  qn_bytes_printf(&name, "quern_image_%s", data->name);
  if (!name.failed) add_symbol(s, name.data, index, base, data->bytes.size);
  qn_bytes_append_str(&name, "_size");
  if (!name.failed) add_symbol(s, name.data, index, base + align_up(data->bytes.size, 8), 8);
  s->table.failed |= name.failed;
  qn_bytes_free(&name);
}

static void make_data(const qn_artifact_data *data, qn_bytes *out) {
  qn_bytes_append_sv(out, data->bytes);
  pad_to(out, align_up(out->size, 8));
  put(out, data->bytes.size, 8);
}

static void free_all(symbols *s, qn_bytes *content, file *f) {
  qn_bytes_free(&s->table);
  qn_bytes_free(&s->names);
  qn_bytes_free(content);
  qn_bytes_free(&f->names);
}

static section names_section(void) { return (section){".shstrtab", TYPE_STRTAB, .align = 1}; }

/* ---- Objects ------------------------------------------------------------------------------------ */

void qn_artifact_object(const qn_artifact_data *data, qn_bytes *out) {
  symbols s = {0};
  qn_bytes content = {0};
  file f = {0};
  make_data(data, &content);
  add_symbols(&s, data, 1, 0);
  add_section(&f, (section){".rodata", TYPE_PROGBITS, .flags = FLAG_ALLOC, .align = DATA_ALIGN,
                            .bytes = qn_bytes_view(&content)});
  add_section(&f, (section){".note.GNU-stack", TYPE_PROGBITS, .align = 1});
  add_section(&f, (section){".symtab", TYPE_SYMTAB, .link = 4, .info = 1, .align = 8, .entry_bytes = SYMBOL_BYTES,
                            .bytes = qn_bytes_view(&s.table)});
  add_section(&f, (section){".strtab", TYPE_STRTAB, .align = 1, .bytes = qn_bytes_view(&s.names)});
  uint32_t names = add_section(&f, names_section());
  f.sections[names].bytes = qn_bytes_view(&f.names);
  uint64_t start = out->size, end = place(&f, HEADER_BYTES);
  put_header(out, data, FILE_RELOCATABLE, 0, &f, align_up(end, 8));
  put_sections(out, &f, start, false);
  out->failed |= s.table.failed | s.names.failed | content.failed | f.names.failed;
  free_all(&s, &content, &f);
}

/* ---- Shared libraries --------------------------------------------------------------------------- */

/* A table with one bucket, whose chain goes through both symbols: with one bucket every hash leads to it. */
static void make_hash(qn_bytes *out) {
  static const uint32_t words[] = {1, 3, 1, 0, 2, 0}; /* buckets, chains; bucket 0; chains of symbols 0, 1 and 2 */
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) put(out, words[i], 4);
}

static void put_segment(qn_bytes *out, uint32_t type, uint32_t flags, uint64_t start, uint64_t end, uint64_t align) {
  put(out, type, 4);
  put(out, flags, 4);
  for (int i = 0; i < 3; i++) put(out, start, 8); /* offset, address, physical address */
  put(out, end - start, 8);
  put(out, end - start, 8);
  put(out, align, 8);
}

static void make_dynamic(qn_bytes *out, const file *f, uint32_t soname) {
  const uint64_t entries[][2] = {{14, soname},
                                 {4, f->sections[1].offset},
                                 {5, f->sections[3].offset},
                                 {6, f->sections[2].offset},
                                 {10, f->sections[3].bytes.size},
                                 {11, SYMBOL_BYTES},
                                 {0, 0}};
  for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
    put(out, entries[i][0], 8);
    put(out, entries[i][1], 8);
  }
}

enum { DYNAMIC_BYTES = 7 * 16, SEGMENTS = 4, FIRST_SECTION = HEADER_BYTES + SEGMENTS * SEGMENT_BYTES };

static void put_segments(qn_bytes *out, const file *f) {
  const section *data = &f->sections[4], *dynamic = &f->sections[5];
  uint64_t end = dynamic->offset + dynamic->bytes.size;
  put_segment(out, SEGMENT_LOAD, 4, 0, data->offset + data->bytes.size, PAGE);
  put_segment(out, SEGMENT_LOAD, 6, dynamic->offset, end, PAGE);
  put_segment(out, SEGMENT_DYNAMIC, 6, dynamic->offset, end, 8);
  put_segment(out, SEGMENT_STACK, 6, 0, 0, 16);
}

void qn_artifact_shared_library(const qn_artifact_data *data, qn_bytes *out) {
  static const char room[DYNAMIC_BYTES];
  symbols s = {0};
  qn_bytes content = {0}, hash = {0}, dynamic = {0}, soname = {0};
  file f = {0};
  make_data(data, &content);
  make_hash(&hash);
  add_symbols(&s, data, 4, 0); /* again below, when the address is known */
  qn_bytes_printf(&soname, "lib%s.so", data->name);
  uint32_t soname_at = soname.failed ? 0 : add_name(&s.names, soname.data);
  add_section(&f, (section){".hash", TYPE_HASH, .link = 2, .flags = FLAG_ALLOC, .align = 8, .entry_bytes = 4,
                            .bytes = qn_bytes_view(&hash)});
  add_section(&f, (section){".dynsym", TYPE_DYNSYM, .link = 3, .info = 1, .flags = FLAG_ALLOC, .align = 8,
                            .entry_bytes = SYMBOL_BYTES, .bytes = qn_bytes_view(&s.table)});
  add_section(&f, (section){".dynstr", TYPE_STRTAB, .flags = FLAG_ALLOC, .align = 1, .bytes = qn_bytes_view(&s.names)});
  add_section(&f, (section){".rodata", TYPE_PROGBITS, .flags = FLAG_ALLOC, .align = DATA_ALIGN,
                            .bytes = qn_bytes_view(&content)});
  add_section(&f, (section){".dynamic", TYPE_DYNAMIC, .link = 3, .flags = FLAG_ALLOC | FLAG_WRITE, .align = 8,
                            .entry_bytes = 16, .bytes = {room, sizeof room}});
  uint32_t names = add_section(&f, names_section());
  f.sections[names].bytes = qn_bytes_view(&f.names);
  uint64_t start = out->size, end = place(&f, FIRST_SECTION);
  symbols placed = {0};
  add_symbols(&placed, data, 4, f.sections[4].offset);
  make_dynamic(&dynamic, &f, soname_at);
  f.sections[2].bytes = qn_bytes_view(&placed.table);
  f.sections[5].bytes = qn_bytes_view(&dynamic);
  put_header(out, data, FILE_SHARED, SEGMENTS, &f, align_up(end, 8));
  put_segments(out, &f);
  put_sections(out, &f, start, true);
  out->failed |= s.table.failed | s.names.failed | content.failed | f.names.failed | hash.failed | dynamic.failed |
                 soname.failed | placed.table.failed | placed.names.failed;
  qn_bytes_free(&hash);
  qn_bytes_free(&dynamic);
  qn_bytes_free(&soname);
  qn_bytes_free(&placed.table);
  qn_bytes_free(&placed.names);
  free_all(&s, &content, &f);
}
