/* suite_copies.c - copies, fills, writes and reads: every kind of memory, offset and size. */
#include <stdio.h>
#include <string.h>

#include "cts.h"

static void size_zero(cts *c) {
  qn_queue queue = cts_queue(c);
  qn_buffer a = cts_buffer(c, 16), b = cts_buffer(c, 16);
  unsigned char out[16];
  const qn_view at_start = cts_view(a, 0, 0), at_end = cts_view(b, 16, 0);
  qn_point points[4];
  cts_fill(queue, a, 1);
  cts_fill(queue, b, 2);
  CTS_OK(qn_copy(queue, &at_start, &at_end, &points[0]));
  CTS_OK(qn_fill(queue, &at_end, "abcd", 4, &points[1]));
  CTS_OK(qn_write(queue, &at_start, out, &points[2]));
  CTS_OK(qn_read(queue, &at_end, out, &points[3]));
  for (uint64_t i = 0; i < 4; i++) {
    CTS_SAME("the value of a command of size 0", points[i].value, 3 + i);
    cts_wait(&points[i]);
  }
  cts_get(queue, a, out, 16);
  CTS_FILLED("a buffer after copies of size 0", out, 1, 16);
}

/* Each copy has a lane of its own in the target, with bytes around it that must stay. */
static void small_sizes_and_offsets(cts *c) {
  enum { LANE = 160, OFFSETS = 9, SOURCE = 256 };
  static const uint64_t sizes[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129};
  enum { SIZES = sizeof sizes / sizeof *sizes };
  const uint64_t all = (uint64_t)SIZES * OFFSETS * OFFSETS * LANE;
  qn_queue queue = cts_queue(c);
  qn_buffer source = cts_buffer(c, SOURCE), target = cts_buffer(c, all);
  unsigned char bytes[SOURCE], *model = cts_alloc(c, all), *out = cts_alloc(c, all);
  cts_random_bytes(&c->random, bytes, SOURCE);
  cts_put(queue, source, bytes, SOURCE);
  cts_fill(queue, target, 0xcc);
  memset(model, 0xcc, (size_t)all);
  uint64_t lane = 0;
  for (int s = 0; s < SIZES; s++)
    for (uint64_t to = 0; to < OFFSETS; to++)
      for (uint64_t from = 0; from < OFFSETS; from++, lane += LANE) {
        const qn_view a = cts_view(target, lane + 8 + to, sizes[s]), b = cts_view(source, from, sizes[s]);
        CTS_OK(qn_copy(queue, &a, &b, NULL));
        memcpy(model + lane + 8 + to, bytes + from, sizes[s]);
      }
  cts_get(queue, target, out, all);
  CTS_BYTES("copies of small sizes between small offsets, 160 bytes each", out, model, all);
}

/* Through write, copy and read. */
static void check_large(cts *c, qn_queue queue, uint64_t size, uint64_t to, uint64_t from) {
  qn_buffer source = cts_buffer(c, size + from), target = cts_buffer(c, size + to);
  unsigned char *in = cts_alloc(c, size), *out = cts_alloc(c, size);
  const qn_view a = cts_view(target, to, size), b = cts_view(source, from, size);
  cts_random_bytes(&c->random, in, size);
  CTS_OK(qn_write(queue, &b, in, NULL));
  CTS_OK(qn_copy(queue, &a, &b, NULL));
  CTS_OK(qn_read(queue, &a, out, NULL));
  cts_finish(queue);
  CTS_BYTES("a large copy", out, in, size);
  cts_drop(c, source);
  cts_drop(c, target);
}

static void large_sizes(cts *c) {
  static const uint64_t sizes[] = {65535, 65536, 65537, (1 << 20) - 1, (1 << 20) + 1, 5000003, (16 << 20) + 3};
  qn_queue queue = cts_queue(c);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) check_large(c, queue, sizes[i], 1 + i, 16 - 2 * i);
  if (c->is_long) check_large(c, queue, (UINT64_C(256) << 20) + 5, 3, 11);
}

/* ---- Kinds of memory ------------------------------------------------------------------------------ */

static qn_buffer buffer_of_kind(cts *c, uint32_t memory, uint64_t size) {
  return memory == QN_MEMORY_WRAP ? cts_wrap(c, cts_alloc(c, size), size) : cts_buffer_of(c, memory, size);
}

static bool has_kind(const cts *c, uint32_t memory) {
  if (memory == QN_MEMORY_SHARED) return cts_has(c, QN_FEATURE_SHARED_MEMORY);
  return memory != QN_MEMORY_WRAP || cts_has(c, QN_FEATURE_WRAP_HOST);
}

static void kinds_to_kinds(cts *c) {
  enum { SIZE = 30011 };
  unsigned char *in = cts_alloc(c, SIZE), *out = cts_alloc(c, SIZE);
  qn_queue queue = cts_queue(c);
  for (uint32_t from = 0; from < 4; from++)
    for (uint32_t to = 0; to < 4; to++) {
      if (!has_kind(c, from) || !has_kind(c, to)) continue;
      char what[64];
      qn_buffer source = buffer_of_kind(c, from, SIZE + 7), target = buffer_of_kind(c, to, SIZE + 3);
      const qn_view a = cts_view(target, 3, SIZE), b = cts_view(source, 7, SIZE);
      snprintf(what, sizeof what, "a copy from memory kind %u to kind %u", from, to);
      cts_random_bytes(&c->random, in, SIZE);
      CTS_OK(qn_write(queue, &b, in, NULL));
      CTS_OK(qn_copy(queue, &a, &b, NULL));
      CTS_OK(qn_read(queue, &a, out, NULL));
      cts_finish(queue);
      CTS_BYTES(what, out, in, SIZE);
    }
}

static void fills_of_kinds(cts *c) {
  enum { SIZE = 30016 };
  unsigned char *out = cts_alloc(c, SIZE), *model = cts_alloc(c, SIZE);
  qn_queue queue = cts_queue(c);
  for (uint32_t kind = 0; kind < 4; kind++) {
    if (!has_kind(c, kind)) continue;
    char what[64];
    qn_buffer buffer = buffer_of_kind(c, kind, SIZE);
    const qn_view view = cts_view(buffer, 0, QN_WHOLE);
    snprintf(what, sizeof what, "a fill of memory kind %u", kind);
    CTS_OK(qn_fill(queue, &view, "0123456789abcdef", 16, NULL));
    for (uint64_t i = 0; i < SIZE; i++) model[i] = (unsigned char)"0123456789abcdef"[i % 16];
    cts_get(queue, buffer, out, SIZE);
    CTS_BYTES(what, out, model, SIZE);
  }
}

/* ---- Fills --------------------------------------------------------------------------------------- */

static void patterns(cts *c) {
  enum { LANE = 2048, OFFSETS = 9 };
  static const uint64_t repeats[] = {1, 2, 3, 7, 15};
  const uint64_t lanes = UINT64_C(8) * OFFSETS * 5, all = lanes * LANE;
  qn_queue queue = cts_queue(c);
  qn_buffer target = cts_buffer(c, all);
  unsigned char pattern[128], *model = cts_alloc(c, all), *out = cts_alloc(c, all);
  cts_fill(queue, target, 0xcc);
  memset(model, 0xcc, (size_t)all);
  uint64_t lane = 0;
  for (uint32_t size = 1; size <= 128; size *= 2)
    for (uint64_t at = 0; at < OFFSETS; at++)
      for (int r = 0; r < 5; r++, lane += LANE) {
        const qn_view view = cts_view(target, lane + 8 + at, size * repeats[r]);
        cts_random_bytes(&c->random, pattern, size);
        CTS_OK(qn_fill(queue, &view, pattern, size, NULL));
        for (uint64_t i = 0; i < repeats[r]; i++) memcpy(model + lane + 8 + at + i * size, pattern, size);
        memset(pattern, 0, sizeof pattern); /* it was copied */
      }
  cts_get(queue, target, out, all);
  CTS_BYTES("fills with patterns of 1 to 128 bytes at any offset, 2048 bytes each", out, model, all);
}

static void large_fills(cts *c) {
  enum { SIZE = (8 << 20) + 128 };
  qn_queue queue = cts_queue(c);
  qn_buffer buffer = cts_buffer(c, SIZE + 5);
  unsigned char pattern[128], *model = cts_alloc(c, SIZE), *out = cts_alloc(c, SIZE);
  for (uint32_t size = 1; size <= 128; size *= 2) {
    const qn_view view = cts_view(buffer, 5, SIZE);
    cts_random_bytes(&c->random, pattern, size);
    for (uint64_t i = 0; i < SIZE; i += size) memcpy(model + i, pattern, size);
    CTS_OK(qn_fill(queue, &view, pattern, size, NULL));
    CTS_OK(qn_read(queue, &view, out, NULL));
    cts_finish(queue);
    CTS_BYTES("a large fill", out, model, SIZE);
  }
}

static void wrong_patterns(cts *c) {
  static const uint32_t wrong[] = {0, 3, 5, 12, 24, 127, 129, 256, UINT32_MAX};
  qn_queue queue = cts_queue(c);
  qn_buffer buffer = cts_buffer(c, 96);
  unsigned char pattern[256] = {0}, out[96];
  const qn_view view = cts_view(buffer, 0, 96), odd = cts_view(buffer, 0, 90);
  cts_fill(queue, buffer, 4);
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    CTS_GIVES(qn_fill(queue, &view, pattern, wrong[i], NULL), QN_ERROR_INVALID_ARGUMENT);
  CTS_GIVES(qn_fill(queue, &odd, pattern, 4, NULL), QN_ERROR_INVALID_ARGUMENT);
  cts_get(queue, buffer, out, 96);
  CTS_FILLED("the buffer after fills that were refused", out, 4, 96);
}

/* ---- Writes and reads ----------------------------------------------------------------------------- */

static void host_guards(cts *c) {
  enum { SIZE = 1000, GUARD = 64 };
  qn_queue queue = cts_queue(c);
  qn_buffer buffer = cts_buffer(c, SIZE + 64);
  unsigned char *host = cts_alloc(c, SIZE + 2 * GUARD);
  cts_fill(queue, buffer, 5);
  for (uint64_t at = 0; at < 9; at++) {
    const qn_view view = cts_view(buffer, at, SIZE - at);
    memset(host, 0xab, SIZE + 2 * GUARD);
    CTS_OK(qn_read(queue, &view, host + GUARD + at, NULL));
    cts_finish(queue);
    CTS_FILLED("host memory in front of a read's target", host, 0xab, GUARD + at);
    CTS_FILLED("a read's target", host + GUARD + at, 5, SIZE - at);
    CTS_FILLED("host memory behind a read's target", host + GUARD + SIZE, 0xab, GUARD);
  }
}

static void writes_take_memory_at_its_time(cts *c) {
  enum { COUNT = 100, SIZE = 4096 };
  qn_queue queue = cts_queue(c);
  qn_buffer buffer = cts_buffer(c, SIZE);
  unsigned char *in = cts_alloc(c, COUNT * SIZE), *out = cts_alloc(c, COUNT * SIZE);
  const qn_view view = cts_view(buffer, 0, QN_WHOLE);
  cts_random_bytes(&c->random, in, COUNT * SIZE);
  for (int i = 0; i < COUNT; i++) {
    CTS_OK(qn_write(queue, &view, in + i * SIZE, NULL));
    CTS_OK(qn_read(queue, &view, out + i * SIZE, NULL));
  }
  cts_finish(queue);
  CTS_BYTES("a hundred writes, each read back before the next", out, in, COUNT * SIZE);
}

/* ---- Within one buffer ----------------------------------------------------------------------------- */

static void adjacent_ranges(cts *c) {
  enum { PART = 1001 };
  qn_queue queue = cts_queue(c);
  qn_buffer buffer = cts_buffer(c, 3 * PART);
  unsigned char *model = cts_alloc(c, 3 * PART), *out = cts_alloc(c, 3 * PART);
  const qn_view parts[] = {cts_view(buffer, 0, PART), cts_view(buffer, PART, PART), cts_view(buffer, 2 * PART, PART)};
  cts_random_bytes(&c->random, model, 3 * PART);
  cts_put(queue, buffer, model, 3 * PART);
  CTS_OK(qn_copy(queue, &parts[1], &parts[0], NULL));
  memcpy(model + PART, model, PART);
  CTS_OK(qn_copy(queue, &parts[0], &parts[2], NULL));
  memcpy(model, model + 2 * PART, PART);
  CTS_OK(qn_copy(queue, &parts[2], &parts[1], NULL));
  memcpy(model + 2 * PART, model + PART, PART);
  cts_get(queue, buffer, out, 3 * PART);
  CTS_BYTES("copies between neighbouring parts of a buffer", out, model, 3 * PART);
}

static void overlapping_copies(cts *c) {
  static const uint64_t pairs[][3] = {{0, 0, 1},    {0, 0, 100},  {0, 1, 99}, {1, 0, 99},
                                      {10, 20, 11}, {20, 10, 11}, {50, 0, 51}};
  qn_queue queue = cts_queue(c);
  qn_buffer buffer = cts_buffer(c, 101);
  unsigned char out[101];
  cts_fill(queue, buffer, 6);
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    qn_point point = {1, 2};
    const qn_view to = cts_view(buffer, pairs[i][0], pairs[i][2]), from = cts_view(buffer, pairs[i][1], pairs[i][2]);
    CTS_GIVES(qn_copy(queue, &to, &from, &point), QN_ERROR_INVALID_ARGUMENT);
    CTS_SAME("the point of a copy that was refused", point.value, 2);
  }
  qn_point last = cts_fill(queue, buffer, 6);
  CTS_SAME("the next value after copies that were refused", last.value, 2);
  cts_get(queue, buffer, out, 101);
  CTS_FILLED("the buffer after copies that were refused", out, 6, 101);
}

static void unequal_views(cts *c) {
  qn_queue queue = cts_queue(c);
  qn_buffer a = cts_buffer(c, 100), b = cts_buffer(c, 101);
  const qn_view whole_a = cts_view(a, 0, QN_WHOLE), whole_b = cts_view(b, 0, QN_WHOLE),
                most_b = cts_view(b, 1, QN_WHOLE);
  CTS_GIVES(qn_copy(queue, &whole_a, &whole_b, NULL), QN_ERROR_INVALID_ARGUMENT);
  CTS_OK(qn_copy(queue, &whole_a, &most_b, NULL));
}

/* Bytes travel around a ring of buffers. */
static void chain(cts *c) {
  enum { RING = 5, SIZE = 20001, STEPS = 200 };
  qn_queue queue = cts_queue(c);
  qn_buffer ring[RING];
  unsigned char *in = cts_alloc(c, SIZE), *out = cts_alloc(c, SIZE);
  cts_random_bytes(&c->random, in, SIZE);
  for (int i = 0; i < RING; i++) ring[i] = cts_buffer(c, SIZE);
  cts_put(queue, ring[0], in, SIZE);
  for (int i = 0; i < STEPS; i++) {
    const qn_view to = cts_view(ring[(i + 1) % RING], 0, QN_WHOLE), from = cts_view(ring[i % RING], 0, QN_WHOLE);
    CTS_OK(qn_copy(queue, &to, &from, NULL));
    cts_fill(queue, ring[i % RING], 0); /* what was behind is gone */
  }
  cts_get(queue, ring[STEPS % RING], out, SIZE);
  CTS_BYTES("bytes that were copied around a ring", out, in, SIZE);
}

static void between_devices(cts *c) {
  qn_device other = cts_device(c);
  qn_queue queue = cts_queue(c);
  qn_buffer ours = cts_buffer(c, 64), theirs = cts_buffer_on(c, other, 64);
  const qn_view a = cts_view(ours, 0, QN_WHOLE), b = cts_view(theirs, 0, QN_WHOLE);
  CTS_GIVES(qn_copy(queue, &a, &b, NULL), QN_ERROR_INVALID_ARGUMENT);
  CTS_GIVES(qn_copy(queue, &b, &a, NULL), QN_ERROR_INVALID_ARGUMENT);
  for (uint32_t i = 0; i < c->other_count; i++) {
    const qn_view d = cts_view(cts_buffer_on(c, c->others[i], 64), 0, QN_WHOLE);
    CTS_GIVES(qn_copy(queue, &a, &d, NULL), QN_ERROR_INVALID_ARGUMENT);
  }
}

/* ---- Beyond 32 bits -------------------------------------------------------------------------------- */

/* Marks on both sides of 4 GiB, copied to another place on both sides of it. */
static void over_4_gib(cts *c) {
  const uint64_t four = UINT64_C(4) << 30, size = four + (UINT64_C(64) << 20);
  static const uint64_t places[] = {0, 4096, (UINT64_C(1) << 31) - 8, (UINT64_C(1) << 32) - 8,
                                    (UINT64_C(1) << 32) + 64};
  CTS_TRUE(c->info.max_allocation_bytes >= size,
           "the device allows one buffer of over 4 GiB; it has max_allocation_bytes %llu",
           (unsigned long long)c->info.max_allocation_bytes);
  qn_queue queue = cts_queue(c);
  qn_buffer buffer = cts_buffer(c, size);
  unsigned char in[16], out[16];
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    const qn_view view = cts_view(buffer, places[i], 16), copy = cts_view(buffer, places[i] + (32 << 20), 16);
    cts_random_bytes(&c->random, in, sizeof in);
    CTS_OK(qn_write(queue, &view, in, NULL));
    CTS_OK(qn_copy(queue, &copy, &view, NULL));
    CTS_OK(qn_read(queue, &copy, out, NULL));
    cts_finish(queue);
    CTS_BYTES("bytes beyond 2 and 4 GiB", out, in, sizeof in);
  }
  const qn_view all = cts_view(buffer, 0, QN_WHOLE), last = cts_view(buffer, size - 16, 16);
  CTS_OK(qn_fill(queue, &all, "wxyz", 4, NULL));
  CTS_OK(qn_read(queue, &last, out, NULL));
  cts_finish(queue);
  CTS_BYTES("the end of a fill of over 4 GiB", out, "wxyzwxyzwxyzwxyz", 16);
}

#define COPIES \
  "quern.h: 'Copies, fills, writes and reads are asynchronous and ordered like launches.'; adapter.h: QN_COMMAND_COPY"
#define FILLS                                                                                                         \
  "quern.h: a fill's view has any offset, its pattern 'divides the view's size'; adapter.h: QN_COMMAND_FILL: 'fill; " \
  "copied before the call returns'"
#define HOST                                                                                                       \
  "quern.h: 'Host memory given to qn_write and qn_read must stay valid until the point is complete.'; adapter.h: " \
  "'read: written until complete; write: read until complete'"
#define REFUSED "quern.h: 'A function that fails changes nothing that its caller can see'"

static const cts_test tests[] = {
    {"size_zero_does_nothing_and_gives_a_point", size_zero, 0, 0,
     "quern.h: 'Size 0 does nothing and still gives a point.'; adapter.h: QN_COMMAND_MARK: 'nothing: a value of its "
     "own'"},
    {"small_sizes_between_small_offsets", small_sizes_and_offsets, 0, 0, COPIES},
    {"large_sizes_between_odd_offsets", large_sizes, 0, 0, COPIES},
    {"every_kind_of_memory_to_every_kind", kinds_to_kinds, 0, 0, COPIES},
    {"every_kind_of_memory_is_filled", fills_of_kinds, 0, 0, FILLS},
    {"patterns_of_every_size_fill_any_range", patterns, 0, 0, FILLS},
    {"patterns_of_every_size_fill_large_ranges", large_fills, 0, 0, FILLS},
    {"other_pattern_sizes_are_refused", wrong_patterns, 0, 0,
     "quern.h: 'A fill's pattern has 1, 2, 4, 8, 16, 32, 64 or 128 bytes and divides the view's size.'"},
    {"reads_write_their_target_and_nothing_around_it", host_guards, 0, 0, HOST},
    {"each_write_is_read_back_before_the_next", writes_take_memory_at_its_time, 0, 0, HOST},
    {"neighbouring_parts_of_one_buffer_are_copied", adjacent_ranges, 0, 0, COPIES},
    {"overlapping_copies_are_refused", overlapping_copies, 0, 0, REFUSED},
    {"views_of_unequal_size_are_refused", unequal_views, 0, 0,
     "quern.h: 'Copies take views of equal size that do not overlap, on one device.'"},
    {"a_chain_of_copies_runs_in_order", chain, 0, 0, COPIES},
    {"buffers_of_another_device_are_refused", between_devices, 0, 0,
     "quern.h: 'Copies take views of equal size that do not overlap, on one device.'"},
    {"ranges_beyond_4_gib", over_4_gib, 0, CTS_LONG,
     "adapter.h: target_offset, source_offset and size_bytes have 64 bits"},
};

CTS_SUITE(copies, "copies, fills, writes and reads: every kind of memory, offset and size");
