/* argument.c - from VALUE to data, for one kernel's parameters. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"

#define FILE_LIMIT (UINT64_C(1) << 40)

typedef struct resolver {
  run_options *o;
  run_arguments *all;
  const char *kernel;
} resolver;

static tool_status resolve(resolver *r, run_argument *a);

static uint32_t width_of(const run_argument *a) { return a->info.vector_width ? a->info.vector_width : 1; }

/* The kernel's type of an argument in words: "__global float4*". */
static const char *type_text(const run_argument *a) { return a->info.type_name; }

static tool_status bad_value(const run_argument *a, const char *why) {
  return tool_error(TOOL_USAGE, "--arg %s=%s: %s; the kernel wants %s", a->info.name, a->text, why, type_text(a));
}

static run_argument *find(run_arguments *all, const char *name, size_t length) {
  for (uint32_t i = 0; i < all->count; i++) {
    if (strlen(all->items[i].info.name) == length && strncmp(all->items[i].info.name, name, length) == 0)
      return &all->items[i];
  }
  return NULL;
}

/* Another argument by name, resolved; it must be an array. */
static tool_status other_array(resolver *r, run_argument *a, const char *name, size_t length, run_argument **out) {
  run_argument *other = find(r->all, name, length);
  if (!other) {
    char why[1400];
    int at =
        snprintf(why, sizeof why, "there is no argument '%.*s'; there are: ", (int)(length < 100 ? length : 100), name);
    for (uint32_t i = 0; i < r->all->count && at < (int)sizeof why - 300; i++)
      at += snprintf(why + at, sizeof why - (size_t)at, "%s%s", i ? ", " : "", r->all->items[i].info.name);
    return bad_value(a, why);
  }
  if (other->state == RUN_RESOLVING) return bad_value(a, "it refers to itself in a circle");
  TOOL_TRY(resolve(r, other));
  if (!other->is_array) return bad_value(a, "the argument that it refers to is no array");
  *out = other;
  return TOOL_OK;
}

/* ---- Arrays ---- */

static uint32_t scalar_type(const run_argument *a) { return a->info.element_type; }

/* Bytes of scalars that one element has in the file: a struct counts as its bytes. */
static uint32_t scalars_per_element(const run_argument *a) {
  return a->info.element_type == QN_TYPE_NONE ? a->info.element_bytes : width_of(a);
}

/* Zeroed data for a shape of elements. */
static tool_status make_elements(run_argument *a, const uint64_t *shape, uint32_t axes) {
  uint64_t full[ARRAY_MAX_AXES];
  uint32_t per = scalars_per_element(a);
  if (axes + 1 > ARRAY_MAX_AXES) return bad_value(a, "too many axes");
  memcpy(full, shape, axes * sizeof *shape);
  memcpy(a->shape, shape, axes * sizeof *shape);
  a->axes = axes;
  full[axes] = per;
  TOOL_TRY(array_make(&a->data, a->info.name, scalar_type(a), full, axes + (per > 1)));
  a->elements = a->data.count / per;
  a->is_array = true;
  return TOOL_OK;
}

/* "1000" or "600x800" up to the first ':' or the end. */
static bool parse_shape(const char *text, size_t length, uint64_t *shape, uint32_t *axes) {
  char part[32];
  const char *end = text + length;
  *axes = 0;
  for (;;) {
    size_t n = 0;
    while (text + n < end && text[n] != 'x') n++;
    if (!n || n >= sizeof part || *axes == ARRAY_MAX_AXES - 1) return false;
    memcpy(part, text, n);
    part[n] = 0;
    if (!tool_parse_u64(part, &shape[(*axes)++])) return false;
    if (text + n == end) return true;
    text += n + 1;
  }
}

static tool_status make_sized(run_argument *a, const char *size, const char **out_rest) {
  uint64_t shape[ARRAY_MAX_AXES];
  uint32_t axes;
  size_t length = strcspn(size, ":");
  if (!parse_shape(size, length, shape, &axes))
    return bad_value(a, "expected a number of elements, or a shape such as 600x800 (rows x columns)");
  for (uint32_t i = 0; i < axes; i++)
    if (!shape[i])
      return bad_value(a, axes > 1 && i == 0 ? "an array of 0 rows has no element; sizes are decimal, ROWSxCOLUMNS"
                                             : "an array must have at least one element");
  *out_rest = size[length] ? size + length + 1 : NULL;
  return make_elements(a, shape, axes);
}

static uint64_t random_next(uint64_t *state) { /* splitmix64: the same numbers everywhere */
  uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

static tool_status make_random(run_argument *a, const char *seed_text) {
  uint64_t state = 1;
  if (seed_text && !tool_parse_u64(seed_text, &state)) return bad_value(a, "the seed is no whole number");
  const array_type *t = array_type_of(a->data.type);
  for (uint64_t i = 0; i < a->data.count; i++) {
    uint64_t bits = random_next(&state);
    if (!t->is_float)
      memcpy(a->data.data + i * t->bytes, &bits, t->bytes);
    else
      array_set_f64(&a->data, i,
                    (double)(bits >> (a->data.type == QN_TYPE_F64 ? 11 : 40)) *
                        (a->data.type == QN_TYPE_F64 ? 0x1p-53 : 0x1p-24));
  }
  return TOOL_OK;
}

static tool_status make_fill(run_argument *a, const char *text) {
  unsigned char bytes[8];
  if (!text) return bad_value(a, "expected fill:N:VALUE");
  if (!array_parse_scalar(a->data.type, text, bytes))
    return bad_value(a, "the value to fill with is no number of the array's type");
  size_t size = array_type_of(a->data.type)->bytes;
  for (uint64_t i = 0; i < a->data.count; i++) memcpy(a->data.data + i * size, bytes, size);
  return TOOL_OK;
}

static tool_status make_range(run_argument *a) {
  const array_type *t = array_type_of(a->data.type);
  for (uint64_t i = 0; i < a->data.count; i++) {
    if (t->is_float)
      array_set_f64(&a->data, i, (double)i);
    else
      memcpy(a->data.data + i * t->bytes, &i, t->bytes);
  }
  return TOOL_OK;
}

static bool is_picture(const char *path) {
  return tool_ends_with(path, ".png") || tool_ends_with(path, ".jpg") || tool_ends_with(path, ".jpeg");
}

/* Makes `file`'s numbers the kernel's type, or says that they aren't. */
static tool_status take_numbers(resolver *r, run_argument *a, const char *path, array *file) {
  uint32_t want = scalar_type(a);
  if (want == QN_TYPE_NONE)
    return tool_error(TOOL_USAGE, "--arg %s=@%s: structs come as raw bytes, in a .bin file", a->info.name, path);
  if (file->type != want) {
    if (!r->o->convert)
      return tool_error(TOOL_USAGE, "--arg %s=@%s: the file holds %s, the kernel wants %s; --convert converts",
                        a->info.name, path, array_type_of(file->type)->name, array_type_of(want)->name);
    array converted;
    TOOL_TRY((is_picture(path) ? image_convert : array_convert)(file, want, path, &converted));
    tool_note("%s: converted from %s to %s", path, array_type_of(file->type)->name, array_type_of(want)->name);
    array_free(file);
    *file = converted;
  }
  uint32_t width = width_of(a), axes = file->axes;
  char text[256];
  if (width > 1) {
    if (!axes || file->shape[axes - 1] != width)
      return tool_error(TOOL_USAGE,
                        "--arg %s=@%s: the kernel wants vectors of %u, so the last axis must be %u; the shape is %s",
                        a->info.name, path, width, width, array_shape_text(file, text));
    axes--;
  }
  if (!file->count) return tool_error(TOOL_USAGE, "--arg %s=@%s: the array is empty", a->info.name, path);
  a->data = *file;
  a->axes = axes;
  memcpy(a->shape, file->shape, axes * sizeof *file->shape);
  a->elements = file->count / width;
  a->is_array = true;
  return TOOL_OK;
}

static tool_status read_raw(run_argument *a, const char *path) {
  char *bytes;
  uint64_t size;
  TOOL_TRY(tool_read_file(path, FILE_LIMIT, &bytes, &size));
  uint64_t element = array_type_of(scalar_type(a))->bytes * (uint64_t)scalars_per_element(a);
  tool_status status = TOOL_OK;
  if (!size)
    status = tool_error(TOOL_FAILED, "%s: the file is empty", path);
  else if (size % element)
    status = tool_error(TOOL_USAGE,
                        "--arg %s=@%s: has %" PRIu64 " bytes, which is no multiple of an element's %" PRIu64 " (%s)",
                        a->info.name, path, size, element, type_text(a));
  else
    status = make_elements(a, (uint64_t[]){size / element}, 1);
  if (status == TOOL_OK) memcpy(a->data.data, bytes, (size_t)size);
  free(bytes);
  return status;
}

static tool_status read_array(resolver *r, run_argument *a, const char *path) {
  array file = {0};
  tool_status status;
  if (tool_ends_with(path, ".npy")) {
    status = npy_read(path, &file);
  } else if (is_picture(path)) {
    uint32_t width = width_of(a);
    if (width != 1 && width != 3 && width != 4)
      return tool_error(
          TOOL_USAGE,
          "--arg %s=@%s: a picture fits scalars (grey), vectors of 3 (RGB) and of 4 (RGBA); the kernel wants %s",
          a->info.name, path, type_text(a));
    status = image_read(path, width, &file);
  } else if (tool_ends_with(path, ".bin") || tool_ends_with(path, ".raw")) {
    return read_raw(a, path);
  } else {
    return tool_error(TOOL_USAGE, "--arg %s=@%s: what is it? the name ends in none of .npy .png .jpg .jpeg .bin .raw",
                      a->info.name, path);
  }
  if (status == TOOL_OK) status = take_numbers(r, a, path, &file);
  if (status != TOOL_OK) array_free(&file);
  return status;
}

static tool_status make_array(resolver *r, run_argument *a) {
  const char *text = a->text, *rest = NULL;
  if (text[0] == '@') return read_array(r, a, text + 1);
  if (strncmp(text, "like:", 5) == 0) {
    run_argument *other;
    TOOL_TRY(other_array(r, a, text + 5, strlen(text + 5), &other));
    return make_elements(a, other->shape, other->axes);
  }
  static const char *const makers[] = {"zeros:", "fill:", "range:", "random:"};
  for (int i = 0; i < 4; i++) {
    size_t n = strlen(makers[i]);
    if (strncmp(text, makers[i], n) != 0) continue;
    TOOL_TRY(make_sized(a, text + n, &rest));
    if (rest && (i == 0 || i == 2)) return bad_value(a, "something follows the number of elements");
    return i == 0 ? TOOL_OK : i == 1 ? make_fill(a, rest) : i == 2 ? make_range(a) : make_random(a, rest);
  }
  return bad_value(a, "expected @FILE, zeros:N, fill:N:V, range:N, random:N[:SEED] or like:OTHER");
}

/* ---- Values ---- */

/* OTHER.width, .height, .depth, .size: a name, which no number is, and a point. */
static tool_status property(resolver *r, run_argument *a, bool *out_is, uint64_t *out) {
  const char *dot = strrchr(a->text, '.');
  static const char *const names[] = {"width", "height", "depth", "size"};
  uint32_t i = 0;
  *out_is = dot && (isalpha((unsigned char)a->text[0]) || a->text[0] == '_');
  if (!*out_is) return TOOL_OK;
  run_argument *other;
  TOOL_TRY(other_array(r, a, a->text, (size_t)(dot - a->text), &other));
  while (i < 4 && strcmp(dot + 1, names[i]) != 0) i++;
  if (i == 4) {
    char why[400];
    snprintf(why, sizeof why, "an array such as '%s' has no '%.100s'; it has: width, height, depth, size",
             other->info.name, dot + 1);
    return bad_value(a, why);
  }
  if (i == 3)
    *out = other->elements;
  else
    *out = other->axes > i ? other->shape[other->axes - 1 - i] : 1;
  return TOOL_OK;
}

static tool_status put_number(run_argument *a, uint32_t lane, const char *text) {
  uint32_t bytes = array_type_of(a->info.element_type)->bytes;
  if (!array_parse_scalar(a->info.element_type, text, a->value + lane * bytes)) {
    char why[160];
    snprintf(why, sizeof why, "'%.80s%s' is no %s, or out of its range", text, strlen(text) > 80 ? "..." : "",
             array_type_of(a->info.element_type)->name);
    return bad_value(a, why);
  }
  return TOOL_OK;
}

/* "(1,2,3,4)"; a single number goes into each lane, as in OpenCL C. */
static tool_status put_vector(run_argument *a) {
  uint32_t width = width_of(a);
  size_t length = strlen(a->text);
  if (a->text[0] != '(') {
    for (uint32_t i = 0; i < width; i++) TOOL_TRY(put_number(a, i, a->text));
    return TOOL_OK;
  }
  if (a->text[length - 1] != ')') return bad_value(a, "the closing bracket is missing");
  char *copy = tool_copy(a->text + 1, length - 2), *at = copy;
  tool_status status = TOOL_OK;
  uint32_t lane = 0;
  for (; at && status == TOOL_OK; lane++) {
    char *part = strsep(&at, ",");
    while (*part == ' ') part++;
    status = lane < width ? put_number(a, lane, part) : bad_value(a, "too many numbers");
  }
  if (status == TOOL_OK && lane != width) status = bad_value(a, "too few numbers");
  free(copy);
  return status;
}

static tool_status put_file(run_argument *a) {
  char *bytes;
  uint64_t size;
  TOOL_TRY(tool_read_file(a->text + 1, FILE_LIMIT, &bytes, &size));
  tool_status status = TOOL_OK;
  if (size != a->info.element_bytes)
    status = tool_error(TOOL_USAGE, "--arg %s=%s: has %" PRIu64 " bytes, the kernel's %s has %u", a->info.name, a->text,
                        size, type_text(a), a->info.element_bytes);
  else
    memcpy(a->value, bytes, (size_t)size);
  free(bytes);
  return status;
}

static tool_status make_value(resolver *r, run_argument *a) {
  if (a->info.element_bytes > sizeof a->value)
    return tool_error(TOOL_FAILED, "argument '%s' has %u bytes, more than the %zu that this command passes by value",
                      a->info.name, a->info.element_bytes, sizeof a->value);
  if (a->text[0] == '@' && !a->text[1]) return bad_value(a, "the name of a file comes after the @");
  if (a->text[0] == '@') return put_file(a);
  if (a->info.element_type == QN_TYPE_NONE) return bad_value(a, "a struct comes from @FILE.bin");
  if (width_of(a) > 1) return put_vector(a);
  bool is_property;
  uint64_t number = 0;
  TOOL_TRY(property(r, a, &is_property, &number));
  if (!is_property) return put_number(a, 0, a->text);
  char text[32];
  snprintf(text, sizeof text, "%" PRIu64, number);
  return put_number(a, 0, text);
}

static tool_status make_local(run_argument *a) {
  uint64_t n;
  if (strncmp(a->text, "local:", 6) != 0) return bad_value(a, "a __local pointer takes local:N, N being elements");
  if (!tool_parse_u64(a->text + 6, &n) || n == 0 ||
      __builtin_mul_overflow(n, (uint64_t)a->info.element_bytes, &a->local_bytes))
    return bad_value(a, "expected a number of elements over zero");
  return TOOL_OK;
}

/* ---- Sizes that may be left out ---- */

static bool name_is(const char *name, size_t length, const char *const *words) {
  for (; *words; words++)
    if (strlen(*words) == length && strncasecmp(name, *words, length) == 0) return true;
  return false;
}

/* Which of an array's sizes a name means: 0 width, 1 height, 2 depth, 3 size, -1 none. */
static int size_meant(const char *name, size_t length) {
  static const char *const words[4][16] = {{"width", "w", "cols", "columns", "nx", "image_width", "img_width", NULL},
                                           {"height", "h", "rows", "ny", "image_height", "img_height", NULL},
                                           {"depth", "nz", NULL},
                                           {"n", "size", "count", "len", "length", "num", "total", "elements",
                                            "num_elements", "n_elements", "array_size", NULL}};
  for (int i = 0; i < 4; i++)
    if (name_is(name, length, words[i])) return i;
  return -1;
}

/* The part of `name` that is left when an array's name and one '_' are taken off either end; NULL: none. */
static bool strip_array_name(const char *name, const char *array_name, const char **out, size_t *out_length) {
  size_t n = strlen(name), m = strlen(array_name);
  if (n < m + 2) return false;
  if (strncmp(name, array_name, m) == 0 && name[m] == '_') {
    *out = name + m + 1;
    *out_length = n - m - 1;
    return true;
  }
  if (strcmp(name + n - m, array_name) == 0 && name[n - m - 1] == '_') {
    *out = name;
    *out_length = n - m - 1;
    return true;
  }
  return false;
}

static bool size_of_array(const run_argument *other, int meant, uint64_t *out) {
  if (!other->is_array || (meant < 3 && other->axes < 2) || (meant == 2 && other->axes < 3)) return false;
  *out = meant == 3 ? other->elements : other->shape[other->axes - 1 - (uint32_t)meant];
  return true;
}

/* Takes the one reading that is possible. */
static tool_status infer_size(resolver *r, run_argument *a) {
  uint64_t found = 0;
  const run_argument *from = NULL;
  const char *stem = a->info.name;
  size_t length = strlen(stem);
  bool is_int = !array_type_of(a->info.element_type)->is_float && a->info.element_type != QN_TYPE_NONE &&
                a->info.kind == QN_ARGUMENT_VALUE && width_of(a) == 1;
  for (uint32_t pass = 0; is_int && pass < 2 && !from; pass++) {
    for (uint32_t i = 0; i < r->all->count; i++) {
      run_argument *other = &r->all->items[i];
      uint64_t value;
      stem = a->info.name;
      length = strlen(stem);
      if (pass == 0 && !strip_array_name(a->info.name, other->info.name, &stem, &length)) continue;
      int meant = size_meant(stem, length);
      if (meant < 0 || !size_of_array(other, meant, &value)) continue;
      if (from && value != found)
        return tool_error(TOOL_USAGE,
                          "argument '%s' is missing, and it could be %" PRIu64 " (from '%s') or %" PRIu64
                          " (from '%s'); give --arg %s=N",
                          a->info.name, found, from->info.name, value, other->info.name, a->info.name);
      if (!from) from = other;
      found = value;
    }
  }
  if (!from)
    return tool_error(TOOL_USAGE, "argument '%s' of kernel '%s' is missing: give --arg %s=..., it is %s", a->info.name,
                      r->kernel, a->info.name, type_text(a));
  char text[32];
  snprintf(text, sizeof text, "%" PRIu64, found);
  if (!array_parse_scalar(a->info.element_type, text, a->value))
    return tool_error(TOOL_USAGE, "argument '%s' is missing, and %s (from '%s') doesn't fit %s", a->info.name, text,
                      from->info.name, type_text(a));
  tool_note("%s = %s (from '%s')", a->info.name, text, from->info.name);
  a->state = RUN_READY;
  return TOOL_OK;
}

/* ---- All ---- */

static tool_status resolve(resolver *r, run_argument *a) {
  if (a->state == RUN_READY || !a->text) return TOOL_OK;
  a->state = RUN_RESOLVING;
  switch (a->info.kind) {
    case QN_ARGUMENT_BUFFER:
      TOOL_TRY(make_array(r, a));
      break;
    case QN_ARGUMENT_LOCAL:
      TOOL_TRY(make_local(a));
      break;
    case QN_ARGUMENT_VALUE:
      TOOL_TRY(make_value(r, a));
      break;
    default:
      return tool_error(TOOL_FAILED, "argument '%s' is %s, which this command can't give", a->info.name, type_text(a));
  }
  a->state = RUN_READY;
  return TOOL_OK;
}

static tool_status unknown_name(const resolver *r, const char *option, const char *name) {
  const char *names[RUN_MAX_ARGUMENTS];
  char list[1024] = "";
  size_t at = 0;
  for (uint32_t i = 0; i < r->all->count; i++) {
    names[i] = r->all->items[i].info.name;
    if (at < sizeof list - 130) at += (size_t)snprintf(list + at, sizeof list - at, "%s%s", i ? ", " : "", names[i]);
  }
  const char *near = tool_nearest(name, names, r->all->count);
  return tool_error(TOOL_USAGE, "%s %s: kernel '%s' has no such argument%s%s%s; it has: %s", option, name, r->kernel,
                    near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "", list[0] ? list : "none");
}

/* What can be said of an output's file before anything runs. */
static tool_status check_output(const resolver *r, const run_argument *a) {
  static const char *const endings[] = {".npy", ".png", ".jpg", ".jpeg", ".bin", ".raw"};
  bool known = false;
  for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) known |= tool_ends_with(a->out_path, endings[i]);
  if (!known)
    return tool_error(TOOL_USAGE, "--out %s=@%s: what is it? the name ends in none of .npy .png .jpg .jpeg .bin .raw",
                      a->info.name, a->out_path);
  for (uint32_t i = 0; i < r->all->count; i++) {
    const run_argument *other = &r->all->items[i];
    if (other != a && other->out_path && tool_outputs_same(other->out_path, a->out_path))
      return tool_error(TOOL_USAGE, "--out %s=@%s: '%s' is written to that file too, as %s; give each its own",
                        a->info.name, a->out_path, other->info.name, other->out_path);
  }
  return tool_outputs_check(a->out_path);
}

static tool_status bind_pairs(resolver *r, const char *option, run_pair *pairs, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    run_argument *a = find(r->all, pairs[i].name, strlen(pairs[i].name));
    if (!a) return unknown_name(r, option, pairs[i].name);
    if (pairs == r->o->args) {
      a->text = pairs[i].value;
      continue;
    }
    if (a->info.kind != QN_ARGUMENT_BUFFER)
      return tool_error(TOOL_USAGE, "%s %s: it is %s, only arrays come out of a kernel", option, pairs[i].name,
                        type_text(a));
    if (pairs == r->o->outs) {
      a->out_path = pairs[i].value;
      TOOL_TRY(check_output(r, a));
    } else {
      a->print = true;
      a->print_count = UINT64_MAX;
      if (pairs[i].value && !tool_parse_u64(pairs[i].value, &a->print_count)) return TOOL_USAGE;
    }
  }
  return TOOL_OK;
}

bool run_argument_is_output(const run_argument *a) {
  return a->info.kind == QN_ARGUMENT_BUFFER && (a->info.access & QN_ACCESS_WRITE);
}

/* Told before the kernel runs: it may take long. */
static tool_status check_pictures(const resolver *r) {
  for (uint32_t i = 0; i < r->all->count; i++) {
    const run_argument *a = &r->all->items[i];
    if (!a->out_path || !is_picture(a->out_path)) continue;
    array made = a->data;
    made.data = NULL;
    if (r->o->convert) made.type = image_type(a->out_path, made.type);
    TOOL_TRY(image_check(a->out_path, &made));
  }
  return TOOL_OK;
}

/* The system gives more memory than there is, and ends the process that uses it: so look before. */
static tool_status check_memory(const run_arguments *all) {
  uint64_t bytes = 0, machine = tool_machine_memory();
  for (uint32_t i = 0; i < all->count; i++)
    if (all->items[i].is_array) bytes += all->items[i].data.count * array_type_of(all->items[i].data.type)->bytes;
  if (bytes > machine / TOOL_COPIES)
    return tool_error(TOOL_FAILED,
                      "the arrays have %" PRIu64 " bytes and are held %d times; the machine has %" PRIu64
                      " bytes of memory",
                      bytes, TOOL_COPIES, machine);
  return TOOL_OK;
}

/* A missing array of which the kernel says nothing more can't be guessed; a missing size can. */
tool_status run_arguments_resolve(qn_kernel kernel, const char *kernel_name, run_options *o, run_arguments *all) {
  memset(all, 0, sizeof *all);
  qn_kernel_info info = QN_INIT(qn_kernel_info);
  qn_status status = qn_kernel_query(kernel, &info);
  if (status < 0) return tool_library_error(status, "kernel '%s'", kernel_name);
  if (info.argument_count > RUN_MAX_ARGUMENTS)
    return tool_error(TOOL_FAILED, "kernel '%s' has %u arguments, more than %d", kernel_name, info.argument_count,
                      RUN_MAX_ARGUMENTS);
  for (uint32_t i = 0; i < info.argument_count; i++) {
    all->items[i].info.struct_size = sizeof(qn_argument_info);
    status = qn_kernel_argument(kernel, i, &all->items[i].info);
    if (status < 0) return tool_library_error(status, "argument %u of kernel '%s'", i, kernel_name);
  }
  all->count = info.argument_count;
  resolver r = {o, all, kernel_name};
  TOOL_TRY(bind_pairs(&r, "--arg", o->args, o->arg_count));
  TOOL_TRY(bind_pairs(&r, "--out", o->outs, o->out_count));
  TOOL_TRY(bind_pairs(&r, "--print", o->prints, o->print_count));
  for (uint32_t i = 0; i < all->count; i++) TOOL_TRY(resolve(&r, &all->items[i]));
  for (uint32_t i = 0; i < all->count; i++)
    if (all->items[i].state != RUN_READY) TOOL_TRY(infer_size(&r, &all->items[i]));
  TOOL_TRY(check_pictures(&r));
  return check_memory(all);
}

void run_arguments_free(run_arguments *all) {
  for (uint32_t i = 0; i < all->count; i++) array_free(&all->items[i].data);
}
