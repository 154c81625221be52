/* json.h - writes one JSON value to a stream; commas and quotes are taken care of. */
#ifndef QUERN_TOOLS_JSON_H
#define QUERN_TOOLS_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct json {
  FILE *file;
  bool comma;
} json;

/* `key` is NULL inside arrays. */
void json_open(json *j, const char *key, char bracket); /* '{' or '[' */
void json_close(json *j, char bracket);                 /* '}' or ']' */
void json_string(json *j, const char *key, const char *text);
void json_i64(json *j, const char *key, int64_t value);
void json_u64(json *j, const char *key, uint64_t value);
void json_f64(json *j, const char *key, double value); /* no number in JSON for these: infinities and NaN are strings */
void json_bool(json *j, const char *key, bool value);
/* Text that is a JSON value already. */
void json_raw(json *j, const char *key, const char *text);

#endif
