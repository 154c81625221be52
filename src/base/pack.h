/* pack.h - numbers and texts as bytes, little end first, and back, with bounds: for what goes to disk. */
#ifndef QUERN_BASE_PACK_H
#define QUERN_BASE_PACK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/string_view.h"

void qn_pack_u32(qn_bytes *out, uint32_t value);
void qn_pack_u64(qn_bytes *out, uint64_t value);
/* With its length before it. */
void qn_pack_text(qn_bytes *out, qn_sv text);

/* Takes from the front. What isn't there reads as 0 or "" and sets `failed`; from then on everything does. */
typedef struct qn_unpack {
  qn_sv rest;
  bool failed;
} qn_unpack;
static inline qn_unpack qn_unpack_from(qn_sv bytes) { return (qn_unpack){bytes, false}; }
uint32_t qn_unpack_u32(qn_unpack *from);
uint64_t qn_unpack_u64(qn_unpack *from);
/* A view into the packed bytes. */
qn_sv qn_unpack_text(qn_unpack *from);
/* A count of things of `least_bytes` each, at least: no more than what is left could hold. */
uint32_t qn_unpack_count(qn_unpack *from, size_t least_bytes);
/* A copy with a NUL behind it, in `arena`; "" and `failed` when there is no memory or a NUL within. */
const char *qn_unpack_string(qn_unpack *from, qn_arena *arena);
/* Whether all was taken and nothing was missing. */
static inline bool qn_unpack_is_done(const qn_unpack *from) { return !from->failed && from->rest.size == 0; }

#endif
