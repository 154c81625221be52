#include "json.h"

#include <inttypes.h>

static void quoted(json *j, const char *text) {
  fputc('"', j->file);
  for (; *text; text++) {
    unsigned char byte = (unsigned char)*text;
    if (byte == '"' || byte == '\\')
      fprintf(j->file, "\\%c", byte);
    else if (byte < 32 || byte > 126) /* a driver's words may be of any encoding */
      fprintf(j->file, "\\u%04x", byte);
    else
      fputc(byte, j->file);
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

void json_number(json *j, const char *key, uint64_t value) {
  lead(j, key);
  fprintf(j->file, "%" PRIu64, value);
}
