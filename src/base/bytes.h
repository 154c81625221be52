/* bytes.h - a growing byte buffer on the heap. A failed growth sets `failed` and later appends do nothing,
 * so that a long sequence of appends is checked once. `data` is NULL before the first append (of nothing, too), then
 * ends with a NUL beyond `size`. Numbers are formatted in the C locale. */
#ifndef QUERN_BASE_BYTES_H
#define QUERN_BASE_BYTES_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/string_view.h"

typedef struct qn_bytes {
  char *data;
  size_t size, capacity;
  bool failed;
} qn_bytes;

void qn_bytes_free(qn_bytes *bytes);
void qn_bytes_append_u64(qn_bytes *bytes, uint64_t value); /* decimal */
/* Puts `text` before the byte at `at`. */
void qn_bytes_insert(qn_bytes *bytes, size_t at, qn_sv text);
void qn_bytes_printf(qn_bytes *bytes, const char *format, ...) __attribute__((format(printf, 2, 3)));
void qn_bytes_vprintf(qn_bytes *bytes, const char *format, va_list args);
/* Room for `extra` more bytes and the NUL. */
bool qn_bytes_reserve(qn_bytes *bytes, size_t extra);
static inline qn_sv qn_bytes_view(const qn_bytes *bytes) { return qn_sv_make(bytes->data, bytes->size); }

/* Here, because printers append a few bytes at a time, by the million. */
static inline void qn_bytes_append(qn_bytes *bytes, const void *data, size_t size) {
  bool fits = bytes->data && !bytes->failed && size < bytes->capacity - bytes->size;
  if (!fits && !qn_bytes_reserve(bytes, size)) return;
  if (size > 0) memcpy(bytes->data + bytes->size, data, size);
  bytes->size += size;
  bytes->data[bytes->size] = 0;
}
static inline void qn_bytes_append_sv(qn_bytes *bytes, qn_sv text) { qn_bytes_append(bytes, text.data, text.size); }
static inline void qn_bytes_append_str(qn_bytes *bytes, const char *text) {
  qn_bytes_append(bytes, text, strlen(text));
}
static inline void qn_bytes_append_char(qn_bytes *bytes, char c) { qn_bytes_append(bytes, &c, 1); }

#endif
