/* file.c - texts and their inclusion: finding, reading, joining of spliced lines, include guards. */
#include <stdlib.h>

#include "base/os/files.h"
#include "compiler/pp/state.h"

/* ---- Spliced lines -------------------------------------------------------------------------------- */

/* The size of the splice at a backslash: it, blanks, and the line end. 0: none. Blanks are forgiven, as everywhere. */
static size_t splice_size(const char *at, const char *end) {
  const char *c = at + 1;
  while (c < end && (*c == ' ' || *c == '\t' || *c == '\v' || *c == '\f' || *c == '\r')) c++;
  return c < end && *c == '\n' ? (size_t)(c + 1 - at) : 0;
}

static const char *next_splice(const char *at, const char *end) {
  while (at < end && (at = memchr(at, '\\', (size_t)(end - at))) != NULL) {
    if (splice_size(at, end)) return at;
    at++;
  }
  return NULL;
}

static uint32_t count_splices(const char *at, const char *end) {
  uint32_t count = 0;
  while ((at = next_splice(at, end)) != NULL) {
    count++;
    at += splice_size(at, end);
  }
  return count;
}

/* Makes text->clean: without a byte order mark and without splices. */
static bool clean(pp *p, pp_text *text) {
  const char *at = text->original.data, *end = at + text->original.size;
  bool marked = qn_sv_starts_with(text->original, QN_SV("\xef\xbb\xbf"));
  uint32_t count = count_splices(at, end) + marked;
  text->clean = text->original;
  if (count == 0) return true;
  char *to = qn_arena_alloc(p->arena, text->original.size + 1);
  pp_splice *splice = text->splices = QN_ARENA_ARRAY(p->arena, pp_splice, count);
  if (!to || !splice) return pp_no_memory(p);
  char *start = to;
  uint32_t removed = 0;
  if (marked) {
    at += 3;
    *splice++ = (pp_splice){.offset = 0, .removed = removed = 3};
  }
  for (const char *next; (next = next_splice(at, end)) != NULL;) {
    memcpy(to, at, (size_t)(next - at));
    to += next - at;
    size_t size = splice_size(next, end);
    removed += (uint32_t)size;
    *splice++ = (pp_splice){.offset = (uint32_t)(to - start), .removed = removed};
    at = next + size;
  }
  memcpy(to, at, (size_t)(end - at));
  to += end - at;
  text->clean = qn_sv_make(start, (size_t)(to - start));
  text->splice_count = count;
  return true;
}

/* ---- Reading -------------------------------------------------------------------------------------- */

static qn_status read_disk(void *user, qn_arena *arena, const char *path, qn_sv *out) {
  (void)user;
  if (!qn_file_exists(path)) return QN_ERROR_NOT_FOUND;
  qn_bytes bytes = {0};
  qn_status status = qn_file_read(path, PP_FILE_BYTES, &bytes);
  if (status < 0) return status;
  char *copy = qn_arena_copy(arena, qn_bytes_view(&bytes));
  *out = qn_sv_make(copy, bytes.size);
  qn_bytes_free(&bytes);
  return copy ? QN_OK : QN_ERROR_OUT_OF_HOST_MEMORY;
}

/* The text at a path, made once; NULL: an error was told. */
static pp_text *text_at(pp *p, const char *path) {
  pp_text *text = qn_map_get(&p->texts, qn_sv_from(path));
  if (text) return text;
  text = QN_ARENA_NEW(p->arena, pp_text);
  if (!text || !qn_map_set(&p->texts, qn_sv_from(path), text)) {
    pp_no_memory(p);
    return NULL;
  }
  text->path = path;
  qn_status (*read)(void *, qn_arena *, const char *, qn_sv *) =
      p->files && p->files->read ? p->files->read : read_disk;
  qn_status status = read(p->files ? p->files->user : NULL, p->arena, path, &text->original);
  text->missing = status == QN_ERROR_NOT_FOUND;
  if (p->files && p->files->seen && (text->missing || status >= 0))
    p->files->seen(p->files->user, path, !text->missing, text->original);
  if (text->missing) return text;
  if (status == QN_ERROR_OUT_OF_HOST_MEMORY) {
    pp_no_memory(p);
    return NULL;
  }
  if (status < 0) {
    pp_fatal(p, pp_here(p), 1, "%s", qn_error_text());
    return NULL;
  }
  return clean(p, text) ? text : NULL;
}

/* "a//./b" is "a/b", so that one file has one path. What stands before ".." may be a link: it is left alone. */
static const char *plain_path(pp *p, qn_sv directory, qn_sv name) {
  char *path = name.size && name.data[0] == '/' ? qn_arena_copy(p->arena, name)
               : directory.size ? qn_arena_printf(p->arena, "%.*s/%.*s", QN_SV_ARG(directory), QN_SV_ARG(name))
                                : qn_arena_copy(p->arena, name);
  if (!path) {
    pp_no_memory(p);
    return NULL;
  }
  char *to = path;
  for (const char *from = path; *from;) {
    bool at_start = to == path || to[-1] == '/';
    if (at_start && from[0] == '.' && from[1] == '/')
      from += 2;
    else if (from[0] == '/' && to != path && to[-1] == '/')
      from++;
    else
      *to++ = *from++;
  }
  *to = 0;
  return path;
}

static qn_sv directory_of(const char *path) {
  const char *slash = strrchr(path, '/');
  if (!slash) return QN_SV("");
  return slash == path ? QN_SV("/") : qn_sv_make(path, (size_t)(slash - path));
}

static pp_text *look(pp *p, qn_sv directory, qn_sv name) {
  const char *path = plain_path(p, directory, name);
  return path ? text_at(p, path) : NULL;
}

pp_text *pp_find(pp *p, qn_sv name, bool angled) {
  if (name.data[0] == '/') {
    pp_text *text = look(p, QN_SV(""), name);
    return text && !text->missing ? text : NULL;
  }
  if (!angled) {
    pp_text *text = look(p, directory_of(p->frames[p->frame_count - 1].text->path), name);
    if (!text || !text->missing) return text;
  }
  for (uint32_t i = 0; i < p->options->include_dir_count; i++) {
    pp_text *text = look(p, qn_sv_from(p->options->include_dirs[i]), name);
    if (!text || !text->missing) return text;
  }
  return NULL;
}

/* ---- Entering and leaving ------------------------------------------------------------------------- */

static bool push(pp *p, pp_text *text, qn_source_file *source) {
  pp_frame *frame = &p->frames[p->frame_count++];
  *frame = (pp_frame){.text = text, .source = source, .conditional_base = p->conditional_count};
  pp_lexer_start(&frame->lex, text, source->base);
  return true;
}

bool pp_enter(pp *p, pp_text *text, qn_loc included_at) {
  if (!pp_charge(p, PP_WORK_INCLUDE + text->original.size / 8)) return false;
  qn_source_file *source = qn_sources_add(p->sources, text->path, text->original, included_at);
  if (source) return push(p, text, source);
  if (p->sources->next > UINT32_C(1) << 29)
    pp_fatal(p, included_at, 1, "the source is larger than 1 GiB with all that it includes");
  else
    pp_no_memory(p);
  return false;
}

bool pp_enter_string(pp *p, const char *name, qn_sv string) {
  pp_text *text = QN_ARENA_NEW(p->arena, pp_text);
  if (!text) return pp_no_memory(p);
  *text = (pp_text){.path = name, .original = string};
  return clean(p, text) && pp_enter(p, text, 0);
}

bool pp_enter_main(pp *p, qn_source_file *file) {
  pp_text *text = QN_ARENA_NEW(p->arena, pp_text);
  if (!text) return pp_no_memory(p);
  *text = (pp_text){.path = file->name, .original = file->text};
  if (!clean(p, text)) return false;
  /* So that a file that includes itself finds its guard and its #pragma once. */
  const char *path = plain_path(p, QN_SV(""), qn_sv_from(file->name));
  if (!path || !qn_map_set(&p->texts, qn_sv_from(path), text)) return path ? pp_no_memory(p) : false;
  return push(p, text, file);
}

bool pp_leave(pp *p) {
  pp_frame *frame = &p->frames[p->frame_count - 1];
  pp_check_conditionals(p);
  if (frame->guard_state == PP_GUARD_AFTER) frame->text->guard = frame->guard;
  if (p->frame_count == 1) return false;
  p->frame_count--;
  p->predefining = false;
  return true;
}

/* The same file by another path has the same name and bytes. */
static bool is_once(const pp *p, const pp_text *text) {
  if (text->once) return true;
  for (uint32_t i = 0; i < p->once_count; i++) {
    const pp_text *other = p->once[i];
    if (other->original.size == text->original.size &&
        qn_sv_equal(qn_path_name(qn_sv_from(other->path)), qn_path_name(qn_sv_from(text->path))) &&
        qn_sv_equal(other->original, text->original))
      return true;
  }
  return false;
}

void pp_once(pp *p) {
  pp_text *text = p->frames[p->frame_count - 1].text;
  if (text->once || !pp_grow(p, &p->once, &p->once_capacity, p->once_count, sizeof *p->once)) return;
  text->once = true;
  p->once[p->once_count++] = text;
}

static void tell_missing(pp *p, qn_sv name, bool angled, qn_loc loc, uint32_t length) {
  qn_sv here = directory_of(p->frames[p->frame_count - 1].text->path);
  qn_bytes places = {0};
  if (name.data[0] != '/') {
    if (!angled) qn_bytes_printf(&places, "'%.*s'", QN_SV_ARG((here.size ? here : QN_SV("."))));
    for (uint32_t i = 0; i < p->options->include_dir_count && places.size < 512; i++)
      qn_bytes_printf(&places, "%s'%s'", places.size ? ", " : "", p->options->include_dirs[i]);
  }
  pp_error(p, loc, length, "'%.*s' file not found", QN_SV_ARG(name));
  if (places.size)
    pp_note(p, 0, 0, "looked in %s; -I adds a directory", places.data);
  else if (angled)
    pp_note(p, 0, 0, "<...> looks only in the directories of -I, and there are none");
  qn_diags_stop(p->diags);
  qn_bytes_free(&places);
}

void pp_include(pp *p, qn_sv name, bool angled, qn_loc loc, uint32_t length) {
  if (memchr(name.data, 0, name.size)) {
    pp_error(p, loc, length, "a file name with a null character");
    return;
  }
  if (p->frame_count >= PP_INCLUDE_DEPTH) {
    pp_fatal(p, loc, length, "#include nested more than %d deep: does a file include itself?", PP_INCLUDE_DEPTH);
    return;
  }
  pp_text *text = pp_find(p, name, angled);
  if (!text) {
    if (pp_alive(p)) tell_missing(p, name, angled, loc, length);
    return;
  }
  if (text->guard && text->guard->macro) return;
  if (pp_charge(p, p->once_count / 16) && !is_once(p, text)) pp_enter(p, text, loc);
}
