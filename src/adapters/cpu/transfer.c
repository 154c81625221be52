/* Copies and fills, in blocks that threads share. A copy that is larger than the cache is written around it: that spares
 * reading the target's lines before they are overwritten (4.0 ms become 2.7 for 64 MiB on two cores). Fills
 * gained nothing by it. */
#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "memory.h"
#include "record.h"

#define BLOCK (UINT64_C(64) << 10)
#define BLOCK_US 6                        /* a guess: about 10 GB/s */
#define STREAM_BYTES (UINT64_C(24) << 20) /* about a last-level cache */

static bool range_ok(const qn_adapter_memory *m, uint64_t offset, uint64_t bytes) {
  return m && offset <= m->size_bytes && bytes <= m->size_bytes - offset;
}

static qn_status outside(const qn_adapter_host *host, const char *what, const qn_adapter_memory *m, uint64_t offset,
                         uint64_t bytes) {
  return cpu_error(host, QN_ERROR_INVALID_ARGUMENT, 0,
                   "cpu: the %s range of %llu bytes at %llu lies outside of the memory's %llu", what,
                   (unsigned long long)bytes, (unsigned long long)offset, (unsigned long long)(m ? m->size_bytes : 0));
}

static qn_status write_pattern(const qn_adapter_host *host, const qn_adapter_command *c, cpu_transfer *t) {
  uint64_t n = c->pattern_bytes;
  if (!c->pattern || n == 0 || n > CPU_ALIGNMENT || (n & (n - 1)) != 0 || c->size_bytes % n != 0)
    return cpu_error(
        host, QN_ERROR_INVALID_ARGUMENT, 0,
        "cpu: a pattern of %llu bytes can't fill %llu: it must be a power of two up to 128 that divides the size",
        (unsigned long long)n, (unsigned long long)c->size_bytes);
  for (uint64_t i = 0; i < CPU_ALIGNMENT; i += n) memcpy(t->pattern + i, c->pattern, n);
  return QN_OK;
}

qn_status cpu_transfer_write(const qn_adapter_host *host, const qn_adapter_command *c, cpu_record *record) {
  cpu_transfer *t = &record->transfer;
  bool reads = c->kind == QN_COMMAND_READ, writes = c->kind == QN_COMMAND_WRITE, fills = c->kind == QN_COMMAND_FILL;
  if (!reads && !range_ok(c->target, c->target_offset, c->size_bytes))
    return outside(host, "target", c->target, c->target_offset, c->size_bytes);
  if ((reads || c->kind == QN_COMMAND_COPY) && !range_ok(c->source, c->source_offset, c->size_bytes))
    return outside(host, "source", c->source, c->source_offset, c->size_bytes);
  if ((reads || writes) && !c->host && c->size_bytes > 0)
    return cpu_error(host, QN_ERROR_INVALID_ARGUMENT, 0, "cpu: a read or write needs host memory");
  t->target = reads ? c->host : c->target->bytes + c->target_offset;
  t->source = writes ? c->host : fills ? NULL : c->source->bytes + c->source_offset;
  t->bytes = c->size_bytes;
  record->cells = c->size_bytes / BLOCK + (c->size_bytes % BLOCK != 0);
  return fills ? write_pattern(host, c, t) : QN_OK;
}

static bool all_equal(const uint8_t *bytes, uint64_t n) {
  for (uint64_t i = 1; i < n; i++)
    if (bytes[i] != bytes[0]) return false;
  return true;
}

/* Blocks begin at multiples of the pattern's 128 bytes, so every block begins with its first byte. */
static void fill(uint8_t *target, uint64_t bytes, const uint8_t *pattern) {
  if (all_equal(pattern, CPU_ALIGNMENT)) {
    memset(target, pattern[0], bytes);
    return;
  }
  uint64_t whole = bytes / CPU_ALIGNMENT * CPU_ALIGNMENT;
  for (uint64_t i = 0; i < whole; i += CPU_ALIGNMENT) memcpy(target + i, pattern, CPU_ALIGNMENT);
  memcpy(target + whole, pattern, bytes - whole);
}

#if defined(__SSE2__)
#define LINE 64

static void stream_line(uint8_t *target, const uint8_t *source) {
  __m128i *to = (__m128i *)(void *)target;
  const __m128i *from = (const __m128i *)(const void *)source;
  __m128i a = _mm_loadu_si128(from), b = _mm_loadu_si128(from + 1), c = _mm_loadu_si128(from + 2),
          d = _mm_loadu_si128(from + 3);
  _mm_stream_si128(to, a);
  _mm_stream_si128(to + 1, b);
  _mm_stream_si128(to + 2, c);
  _mm_stream_si128(to + 3, d);
}

/* Bytes up to the first whole line. */
static uint64_t head_bytes(const uint8_t *target, uint64_t bytes) { return cpu_min(-(uintptr_t)target % LINE, bytes); }

/* Ends with a fence: the store that tells of completion does not order streamed ones. */
static void stream_copy(uint8_t *target, const uint8_t *source, uint64_t bytes) {
  uint64_t done = head_bytes(target, bytes);
  memcpy(target, source, done);
  for (; bytes - done >= LINE; done += LINE) stream_line(target + done, source + done);
  memcpy(target + done, source + done, bytes - done);
  _mm_sfence();
}
#else
/* memcpy chooses for itself. */
static void stream_copy(uint8_t *target, const uint8_t *source, uint64_t bytes) { memcpy(target, source, bytes); }
#endif

void cpu_transfer_run(const cpu_transfer *t, uint64_t first, uint64_t count) {
  uint64_t begin = first * BLOCK, bytes = cpu_min(count * BLOCK, t->bytes - begin);
  if (t->source && t->bytes >= STREAM_BYTES)
    stream_copy(t->target + begin, t->source + begin, bytes);
  else if (t->source)
    memcpy(t->target + begin, t->source + begin, bytes);
  else
    fill(t->target + begin, bytes, t->pattern);
}

uint64_t cpu_transfer_cost(uint64_t ticks_per_us) { return BLOCK_US * ticks_per_us; }
