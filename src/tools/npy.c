/* npy.c - NumPy's file format: NEP 1, versions 1.0 to 3.0. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"

#define NPY_MAGIC "\x93NUMPY"
#define NPY_MAX_HEADER (1u << 20)
#define NPY_MAX_FILE (UINT64_C(1) << 40)

typedef struct header {
  uint32_t type;  /* QN_TYPE_... */
  uint32_t parts; /* 2 for complex numbers */
  bool big_endian, fortran;
  uint64_t shape[ARRAY_MAX_AXES];
  uint32_t axes;
} header;

typedef struct cursor {
  const char *at, *end;
} cursor;

static void skip_space(cursor *c) {
  while (c->at < c->end && isspace((unsigned char)*c->at)) c->at++;
}

static bool take(cursor *c, char what) {
  skip_space(c);
  if (c->at >= c->end || *c->at != what) return false;
  c->at++;
  return true;
}

static bool take_word(cursor *c, const char *word) {
  size_t n = strlen(word);
  skip_space(c);
  if ((size_t)(c->end - c->at) < n || memcmp(c->at, word, n) != 0) return false;
  c->at += n;
  return true;
}

/* A quoted string of at most 63 bytes. */
static bool take_string(cursor *c, char text[64]) {
  skip_space(c);
  if (c->at >= c->end || (*c->at != '\'' && *c->at != '"')) return false;
  char quote = *c->at++;
  size_t n = 0;
  while (c->at < c->end && *c->at != quote && n < 63) text[n++] = *c->at++;
  text[n] = 0;
  return take(c, quote);
}

static tool_status read_descr(const char *path, const char *descr, header *h) {
  static const struct {
    const char *code;
    uint32_t type, parts;
  } kinds[] = {{"b1", QN_TYPE_U8, 1},  {"i1", QN_TYPE_I8, 1},  {"u1", QN_TYPE_U8, 1},  {"i2", QN_TYPE_I16, 1},
               {"u2", QN_TYPE_U16, 1}, {"i4", QN_TYPE_I32, 1}, {"u4", QN_TYPE_U32, 1}, {"i8", QN_TYPE_I64, 1},
               {"u8", QN_TYPE_U64, 1}, {"f2", QN_TYPE_F16, 1}, {"f4", QN_TYPE_F32, 1}, {"f8", QN_TYPE_F64, 1},
               {"c8", QN_TYPE_F32, 2}, {"c16", QN_TYPE_F64, 2}};
  const char *code = descr;
  if (*code == '<' || *code == '>' || *code == '|' || *code == '=') h->big_endian = *code++ == '>';
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    if (strcmp(code, kinds[i].code) == 0) {
      h->type = kinds[i].type;
      h->parts = kinds[i].parts;
      return TOOL_OK;
    }
  }
  return tool_error(TOOL_FAILED,
                    "%s: element type '%s' is not a number type that kernels have; convert the array first", path,
                    descr);
}

static bool take_shape(cursor *c, header *h) {
  if (!take(c, '(')) return false;
  while (!take(c, ')')) {
    uint64_t n = 0;
    skip_space(c);
    if (c->at >= c->end || !isdigit((unsigned char)*c->at) || h->axes == ARRAY_MAX_AXES - 1) return false;
    const char *start = c->at;
    while (c->at < c->end && isdigit((unsigned char)*c->at)) {
      if (c->at > start && *start == '0') return false; /* once octal, and no number of Python's now */
      if (__builtin_mul_overflow(n, (uint64_t)10, &n) || __builtin_add_overflow(n, (uint64_t)(*c->at - '0'), &n))
        return false;
      c->at++;
    }
    take_word(c, "L"); /* Python 2 wrote its long integers so */
    h->shape[h->axes++] = n;
    if (!take(c, ',')) {
      if (!take(c, ')')) return false;
      return true;
    }
  }
  return true;
}

static tool_status header_fault(const char *path, const char *what) {
  return tool_error(TOOL_FAILED, "%s: .npy header: %s", path, what);
}

static tool_status take_descr(const char *path, cursor *c, header *h) {
  char value[64];
  if (!take_string(c, value))
    return header_fault(path, "'descr' is no plain number type such as '<f4'; convert the array first");
  return read_descr(path, value, h);
}

static tool_status take_order(const char *path, cursor *c, header *h) {
  h->fortran = take_word(c, "True");
  if (h->fortran || take_word(c, "False")) return TOOL_OK;
  return header_fault(path, "'fortran_order' is neither True nor False");
}

static tool_status take_axes(const char *path, cursor *c, header *h) {
  if (take_shape(c, h)) return TOOL_OK;
  if (h->axes == ARRAY_MAX_AXES - 1)
    return tool_error(TOOL_FAILED, "%s: .npy header: 'shape' has more than %d axes", path, ARRAY_MAX_AXES - 1);
  return header_fault(path, "'shape' is no list of sizes such as (3, 4), each a whole number below 2**64");
}

static const struct {
  const char *name;
  tool_status (*take)(const char *path, cursor *c, header *h);
} keys[] = {{"descr", take_descr}, {"fortran_order", take_order}, {"shape", take_axes}};
enum { KEYS = sizeof keys / sizeof *keys };

/* 'key': value, each key once. */
static tool_status take_entry(const char *path, cursor *c, header *h, bool seen[KEYS]) {
  char key[64];
  if (!take_string(c, key)) return header_fault(path, "a key in quotes or '}' is expected");
  for (size_t i = 0; i < KEYS; i++) {
    if (strcmp(key, keys[i].name) != 0) continue;
    if (seen[i]) return tool_error(TOOL_FAILED, "%s: .npy header: '%s' is there twice", path, key);
    if (!take(c, ':')) return tool_error(TOOL_FAILED, "%s: .npy header: '%s' has no ':' behind it", path, key);
    seen[i] = true;
    return keys[i].take(path, c, h);
  }
  return tool_error(TOOL_FAILED, "%s: .npy header: unknown key '%s'", path, key);
}

/* The dictionary {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }. */
static tool_status read_header(const char *path, cursor c, header *h) {
  bool seen[KEYS] = {false};
  if (!take(&c, '{')) return header_fault(path, "it doesn't start with '{'");
  bool is_closed = take(&c, '}');
  while (!is_closed) {
    TOOL_TRY(take_entry(path, &c, h, seen));
    bool goes_on = take(&c, ',');
    is_closed = take(&c, '}');
    if (!goes_on && !is_closed) return header_fault(path, "expected ',' or '}' behind a value");
  }
  skip_space(&c);
  if (c.at < c.end) return header_fault(path, "there is more behind its '}'");
  for (size_t i = 0; i < KEYS; i++)
    if (!seen[i]) return tool_error(TOOL_FAILED, "%s: .npy header: '%s' is missing", path, keys[i].name);
  return TOOL_OK;
}

static void copy_element(unsigned char *to, const unsigned char *from, uint32_t bytes, bool swap) {
  if (!swap) {
    memcpy(to, from, bytes);
    return;
  }
  for (uint32_t i = 0; i < bytes; i++) to[i] = from[bytes - 1 - i];
}

/* Copies elements in row-major order out of a file in either order. */
static void copy_elements(array *out, const header *h, const unsigned char *from) {
  uint32_t bytes = array_type_of(h->type)->bytes;
  uint64_t elements = out->count / h->parts;
  bool swap = h->big_endian && bytes > 1;
  if (!h->fortran || h->axes < 2) {
    if (!swap)
      memcpy(out->data, from, (size_t)(out->count * bytes));
    else
      for (uint64_t i = 0; i < out->count; i++) copy_element(out->data + i * bytes, from + i * bytes, bytes, true);
    return;
  }
  uint64_t index[ARRAY_MAX_AXES] = {0}, stride[ARRAY_MAX_AXES], at = 0, step = 1;
  for (uint32_t i = 0; i < h->axes; i++) {
    stride[i] = step;
    step *= h->shape[i];
  }
  for (uint64_t n = 0; n < elements; n++) {
    for (uint32_t p = 0; p < h->parts; p++)
      copy_element(out->data + (n * h->parts + p) * bytes, from + (at * h->parts + p) * bytes, bytes, swap);
    for (uint32_t axis = h->axes; axis-- > 0;) {
      at += stride[axis];
      if (++index[axis] < h->shape[axis]) break;
      at -= stride[axis] * h->shape[axis];
      index[axis] = 0;
    }
  }
}

tool_status npy_parse(const char *path, const char *data, uint64_t size, array *out) {
  const unsigned char *bytes = (const unsigned char *)data;
  memset(out, 0, sizeof *out);
  if (size == 0) return tool_error(TOOL_FAILED, "%s: the file is empty", path);
  if (size < 10 || memcmp(data, NPY_MAGIC, 6) != 0) return tool_error(TOOL_FAILED, "%s: is not an .npy file", path);
  if (bytes[6] < 1 || bytes[6] > 3)
    return tool_error(TOOL_FAILED, "%s: .npy version %u.%u is not known (1 to 3 are)", path, bytes[6], bytes[7]);
  uint64_t start = bytes[6] == 1 ? 10 : 12;
  if (size < start) return tool_error(TOOL_FAILED, "%s: the file ends within the .npy header", path);
  uint64_t length = bytes[8] | (uint64_t)bytes[9] << 8;
  if (bytes[6] > 1) length |= (uint64_t)bytes[10] << 16 | (uint64_t)bytes[11] << 24;
  if (length > NPY_MAX_HEADER)
    return tool_error(TOOL_FAILED, "%s: .npy header of %" PRIu64 " bytes is too large", path, length);
  if (length > size - start) return tool_error(TOOL_FAILED, "%s: the file ends within the .npy header", path);
  header h = {0};
  TOOL_TRY(read_header(path, (cursor){data + start, data + start + length}, &h));

  uint64_t elements = 1, expected;
  bool overflow = false;
  for (uint32_t i = 0; i < h.axes; i++) overflow |= __builtin_mul_overflow(elements, h.shape[i], &elements);
  overflow |= __builtin_mul_overflow(elements, (uint64_t)array_type_of(h.type)->bytes * h.parts, &expected);
  uint64_t body = size - start - length;
  if (overflow || expected != body)
    return tool_error(TOOL_FAILED, "%s: its shape says %s%" PRIu64 " bytes of data, the file has %" PRIu64, path,
                      overflow ? "more than " : "", overflow ? UINT64_MAX : expected, body);
  uint32_t file_axes = h.axes;
  uint64_t shape[ARRAY_MAX_AXES];
  memcpy(shape, h.shape, sizeof shape);
  if (h.parts > 1) shape[h.axes] = h.parts;
  TOOL_TRY(array_make(out, path, h.type, shape, file_axes + (h.parts > 1)));
  copy_elements(out, &h, bytes + start + length);
  return TOOL_OK;
}

tool_status npy_read(const char *path, array *out) {
  char *data;
  uint64_t size;
  TOOL_TRY(tool_read_file(path, NPY_MAX_FILE, &data, &size));
  tool_status status = npy_parse(path, data, size, out);
  free(data);
  return status;
}

tool_status npy_write(const char *path, const char *shown, const array *a) {
  char text[1024];
  size_t at = (size_t)snprintf(text, sizeof text, "{'descr': '%s%s', 'fortran_order': False, 'shape': (",
                               array_type_of(a->type)->bytes > 1 ? "<" : "|", array_type_of(a->type)->npy);
  for (uint32_t i = 0; i < a->axes; i++)
    at += (size_t)snprintf(text + at, sizeof text - at, "%s%" PRIu64 "%s", i ? " " : "", a->shape[i],
                           a->axes == 1 || i + 1 < a->axes ? "," : "");
  at += (size_t)snprintf(text + at, sizeof text - at, "), }");
  while ((10 + at + 1) % 64) text[at++] = ' ';
  text[at++] = '\n';
  unsigned char head[10] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (unsigned char)(at & 255), (unsigned char)(at >> 8)};
  FILE *f = fopen(path, "wb");
  size_t bytes = (size_t)(a->count * array_type_of(a->type)->bytes);
  bool good =
      f && fwrite(head, 1, 10, f) == 10 && fwrite(text, 1, at, f) == at && fwrite(a->data, 1, bytes, f) == bytes;
  int error = errno;
  if (f && fclose(f) != 0) {
    if (good) error = errno;
    good = false;
  }
  return good ? TOOL_OK : tool_error(TOOL_FAILED, "%s: can't be written: %s", shown, strerror(error));
}
