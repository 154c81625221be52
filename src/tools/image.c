/* image.c - pictures: libquern-pictures.so reads and writes them, loaded when there is one. */
#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array.h"
#include "pictures/pictures.h"

#define MODULE "libquern-pictures.so"
#define PICTURE_MAX_FILE (UINT64_C(1) << 32) /* no picture within the limits is larger, whatever its format does */

/* ---- The module --------------------------------------------------------------------------------- */

static const picture_table *pictures; /* NULL: not loaded yet */

/* A path that is there, or NULL. */
static char *module_in(const char *directory, size_t length, const char *below) {
  size_t size = length + strlen(below) + sizeof "/" MODULE;
  char *path = tool_alloc(size, 1);
  snprintf(path, size, "%.*s%s/" MODULE, (int)length, directory, below);
  if (access(path, F_OK) == 0) return path;
  free(path);
  return NULL;
}

/* The directory of libquern.so, or of this program where it holds libquern; its length is 0 when it can't be told. */
static const char *own_directory(size_t *out_length) {
  Dl_info info;
  void *inside = dlsym(RTLD_DEFAULT, "qn_version");
  const char *slash = inside && dladdr(inside, &info) && info.dli_fname ? strrchr(info.dli_fname, '/') : NULL;
  *out_length = slash ? (size_t)(slash - info.dli_fname) : 0;
  return slash ? info.dli_fname : "";
}

/* Where libquern looks for its own plug-ins: the directories of QUERN_ADAPTER_PATH, libquern's own, `quern` in it (installed),
 * `../lib/quern` (installed with a program that holds libquern). */
static tool_status find_module(char **out_path) {
  static const char *const below[] = {"", "/quern", "/../lib/quern"};
  *out_path = NULL;
  for (const char *at = getenv("QUERN_ADAPTER_PATH"); at && *at && !*out_path;) {
    size_t length = strcspn(at, ":");
    if (length) *out_path = module_in(at, length, "");
    at += length + (at[length] == ':');
  }
  size_t length;
  const char *own = own_directory(&length);
  for (size_t i = 0; length && i < sizeof below / sizeof *below && !*out_path; i++)
    *out_path = module_in(own, length, below[i]);
  if (*out_path) return TOOL_OK;
  return tool_error(TOOL_FAILED,
                    "pictures need " MODULE
                    ", which is installed with quern: it is neither in QUERN_ADAPTER_PATH nor in %.*s, its quern, or "
                    "its ../lib/quern",
                    (int)length, own);
}

static tool_status open_module(const char *path) {
  picture_entry_fn entry = NULL;
  void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (module) *(void **)(void *)&entry = dlsym(module, PICTURE_ENTRY_NAME);
  if (!entry) return tool_error(TOOL_FAILED, "pictures need " MODULE ": %s", dlerror());
  const picture_table *table = entry();
  if (table->struct_size != sizeof *table || table->version != PICTURE_VERSION)
    return tool_error(TOOL_FAILED, "%s is of another version of Quern: install both from one build", path);
  pictures = table;
  return TOOL_OK;
}

static tool_status load(void) {
  char *path;
  if (pictures) return TOOL_OK;
  TOOL_TRY(find_module(&path));
  tool_status status = open_module(path);
  free(path);
  return status;
}

/* ---- Formats ------------------------------------------------------------------------------------ */

typedef enum format { PNG, JPEG, NEITHER } format;

static format format_of_contents(const unsigned char *start, size_t size) {
  static const struct {
    const char *bytes;
    size_t size;
  } starts[] = {[PNG] = {"\x89PNG\r\n\x1a\n", 8}, [JPEG] = {"\xff\xd8\xff", 3}};
  for (int f = PNG; f < NEITHER; f++)
    if (size >= starts[f].size && memcmp(start, starts[f].bytes, starts[f].size) == 0) return (format)f;
  return NEITHER;
}

static format format_of_name(const char *path) {
  return tool_ends_with(path, ".jpg") || tool_ends_with(path, ".jpeg") ? JPEG : PNG;
}

static const picture_format *format_functions(format f) { return f == PNG ? pictures->png : pictures->jpeg; }

/* ---- Reading ------------------------------------------------------------------------------------ */

typedef struct reading {
  picture_place place; /* first: the module hands it back */
  const char *path;
  array *out;
  tool_status status;
} reading;

static bool make_picture(picture_place *place, picture *p) {
  reading *r = (reading *)place;
  uint64_t width = p->width, height = p->height;
  if (width == 0 || height == 0 || width > PICTURE_MAX_SIDE || height > PICTURE_MAX_SIDE ||
      width * height > PICTURE_MAX_PIXELS)
    r->status =
        tool_error(TOOL_FAILED, "%s: a picture of %" PRIu64 "x%" PRIu64 " is over the limit of %" PRIu64 " pixels",
                   r->path, width, height, PICTURE_MAX_PIXELS);
  else
    r->status = array_make(r->out, r->path, p->bytes == 2 ? QN_TYPE_U16 : QN_TYPE_U8,
                           (uint64_t[]){height, width, p->channels}, p->channels > 1 ? 3 : 2);
  p->pixels = r->out->data;
  return r->status == TOOL_OK;
}

static tool_status read_file(const char *path, FILE *file, format f, uint32_t channels, array *out) {
  char error[PICTURE_ERROR];
  reading r = {{make_picture}, path, out, TOOL_OK};
  if (format_functions(f)->read(file, channels, &r.place, error)) return TOOL_OK;
  if (r.status == TOOL_OK) r.status = tool_error(TOOL_FAILED, "%s: %s", path, error);
  array_free(out);
  return r.status;
}

static tool_status parse(const char *path, char *data, uint64_t size, uint32_t channels, array *out) {
  if (size == 0) return tool_error(TOOL_FAILED, "%s: the file is empty", path);
  format f = format_of_contents((const unsigned char *)data, (size_t)size);
  if (f == NEITHER) return tool_error(TOOL_FAILED, "%s: is neither a PNG nor a JPEG file", path);
  TOOL_TRY(load());
  FILE *file = fmemopen(data, (size_t)size, "r");
  if (!file) return tool_error(TOOL_FAILED, "%s: %s", path, strerror(errno));
  tool_status status = read_file(path, file, f, channels, out);
  fclose(file);
  return status;
}

tool_status image_read(const char *path, uint32_t channels, array *out) {
  char *data;
  uint64_t size;
  memset(out, 0, sizeof *out);
  TOOL_TRY(tool_read_file(path, PICTURE_MAX_FILE, &data, &size));
  tool_status status = parse(path, data, size, channels, out);
  free(data);
  return status;
}

/* ---- Depth -------------------------------------------------------------------------------------- */

/* White stays white. */
static void rescale(const array *from, array *out) {
  for (uint64_t i = 0; i < from->count; i++) {
    uint64_t value = array_get_u64(from, i);
    uint16_t deep = (uint16_t)(value * 257);
    if (out->type == QN_TYPE_U8)
      out->data[i] = (unsigned char)((value + 128) / 257);
    else
      memcpy(out->data + 2 * i, &deep, 2);
  }
}

tool_status image_convert(const array *from, uint32_t type, const char *what, array *out) {
  bool is_depth =
      (from->type == QN_TYPE_U16 && type == QN_TYPE_U8) || (from->type == QN_TYPE_U8 && type == QN_TYPE_U16);
  if (!is_depth) return array_convert(from, type, what, out);
  TOOL_TRY(array_make(out, what, type, from->shape, from->axes));
  rescale(from, out);
  return TOOL_OK;
}

/* ---- Writing ------------------------------------------------------------------------------------ */

uint32_t image_type(const char *shown, uint32_t type) {
  return type == QN_TYPE_U16 && format_of_name(shown) == PNG ? QN_TYPE_U16 : QN_TYPE_U8;
}

static uint32_t channels_of(const array *a) { return a->axes == 2 ? 1 : a->axes == 3 ? (uint32_t)a->shape[2] : 0; }

tool_status image_check(const char *shown, const array *a) {
  char text[256];
  uint32_t channels = channels_of(a);
  bool jpeg = format_of_name(shown) == JPEG;
  if (channels < 1 || channels > 4 || a->count == 0 || a->shape[0] > PICTURE_MAX_SIDE ||
      a->shape[1] > PICTURE_MAX_SIDE || a->shape[0] * a->shape[1] > PICTURE_MAX_PIXELS)
    return tool_error(TOOL_USAGE,
                      "%s: an array of shape %s is no picture; it needs height x width, or height x width x 1 to 4",
                      shown, array_shape_text(a, text));
  if (a->type != QN_TYPE_U8 && (jpeg || a->type != QN_TYPE_U16))
    return tool_error(TOOL_USAGE,
                      "%s: a picture holds uchar%s, the array holds %s; write an .npy file, or use --convert", shown,
                      jpeg ? "" : " or ushort", array_type_of(a->type)->name);
  if (jpeg && channels == 2) return tool_error(TOOL_USAGE, "%s: a JPEG has 1, 3 or 4 channels, the array has 2", shown);
  TOOL_TRY(load()); /* now, not when the kernel has run */
  uint32_t most = format_functions(format_of_name(shown))->max_side;
  if (a->shape[0] > most || a->shape[1] > most)
    return tool_error(TOOL_USAGE, "%s: a %s has at most %u rows and columns, the array's shape is %s", shown,
                      jpeg ? "JPEG" : "PNG", most, array_shape_text(a, text));
  return TOOL_OK;
}

tool_status image_write(const char *path, const char *shown, const array *a) {
  char error[PICTURE_ERROR];
  TOOL_TRY(image_check(shown, a));
  FILE *file = fopen(path, "wb");
  if (!file) return tool_error(TOOL_FAILED, "%s: can't be written: %s", shown, strerror(errno));
  picture p = {.width = (uint32_t)a->shape[1],
               .height = (uint32_t)a->shape[0],
               .channels = channels_of(a),
               .bytes = array_type_of(a->type)->bytes,
               .pixels = a->data};
  bool done = format_functions(format_of_name(shown))->write(file, &p, error);
  if (!done) tool_error(TOOL_FAILED, "%s: can't be written: %s", shown, error);
  if (fclose(file) != 0 && done) return tool_error(TOOL_FAILED, "%s: can't be written: %s", shown, strerror(errno));
  return done ? TOOL_OK : TOOL_FAILED;
}
