/* array.h - a typed array of any shape in memory, row-major, as it comes from a file and goes to one.
 *
 * `shape` counts scalars; when `vector` is more than 1 its last axis is the vector (2, 3, 4, 8 or 16). */
#ifndef QUERN_TOOLS_ARRAY_H
#define QUERN_TOOLS_ARRAY_H

#include "tool.h"

#define ARRAY_MAX_AXES 32

typedef struct array {
  uint32_t type; /* QN_TYPE_...; QN_TYPE_NONE: bytes */
  uint32_t axes;
  uint64_t shape[ARRAY_MAX_AXES];
  uint64_t count; /* scalars */
  unsigned char *data;
} array;

typedef struct array_type {
  const char *name; /* "float" */
  const char *npy;  /* "f4" */
  uint32_t bytes;
  bool is_float, is_signed;
} array_type;
/* By QN_TYPE_...; NONE is one byte named "bytes". */
const array_type *array_type_of(uint32_t type);

/* Allocates zeroed data for type and shape. Fails with a message that names `what` when the shape is too large. */
tool_status array_make(array *a, const char *what, uint32_t type, const uint64_t *shape, uint32_t axes);
void array_free(array *a);
/* "512x512x4" in `text`. */
const char *array_shape_text(const array *a, char text[256]);

/* One scalar, exact: integers as integers, floats as doubles. */
double array_get_f64(const array *a, uint64_t index);
int64_t array_get_i64(const array *a, uint64_t index);  /* signed integer types */
uint64_t array_get_u64(const array *a, uint64_t index); /* unsigned integer types */
void array_set_f64(array *a, uint64_t index, double value);
/* Converts a number's text to bytes of `type`: integers exactly, reals to the nearest value. False when it is no number of that
 * type or out of its range: too large, or a real that isn't 0 and would become it. */
bool array_parse_scalar(uint32_t type, const char *text, void *out_bytes);
/* Prints one scalar so that it reads back exactly. */
void array_print_scalar(const array *a, uint64_t index, char text[64]);

/* A copy with another element type: nearest value, floats to integers rounded to nearest even and saturated. */
tool_status array_convert(const array *from, uint32_t type, const char *what, array *out);

float array_half_to_float(uint16_t h);
uint16_t array_float_to_half(double value); /* nearest even */

/* Packs and pads 3-vectors: the device holds them in the space of four. */
uint64_t array_device_bytes(const array *a, uint32_t vector);
void array_to_device(const array *a, uint32_t vector, void *device);
void array_from_device(array *a, uint32_t vector, const void *device);

/* .npy: versions 1 to 3, all numeric types (complex ones get a last axis of 2), both byte orders, both array orders. */
tool_status npy_read(const char *path, array *out);
tool_status npy_parse(const char *path, const char *data, uint64_t size, array *out);
tool_status npy_write(const char *path, const char *shown_path, const array *a);

/* PNG and JPEG. A picture has `channels` 1 (grey), 3 (RGB) or 4 (RGBA); shape height x width [x channels]; 8 bits, or
 * 16 from a 16-bit PNG. Larger than 256 Mi pixels is refused. */
tool_status image_read(const char *path, uint32_t channels, array *out);
/* A copy with another element type; of a picture, so that between 8 and 16 bits values are scaled: 255 is 65535. */
tool_status image_convert(const array *from, uint32_t type, const char *what, array *out);
/* The element type that an array of `type` is converted to for a file of that name. */
uint32_t image_type(const char *shown_path, uint32_t type);
/* Whether an array may be written as that picture; needs no contents. */
tool_status image_check(const char *shown_path, const array *a);
tool_status image_write(const char *path, const char *shown_path, const array *a);

#endif
