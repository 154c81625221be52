#include "core/options.h"

#include <string.h>

#include "base/status.h"

enum { SMALLEST = 8 /* every struct starts with struct_size and another 32-bit field */, LARGEST = 1 << 16 };

static qn_status check_size(uint32_t size, const char *name) {
  if (size < SMALLEST || size > LARGEST)
    QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "%s.struct_size is %u; make the struct with QN_INIT, or set it to sizeof", name,
            size);
  return QN_OK;
}

qn_status core_options_read(void *own, uint32_t known, const void *given, const char *type) {
  memset(own, 0, known);
  if (!given) {
    memcpy(own, &known, sizeof known);
    return QN_OK;
  }
  uint32_t size;
  memcpy(&size, given, sizeof size);
  QN_TRY(check_size(size, type));
  for (uint32_t i = known; i < size; i++)
    if (((const unsigned char *)given)[i] != 0)
      QN_FAIL(QN_ERROR_UNSUPPORTED, "%s has a field at byte %u that this library (%u bytes) doesn't know", type, i,
              known);
  memcpy(own, given, size < known ? size : known);
  memcpy(own, &known, sizeof known);
  return QN_OK;
}

qn_status core_reserved_check(uint32_t reserved, const char *type) {
  if (reserved == 0) return QN_OK;
  QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "%s.reserved is %u; it must be 0", type, reserved);
}

qn_status core_info_check(const void *out, const char *name) {
  if (!out) QN_FAIL(QN_ERROR_INVALID_ARGUMENT, "%s is NULL", name);
  uint32_t size;
  memcpy(&size, out, sizeof size);
  return check_size(size, name);
}

void core_info_write(void *out, const void *own, uint32_t known) {
  uint32_t size;
  memcpy(&size, out, sizeof size);
  uint32_t common = size < known ? size : known;
  memcpy((char *)out + sizeof size, (const char *)own + sizeof size, common - sizeof size);
  memset((char *)out + common, 0, size - common);
}

void core_text_copy(char *field, uint64_t capacity, const char *text) {
  if (capacity == 0) return;
  size_t length = strnlen(text, (size_t)capacity - 1);
  memcpy(field, text, length);
  field[length] = '\0';
}
