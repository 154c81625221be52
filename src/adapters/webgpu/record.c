#include "record.h"

#include <stdlib.h>
#include <string.h>

enum { VERSION = 1, LEAST_ENTRY = 5 * 8 + 7 * 4 + 8, LEAST_PARAMETER = 8 * 4 + 8 };

/* Takes from the front. What isn't there reads as 0 and sets `failed`. */
typedef struct reader {
  const unsigned char *at;
  uint64_t left;
  bool failed;
  char *strings; /* room for what is copied */
} reader;

static uint32_t take_u32(reader *r) {
  if (r->left < 4) {
    r->failed = true;
    return 0;
  }
  uint32_t value = (uint32_t)r->at[0] | (uint32_t)r->at[1] << 8 | (uint32_t)r->at[2] << 16 | (uint32_t)r->at[3] << 24;
  r->at += 4;
  r->left -= 4;
  return value;
}

static uint64_t take_u64(reader *r) {
  uint64_t low = take_u32(r);
  return low | (uint64_t)take_u32(r) << 32;
}

static wg_text take_text(reader *r) {
  uint64_t size = take_u64(r);
  if (r->failed || size > r->left || size > UINT32_MAX) {
    r->failed = true;
    return (wg_text){"", 0};
  }
  wg_text text = {(const char *)r->at, (uint32_t)size};
  r->at += size;
  r->left -= size;
  return text;
}

/* With a NUL behind it. Its length stands before it in the record, in more bytes than the NUL: the room is enough. */
static const char *take_string(reader *r) {
  wg_text text = take_text(r);
  char *copy = r->strings;
  if (text.size > 0 && memchr(text.bytes, 0, text.size)) r->failed = true;
  if (r->failed) return "";
  memcpy(copy, text.bytes, text.size);
  copy[text.size] = '\0';
  r->strings += text.size + 1;
  return copy;
}

/* No more than what is left could hold. */
static uint32_t take_count(reader *r, uint32_t least) {
  uint32_t count = take_u32(r);
  if (count > r->left / least) r->failed = true;
  return r->failed ? 0 : count;
}

static void take_parameter(reader *r, wg_parameter *p) {
  uint32_t *const words[] = {&p->kind,   &p->offset, &p->size,        &p->binding,
                             &p->access, &p->align,  &p->base_offset, &p->unit};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) *words[i] = take_u32(r);
  p->name = take_string(r);
  if (p->kind > WG_LOCAL || (p->kind == WG_LOCAL && p->unit == 0)) r->failed = true;
}

/* Whether what is written into the argument block stays within it. */
static bool fits(const wg_entry *e) {
  for (uint32_t i = 0; i < e->parameter_count; i++) {
    const wg_parameter *p = &e->parameters[i];
    uint64_t size = p->kind == WG_VALUE ? p->size : p->kind == WG_BUFFER ? 4 : 0;
    if (size > 0 && (uint64_t)p->offset + size > e->block_bytes) return false;
    if (p->base_offset > 0 && (uint64_t)p->base_offset + 4 > e->block_bytes) return false;
  }
  return !e->takes_range || e->block_bytes >= sizeof(qn_wgsl_launch_range);
}

static bool take_entry(reader *r, wg_entry *e) {
  e->name = take_string(r);
  e->entry = take_string(r);
  for (int d = 0; d < 3; d++) {
    const char *name = take_string(r);
    e->fixed_group[d] = take_u32(r);
    e->group[d] = *name ? name : NULL;
  }
  e->block_bytes = take_u32(r);
  e->takes_range = take_u32(r);
  e->bindings = take_u32(r);
  e->static_local_bytes = take_u64(r);
  e->parameter_count = take_count(r, LEAST_PARAMETER);
  e->parameters = calloc(e->parameter_count + 1, sizeof *e->parameters);
  for (uint32_t i = 0; e->parameters && i < e->parameter_count; i++) take_parameter(r, &e->parameters[i]);
  if (e->parameters && !r->failed && !fits(e)) r->failed = true;
  return e->parameters != NULL;
}

static qn_status read_entries(const wg_text *text, wg_record *out) {
  reader r = {.at = (const unsigned char *)text->bytes, .left = text->size};
  r.strings = out->strings = malloc((size_t)text->size + 1);
  bool has_memory = out->strings != NULL;
  if (take_u32(&r) != VERSION) return QN_ERROR_DATA;
  out->uses_half = take_u32(&r);
  out->uses_fused = take_u32(&r);
  uint32_t count = take_count(&r, LEAST_ENTRY);
  out->entries = calloc(count + 1, sizeof *out->entries);
  has_memory = has_memory && out->entries;
  for (uint32_t i = 0; has_memory && i < count; i++, out->entry_count++) has_memory = take_entry(&r, &out->entries[i]);
  if (!has_memory) return QN_ERROR_OUT_OF_HOST_MEMORY;
  return r.failed || r.left > 0 ? QN_ERROR_DATA : QN_OK;
}

qn_status wg_record_read(const void *bytes, uint64_t size, wg_record *out) {
  reader r = {.at = bytes, .left = size};
  *out = (wg_record){0};
  wg_text record = take_text(&r);
  out->plain = take_text(&r);
  out->merged = take_text(&r);
  if (r.failed || r.left > 0) return QN_ERROR_DATA;
  qn_status status = read_entries(&record, out);
  if (status < 0) wg_record_free(out);
  return status;
}

void wg_record_free(wg_record *record) {
  for (uint32_t i = 0; record->entries && i <= record->entry_count; i++) free(record->entries[i].parameters);
  free(record->entries);
  free(record->strings);
  *record = (wg_record){0};
}
