/* png.c - PNG through libpng. */
#include <png.h>
#include <setjmp.h>
#include <stdlib.h>

#include "pictures.h"

/* On the heap: what is set after setjmp must be there after longjmp. */
typedef struct png_job {
  jmp_buf jump;
  char *error;
  png_structp png;
  png_infop info;
  png_bytep *rows;
  picture p;
  bool is_indexed; /* rows are read as indices into the palette, one byte a pixel */
  bool done;
} png_job;

static void failed_to_read(png_structp png, png_const_charp text) {
  png_job *j = png_get_error_ptr(png);
  FILE *file = png_get_io_ptr(png);
  if (file && feof(file))
    snprintf(j->error, PICTURE_ERROR, PICTURE_TRUNCATED, "PNG");
  else
    snprintf(j->error, PICTURE_ERROR, "damaged PNG: %s", text);
  longjmp(j->jump, 1);
}

static void failed_to_write(png_structp png, png_const_charp text) {
  png_job *j = png_get_error_ptr(png);
  snprintf(j->error, PICTURE_ERROR, "%s", text);
  longjmp(j->jump, 1);
}

static void warned(png_structp png, png_const_charp text) {
  (void)png;
  (void)text;
}

/* NULL: `error` says why. */
static png_job *job_new(bool reads, char *error) {
  png_job *j = calloc(1, sizeof *j);
  *error = 0;
  if (j) {
    j->error = error;
    j->png = reads ? png_create_read_struct(PNG_LIBPNG_VER_STRING, j, failed_to_read, warned)
                   : png_create_write_struct(PNG_LIBPNG_VER_STRING, j, failed_to_write, warned);
    j->info = j->png ? png_create_info_struct(j->png) : NULL;
    if (j->info) return j;
    if (reads)
      png_destroy_read_struct(&j->png, NULL, NULL);
    else
      png_destroy_write_struct(&j->png, NULL);
  }
  free(j);
  if (!*error) snprintf(error, PICTURE_ERROR, "libpng could not start");
  return NULL;
}

/* A row of RGB becomes grey in its place. libpng's own way converts by the file's gamma, and by other factors. */
static void make_grey(png_structp png, png_row_infop row, png_bytep data) {
  (void)png;
  if (row->bit_depth == 16) {
    uint16_t *values = (uint16_t *)(void *)data; /* libpng aligns its rows for it */
    for (png_uint_32 x = 0; x < row->width; x++)
      values[x] = (uint16_t)picture_grey(values[3 * x], values[3 * x + 1], values[3 * x + 2]);
  } else {
    for (png_uint_32 x = 0; x < row->width; x++)
      data[x] = (png_byte)picture_grey(data[3 * x], data[3 * x + 1], data[3 * x + 2]);
  }
}

/* Grey, RGB or RGBA as asked, 8 or 16 bits as the file has. */
static void ask_for(png_job *j, uint32_t channels) {
  int color = png_get_color_type(j->png, j->info);
  if (color == PNG_COLOR_TYPE_PALETTE) {
    j->is_indexed = true;
    png_set_packing(j->png);
    png_set_interlace_handling(j->png);
    return;
  }
  if (color == PNG_COLOR_TYPE_GRAY && png_get_bit_depth(j->png, j->info) < 8) png_set_expand_gray_1_2_4_to_8(j->png);
  bool transparent = png_get_valid(j->png, j->info, PNG_INFO_tRNS) != 0;
  if (transparent) png_set_tRNS_to_alpha(j->png);
  bool grey = !(color & PNG_COLOR_MASK_COLOR);
  if (channels == 1 && !grey) {
    png_set_read_user_transform_fn(j->png, make_grey);
    png_set_user_transform_info(j->png, NULL, (int)j->p.bytes * 8, 1);
  }
  if (channels > 1 && grey) png_set_gray_to_rgb(j->png);
  bool alpha = (color & PNG_COLOR_MASK_ALPHA) || transparent;
  if (channels == 4 && !alpha) png_set_add_alpha(j->png, 0xffff, PNG_FILLER_AFTER);
  if (channels != 4 && alpha) png_set_strip_alpha(j->png);
  if (png_get_bit_depth(j->png, j->info) == 16) png_set_swap(j->png);
  png_set_interlace_handling(j->png);
}

/* Colours in the place of indices, which stand at the row's end: none is written over before it is read. libpng would take one
 * that the palette hasn't for black. */
static void take_colours(png_job *j, png_bytep row, const png_color *palette, int count, png_const_bytep alpha,
                         int alpha_count) {
  uint32_t width = j->p.width, channels = j->p.channels;
  png_const_bytep from = row + (size_t)(channels - 1) * width;
  for (uint32_t x = 0; x < width; x++) {
    int index = from[x];
    if (index >= count) png_error(j->png, "a pixel's colour isn't in the palette");
    png_bytep to = row + (size_t)x * channels;
    const png_color *c = &palette[index];
    if (channels == 1) {
      to[0] = (png_byte)picture_grey(c->red, c->green, c->blue);
      continue;
    }
    to[0] = c->red;
    to[1] = c->green;
    to[2] = c->blue;
    if (channels == 4) to[3] = index < alpha_count ? alpha[index] : 255;
  }
}

static void use_palette(png_job *j) {
  png_colorp palette = NULL;
  png_bytep alpha = NULL;
  int count = 0, alpha_count = 0;
  png_get_PLTE(j->png, j->info, &palette, &count);
  png_get_tRNS(j->png, j->info, &alpha, &alpha_count, NULL);
  for (uint32_t y = 0; y < j->p.height; y++)
    take_colours(j, j->p.pixels + (size_t)y * j->p.width * j->p.channels, palette, count, alpha, alpha_count);
}

static void read_rows(png_job *j) {
  png_read_update_info(j->png, j->info);
  size_t stride = (size_t)j->p.width * j->p.channels * j->p.bytes;
  size_t read = j->is_indexed ? j->p.width : stride;
  if (png_get_rowbytes(j->png, j->info) != read) png_error(j->png, "unexpected row size");
  j->rows = calloc(j->p.height, sizeof *j->rows);
  if (!j->rows) {
    snprintf(j->error, PICTURE_ERROR, "no memory for its rows");
    longjmp(j->jump, 1);
  }
  for (uint32_t y = 0; y < j->p.height; y++) j->rows[y] = j->p.pixels + y * stride + (stride - read);
  png_read_image(j->png, j->rows);
  png_read_end(j->png, NULL);
  if (j->is_indexed) use_palette(j);
}

static void decode(png_job *j, FILE *file, uint32_t channels, picture_place *place) {
  png_set_user_limits(j->png, PICTURE_MAX_SIDE, PICTURE_MAX_SIDE);
  png_init_io(j->png, file);
  png_read_info(j->png, j->info);
  j->p.width = png_get_image_width(j->png, j->info);
  j->p.height = png_get_image_height(j->png, j->info);
  j->p.channels = channels;
  j->p.bytes = png_get_bit_depth(j->png, j->info) == 16 ? 2 : 1;
  ask_for(j, channels);
  if (!place->make(place, &j->p)) return;
  read_rows(j);
  j->done = true;
}

static bool read_file(FILE *file, uint32_t channels, picture_place *place, char error[PICTURE_ERROR]) {
  png_job *j = job_new(true, error);
  if (!j) return false;
  if (!setjmp(j->jump)) decode(j, file, channels, place);
  bool done = j->done;
  png_destroy_read_struct(&j->png, &j->info, NULL);
  free(j->rows);
  free(j);
  return done;
}

static void encode(png_job *j, FILE *file, const picture *p) {
  static const int colors[] = {0, PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                               PNG_COLOR_TYPE_RGB_ALPHA};
  png_init_io(j->png, file);
  png_set_IHDR(j->png, j->info, p->width, p->height, (int)p->bytes * 8, colors[p->channels], PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_set_compression_level(j->png, 4);
  png_write_info(j->png, j->info);
  if (p->bytes == 2) png_set_swap(j->png);
  size_t stride = (size_t)p->width * p->channels * p->bytes;
  for (uint32_t y = 0; y < p->height; y++) png_write_row(j->png, p->pixels + y * stride);
  png_write_end(j->png, j->info);
  j->done = true;
}

static bool write_file(FILE *file, const picture *p, char error[PICTURE_ERROR]) {
  png_job *j = job_new(false, error);
  if (!j) return false;
  if (!setjmp(j->jump)) encode(j, file, p);
  bool done = j->done;
  png_destroy_write_struct(&j->png, &j->info);
  free(j);
  return done;
}

const picture_format picture_png = {.max_side = PICTURE_MAX_SIDE, .read = read_file, .write = write_file};
