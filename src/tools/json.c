#include "json.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "text.h"

static void quoted(json *j, const char *text) {
  fputc('"', j->file);
  for (size_t left = strlen(text), bytes; left > 0; text += bytes, left -= bytes) {
    unsigned char c = (unsigned char)*text;
    bytes = text_character(text, left);
    if (c == '"' || c == '\\')
      fprintf(j->file, "\\%c", c);
    else if (c == '\n')
      fputs("\\n", j->file);
    else if (c == '\t')
      fputs("\\t", j->file);
    else if (c < 32)
      fprintf(j->file, "\\u%04x", c);
    else if (bytes == 0) {
      fputs("\\ufffd", j->file); /* a name of a file may be any bytes */
      bytes = 1;
    } else
      fwrite(text, 1, bytes, j->file);
  }
  fputc('"', j->file);
}

static void lead(json *j, const char *key) {
  if (j->comma) fputs(", ", j->file);
  j->comma = true;
  if (!key) return;
  quoted(j, key);
  fputs(": ", j->file);
}

void json_open(json *j, const char *key, char bracket) {
  lead(j, key);
  fputc(bracket, j->file);
  j->comma = false;
}

void json_close(json *j, char bracket) {
  fputc(bracket, j->file);
  j->comma = true;
}

void json_string(json *j, const char *key, const char *text) {
  lead(j, key);
  quoted(j, text);
}

void json_i64(json *j, const char *key, int64_t value) {
  lead(j, key);
  fprintf(j->file, "%" PRId64, value);
}

void json_u64(json *j, const char *key, uint64_t value) {
  lead(j, key);
  fprintf(j->file, "%" PRIu64, value);
}

void json_f64(json *j, const char *key, double value) {
  if (isfinite(value)) {
    lead(j, key);
    fprintf(j->file, "%.17g", value);
  } else {
    json_string(j, key, isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
  }
}

void json_bool(json *j, const char *key, bool value) {
  lead(j, key);
  fputs(value ? "true" : "false", j->file);
}

void json_raw(json *j, const char *key, const char *text) {
  lead(j, key);
  fputs(text, j->file);
}
