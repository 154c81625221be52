#include "store/entry.h"

#include <blake2.h>
#include <string.h>
#include <zstd.h>

/* Offsets in the header. Numbers have their little end first. */
enum {
  AT_MAGIC = 0,
  AT_VERSION = 8,
  AT_KIND = 12,
  AT_STORED = 16,
  AT_RAW = 24,
  AT_PACKING = 32,
  AT_LABEL = 36,
  AT_KEY = 40,
  AT_CHECKSUM = 72,
  CHECKSUM_BYTES = 32,
  AT_RESERVED = 104 /* zeros */
};
enum { PACKED_NOT = 0, PACKED_ZSTD = 1 };
static const char magic[8] = "QNENTRY\n";
static const int zstd_level = 3;

static void put(unsigned char *at, uint64_t value, unsigned bytes) {
  for (unsigned i = 0; i < bytes; i++) at[i] = (unsigned char)(value >> (8 * i));
}
static uint64_t get(const unsigned char *at, unsigned bytes) {
  uint64_t value = 0;
  for (unsigned i = 0; i < bytes; i++) value |= (uint64_t)at[i] << (8 * i);
  return value;
}

/* Over everything but itself. */
static void checksum(const unsigned char *header, qn_sv rest, unsigned char *out) {
  blake2b_state state;
  blake2b_init(&state, CHECKSUM_BYTES);
  blake2b_update(&state, header, AT_CHECKSUM);
  blake2b_update(&state, header + AT_RESERVED, QN_ENTRY_HEADER_BYTES - AT_RESERVED);
  blake2b_update(&state, (const unsigned char *)rest.data, rest.size);
  blake2b_final(&state, out, CHECKSUM_BYTES);
}

/* ---- Packing ------------------------------------------------------------------------------------ */

/* Appends the body, smaller where that helps. Returns how it was packed; -1: no memory. */
static int append_body(qn_sv body, qn_bytes *out) {
  size_t bound = ZSTD_compressBound(body.size), start = out->size;
  if (!qn_bytes_reserve(out, bound + 1)) return -1;
  size_t size = ZSTD_compress(out->data + start, bound, body.data, body.size, zstd_level);
  if (!ZSTD_isError(size) && size < body.size) {
    out->size += size;
    return PACKED_ZSTD;
  }
  qn_bytes_append_sv(out, body);
  return out->failed ? -1 : PACKED_NOT;
}

bool qn_entry_pack(const qn_entry_info *info, qn_sv body, qn_bytes *out) {
  unsigned char header[QN_ENTRY_HEADER_BYTES] = {0};
  size_t start = out->size, label = strnlen(info->label, sizeof info->label - 1);
  if (body.size > QN_ENTRY_BODY_LIMIT) return false;
  qn_bytes_append(out, header, sizeof header);
  qn_bytes_append(out, info->label, label);
  int packing = out->failed ? -1 : append_body(body, out);
  if (packing < 0) return false;
  memcpy(header + AT_MAGIC, magic, sizeof magic);
  put(header + AT_VERSION, QN_ENTRY_VERSION, 4);
  put(header + AT_KIND, info->kind, 4);
  put(header + AT_STORED, out->size - start - sizeof header - label, 8);
  put(header + AT_RAW, body.size, 8);
  put(header + AT_PACKING, (uint64_t)packing, 4);
  put(header + AT_LABEL, label, 4);
  memcpy(header + AT_KEY, info->key.bytes, QN_KEY_BYTES);
  size_t rest = start + sizeof header;
  checksum(header, qn_sv_make(out->data + rest, out->size - rest), header + AT_CHECKSUM);
  memcpy(out->data + start, header, sizeof header);
  return true;
}

/* ---- Unpacking ---------------------------------------------------------------------------------- */

bool qn_entry_look(qn_sv head, qn_entry_info *out_info) {
  const unsigned char *h = (const unsigned char *)head.data;
  if (head.size < QN_ENTRY_HEADER_BYTES || memcmp(h + AT_MAGIC, magic, sizeof magic) != 0) return false;
  uint64_t label = get(h + AT_LABEL, 4);
  if (get(h + AT_VERSION, 4) != QN_ENTRY_VERSION || label >= QN_ENTRY_LABEL_LIMIT) return false;
  if (label > head.size - QN_ENTRY_HEADER_BYTES) return false;
  *out_info = (qn_entry_info){
      .kind = (uint32_t)get(h + AT_KIND, 4), .stored_bytes = get(h + AT_STORED, 8), .raw_bytes = get(h + AT_RAW, 8)};
  memcpy(out_info->key.bytes, h + AT_KEY, QN_KEY_BYTES);
  memcpy(out_info->label, head.data + QN_ENTRY_HEADER_BYTES, (size_t)label);
  return true;
}

static bool has_checksum(qn_sv file) {
  unsigned char sum[CHECKSUM_BYTES];
  const unsigned char *header = (const unsigned char *)file.data;
  checksum(header, qn_sv_make(file.data + QN_ENTRY_HEADER_BYTES, file.size - QN_ENTRY_HEADER_BYTES), sum);
  return memcmp(sum, header + AT_CHECKSUM, CHECKSUM_BYTES) == 0;
}

static qn_entry_fault unpack_body(uint32_t packing, qn_sv stored, uint64_t raw_bytes, qn_bytes *out) {
  if (raw_bytes > QN_ENTRY_BODY_LIMIT || packing > PACKED_ZSTD) return QN_ENTRY_DAMAGED;
  if (packing == PACKED_NOT && raw_bytes != stored.size) return QN_ENTRY_DAMAGED;
  if (!out) return QN_ENTRY_SOUND;
  if (!qn_bytes_reserve(out, (size_t)raw_bytes + 1)) return QN_ENTRY_NO_MEMORY;
  if (packing == PACKED_NOT) {
    qn_bytes_append_sv(out, stored);
    return QN_ENTRY_SOUND;
  }
  size_t size = ZSTD_decompress(out->data + out->size, (size_t)raw_bytes, stored.data, stored.size);
  if (ZSTD_isError(size) || size != raw_bytes) {
    out->data[out->size] = '\0';
    return QN_ENTRY_DAMAGED;
  }
  out->size += size;
  out->data[out->size] = '\0';
  return QN_ENTRY_SOUND;
}

qn_entry_fault qn_entry_unpack(qn_sv file, const qn_key *key, uint32_t kind, qn_bytes *out) {
  const unsigned char *h = (const unsigned char *)file.data;
  qn_entry_info info;
  if (file.size < QN_ENTRY_HEADER_BYTES || memcmp(h + AT_MAGIC, magic, sizeof magic) != 0) return QN_ENTRY_DAMAGED;
  if (get(h + AT_VERSION, 4) != QN_ENTRY_VERSION) return QN_ENTRY_OTHER_VERSION;
  if (!qn_entry_look(file, &info) || !has_checksum(file)) return QN_ENTRY_DAMAGED;
  size_t before = QN_ENTRY_HEADER_BYTES + (size_t)get(h + AT_LABEL, 4);
  if (info.stored_bytes != file.size - before) return QN_ENTRY_DAMAGED;
  if (info.kind != kind || memcmp(info.key.bytes, key->bytes, QN_KEY_BYTES) != 0) return QN_ENTRY_OTHER_KEY;
  return unpack_body((uint32_t)get(h + AT_PACKING, 4), qn_sv_make(file.data + before, file.size - before),
                     info.raw_bytes, out);
}
