/* jpeg.c - JPEG through libjpeg. */
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "pictures.h"

#include <jpeglib.h> /* needs stdio.h before it */

#include <jerror.h> /* needs jpeglib.h before it */

/* On the heap: what is set after setjmp must be there after longjmp. */
typedef struct jpeg_job {
  struct jpeg_error_mgr errors; /* first: the library hands it back */
  jmp_buf jump;
  char *error;
  struct jpeg_decompress_struct reader;
  struct jpeg_compress_struct writer;
  picture p;
  unsigned char *row;
  bool is_truncated;
  bool is_damaged; /* a warning came: what the library says it makes up for */
  bool done;
} jpeg_job;

/* What a message's number says of the file. */
typedef enum fault { DAMAGED, TRUNCATED, UNSUPPORTED } fault;

static fault fault_of(int code) {
  switch (code) {
    case JWRN_JPEG_EOF:
    case JERR_INPUT_EOF:
    case JERR_INPUT_EMPTY:
      return TRUNCATED;
    case JERR_ARITH_NOTIMPL:
    case JERR_BAD_PRECISION:
    case JERR_CCIR601_NOTIMPL:
    case JERR_COMPONENT_COUNT:
    case JERR_CONVERSION_NOTIMPL:
    case JERR_FRACT_SAMPLE_NOTIMPL:
    case JERR_NOT_COMPILED:
    case JERR_SOF_UNSUPPORTED:
      return UNSUPPORTED;
    default:
      return DAMAGED;
  }
}

/* The library writes up to JMSG_LENGTH_MAX bytes. */
static void take_text(jpeg_job *j, j_common_ptr common) {
  char text[JMSG_LENGTH_MAX];
  fault f = fault_of(common->err->msg_code);
  if (j->is_truncated) return; /* that explains whatever else is wrong */
  j->is_truncated = f == TRUNCATED;
  (*common->err->format_message)(common, text);
  if (!common->is_decompressor)
    snprintf(j->error, PICTURE_ERROR, "%s", text);
  else if (f == TRUNCATED)
    snprintf(j->error, PICTURE_ERROR, PICTURE_TRUNCATED, "JPEG");
  else
    snprintf(j->error, PICTURE_ERROR, "%s JPEG: %s", f == DAMAGED ? "damaged" : "unsupported", text);
}

static void failed(j_common_ptr common) {
  jpeg_job *j = (jpeg_job *)common->err;
  take_text(j, common);
  longjmp(j->jump, 1);
}

static void silent(j_common_ptr common) { (void)common; }

/* Of several warnings the first is kept, but that the file ends too soon comes before the others. */
static void warned(j_common_ptr common, int level) {
  jpeg_job *j = (jpeg_job *)common->err;
  if (level >= 0) return; /* a trace */
  common->err->num_warnings++;
  if (!j->is_damaged || fault_of(common->err->msg_code) == TRUNCATED) take_text(j, common);
  j->is_damaged = true;
}

/* NULL: `error` says why. */
static jpeg_job *job_new(char *error) {
  jpeg_job *j = calloc(1, sizeof *j);
  snprintf(error, PICTURE_ERROR, "%s", j ? "" : "no memory");
  if (!j) return NULL;
  j->error = error;
  jpeg_std_error(&j->errors);
  j->errors.error_exit = failed;
  j->errors.output_message = silent;
  j->errors.emit_message = warned;
  j->reader.err = j->writer.err = &j->errors;
  return j;
}

static bool make_row(jpeg_job *j, uint32_t width) {
  j->row = malloc((size_t)width * 3 + 1);
  if (!j->row) snprintf(j->error, PICTURE_ERROR, "no memory for a row");
  return j->row != NULL;
}

/* RGB to RGBA, or to grey. */
static void spread(unsigned char *to, const unsigned char *from, uint32_t width, uint32_t channels) {
  for (uint32_t x = 0; x < width; x++, from += 3) {
    if (channels == 1) {
      to[x] = (unsigned char)picture_grey(from[0], from[1], from[2]);
      continue;
    }
    memcpy(to + x * 4, from, 3);
    to[x * 4 + 3] = 255;
  }
}

static void read_rows(jpeg_job *j) {
  uint32_t width = j->p.width, channels = j->p.channels;
  jpeg_start_decompress(&j->reader);
  while (j->reader.output_scanline < j->reader.output_height) {
    unsigned char *line = j->p.pixels + (size_t)j->reader.output_scanline * width * channels;
    unsigned char *into = channels == 3 ? line : j->row;
    jpeg_read_scanlines(&j->reader, &into, 1);
    if (channels != 3) spread(line, j->row, width, channels);
  }
  jpeg_finish_decompress(&j->reader);
  j->done = !j->is_damaged; /* the library fills what a truncated file lacks and only warns */
}

static void decode(jpeg_job *j, FILE *file, uint32_t channels, picture_place *place) {
  jpeg_create_decompress(&j->reader);
  jpeg_stdio_src(&j->reader, file);
  jpeg_read_header(&j->reader, TRUE);
  if (j->reader.jpeg_color_space == JCS_CMYK || j->reader.jpeg_color_space == JCS_YCCK) {
    snprintf(j->error, PICTURE_ERROR, "is a JPEG for print, in CMYK, which is not supported: convert it to RGB first");
    return;
  }
  j->reader.out_color_space = JCS_RGB;
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
