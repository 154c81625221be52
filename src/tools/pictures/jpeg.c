/* jpeg.c - JPEG through libjpeg. */
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "pictures.h"

#include <jpeglib.h> /* needs stdio.h before it */

/* On the heap: what is set after setjmp must be there after longjmp. */
typedef struct jpeg_job {
  struct jpeg_error_mgr errors; /* first: the library hands it back */
  jmp_buf jump;
  char *error;
  struct jpeg_decompress_struct reader;
  struct jpeg_compress_struct writer;
  picture p;
  unsigned char *row;
  bool done;
} jpeg_job;

/* The library writes up to JMSG_LENGTH_MAX bytes. */
static void take_text(jpeg_job *j, j_common_ptr common) {
  char text[JMSG_LENGTH_MAX];
  (*common->err->format_message)(common, text);
  snprintf(j->error, PICTURE_ERROR, "%s", text);
}

static void failed(j_common_ptr common) {
  jpeg_job *j = (jpeg_job *)common->err;
  take_text(j, common);
  longjmp(j->jump, 1);
}

static void silent(j_common_ptr common) { (void)common; }

/* NULL: `error` says why. */
static jpeg_job *job_new(char *error) {
  jpeg_job *j = calloc(1, sizeof *j);
  snprintf(error, PICTURE_ERROR, "%s", j ? "" : "no memory");
  if (!j) return NULL;
  j->error = error;
  jpeg_std_error(&j->errors);
  j->errors.error_exit = failed;
  j->errors.output_message = silent;
  j->reader.err = j->writer.err = &j->errors;
  return j;
}

static bool make_row(jpeg_job *j, uint32_t width) {
  j->row = malloc((size_t)width * 3 + 1);
  if (!j->row) snprintf(j->error, PICTURE_ERROR, "no memory for a row");
  return j->row != NULL;
}

/* RGB to RGBA. */
static void spread(unsigned char *to, const unsigned char *from, uint32_t width) {
  for (uint32_t x = 0; x < width; x++) {
    memcpy(to + x * 4, from + x * 3, 3);
    to[x * 4 + 3] = 255;
  }
}

static void read_rows(jpeg_job *j) {
  uint32_t width = j->p.width, channels = j->p.channels;
  jpeg_start_decompress(&j->reader);
  while (j->reader.output_scanline < j->reader.output_height) {
    unsigned char *line = j->p.pixels + (size_t)j->reader.output_scanline * width * channels;
    unsigned char *into = channels == 4 ? j->row : line;
    jpeg_read_scanlines(&j->reader, &into, 1);
    if (channels == 4) spread(line, j->row, width);
  }
  jpeg_finish_decompress(&j->reader);
  /* The library fills what a truncated file lacks and only warns. */
  if (j->errors.num_warnings)
    take_text(j, (j_common_ptr)&j->reader);
  else
    j->done = true;
}

static void decode(jpeg_job *j, FILE *file, uint32_t channels, picture_place *place) {
  jpeg_create_decompress(&j->reader);
  jpeg_stdio_src(&j->reader, file);
  jpeg_read_header(&j->reader, TRUE);
  j->reader.out_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  j->p = (picture){.width = j->reader.image_width, .height = j->reader.image_height, .channels = channels, .bytes = 1};
  if (place->make(place, &j->p) && make_row(j, j->p.width)) read_rows(j);
}

static bool read_file(FILE *file, uint32_t channels, picture_place *place, char error[PICTURE_ERROR]) {
  jpeg_job *j = job_new(error);
  if (!j) return false;
  if (!setjmp(j->jump)) decode(j, file, channels, place);
  bool done = j->done;
  jpeg_destroy_decompress(&j->reader);
  free(j->row);
  free(j);
  return done;
}

static void encode(jpeg_job *j, FILE *file, const picture *p) {
  jpeg_create_compress(&j->writer);
  jpeg_stdio_dest(&j->writer, file);
  j->writer.image_width = p->width;
  j->writer.image_height = p->height;
  j->writer.input_components = p->channels == 1 ? 1 : 3;
  j->writer.in_color_space = p->channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&j->writer);
  jpeg_set_quality(&j->writer, 92, TRUE);
  jpeg_start_compress(&j->writer, TRUE);
  for (uint32_t y = 0; y < p->height; y++) {
    unsigned char *line = p->pixels + (size_t)y * p->width * p->channels;
    for (uint32_t x = 0; p->channels == 4 && x < p->width; x++) memcpy(j->row + x * 3, line + x * 4, 3);
    JSAMPROW rows[1] = {p->channels == 4 ? j->row : line};
    jpeg_write_scanlines(&j->writer, rows, 1);
  }
  jpeg_finish_compress(&j->writer);
  j->done = true;
}

static bool write_file(FILE *file, const picture *p, char error[PICTURE_ERROR]) {
  jpeg_job *j = job_new(error);
  if (!j) return false;
  if (make_row(j, p->width) && !setjmp(j->jump)) encode(j, file, p);
  bool done = j->done;
  jpeg_destroy_compress(&j->writer);
  free(j->row);
  free(j);
  return done;
}

const picture_format picture_jpeg = {.max_side = JPEG_MAX_DIMENSION, .read = read_file, .write = write_file};
