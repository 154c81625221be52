/* pictures.h - the boundary between the command and libquern-pictures.so: one exported function. The module is loaded when a
 * picture is read or written (image.c), so that libpng and libjpeg cost nothing to who has none. It sees nothing of the command. */
#ifndef QUERN_TOOLS_PICTURES_PICTURES_H
#define QUERN_TOOLS_PICTURES_PICTURES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define PICTURE_MAX_SIDE (1u << 20)
#define PICTURE_MAX_PIXELS (UINT64_C(1) << 28)
#define PICTURE_ERROR 256 /* bytes of an error's text */

typedef struct picture {
  uint32_t width, height;
  uint32_t channels;     /* 1 grey, 2 grey and alpha, 3 RGB, 4 RGBA */
  uint32_t bytes;        /* of a channel: 1, or 2 in the machine's order */
  unsigned char *pixels; /* rows from the top, nothing between them */
} picture;

/* Where a picture that is read goes. */
typedef struct picture_place {
  /* Sets p->pixels for the other fields, zeroed. False stops the reading: the command has told why. */
  bool (*make)(struct picture_place *place, picture *p);
} picture_place;

typedef struct picture_format {
  uint32_t max_side; /* of a picture that is written */
  uint32_t reserved;
  /* From the file's start; `channels` 1, 3 or 4. Values are as they are stored, whatever the file says of gamma and colour. False:
   * `error` says what is wrong with the file ("damaged PNG: ..."), or is empty where the place stopped it. */
  bool (*read)(FILE *file, uint32_t channels, picture_place *place, char error[PICTURE_ERROR]);
  bool (*write)(FILE *file, const picture *p, char error[PICTURE_ERROR]);
} picture_format;

typedef struct picture_table {
  uint32_t struct_size;
  uint32_t version;
  const picture_format *png, *jpeg;
} picture_table;

/* The grey of a colour, for every format: luma of Rec. 601, rounded. */
static inline uint32_t picture_grey(uint32_t red, uint32_t green, uint32_t blue) {
  return (299 * red + 587 * green + 114 * blue + 500) / 1000;
}
/* What is said of a file that ends too soon, behind the format's name. */
#define PICTURE_TRUNCATED "truncated %s: the file ends before the picture does"

#define PICTURE_VERSION 2u /* counts changes of this file */

typedef const picture_table *(*picture_entry_fn)(void);
#define PICTURE_ENTRY_NAME "quern_pictures"

extern const picture_format picture_png, picture_jpeg;

#endif
