#include "base/bytes.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/os/text.h"

enum { SMALLEST = 64 };

void qn_bytes_free(qn_bytes *bytes) {
  free(bytes->data);
  *bytes = (qn_bytes){0};
}

bool qn_bytes_reserve(qn_bytes *bytes, size_t extra) {
  if (bytes->failed) return false;
  if (bytes->data && extra < bytes->capacity - bytes->size) return true;
  size_t need;
  if (__builtin_add_overflow(bytes->size, extra, &need) || need >= SIZE_MAX / 2) return !(bytes->failed = true);
  size_t capacity = bytes->capacity < SMALLEST ? SMALLEST : bytes->capacity * 2;
  if (capacity < need + 1) capacity = need + 1; /* one for the NUL */
  char *data = realloc(bytes->data, capacity);
  if (!data) return !(bytes->failed = true);
  data[bytes->size] = 0;
  bytes->data = data;
  bytes->capacity = capacity;
  return true;
}

void qn_bytes_append_u64(qn_bytes *bytes, uint64_t value) {
  char digits[20];
  size_t at = sizeof digits;
  do {
    digits[--at] = (char)('0' + value % 10);
    value /= 10;
  } while (value);
  qn_bytes_append(bytes, digits + at, sizeof digits - at);
}

void qn_bytes_insert(qn_bytes *bytes, size_t at, qn_sv text) {
  if (!qn_bytes_reserve(bytes, text.size) || text.size == 0) return;
  memmove(bytes->data + at + text.size, bytes->data + at, bytes->size - at + 1);
  memcpy(bytes->data + at, text.data, text.size);
  bytes->size += text.size;
}

void qn_bytes_vprintf(qn_bytes *bytes, const char *format, va_list args) {
  va_list again;
  va_copy(again, args);
  if (qn_bytes_reserve(bytes, 0)) {
    size_t room = bytes->capacity - bytes->size;
    int length = qn_text_format(bytes->data + bytes->size, room, format, args);
    if (length < 0) {
      bytes->failed = true;
      bytes->data[bytes->size] = 0;
    } else if ((size_t)length < room) {
      bytes->size += (size_t)length;
    } else if (qn_bytes_reserve(bytes, (size_t)length)) {
      qn_text_format(bytes->data + bytes->size, (size_t)length + 1, format, again);
      bytes->size += (size_t)length;
    } else {
      bytes->data[bytes->size] = 0;
    }
  }
  va_end(again);
}

void qn_bytes_printf(qn_bytes *bytes, const char *format, ...) {
  va_list args;
  va_start(args, format);
  qn_bytes_vprintf(bytes, format, args);
  va_end(args);
}
