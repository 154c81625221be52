/* json.h - writes JSON. */
#ifndef QUERN_CTS_JSON_H
#define QUERN_CTS_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct json {
  FILE *file;
  bool comma;
} json;

/* `key` is NULL in arrays and outermost. */
void json_open(json *j, const char *key, char bracket);
void json_close(json *j, char bracket);
void json_string(json *j, const char *key, const char *text);
void json_number(json *j, const char *key, uint64_t value);

#endif
