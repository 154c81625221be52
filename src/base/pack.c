#include "base/pack.h"

#include <string.h>

static void pack(qn_bytes *out, uint64_t value, unsigned bytes) {
  unsigned char text[8];
  for (unsigned i = 0; i < bytes; i++) text[i] = (unsigned char)(value >> (8 * i));
  qn_bytes_append(out, text, bytes);
}

void qn_pack_u32(qn_bytes *out, uint32_t value) { pack(out, value, 4); }
void qn_pack_u64(qn_bytes *out, uint64_t value) { pack(out, value, 8); }

void qn_pack_text(qn_bytes *out, qn_sv text) {
  qn_pack_u64(out, text.size);
  qn_bytes_append_sv(out, text);
}

/* The first `size` bytes, taken; NULL when there are fewer. */
static const char *take(qn_unpack *from, uint64_t size) {
  if (from->failed || size > from->rest.size) {
    from->failed = true;
    return NULL;
  }
  const char *bytes = from->rest.data;
  from->rest = qn_sv_make(bytes + size, from->rest.size - (size_t)size);
  return bytes;
}

static uint64_t unpack(qn_unpack *from, unsigned bytes) {
  const unsigned char *text = (const unsigned char *)take(from, bytes);
  uint64_t value = 0;
  for (unsigned i = 0; text && i < bytes; i++) value |= (uint64_t)text[i] << (8 * i);
  return value;
}

uint32_t qn_unpack_u32(qn_unpack *from) { return (uint32_t)unpack(from, 4); }
uint64_t qn_unpack_u64(qn_unpack *from) { return unpack(from, 8); }

qn_sv qn_unpack_text(qn_unpack *from) {
  uint64_t size = qn_unpack_u64(from);
  const char *bytes = take(from, size);
  return bytes ? qn_sv_make(bytes, (size_t)size) : QN_SV("");
}

uint32_t qn_unpack_count(qn_unpack *from, size_t least_bytes) {
  uint32_t count = qn_unpack_u32(from);
  if (count <= from->rest.size / (least_bytes ? least_bytes : 1)) return count;
  from->failed = true;
  return 0;
}

const char *qn_unpack_string(qn_unpack *from, qn_arena *arena) {
  qn_sv text = qn_unpack_text(from);
  const char *copy = text.size > 0 && memchr(text.data, 0, text.size) ? NULL : qn_arena_copy(arena, text);
  if (!copy) from->failed = true;
  return copy ? copy : "";
}
