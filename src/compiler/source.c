/* source.c - see source.h. */
#include "compiler/source.h"

#define SOURCE_LIMIT (UINT32_C(1) << 30)
#define EXPANSION_BIT (UINT32_C(1) << 31)
#define BLOCK_COUNT 512

void qn_sources_init(qn_sources *sources, qn_arena *arena) {
  *sources = (qn_sources){.arena = arena, .next = 1, .next_expansion = EXPANSION_BIT};
}

/* Doubles an array that lives in the arena; the old one stays there unused, which costs at most as much again. */
static bool grow(qn_arena *arena, void *array_pointer, uint32_t *capacity, uint32_t count, size_t item_size) {
  if (count < *capacity) return true;
  uint32_t wanted = *capacity ? *capacity * 2 : 8;
  void *bigger = qn_arena_alloc_array(arena, item_size, wanted);
  if (!bigger) return false;
  void *old;
  memcpy(&old, array_pointer, sizeof old);
  if (count) memcpy(bigger, old, item_size * count);
  memcpy(array_pointer, &bigger, sizeof bigger);
  *capacity = wanted;
  return true;
}

qn_source_file *qn_sources_add(qn_sources *sources, const char *name, qn_sv text, qn_loc included_at) {
  /* One location more than bytes: the end of a file is a place too. */
  if (text.size >= SOURCE_LIMIT || sources->next > SOURCE_LIMIT - (uint32_t)text.size) return NULL;
  if (!grow(sources->arena, &sources->files, &sources->capacity, sources->count, sizeof *sources->files)) return NULL;
  qn_source_file *file = QN_ARENA_NEW(sources->arena, qn_source_file);
  if (!file) return NULL;
  *file = (qn_source_file){.name = name, .text = text, .base = sources->next, .included_at = included_at};
  sources->files[sources->count++] = file;
  sources->next += (uint32_t)text.size + 1;
  return file;
}

/* ---- Macros' tokens ------------------------------------------------------------------------------- */

static qn_expansion *expansion_at(const qn_sources *sources, uint32_t index) {
  return &sources->expansions[index / BLOCK_COUNT][index % BLOCK_COUNT];
}

qn_loc qn_sources_expand(qn_sources *sources, const qn_macro_places *macro, qn_loc at, uint32_t length) {
  if (macro->count == 0 || macro->count > UINT32_MAX - sources->next_expansion) return 0;
  uint32_t index = sources->expansion_count;
  if (index % BLOCK_COUNT == 0) {
    uint32_t block = index / BLOCK_COUNT;
    if (!grow(sources->arena, &sources->expansions, &sources->block_capacity, block, sizeof *sources->expansions))
      return 0;
    sources->expansions[block] = QN_ARENA_ARRAY(sources->arena, qn_expansion, BLOCK_COUNT);
    if (!sources->expansions[block]) return 0;
  }
  qn_loc base = sources->next_expansion;
  const qn_expansion *around = qn_sources_expansion(sources, at);
  *expansion_at(sources, index) = (qn_expansion){.macro = macro,
                                                 .base = base,
                                                 .at = at,
                                                 .outermost = around ? around->outermost : at,
                                                 .outermost_length = around ? around->outermost_length : length};
  sources->expansion_count++;
  sources->next_expansion += macro->count;
  return base;
}

/* Most are asked about while they are read: the search starts at the last one. */
const qn_expansion *qn_sources_expansion(const qn_sources *sources, qn_loc loc) {
  if (loc < EXPANSION_BIT || loc >= sources->next_expansion) return NULL;
  uint32_t high = sources->expansion_count, step = 1;
  while (step < high && expansion_at(sources, high - step)->base > loc) {
    high -= step;
    step *= 2;
  }
  uint32_t low = step < high ? high - step : 0;
  while (high - low > 1) {
    uint32_t middle = low + (high - low) / 2;
    if (expansion_at(sources, middle)->base <= loc)
      low = middle;
    else
      high = middle;
  }
  return expansion_at(sources, low);
}

qn_loc qn_sources_outermost(const qn_sources *sources, qn_loc loc, uint32_t *length) {
  const qn_expansion *e = qn_sources_expansion(sources, loc);
  if (!e) return loc;
  *length = e->outermost_length;
  return e->outermost;
}

qn_loc qn_sources_behind(const qn_sources *sources, qn_loc loc, uint32_t length) {
  loc = qn_sources_outermost(sources, loc, &length);
  return loc + (length ? length : 1);
}

/* ---- Files ---------------------------------------------------------------------------------------- */

static qn_source_file *file_of(const qn_sources *sources, qn_loc loc) {
  if (loc == 0 || loc >= sources->next) return NULL;
  uint32_t low = 0, high = sources->count;
  while (high - low > 1) {
    uint32_t middle = low + (high - low) / 2;
    if (sources->files[middle]->base <= loc)
      low = middle;
    else
      high = middle;
  }
  return sources->count ? sources->files[low] : NULL;
}

qn_source_file *qn_sources_find(const qn_sources *sources, qn_loc loc) {
  uint32_t length;
  return file_of(sources, qn_sources_outermost(sources, loc, &length));
}

bool qn_sources_set_line(qn_sources *sources, qn_loc from, const char *name, uint32_t line) {
  qn_source_file *file = qn_sources_find(sources, from);
  if (!file) return true;
  if (!grow(sources->arena, &file->marks, &file->mark_capacity, file->mark_count, sizeof *file->marks)) return false;
  if (!name) name = file->mark_count ? file->marks[file->mark_count - 1].file : file->name;
  file->marks[file->mark_count++] = (qn_line_mark){.offset = from - file->base, .line = line, .file = name};
  return true;
}

static const char *after_newline(const char *at, const char *end) {
  const char *newline = memchr(at, '\n', (size_t)(end - at));
  return newline ? newline + 1 : NULL;
}

static bool make_lines(qn_sources *sources, qn_source_file *file) {
  const char *end = file->text.data + file->text.size;
  uint32_t count = 0;
  for (const char *at = file->text.data; at; at = after_newline(at, end)) count++;
  uint32_t *lines = QN_ARENA_ARRAY(sources->arena, uint32_t, count ? count : 1);
  if (!lines) return false;
  count = 0;
  for (const char *at = file->text.data; at; at = after_newline(at, end))
    lines[count++] = (uint32_t)(at - file->text.data);
  file->lines = lines;
  file->line_count = count ? count : 1;
  return true;
}

/* The last index whose offset is at or before `offset`; the first line starts at 0. */
static uint32_t physical_line(const qn_source_file *file, uint32_t offset) {
  uint32_t low = 0, high = file->line_count;
  while (high - low > 1) {
    uint32_t middle = low + (high - low) / 2;
    if (file->lines[middle] <= offset)
      low = middle;
    else
      high = middle;
  }
  return low;
}

static const qn_line_mark *mark_before(const qn_source_file *file, uint32_t offset) {
  uint32_t low = 0, high = file->mark_count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (file->marks[middle].offset <= offset)
      low = middle + 1;
    else
      high = middle;
  }
  return low ? &file->marks[low - 1] : NULL;
}

qn_position qn_sources_position(qn_sources *sources, qn_loc loc) {
  qn_position position = {0};
  uint32_t length;
  loc = qn_sources_outermost(sources, loc, &length);
  qn_source_file *file = file_of(sources, loc);
  if (!file) return position;
  position.file = file->name;
  position.included_at = file->included_at;
  /* Without memory for the table there is still a file name to give. */
  if (!file->lines && !make_lines(sources, file)) return position;
  uint32_t offset = loc - file->base;
  uint32_t line = physical_line(file, offset);
  uint32_t start = file->lines[line];
  position.line = line + 1;
  position.column = offset - start + 1;
  size_t size = (line + 1 < file->line_count ? file->lines[line + 1] - 1 : file->text.size) - start;
  if (size && file->text.data[start + size - 1] == '\r') size--;
  position.line_text = qn_sv_make(file->text.data ? file->text.data + start : "", size);
  const qn_line_mark *mark = mark_before(file, offset);
  if (mark) {
    position.file = mark->file;
    position.line = mark->line + (line - physical_line(file, mark->offset));
  }
  return position;
}
