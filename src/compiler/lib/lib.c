#include "compiler/lib/lib.h"

static int compare(qn_sv name, const char *other) {
  size_t length = strlen(other);
  int order = memcmp(name.data, other, name.size < length ? name.size : length);
  return order ? order : (name.size > length) - (name.size < length);
}

int32_t qn_library_find(qn_sv name) {
  uint32_t low = 0, high = qn_library_count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    int order = compare(name, qn_library_entries[middle].name);
    if (order == 0) return (int32_t)middle;
    if (order > 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return -1;
}
