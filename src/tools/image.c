/* image.c - pictures through libpng and libjpeg. */
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
#include <png.h>

#include "array.h"

#define IMAGE_MAX_PIXELS (UINT64_C(1) << 28)
#define IMAGE_MAX_SIDE (1u << 20)

/* What the libraries' error exits jump to. */
typedef struct guard {
  jmp_buf jump;
  char text[256];
} guard;

static tool_status make_picture(const char *path, uint32_t type, uint64_t width, uint64_t height, uint32_t channels,
                                array *out) {
  if (width == 0 || height == 0 || width > IMAGE_MAX_SIDE || height > IMAGE_MAX_SIDE ||
      width * height > IMAGE_MAX_PIXELS)
    return tool_error(TOOL_FAILED, "%s: a picture of %" PRIu64 "x%" PRIu64 " is over the limit of %" PRIu64 " pixels",
                      path, width, height, IMAGE_MAX_PIXELS);
  return array_make(out, path, type, (uint64_t[]){height, width, channels}, channels > 1 ? 3 : 2);
}

/* ---- PNG ---- */

static void png_failed(png_structp png, png_const_charp text) {
  guard *g = png_get_error_ptr(png);
  snprintf(g->text, sizeof g->text, "%s", text);
  longjmp(g->jump, 1);
}

static void png_warned(png_structp png, png_const_charp text) {
  (void)png;
  (void)text;
}

typedef struct png_job {
  guard g;
  FILE *file;
  png_structp png;
  png_infop info;
  png_bytep *rows;
  array picture;
  tool_status status;
} png_job;

/* Grey, RGB or RGBA as asked, 8 or 16 bits as the file has. */
static void png_ask_for(png_job *j, uint32_t channels) {
  int color = png_get_color_type(j->png, j->info);
  if (color == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(j->png);
  if (color == PNG_COLOR_TYPE_GRAY && png_get_bit_depth(j->png, j->info) < 8) png_set_expand_gray_1_2_4_to_8(j->png);
  bool transparent = png_get_valid(j->png, j->info, PNG_INFO_tRNS) != 0;
  if (transparent) png_set_tRNS_to_alpha(j->png);
  bool grey = !(color & PNG_COLOR_MASK_COLOR);
  if (channels == 1 && !grey)
    png_set_rgb_to_gray(j->png, PNG_ERROR_ACTION_NONE, PNG_RGB_TO_GRAY_DEFAULT, PNG_RGB_TO_GRAY_DEFAULT);
  if (channels > 1 && grey) png_set_gray_to_rgb(j->png);
  bool alpha = (color & PNG_COLOR_MASK_ALPHA) || transparent;
  if (channels == 4 && !alpha) png_set_add_alpha(j->png, 0xffff, PNG_FILLER_AFTER);
  if (channels != 4 && alpha) png_set_strip_alpha(j->png);
  if (png_get_bit_depth(j->png, j->info) == 16) png_set_swap(j->png);
  png_set_interlace_handling(j->png);
}

static tool_status png_decode(const char *path, FILE *file, uint32_t channels, array *out) {
  png_job *j = tool_alloc(1, sizeof *j);
  j->file = file;
  j->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &j->g, png_failed, png_warned);
  j->info = j->png ? png_create_info_struct(j->png) : NULL;
  tool_status status = TOOL_OK;
  if (!j->info) {
    status = tool_error(TOOL_FAILED, "%s: libpng could not start", path);
  } else if (setjmp(j->g.jump)) {
    status = tool_error(TOOL_FAILED, "%s: damaged PNG: %s", path, j->g.text);
  } else {
    png_set_user_limits(j->png, IMAGE_MAX_SIDE, IMAGE_MAX_SIDE);
    png_init_io(j->png, file);
    png_read_info(j->png, j->info);
    uint32_t width = png_get_image_width(j->png, j->info), height = png_get_image_height(j->png, j->info);
    uint32_t type = png_get_bit_depth(j->png, j->info) == 16 ? QN_TYPE_U16 : QN_TYPE_U8;
    png_ask_for(j, channels);
    j->status = make_picture(path, type, width, height, channels, &j->picture);
    if (j->status == TOOL_OK) {
      png_read_update_info(j->png, j->info);
      size_t stride = (size_t)width * channels * array_type_of(type)->bytes;
      if (png_get_rowbytes(j->png, j->info) != stride) png_error(j->png, "unexpected row size");
      j->rows = tool_alloc(height, sizeof *j->rows);
      for (uint32_t y = 0; y < height; y++) j->rows[y] = j->picture.data + y * stride;
      png_read_image(j->png, j->rows);
      png_read_end(j->png, NULL);
    }
    status = j->status;
  }
  png_destroy_read_struct(&j->png, &j->info, NULL);
  free(j->rows);
  if (status == TOOL_OK)
    *out = j->picture;
  else
    array_free(&j->picture);
  free(j);
  return status;
}

static void png_encode(png_job *j, const array *a, uint32_t channels) {
  uint32_t height = (uint32_t)a->shape[0], width = (uint32_t)a->shape[1], bytes = array_type_of(a->type)->bytes;
  int color = channels == 1   ? PNG_COLOR_TYPE_GRAY
              : channels == 2 ? PNG_COLOR_TYPE_GRAY_ALPHA
              : channels == 3 ? PNG_COLOR_TYPE_RGB
                              : PNG_COLOR_TYPE_RGB_ALPHA;
  png_init_io(j->png, j->file);
  png_set_IHDR(j->png, j->info, width, height, (int)bytes * 8, color, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  png_set_compression_level(j->png, 4);
  png_write_info(j->png, j->info);
  if (bytes == 2) png_set_swap(j->png);
  for (uint32_t y = 0; y < height; y++) png_write_row(j->png, a->data + (size_t)y * width * channels * bytes);
  png_write_end(j->png, j->info);
}

static tool_status png_write_file(const char *path, const char *shown, const array *a, uint32_t channels) {
  png_job *j = tool_alloc(1, sizeof *j);
  tool_status status = TOOL_OK;
  j->file = fopen(path, "wb");
  if (!j->file) {
    status = tool_error(TOOL_FAILED, "%s: can't be written: %s", shown, strerror(errno));
    free(j);
    return status;
  }
  j->png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &j->g, png_failed, png_warned);
  j->info = j->png ? png_create_info_struct(j->png) : NULL;
  if (!j->info)
    status = tool_error(TOOL_FAILED, "%s: libpng could not start", shown);
  else if (setjmp(j->g.jump))
    status = tool_error(TOOL_FAILED, "%s: can't be written: %s", shown, j->g.text);
  else
    png_encode(j, a, channels);
  png_destroy_write_struct(&j->png, &j->info);
  if (fclose(j->file) != 0 && status == TOOL_OK)
    status = tool_error(TOOL_FAILED, "%s: can't be written: %s", shown, strerror(errno));
  free(j);
  return status;
}

/* ---- JPEG ---- */

typedef struct jpeg_job {
  struct jpeg_error_mgr errors; /* first: the library hands it back */
  guard g;
  struct jpeg_decompress_struct reader;
  struct jpeg_compress_struct writer;
  array picture;
  unsigned char *row;
  FILE *file;
} jpeg_job;

static void jpeg_failed(j_common_ptr common) {
  jpeg_job *j = (jpeg_job *)common->err;
  (*common->err->format_message)(common, j->g.text);
  longjmp(j->g.jump, 1);
}

static void jpeg_silent(j_common_ptr common) { (void)common; }

static void jpeg_job_start(jpeg_job *j) {
  jpeg_std_error(&j->errors);
  j->errors.error_exit = jpeg_failed;
  j->errors.output_message = jpeg_silent;
}

static void jpeg_spread(unsigned char *to, const unsigned char *from, uint32_t width, uint32_t channels) {
  for (uint32_t x = 0; x < width; x++) {
    memcpy(to + x * 4, from + x * channels, 3);
    to[x * 4 + 3] = 255;
  }
}

static tool_status jpeg_decode(const char *path, FILE *file, uint32_t channels, array *out) {
  jpeg_job *j = tool_alloc(1, sizeof *j);
  tool_status status = TOOL_OK;
  jpeg_job_start(j);
  j->reader.err = &j->errors;
  if (setjmp(j->g.jump)) {
    status = tool_error(TOOL_FAILED, "%s: damaged JPEG: %s", path, j->g.text);
  } else {
    jpeg_create_decompress(&j->reader);
    jpeg_stdio_src(&j->reader, file);
    jpeg_read_header(&j->reader, TRUE);
    j->reader.out_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    status = make_picture(path, QN_TYPE_U8, j->reader.image_width, j->reader.image_height, channels, &j->picture);
    if (status == TOOL_OK) {
      jpeg_start_decompress(&j->reader);
      uint32_t width = j->reader.output_width;
      j->row = tool_alloc((size_t)width * 3 + 1, 1);
      while (j->reader.output_scanline < j->reader.output_height) {
        unsigned char *line = j->picture.data + (size_t)j->reader.output_scanline * width * channels;
        unsigned char *into = channels == 4 ? j->row : line;
        jpeg_read_scanlines(&j->reader, &into, 1);
        if (channels == 4) jpeg_spread(line, j->row, width, 3);
      }
      jpeg_finish_decompress(&j->reader);
      /* The library fills what a truncated file lacks and only warns. */
      if (j->errors.num_warnings) {
        (*j->errors.format_message)((j_common_ptr)&j->reader, j->g.text);
        status = tool_error(TOOL_FAILED, "%s: damaged JPEG: %s", path, j->g.text);
      }
    }
  }
  jpeg_destroy_decompress(&j->reader);
  free(j->row);
  if (status == TOOL_OK)
    *out = j->picture;
  else
    array_free(&j->picture);
  free(j);
  return status;
}

static tool_status jpeg_write_file(const char *path, const char *shown, const array *a, uint32_t channels) {
  jpeg_job *j = tool_alloc(1, sizeof *j);
  tool_status status = TOOL_OK;
  uint32_t height = (uint32_t)a->shape[0], width = (uint32_t)a->shape[1];
  jpeg_job_start(j);
  j->writer.err = &j->errors;
  j->row = tool_alloc((size_t)width * 3 + 1, 1);
  j->file = fopen(path, "wb");
  if (!j->file) {
    status = tool_error(TOOL_FAILED, "%s: can't be written: %s", shown, strerror(errno));
  } else if (setjmp(j->g.jump)) {
    status = tool_error(TOOL_FAILED, "%s: can't be written: %s", shown, j->g.text);
  } else {
    jpeg_create_compress(&j->writer);
    jpeg_stdio_dest(&j->writer, j->file);
    j->writer.image_width = width;
    j->writer.image_height = height;
    j->writer.input_components = channels == 1 ? 1 : 3;
    j->writer.in_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&j->writer);
    jpeg_set_quality(&j->writer, 92, TRUE);
    jpeg_start_compress(&j->writer, TRUE);
    for (uint32_t y = 0; y < height; y++) {
      unsigned char *line = a->data + (size_t)y * width * channels;
      for (uint32_t x = 0; channels == 4 && x < width; x++) memcpy(j->row + x * 3, line + x * 4, 3);
      JSAMPROW rows[1] = {channels == 4 ? j->row : line};
      jpeg_write_scanlines(&j->writer, rows, 1);
    }
    jpeg_finish_compress(&j->writer);
  }
  jpeg_destroy_compress(&j->writer);
  if (j->file && fclose(j->file) != 0 && status == TOOL_OK)
    status = tool_error(TOOL_FAILED, "%s: can't be written: %s", shown, strerror(errno));
  free(j->row);
  free(j);
  return status;
}

/* ---- either ---- */

tool_status image_read(const char *path, uint32_t channels, array *out) {
  memset(out, 0, sizeof *out);
  int fd = tool_open_input(path);
  FILE *file = fd < 0 ? NULL : fdopen(fd, "rb");
  if (!file) return tool_error(TOOL_FAILED, "%s: %s", path, strerror(errno));
  unsigned char magic[8] = {0};
  size_t got = fread(magic, 1, sizeof magic, file);
  tool_status status;
  if (fseek(file, 0, SEEK_SET) != 0)
    status = tool_error(TOOL_FAILED, "%s: is no file that can be read twice: %s", path, strerror(errno));
  else if (got == 8 && png_sig_cmp(magic, 0, 8) == 0)
    status = png_decode(path, file, channels, out);
  else if (got >= 3 && magic[0] == 0xff && magic[1] == 0xd8 && magic[2] == 0xff)
    status = jpeg_decode(path, file, channels, out);
  else
    status = tool_error(TOOL_FAILED, "%s: is neither a PNG nor a JPEG file", path);
  fclose(file);
  return status;
}

static bool is_jpeg(const char *path) { return tool_ends_with(path, ".jpg") || tool_ends_with(path, ".jpeg"); }

static uint32_t channels_of(const array *a) { return a->axes == 2 ? 1 : a->axes == 3 ? (uint32_t)a->shape[2] : 0; }

tool_status image_check(const char *shown, const array *a) {
  char text[256];
  uint32_t channels = channels_of(a);
  bool jpeg = is_jpeg(shown);
  if (channels < 1 || channels > 4 || a->count == 0 || a->shape[0] > IMAGE_MAX_SIDE || a->shape[1] > IMAGE_MAX_SIDE ||
      a->shape[0] * a->shape[1] > IMAGE_MAX_PIXELS)
    return tool_error(TOOL_USAGE,
                      "%s: an array of shape %s is no picture; it needs height x width, or height x width x 1 to 4",
                      shown, array_shape_text(a, text));
  if (a->type != QN_TYPE_U8 && (jpeg || a->type != QN_TYPE_U16))
    return tool_error(TOOL_USAGE,
                      "%s: a picture holds uchar%s, the array holds %s; write an .npy file, or use --convert", shown,
                      jpeg ? "" : " or ushort", array_type_of(a->type)->name);
  bool is_too_large = jpeg && (a->shape[0] > JPEG_MAX_DIMENSION || a->shape[1] > JPEG_MAX_DIMENSION);
  if (is_too_large)
    return tool_error(TOOL_USAGE, "%s: a JPEG has at most %ld rows and columns, the array's shape is %s", shown,
                      JPEG_MAX_DIMENSION, array_shape_text(a, text));
  if (jpeg && channels == 2) return tool_error(TOOL_USAGE, "%s: a JPEG has 1, 3 or 4 channels, the array has 2", shown);
  return TOOL_OK;
}

tool_status image_write(const char *path, const char *shown, const array *a) {
  TOOL_TRY(image_check(shown, a));
  uint32_t channels = channels_of(a);
  return is_jpeg(shown) ? jpeg_write_file(path, shown, a, channels) : png_write_file(path, shown, a, channels);
}
