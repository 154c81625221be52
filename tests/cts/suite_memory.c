/* suite_memory.c - kinds of memory, maps, wrapped memory, views. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cts.h"

static qn_buffer_info query(qn_buffer buffer) {
  qn_buffer_info info = QN_INIT(qn_buffer_info);
  CTS_OK(qn_buffer_query(buffer, &info));
  return info;
}

static void *map(const qn_view *view, uint32_t access) {
  void *pointer = NULL;
  CTS_OK(qn_buffer_map(view, access, CTS_PATIENCE, &pointer));
  CTS_TRUE(pointer != NULL, "qn_buffer_map gives an address");
  return pointer;
}

static void unmap(qn_buffer buffer, void *pointer) { CTS_OK(qn_buffer_unmap(buffer, pointer)); }

/* Written, read back; mapped, read, written; read back again. */
static void round_trip(cts *c, qn_queue queue, qn_buffer buffer, uint64_t size) {
  unsigned char *in = cts_alloc(c, size), *out = cts_alloc(c, size);
  const qn_view whole = cts_view(buffer, 0, QN_WHOLE);
  cts_random_bytes(&c->random, in, size);
  cts_put(queue, buffer, in, size);
  cts_get(queue, buffer, out, size);
  CTS_BYTES("what was written", out, in, size);
  unsigned char *mapped = map(&whole, QN_MAP_READ | QN_MAP_WRITE);
  CTS_BYTES("what is mapped", mapped, in, size);
  for (uint64_t i = 0; i < size; i++) mapped[i] = in[i] = (unsigned char)(in[i] + 1);
  unmap(buffer, mapped);
  cts_get(queue, buffer, out, size);
  CTS_BYTES("what was written through a map", out, in, size);
}

static void kind_round_trips(cts *c, uint32_t memory) {
  static const uint64_t sizes[] = {1, 3, 63, 64, 65, 4095, 4096, 4097, 100003, (1 << 20) + 1};
  qn_queue queue = cts_queue(c);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    qn_buffer buffer = cts_buffer_of(c, memory, sizes[i]);
    const qn_buffer_info info = query(buffer);
    CTS_SAME("the buffer's kind of memory", info.memory, memory);
    CTS_SAME("the buffer's size", info.size_bytes, sizes[i]);
    round_trip(c, queue, buffer, sizes[i]);
    cts_drop(c, buffer);
  }
}

static void device_memory(cts *c) { kind_round_trips(c, QN_MEMORY_DEVICE); }
static void host_memory(cts *c) { kind_round_trips(c, QN_MEMORY_HOST); }
static void shared_memory(cts *c) { kind_round_trips(c, QN_MEMORY_SHARED); }

/* No map and no copy: the host's reads and writes between points. */
static void shared_is_one_address(cts *c) {
  enum { SIZE = 10007 };
  unsigned char *bytes = cts_alloc(c, SIZE), *out = cts_alloc(c, SIZE);
  qn_queue queue = cts_queue(c);
  qn_buffer buffer = cts_buffer_of(c, QN_MEMORY_SHARED, SIZE), copy = cts_buffer(c, SIZE);
  unsigned char *shared = query(buffer).host_pointer;
  CTS_TRUE(shared != NULL, "the host_pointer of a buffer of QN_MEMORY_SHARED is set");
  cts_random_bytes(&c->random, bytes, SIZE);
  memcpy(shared, bytes, SIZE);
  const qn_view from = cts_view(buffer, 0, QN_WHOLE), to = cts_view(copy, 0, QN_WHOLE);
  CTS_OK(qn_copy(queue, &to, &from, NULL));
  cts_get(queue, copy, out, SIZE);
  CTS_BYTES("what the device sees of what the host wrote", out, bytes, SIZE);
  cts_fill(queue, buffer, 0x5a);
  cts_finish(queue);
  CTS_FILLED("what the host sees of what the device wrote", shared, 0x5a, SIZE);
}

static void shared_in_kernels(cts *c) {
  enum { N = 1000 };
  qn_queue queue = cts_queue(c);
  qn_kernel add =
      cts_kernel(c, cts_program(c, "kernel void add(global int *a, int n) { a[get_global_id(0)] += n; }"), "add");
  qn_buffer buffer = cts_buffer_of(c, QN_MEMORY_SHARED, N * sizeof(int32_t));
  int32_t *shared = query(buffer).host_pointer;
  CTS_TRUE(shared != NULL, "the host_pointer of a buffer of QN_MEMORY_SHARED is set");
  for (int round = 0; round < 20; round++) {
    for (int i = 0; i < N; i++) shared[i] = i + round;
    CTS_OK(qn_launch(queue, add, QN_RANGE_1D(N), QN_ARGS(buffer, 1000), NULL));
    cts_finish(queue);
    for (int i = 0; i < N; i++) CTS_EQUAL(shared[i], i + round + 1000);
  }
}

/* ---- Wrapped memory ------------------------------------------------------------------------------- */

static void wrap_at(cts *c, qn_queue queue, unsigned char *memory, uint64_t size) {
  unsigned char *out = cts_alloc(c, size), *before = cts_alloc(c, size);
  cts_random_bytes(&c->random, memory, size);
  memcpy(before, memory, size);
  qn_buffer buffer = cts_wrap(c, memory, size);
  const qn_view whole = cts_view(buffer, 0, QN_WHOLE);
  cts_get(queue, buffer, out, size);
  CTS_BYTES("a wrapped buffer's first contents", out, before, size);
  cts_fill(queue, buffer, 0x3c);
  unsigned char *mapped = map(&whole, QN_MAP_READ | QN_MAP_WRITE);
  CTS_FILLED("the wrapped memory, while it is mapped", memory, 0x3c, size);
  CTS_TRUE(mapped == memory, "the map of a wrapped buffer is the wrapped memory, %p, and not %p", (void *)memory,
           (void *)mapped);
  memset(mapped, 0x77, (size_t)size);
  unmap(buffer, mapped);
  cts_get(queue, buffer, out, size);
  CTS_FILLED("what was written to mapped wrapped memory", out, 0x77, size);
  cts_drop(c, buffer);
  CTS_OK(qn_device_drain(c->device, CTS_PATIENCE)); /* it may be wrapped again */
}

static void wrap_of_any_alignment(cts *c) {
  enum { SIZE = 5000 };
  static const uint64_t alignments[] = {4096, 64, 16, 8, 4, 1};
  qn_queue queue = cts_queue(c);
  unsigned char *memory = cts_alloc(c, SIZE + 8192);
  unsigned char *page = memory + (4096 - (uintptr_t)memory % 4096) % 4096;
  for (size_t i = 0; i < sizeof alignments / sizeof *alignments; i++)
    wrap_at(c, queue, page + alignments[i] % 4096, SIZE - 3 * i);
}

static void wrap_leaves_its_surroundings(cts *c) {
  enum { SIZE = 3001, GUARD = 500 };
  qn_queue queue = cts_queue(c);
  unsigned char *memory = cts_alloc(c, SIZE + 2 * GUARD);
  memset(memory, 0xee, SIZE + 2 * GUARD);
  qn_buffer buffer = cts_wrap(c, memory + GUARD, SIZE);
  cts_fill(queue, buffer, 1);
  const qn_view whole = cts_view(buffer, 0, QN_WHOLE);
  unmap(buffer, map(&whole, QN_MAP_READ));
  CTS_FILLED("memory in front of what is wrapped", memory, 0xee, GUARD);
  CTS_FILLED("wrapped memory", memory + GUARD, 1, SIZE);
  CTS_FILLED("memory behind what is wrapped", memory + GUARD + SIZE, 0xee, GUARD);
}

static void wrapped_memory_ends_with_its_buffer(cts *c) {
  enum { SIZE = 1 << 16 };
  qn_queue queue = cts_queue(c);
  for (int i = 0; i < 10; i++) {
    void *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CTS_TRUE(memory != MAP_FAILED, "the system gives pages");
    qn_buffer buffer = cts_wrap(c, memory, SIZE);
    cts_fill(queue, buffer, (unsigned char)i);
    cts_finish(queue);
    cts_drop(c, buffer);
    CTS_OK(qn_device_drain(c->device, CTS_PATIENCE));
    munmap(memory, SIZE); /* nothing may touch it from here on */
    cts_fill(queue, cts_buffer(c, SIZE), 1);
    cts_finish(queue);
  }
}

static void second_wrap_is_refused(cts *c) {
  unsigned char *memory = cts_alloc(c, 8192);
  qn_buffer_options options = QN_INIT(qn_buffer_options);
  qn_buffer buffer = cts_wrap(c, memory, 4096), other = NULL;
  options.memory = QN_MEMORY_WRAP;
  options.size_bytes = 4096;
  options.host_pointer = memory + 2048;
  CTS_GIVES(qn_buffer_create(c->device, &options, &other), QN_ERROR_INVALID_ARGUMENT);
  options.host_pointer = memory + 4096;
  CTS_OK(qn_buffer_create(c->device, &options, &other));
  cts_keep(c, other);
  cts_drop(c, buffer);
  CTS_OK(qn_device_drain(c->device, CTS_PATIENCE));
  cts_wrap(c, memory, 4096);
}

/* ---- Maps ---------------------------------------------------------------------------------------- */

static void map_waits_for_work(cts *c) {
  enum { SIZE = 1 << 20 };
  qn_queue queue = cts_queue(c);
  qn_buffer buffer = cts_buffer(c, SIZE);
  const qn_view whole = cts_view(buffer, 0, QN_WHOLE);
  for (int round = 1; round <= 20; round++) {
    for (int i = 0; i < 5; i++) cts_fill(queue, buffer, (unsigned char)(round * 5 + i));
    void *mapped = map(&whole, QN_MAP_READ);
    CTS_FILLED("what a map sees of work that was in flight", mapped, (unsigned char)(round * 5 + 4), SIZE);
    unmap(buffer, mapped);
  }
}

static void work_sees_what_a_map_wrote(cts *c) {
  enum { SIZE = 200003 };
  qn_queue queue = cts_queue(c), other = cts_queue(c);
  qn_buffer buffer = cts_buffer(c, SIZE);
  unsigned char *out = cts_alloc(c, SIZE);
  const qn_view whole = cts_view(buffer, 0, QN_WHOLE);
  for (int round = 1; round <= 10; round++) {
    cts_fill(queue, buffer, 0xff);
    unsigned char *mapped = map(&whole, QN_MAP_WRITE);
    memset(mapped, round, SIZE);
    unmap(buffer, mapped);
    cts_get(round % 2 ? queue : other, buffer, out, SIZE);
    CTS_FILLED("what work sees of what a map wrote", out, (unsigned char)round, SIZE);
  }
}

static void map_of_a_part(cts *c) {
  enum { SIZE = 4099 };
  static const uint64_t parts[][2] = {{0, 1}, {1, 1}, {7, 13}, {64, 64}, {1000, 3099}, {4098, 1}, {5, QN_WHOLE}};
  qn_queue queue = cts_queue(c);
  qn_buffer buffer = cts_buffer(c, SIZE);
  unsigned char *model = cts_alloc(c, SIZE), *out = cts_alloc(c, SIZE);
  cts_random_bytes(&c->random, model, SIZE);
  cts_put(queue, buffer, model, SIZE);
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    uint64_t at = parts[i][0], size = parts[i][1] == QN_WHOLE ? SIZE - at : parts[i][1];
    const qn_view view = cts_view(buffer, at, parts[i][1]);
    unsigned char *mapped = map(&view, QN_MAP_READ | QN_MAP_WRITE);
    CTS_BYTES("a mapped part", mapped, model + at, size);
    memset(mapped, (int)i, (size_t)size);
    memset(model + at, (int)i, (size_t)size);
    unmap(buffer, mapped);
    cts_get(queue, buffer, out, SIZE);
    CTS_BYTES("the buffer after a part of it was written", out, model, SIZE);
  }
}

/* An address, though there is nothing at it; beside maps of something, and left to the buffer's end. */
static void map_of_no_bytes(cts *c) {
  enum { SIZE = 100 };
  static const uint64_t views[][2] = {{0, 0}, {50, 0}, {SIZE, 0}, {SIZE, QN_WHOLE}};
  enum { VIEWS = sizeof views / sizeof *views };
  static const uint32_t kinds[] = {QN_MEMORY_DEVICE, QN_MEMORY_HOST, QN_MEMORY_SHARED};
  qn_queue queue = cts_queue(c);
  for (size_t kind = 0; kind < 3; kind++) {
    if (kinds[kind] == QN_MEMORY_SHARED && !(c->info.features & QN_FEATURE_SHARED_MEMORY)) continue;
    qn_buffer buffer = cts_buffer_of(c, kinds[kind], SIZE);
    const qn_view whole = cts_view(buffer, 0, QN_WHOLE);
    unsigned char out[SIZE];
    void *empty[VIEWS];
    cts_fill(queue, buffer, 5);
    unsigned char *mapped = map(&whole, QN_MAP_READ | QN_MAP_WRITE);
    for (int i = 0; i < VIEWS; i++) {
      const qn_view view = cts_view(buffer, views[i][0], views[i][1]);
      empty[i] = map(&view, QN_MAP_READ | QN_MAP_WRITE);
    }
    memset(mapped, 6, SIZE);
    for (int i = 0; i < VIEWS; i++) unmap(buffer, empty[i]);
    unmap(buffer, mapped);
    CTS_GIVES(qn_buffer_unmap(buffer, empty[1]), QN_ERROR_INVALID_ARGUMENT);
    cts_get(queue, buffer, out, SIZE);
    CTS_FILLED("the buffer after maps of none of its bytes", out, 6, SIZE);
    const qn_view none = cts_view(buffer, SIZE, 0);
    (void)map(&none, QN_MAP_READ);
    cts_drop(c, buffer);
  }
  CTS_OK(qn_device_drain(c->device, CTS_PATIENCE));
}

static void several_maps_at_a_time(cts *c) {
  enum { PARTS = 8, PART = 1024 };
  qn_queue queue = cts_queue(c);
  qn_buffer buffer = cts_buffer(c, PARTS * PART);
  unsigned char *out = cts_alloc(c, PARTS * PART);
  void *mapped[PARTS];
  cts_fill(queue, buffer, 0);
  for (uint64_t i = 0; i < PARTS; i++) {
    const qn_view view = cts_view(buffer, i * PART, PART);
    mapped[i] = map(&view, QN_MAP_READ | QN_MAP_WRITE);
  }
  for (int i = 0; i < PARTS; i++) memset(mapped[i], i + 1, PART);
  for (int i = 0; i < PARTS; i++) unmap(buffer, mapped[(i * 3) % PARTS]); /* in another order */
  cts_get(queue, buffer, out, PARTS * PART);
  for (int i = 0; i < PARTS; i++)
    CTS_FILLED("a part of several that were mapped", out + i * PART, (unsigned char)(i + 1), PART);
}

static void maps_nest(cts *c) {
  qn_queue queue = cts_queue(c);
  qn_buffer buffer = cts_buffer(c, 4096);
  const qn_view whole = cts_view(buffer, 0, QN_WHOLE);
  unsigned char out[4096];
  cts_fill(queue, buffer, 9);
  void *first = map(&whole, QN_MAP_READ), *second = map(&whole, QN_MAP_READ | QN_MAP_WRITE);
  unmap(buffer, second);
  CTS_FILLED("a map after one beside it ended", first, 9, 4096);
  unmap(buffer, first);
  CTS_GIVES(qn_buffer_unmap(buffer, first), QN_ERROR_INVALID_ARGUMENT);
  cts_fill(queue, buffer, 8);
  cts_get(queue, buffer, out, sizeof out);
  CTS_FILLED("the buffer after its maps ended", out, 8, sizeof out);
}

static void a_mapped_buffer_is_released(cts *c) {
  for (int i = 0; i < 10; i++) {
    qn_buffer buffer = cts_buffer(c, 100000);
    const qn_view whole = cts_view(buffer, 0, QN_WHOLE);
    memset(map(&whole, QN_MAP_WRITE), 1, 100000);
    cts_drop(c, buffer);
  }
  CTS_OK(qn_device_drain(c->device, CTS_PATIENCE));
}

/* ---- Views --------------------------------------------------------------------------------------- */

static void every_small_view(cts *c) {
  enum { SIZE = 96 };
  qn_queue queue = cts_queue(c);
  qn_buffer buffer = cts_buffer(c, SIZE);
  unsigned char model[SIZE], in[SIZE], out[SIZE];
  cts_random_bytes(&c->random, model, SIZE);
  cts_put(queue, buffer, model, SIZE);
  for (uint64_t at = 0; at < SIZE; at += 1 + at % 7)
    for (uint64_t size = 0; at + size <= SIZE; size += 1 + size % 11) {
      const qn_view view = cts_view(buffer, at, size);
      cts_random_bytes(&c->random, in, size);
      memcpy(model + at, in, size);
      memset(out, 0, sizeof out);
      CTS_OK(qn_write(queue, &view, in, NULL));
      CTS_OK(qn_read(queue, &view, out, NULL));
      cts_finish(queue);
      CTS_BYTES("a view", out, in, size);
    }
  cts_get(queue, buffer, out, SIZE);
  CTS_BYTES("the buffer after all views", out, model, SIZE);
}

static void views_past_the_end(cts *c) {
  static const uint64_t wrong[][2] = {
      {0, 101}, {100, 1}, {101, 0}, {101, QN_WHOLE}, {1, 100}, {UINT64_MAX, 1}, {UINT64_MAX - 5, 10}};
  qn_queue queue = cts_queue(c);
  qn_buffer buffer = cts_buffer(c, 100);
  unsigned char out[128] = {0};
  void *pointer = NULL;
  cts_fill(queue, buffer, 1);
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    const qn_view view = cts_view(buffer, wrong[i][0], wrong[i][1]);
    CTS_GIVES(qn_fill(queue, &view, "x", 1, NULL), QN_ERROR_INVALID_ARGUMENT);
    CTS_GIVES(qn_write(queue, &view, out, NULL), QN_ERROR_INVALID_ARGUMENT);
    CTS_GIVES(qn_read(queue, &view, out, NULL), QN_ERROR_INVALID_ARGUMENT);
    CTS_GIVES(qn_buffer_map(&view, QN_MAP_READ, CTS_SECOND, &pointer), QN_ERROR_INVALID_ARGUMENT);
  }
  cts_get(queue, buffer, out, 100);
  CTS_FILLED("the buffer after calls that were refused", out, 1, 100);
}

/* ---- Many, large, none ---------------------------------------------------------------------------- */

typedef struct block {
  qn_buffer buffer;
  uint64_t size;
  unsigned char byte;
} block;

static void check_block(cts *c, qn_queue queue, const block *b) {
  unsigned char *out = cts_alloc(c, b->size);
  cts_get(queue, b->buffer, out, b->size);
  CTS_FILLED("one of many buffers", out, b->byte, b->size);
}

static void many_buffers_stay_apart(cts *c) {
  enum { BLOCKS = 200 };
  static const uint64_t largest[] = {64, 5000, 300000};
  block blocks[BLOCKS];
  qn_queue queue = cts_queue(c);
  uint64_t steps = cts_count(c, 1500, 30000);
  memset(blocks, 0, sizeof blocks);
  for (uint64_t step = 0; step < steps; step++) {
    block *b = &blocks[cts_random(c, BLOCKS)];
    if (b->buffer) {
      if (step % 8 == 0) check_block(c, queue, b);
      cts_drop(c, b->buffer);
    }
    *b = (block){.size = 1 + cts_random(c, largest[cts_random(c, 3)]), .byte = (unsigned char)cts_random(c, 256)};
    b->buffer = cts_buffer(c, b->size);
    cts_fill(queue, b->buffer, b->byte);
  }
  for (int i = 0; i < BLOCKS; i++)
    if (blocks[i].buffer) check_block(c, queue, &blocks[i]);
}

static void memory_comes_back(cts *c) {
  const qn_device_statistics before = cts_statistics(c->device);
  qn_queue queue = cts_queue(c);
  for (int i = 0; i < 300; i++) {
    qn_buffer buffer = cts_buffer(c, UINT64_C(32) << 20);
    const qn_view view = cts_view(buffer, 0, 4096);
    CTS_OK(qn_fill(queue, &view, "x", 1, NULL));
    cts_drop(c, buffer);
    if (i % 8 == 7) cts_finish(queue);
  }
  CTS_OK(qn_device_drain(c->device, CTS_PATIENCE));
  const qn_device_statistics after = cts_statistics(c->device);
  CTS_SAME("memory_used after everything was released", after.memory_used, before.memory_used);
  CTS_TRUE(after.memory_reserved <= before.memory_reserved + 4096,
           "memory_reserved after a drain, %llu bytes, is what it was, %llu", (unsigned long long)after.memory_reserved,
           (unsigned long long)before.memory_reserved);
}

static void impossible_sizes(cts *c) {
  const uint64_t sizes[] = {0, c->info.max_allocation_bytes + 1, UINT64_C(1) << 63, UINT64_MAX - 4095, UINT64_MAX};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    qn_buffer buffer = NULL;
    qn_buffer_options options = QN_INIT(qn_buffer_options);
    options.size_bytes = sizes[i];
    qn_status status = qn_buffer_create(c->device, &options, &buffer);
    CTS_TRUE(status == QN_ERROR_INVALID_ARGUMENT || status == QN_ERROR_LIMIT || status == QN_ERROR_OUT_OF_MEMORY,
             "a buffer of %llu bytes is refused as INVALID_ARGUMENT, LIMIT or OUT_OF_MEMORY, not %s",
             (unsigned long long)sizes[i], qn_status_name(status));
  }
  cts_fill(cts_queue(c), cts_buffer(c, 4096), 1); /* as if nothing had been */
}

static void kernels_see_aligned_buffers(cts *c) {
  static const uint64_t sizes[] = {1, 2, 100, 128, 1000, 5000, 100000};
  enum { COUNT = sizeof sizes / sizeof *sizes };
  qn_queue queue = cts_queue(c);
  qn_kernel kernel = cts_kernel(
      c,
      cts_program(c,
                  "kernel void low(global uint *out, global uchar *p, uint at) { out[at] = (uint)((size_t)p & 127); }"),
      "low");
  qn_buffer out = cts_buffer(c, COUNT * sizeof(uint32_t));
  uint32_t bits[COUNT];
  for (uint32_t i = 0; i < COUNT; i++)
    CTS_OK(qn_launch(queue, kernel, QN_RANGE_1D(1), QN_ARGS(out, cts_buffer(c, sizes[i]), i), NULL));
  cts_get(queue, out, bits, sizeof bits);
  for (uint32_t i = 0; i < COUNT; i++) CTS_SAME("a buffer's address modulo 128, the alignment of double16", bits[i], 0);
}

#define KINDS "quern.h, Buffers; adapter.h: memory_create, memory_map, queue_submit of WRITE and READ"
#define MAPS                                                                                                          \
  "quern.h: 'Gives the host an address of a view once the buffer's work is complete.'; adapter.h: memory_map: 'Host " \
  "access to a range while no command uses it.'"

static const cts_test tests[] = {
    {"device_memory_keeps_what_is_written", device_memory, 0, 0, KINDS},
    {"host_memory_keeps_what_is_written", host_memory, 0, 0, KINDS},
    {"shared_memory_keeps_what_is_written", shared_memory, QN_FEATURE_SHARED_MEMORY, 0, KINDS},
    {"shared_memory_is_one_address_for_both", shared_is_one_address, QN_FEATURE_SHARED_MEMORY, 0,
     "quern.h: 'one address for both; coherent between points'; adapter.h: qn_adapter_memory_info.host_pointer"},
    {"shared_memory_is_seen_by_kernels_between_points", shared_in_kernels,
     QN_FEATURE_SHARED_MEMORY | QN_FEATURE_KERNELS, 0, "quern.h: 'one address for both; coherent between points'"},
    {"memory_of_any_alignment_is_wrapped", wrap_of_any_alignment, QN_FEATURE_WRAP_HOST, 0,
     "quern.h: 'the caller's memory; must outlive the buffer's last point'; adapter.h: QN_MEMORY_WRAP of "
     "memory_create"},
    {"memory_around_what_is_wrapped_stays", wrap_leaves_its_surroundings, QN_FEATURE_WRAP_HOST, 0,
     "quern.h: 'the caller's memory; must outlive the buffer's last point'"},
    {"wrapped_memory_may_go_when_its_buffer_is_drained", wrapped_memory_ends_with_its_buffer, QN_FEATURE_WRAP_HOST, 0,
     "quern.h: qn_device_drain: 'Returns when the driver holds nothing of ours for this device but what lives.'"},
    {"memory_is_wrapped_once_at_a_time", second_wrap_is_refused, QN_FEATURE_WRAP_HOST, 0,
     "docs/runtime.md: 'a second one that overlaps is refused'"},
    {"a_map_waits_for_the_buffers_work", map_waits_for_work, 0, 0, MAPS},
    {"work_sees_what_a_map_wrote", work_sees_what_a_map_wrote, 0, 0, MAPS},
    {"a_part_is_mapped", map_of_a_part, 0, 0, MAPS},
    {"a_view_of_no_bytes_is_mapped", map_of_no_bytes, 0, 0, "quern.h: 'A view of no bytes is mapped as well.'"},
    {"several_parts_are_mapped_at_a_time", several_maps_at_a_time, 0, 0, "quern.h: 'Maps nest; each takes one unmap.'"},
    {"maps_nest", maps_nest, 0, 0, "quern.h: 'Maps nest; each takes one unmap.'"},
    {"a_mapped_buffer_may_be_released", a_mapped_buffer_is_released, 0, 0,
     "quern.h: 'every order of release is right'; adapter.h: memory_unmap"},
    {"every_small_view_is_written_and_read", every_small_view, 0, 0,
     "quern.h: 'A range of a buffer.'; adapter.h: target_offset, source_offset and size_bytes of a command are any "
     "bytes"},
    {"views_past_the_end_are_refused", views_past_the_end, 0, 0,
     "quern.h: 'A function that fails changes nothing that its caller can see'"},
    {"many_buffers_stay_apart", many_buffers_stay_apart, 0, 0,
     "quern.h, Buffers; adapter.h: memory_create, memory_destroy"},
    {"released_memory_comes_back", memory_comes_back, 0, 0,
     "quern.h: qn_device_drain; adapter.h: memory_destroy gives the memory back at once"},
    {"impossible_sizes_are_refused", impossible_sizes, 0, 0,
     "quern.h: 'Errors: INVALID_ARGUMENT, INVALID_HANDLE, OUT_OF_MEMORY, LIMIT, UNSUPPORTED.'"},
    {"kernels_see_aligned_buffers", kernels_see_aligned_buffers, QN_FEATURE_KERNELS, 0,
     "adapter.h: allocation_alignment; the largest type of OpenCL C has 128 bytes"},
};

CTS_SUITE(memory, "kinds of memory, maps, wrapped memory, views");
