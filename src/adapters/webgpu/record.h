/* record.h - what code of the kind QN_CODE_WGSL says of its kernels, read from its bytes (adapter.h: "Entries of WGSL code"). */
#ifndef QUERN_ADAPTERS_WEBGPU_RECORD_H
#define QUERN_ADAPTERS_WEBGPU_RECORD_H

#include "webgpu.h"

enum { WG_VALUE = 0, WG_BUFFER = 1, WG_LOCAL = 2 };

#define WG_FIRST_ADDRESS UINT32_C(0x10000000)
#define WG_NULL UINT32_C(0xffffffff)
#define WG_FUSED "quern_fused"

typedef struct wg_parameter {
  uint32_t kind, offset, size, binding, access, align, base_offset, unit;
  const char *name;
} wg_parameter;

typedef struct wg_entry {
  const char *name, *entry;
  const char *group[3]; /* NULL: fixed */
  uint32_t fixed_group[3];
  uint32_t block_bytes, takes_range, bindings;
  uint64_t static_local_bytes;
  uint32_t parameter_count;
  wg_parameter *parameters;
} wg_entry;

typedef struct wg_text {
  const char *bytes;
  uint32_t size;
} wg_text;

typedef struct wg_record {
  uint32_t uses_half, uses_fused, entry_count;
  wg_entry *entries;
  char *strings;
  wg_text plain, merged; /* within the code that was read */
} wg_record;

/* Errors: DATA for bytes that are no such code; OUT_OF_HOST_MEMORY. No error is set. */
qn_status wg_record_read(const void *bytes, uint64_t size, wg_record *out);
void wg_record_free(wg_record *record);

#endif
