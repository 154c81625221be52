/* suite_launches.c - ranges, groups, barriers, atomics: every work-item runs once and knows where it is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cts.h"

static qn_range range_of(uint32_t dimensions, const uint64_t global[3]) {
  qn_range range = QN_INIT(qn_range);
  range.dimensions = dimensions;
  for (uint32_t d = 0; d < dimensions; d++) range.global[d] = global[d];
  return range;
}

static uint64_t items_of(const qn_range *range) {
  uint64_t items = 1;
  for (uint32_t d = 0; d < range->dimensions; d++) items *= range->global[d];
  return items;
}

static const char count_source[] =
    "kernel void count(global uint *out) {\n"
    "  size_t i = get_global_id(0) + get_global_size(0) * (get_global_id(1) + get_global_size(1) * get_global_id(2));\n"
    "  out[i] += 1;\n"
    "}\n";

/* Every item adds one to a place of its own; the places behind stay. */
static void check_counts(cts *c, qn_queue queue, qn_kernel kernel, const qn_range *range) {
  enum { BEHIND = 64 };
  uint64_t items = items_of(range), bytes = (items + BEHIND) * sizeof(uint32_t);
  qn_buffer buffer = cts_buffer(c, bytes);
  uint32_t *out = cts_alloc(c, bytes);
  cts_fill(queue, buffer, 0);
  CTS_OK(qn_launch(queue, kernel, range, QN_ARGS(buffer), NULL));
  cts_get(queue, buffer, out, bytes);
  for (uint64_t i = 0; i < items + BEHIND; i++) {
    if (out[i] == (i < items)) continue;
    char what[192];
    snprintf(what, sizeof what, "how often item %llu of a range of %llu x %llu x %llu ran", (unsigned long long)i,
             (unsigned long long)range->global[0], (unsigned long long)range->global[1],
             (unsigned long long)range->global[2]);
    CTS_SAME(what, out[i], i < items);
  }
  cts_drop(c, buffer);
}

static void one_dimension(cts *c) {
  static const uint64_t sizes[] = {1,  2,   3,   5,   7,   8,   15,  16,   17,   31,   33,   63,   64,
                                   65, 127, 128, 129, 255, 257, 509, 1000, 1021, 1024, 2047, 4099, 10007};
  qn_queue queue = cts_queue(c);
  qn_kernel kernel = cts_kernel(c, cts_program(c, count_source), "count");
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    const qn_range range = range_of(1, (const uint64_t[3]){sizes[i]});
    check_counts(c, queue, kernel, &range);
  }
}

static void two_and_three_dimensions(cts *c) {
  static const uint64_t sizes[][3] = {{1, 1, 1}, {7, 5, 1},   {64, 3, 1},  {3, 64, 1},  {1, 500, 1}, {61, 67, 1},
                                      {2, 3, 4}, {1, 1, 300}, {16, 16, 4}, {13, 11, 7}, {1, 127, 3}};
  qn_queue queue = cts_queue(c);
  qn_kernel kernel = cts_kernel(c, cts_program(c, count_source), "count");
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    for (uint32_t dimensions = sizes[i][2] == 1 ? 2 : 3; dimensions <= 3; dimensions++) {
      const qn_range range = range_of(dimensions, sizes[i]);
      check_counts(c, queue, kernel, &range);
    }
}

static void a_million_items(cts *c) {
  qn_queue queue = cts_queue(c);
  qn_kernel kernel = cts_kernel(c, cts_program(c, count_source), "count");
  /* The interpreter runs a million items in a second or so. */
  const uint64_t items = c->info.type == QN_DEVICE_CHECK ? 50021 : 1000003;
  const qn_range range = range_of(1, (const uint64_t[3]){items});
  check_counts(c, queue, kernel, &range);
}

/* ---- Where an item is ------------------------------------------------------------------------------ */

/* What an item says of itself: for each dimension these words, then work_dim. */
enum { GLOBAL_ID, LOCAL_ID, GROUP_ID, GLOBAL_SIZE, LOCAL_SIZE, ENQUEUED, NUM_GROUPS, OFFSET, WORDS };
enum { ITEM_WORDS = 3 * WORDS + 1 };

static const char where_source[] =
    "#define TELL(d) \\\n"
    "  o[0] = get_global_id(d); o[1] = get_local_id(d); o[2] = get_group_id(d); o[3] = get_global_size(d); \\\n"
    "  o[4] = get_local_size(d); o[5] = get_enqueued_local_size(d); o[6] = get_num_groups(d); \\\n"
    "  o[7] = get_global_offset(d); o += 8;\n"
    "kernel void where(global ulong *out) {\n"
    "  size_t x = get_global_id(0) - get_global_offset(0), y = get_global_id(1) - get_global_offset(1);\n"
    "  size_t z = get_global_id(2) - get_global_offset(2);\n"
    "  global ulong *o = out + (x + get_global_size(0) * (y + get_global_size(1) * z)) * 25;\n"
    "  TELL(0)\n"
    "  TELL(1)\n"
    "  TELL(2)\n"
    "  o[0] = get_work_dim();\n"
    "}\n";

static void check_word(const qn_range *range, uint64_t item, uint32_t d, const char *name, uint64_t came,
                       uint64_t wanted) {
  if (came == wanted) return;
  char what[256];
  snprintf(
      what, sizeof what, "%s(%u) of item %llu of a range of %llu x %llu x %llu (local %llu x %llu x %llu, offset %llu)",
      name, d, (unsigned long long)item, (unsigned long long)range->global[0], (unsigned long long)range->global[1],
      (unsigned long long)range->global[2], (unsigned long long)range->local[0], (unsigned long long)range->local[1],
      (unsigned long long)range->local[2], (unsigned long long)range->offset[d]);
  CTS_SAME(what, came, wanted);
}

static void check_item(const qn_range *range, uint64_t item, uint32_t d, uint64_t at, const uint64_t *o) {
  bool is_used = d < range->dimensions;
  uint64_t size = is_used ? range->global[d] : 1, offset = is_used ? range->offset[d] : 0, local = o[ENQUEUED];
  check_word(range, item, d, "get_global_id", o[GLOBAL_ID], at + offset);
  check_word(range, item, d, "get_global_size", o[GLOBAL_SIZE], size);
  check_word(range, item, d, "get_global_offset", o[OFFSET], offset);
  if (is_used && range->local[d]) check_word(range, item, d, "get_enqueued_local_size", local, range->local[d]);
  CTS_TRUE(local >= 1, "get_enqueued_local_size(%u) is 1 or more", d);
  check_word(range, item, d, "get_num_groups", o[NUM_GROUPS], (size + local - 1) / local);
  check_word(range, item, d, "get_group_id", o[GROUP_ID], at / local);
  check_word(range, item, d, "get_local_id", o[LOCAL_ID], at % local);
  uint64_t left = size - at / local * local;
  check_word(range, item, d, "get_local_size", o[LOCAL_SIZE], left < local ? left : local);
}

static void check_where(cts *c, qn_queue queue, qn_kernel kernel, const qn_range *range) {
  uint64_t items = items_of(range), bytes = items * ITEM_WORDS * sizeof(uint64_t);
  qn_buffer buffer = cts_buffer(c, bytes);
  uint64_t *out = cts_alloc(c, bytes);
  cts_fill(queue, buffer, 0xff);
  CTS_OK(qn_launch(queue, kernel, range, QN_ARGS(buffer), NULL));
  cts_get(queue, buffer, out, bytes);
  for (uint64_t item = 0; item < items; item++) {
    uint64_t left = item;
    for (uint32_t d = 0; d < 3; d++) {
      uint64_t size = d < range->dimensions ? range->global[d] : 1;
      check_item(range, item, d, left % size, out + item * ITEM_WORDS + (size_t)d * WORDS);
      left /= size;
    }
    check_word(range, item, 0, "get_work_dim", out[item * ITEM_WORDS + 24] & UINT32_MAX, range->dimensions);
  }
  cts_drop(c, buffer);
}

static void items_know_where_they_are(cts *c) {
  static const struct {
    uint32_t dimensions;
    uint64_t global[3], local[3], offset[3];
  } cases[] = {{1, {1}, {0}, {0}},
               {1, {64}, {16}, {0}},
               {1, {97}, {0}, {0}},
               {1, {96}, {32}, {1000}},
               {1, {100}, {0}, {77}},
               {2, {12, 10}, {4, 5}, {0}},
               {2, {12, 10}, {0}, {3, 5}},
               {2, {13, 7}, {0}, {0}},
               {2, {16, 16}, {16, 1}, {1}},
               {3, {4, 6, 8}, {2, 3, 4}, {0}},
               {3, {5, 3, 7}, {0}, {9, 8, 7}},
               {3, {8, 8, 8}, {1, 1, 8}, {0}},
               {3, {8, 4, 2}, {8, 4, 2}, {100, 200, 300}}};
  qn_queue queue = cts_queue(c);
  qn_kernel kernel = cts_kernel(c, cts_program(c, where_source), "where");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    qn_range range = range_of(cases[i].dimensions, cases[i].global);
    memcpy(range.local, cases[i].local, sizeof range.local);
    memcpy(range.offset, cases[i].offset, sizeof range.offset);
    check_where(c, queue, kernel, &range);
  }
}

/* 3 and above: 0 for identifiers, 1 for sizes. */
static void variable_dimensions(cts *c) {
  static const char source[] =
      "kernel void where(global ulong *out, uint count) {\n"
      "  global ulong *o = out + (get_global_id(0) + get_global_size(0) * get_global_id(1)) * count * 4;\n"
      "  for (uint d = 0; d < count; d++) {\n"
      "    o[0] = get_global_id(d); o[1] = get_group_id(d); o[2] = get_global_size(d); o[3] = get_num_groups(d);\n"
      "    o += 4;\n"
      "  }\n"
      "}\n";
  enum { X = 12, Y = 10, COUNT = 5, WORDS_EACH = COUNT * 4 };
  uint64_t out[X * Y * WORDS_EACH];
  qn_queue queue = cts_queue(c);
  qn_kernel kernel = cts_kernel(c, cts_program(c, source), "where");
  qn_buffer buffer = cts_buffer(c, sizeof out);
  qn_range range = range_of(2, (const uint64_t[3]){X, Y});
  range.local[0] = 4;
  range.local[1] = 5;
  CTS_OK(qn_launch(queue, kernel, &range, QN_ARGS(buffer, COUNT), NULL));
  cts_get(queue, buffer, out, sizeof out);
  for (uint64_t i = 0; i < (uint64_t)X * Y; i++) {
    const uint64_t x = i % X, y = i / X;
    const uint64_t wanted[WORDS_EACH] = {x, x / 4, X, 3, y, y / 5, Y, 2, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1};
    CTS_BYTES("where an item is, asked for by a variable, 4 ulongs a dimension", out + i * WORDS_EACH, wanted,
              sizeof wanted);
  }
}

static void smaller_last_groups(cts *c) {
  static const uint64_t sizes[][3] = {{3, 1, 1},    {17, 1, 1},  {127, 1, 1}, {509, 1, 1},
                                      {1021, 1, 1}, {31, 37, 1}, {11, 13, 17}};
  qn_queue queue = cts_queue(c);
  qn_kernel kernel = cts_kernel(c, cts_program(c, where_source), "where");
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    const qn_range range = range_of(sizes[i][2] > 1 ? 3 : sizes[i][1] > 1 ? 2 : 1, sizes[i]);
    check_where(c, queue, kernel, &range);
  }
}

static void offsets_beyond_32_bits(cts *c) {
  qn_queue queue = cts_queue(c);
  qn_kernel kernel = cts_kernel(c, cts_program(c, where_source), "where");
  static const uint64_t offsets[] = {(UINT64_C(1) << 31) - 3, (UINT64_C(1) << 32) - 3, (UINT64_C(1) << 40) + 1};
  CTS_TRUE(c->info.address_bits == 32 || c->info.address_bits == 64, "address_bits is 32 or 64");
  for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
    qn_range range = range_of(1, (const uint64_t[3]){10});
    range.offset[0] = offsets[i];
    if (c->info.address_bits == 32 && offsets[i] > UINT32_MAX - 10)
      CTS_GIVES(qn_launch(queue, kernel, &range, QN_ARGS(cts_buffer(c, 4096)), NULL), QN_ERROR_INVALID_ARGUMENT);
    else
      check_where(c, queue, kernel, &range);
  }
}

/* ---- Local sizes ----------------------------------------------------------------------------------- */

static void every_local_size(cts *c) {
  qn_queue queue = cts_queue(c);
  qn_kernel kernel = cts_kernel(c, cts_program(c, where_source), "where");
  qn_kernel_info info = QN_INIT(qn_kernel_info);
  CTS_OK(qn_kernel_query(kernel, &info));
  CTS_TRUE(info.max_group_items >= 1, "max_group_items of a kernel is 1 or more");
  uint64_t most = info.max_group_items < c->info.max_local_size[0] ? info.max_group_items : c->info.max_local_size[0];
  for (uint64_t local = 1; local <= most; local *= 2) {
    qn_range range = range_of(1, (const uint64_t[3]){local * 2});
    range.local[0] = local;
    check_where(c, queue, kernel, &range);
  }
  qn_range range = range_of(1, (const uint64_t[3]){most * 2});
  range.local[0] = most;
  check_where(c, queue, kernel, &range);
}

static void wrong_local_sizes(cts *c) {
  qn_queue queue = cts_queue(c);
  qn_kernel kernel = cts_kernel(c, cts_program(c, count_source), "count");
  qn_buffer buffer = cts_buffer(c, 4096);
  unsigned char out[4096];
  cts_fill(queue, buffer, 3);
  qn_range range = range_of(1, (const uint64_t[3]){100});
  range.local[0] = 7;
  CTS_GIVES(qn_launch(queue, kernel, &range, QN_ARGS(buffer), NULL), QN_ERROR_INVALID_ARGUMENT);
  range.local[0] = 101;
  CTS_GIVES(qn_launch(queue, kernel, &range, QN_ARGS(buffer), NULL), QN_ERROR_INVALID_ARGUMENT);
  range.global[0] = range.local[0] = c->info.max_group_items * 2;
  CTS_GIVES(qn_launch(queue, kernel, &range, QN_ARGS(buffer), NULL), QN_ERROR_INVALID_ARGUMENT);
  cts_get(queue, buffer, out, sizeof out);
  CTS_FILLED("the buffer after launches that were refused", out, 3, sizeof out);
}

static void required_local_size(cts *c) {
  static const char source[] =
      "kernel __attribute__((reqd_work_group_size(8, 4, 1))) void eight(global uint *out) {\n"
      "  size_t i = get_global_id(0) + get_global_size(0) * get_global_id(1);\n"
      "  out[i] = get_local_size(0) * 100 + get_local_size(1) * 10 + get_local_size(2);\n"
      "}\n";
  enum { N = 32 };
  uint32_t out[N * N];
  qn_queue queue = cts_queue(c);
  qn_kernel kernel = cts_kernel(c, cts_program(c, source), "eight");
  qn_buffer buffer = cts_buffer(c, sizeof out);
  qn_range range = range_of(2, (const uint64_t[3]){N, N});
  CTS_OK(qn_launch(queue, kernel, &range, QN_ARGS(buffer), NULL));
  cts_get(queue, buffer, out, sizeof out);
  for (int i = 0; i < N * N; i++) CTS_SAME("local sizes by reqd_work_group_size(8, 4, 1), as digits", out[i], 841);
  range.local[0] = 4;
  range.local[1] = 8;
  CTS_GIVES(qn_launch(queue, kernel, &range, QN_ARGS(buffer), NULL), QN_ERROR_INVALID_ARGUMENT);
  range = range_of(2, (const uint64_t[3]){N + 1, N});
  CTS_GIVES(qn_launch(queue, kernel, &range, QN_ARGS(buffer), NULL), QN_ERROR_INVALID_ARGUMENT);
}

static void no_items(cts *c) {
  qn_queue queue = cts_queue(c);
  qn_kernel kernel = cts_kernel(c, cts_program(c, count_source), "count");
  qn_buffer buffer = cts_buffer(c, 64);
  unsigned char out[64];
  qn_point point = {0, 0};
  cts_fill(queue, buffer, 1);
  for (uint32_t d = 0; d < 3; d++) {
    qn_range range = range_of(3, (const uint64_t[3]){4, 4, 4});
    range.global[d] = 0;
    CTS_OK(qn_launch(queue, kernel, &range, QN_ARGS(buffer), &point));
    CTS_SAME("the value of a launch without work", point.value, d + 2);
    cts_wait(&point);
  }
  cts_get(queue, buffer, out, sizeof out);
  CTS_FILLED("the buffer after launches without work", out, 1, sizeof out);
}

static void ranges_that_overflow(cts *c) {
  qn_queue queue = cts_queue(c);
  qn_kernel kernel = cts_kernel(c, cts_program(c, count_source), "count");
  qn_buffer buffer = cts_buffer(c, 64);
  qn_range range = range_of(1, (const uint64_t[3]){UINT64_MAX});
  range.offset[0] = 1;
  CTS_GIVES(qn_launch(queue, kernel, &range, QN_ARGS(buffer), NULL), QN_ERROR_INVALID_ARGUMENT);
  range = range_of(3, (const uint64_t[3]){UINT64_C(1) << 31, UINT64_C(1) << 31, UINT64_C(1) << 31});
  CTS_GIVES(qn_launch(queue, kernel, &range, QN_ARGS(buffer), NULL), QN_ERROR_INVALID_ARGUMENT);
  range.dimensions = 4;
  CTS_GIVES(qn_launch(queue, kernel, &range, QN_ARGS(buffer), NULL), QN_ERROR_INVALID_ARGUMENT);
}

/* ---- Barriers and local memory --------------------------------------------------------------------- */

/* Each group turns its numbers round, again and again. */
static void barriers(cts *c) {
  static const char source[] =
      "kernel void turn(global uint *data, uint turns) {\n"
      "  local uint mine[64];\n"
      "  size_t l = get_local_id(0), n = get_local_size(0), g = get_global_id(0);\n"
      "  mine[l] = data[g];\n"
      "  for (uint t = 0; t < turns; t++) {\n"
      "    barrier(CLK_LOCAL_MEM_FENCE);\n"
      "    uint next = mine[(l + 1) % n];\n"
      "    barrier(CLK_LOCAL_MEM_FENCE);\n"
      "    mine[l] = next;\n"
      "  }\n"
      "  data[g] = mine[l];\n"
      "}\n";
  enum { LOCAL = 64, GROUPS = 20, N = LOCAL * GROUPS };
  uint32_t data[N];
  qn_queue queue = cts_queue(c);
  qn_kernel kernel = cts_kernel(c, cts_program(c, source), "turn");
  qn_buffer buffer = cts_buffer(c, sizeof data);
  for (uint32_t turns = 0; turns < 140; turns += 23) {
    for (uint32_t i = 0; i < N; i++) data[i] = i;
    cts_put(queue, buffer, data, sizeof data);
    qn_range range = range_of(1, (const uint64_t[3]){N});
    range.local[0] = LOCAL;
    CTS_OK(qn_launch(queue, kernel, &range, QN_ARGS(buffer, turns), NULL));
    cts_get(queue, buffer, data, sizeof data);
    for (uint32_t i = 0; i < N; i++)
      CTS_SAME("a number that barriers let pass around its group", data[i], i / LOCAL * LOCAL + (i + turns) % LOCAL);
  }
}

static void barriers_in_smaller_groups(cts *c) {
  static const char source[] =
      "kernel void sum(global uint *out) {\n"
      "  local uint mine[1024];\n"
      "  size_t l = get_local_id(0), n = get_local_size(0);\n"
      "  mine[l] = (uint)get_global_id(0);\n"
      "  barrier(CLK_LOCAL_MEM_FENCE);\n"
      "  uint s = 0;\n"
      "  for (size_t i = 0; i < n; i++) s += mine[i];\n"
      "  out[2 * get_global_id(0)] = s;\n"
      "  out[2 * get_global_id(0) + 1] = (uint)n;\n"
      "}\n";
  enum { N = 331 };
  uint32_t out[2 * N];
  qn_queue queue = cts_queue(c);
  qn_kernel kernel = cts_kernel(c, cts_program(c, source), "sum");
  qn_buffer buffer = cts_buffer(c, sizeof out);
  CTS_OK(qn_launch(queue, kernel, QN_RANGE_1D(N), QN_ARGS(buffer), NULL));
  cts_get(queue, buffer, out, sizeof out);
  for (uint32_t first = 0; first < N;) { /* group by group */
    uint32_t n = out[2 * first + 1], sum = 0;
    CTS_TRUE(n > 0 && first + n <= N, "groups of %u items at item %u lie in the range of %d", n, first, N);
    for (uint32_t i = first; i < first + n; i++) sum += i;
    for (uint32_t i = first; i < first + n; i++) CTS_SAME("the sum over a group", out[2 * i], sum);
    first += n;
  }
}

/* ---- Atomics -------------------------------------------------------------------------------------- */

static void atomics_32(cts *c) {
  static const char source[] =
      "kernel void tally(global uint *all, global uint *old) {\n"
      "  local uint mine;\n"
      "  if (get_local_id(0) == 0) mine = 0;\n"
      "  barrier(CLK_LOCAL_MEM_FENCE);\n"
      "  atomic_add(&mine, 2u);\n"
      "  barrier(CLK_LOCAL_MEM_FENCE);\n"
      "  if (get_local_id(0) == 0) atomic_add(&all[0], mine);\n"
      "  uint mine_id = atomic_inc(&all[1]);\n"
      "  old[mine_id] = 1;\n"
      "  atomic_max(&all[2], (uint)get_global_id(0));\n"
      "  atomic_or(&all[3], 1u << (get_global_id(0) % 32));\n"
      "  for (;;) { uint was = all[4]; if (atomic_cmpxchg(&all[4], was, was + 3) == was) break; }\n"
      "}\n";
  enum { N = 5120 };
  uint32_t all[5], *old = cts_alloc(c, N * sizeof(uint32_t));
  qn_queue queue = cts_queue(c);
  qn_kernel kernel = cts_kernel(c, cts_program(c, source), "tally");
  qn_buffer sums = cts_buffer(c, sizeof all), taken = cts_buffer(c, N * sizeof(uint32_t));
  cts_fill(queue, sums, 0);
  cts_fill(queue, taken, 0);
  CTS_OK(qn_launch(queue, kernel, QN_RANGE_1D(N), QN_ARGS(sums, taken), NULL));
  cts_get(queue, sums, all, sizeof all);
  cts_get(queue, taken, old, N * sizeof(uint32_t));
  CTS_SAME("the sum by local and global atomic_add", all[0], 2 * N);
  CTS_SAME("the count by atomic_inc", all[1], N);
  CTS_SAME("the largest by atomic_max", all[2], N - 1);
  CTS_SAME("bits by atomic_or", all[3], UINT32_MAX);
  CTS_SAME("the sum by atomic_cmpxchg", all[4], 3 * N);
  for (int i = 0; i < N; i++) CTS_SAME("how often a value of atomic_inc was given out", old[i], 1);
}

static void atomics_64(cts *c) {
  static const char source[] =
      "#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable\n"
      "kernel void tally(global ulong *all) {\n"
      "  atom_add(&all[0], 0x100000001ul);\n"
      "  atom_inc(&all[1]);\n"
      "}\n";
  enum { N = 4000 };
  uint64_t all[2] = {0, UINT32_MAX};
  qn_queue queue = cts_queue(c);
  qn_kernel kernel = cts_kernel(c, cts_program(c, source), "tally");
  qn_buffer sums = cts_buffer(c, sizeof all);
  cts_put(queue, sums, all, sizeof all);
  CTS_OK(qn_launch(queue, kernel, QN_RANGE_1D(N), QN_ARGS(sums), NULL));
  cts_get(queue, sums, all, sizeof all);
  CTS_SAME("the sum by atom_add", all[0], UINT64_C(0x100000001) * N);
  CTS_SAME("the count by atom_inc, past 32 bits", all[1], UINT64_C(0xffffffff) + N);
}

/* ---- Many launches --------------------------------------------------------------------------------- */

static void many_in_flight(cts *c) {
  uint32_t launches = (uint32_t)cts_count(c, 3000, 200000);
  qn_queue queue = cts_queue(c);
  qn_kernel kernel = cts_kernel(
      c, cts_program(c, "kernel void put(global uint *out, uint at, uint value) { out[at] = value * 3; }"), "put");
  uint64_t bytes = launches * sizeof(uint32_t);
  qn_buffer buffer = cts_buffer(c, bytes);
  uint32_t *out = cts_alloc(c, bytes);
  cts_fill(queue, buffer, 0);
  for (uint32_t i = 0; i < launches; i++)
    CTS_OK(qn_launch(queue, kernel, QN_RANGE_1D(1), QN_ARGS(buffer, i, i + 1), NULL));
  cts_get(queue, buffer, out, bytes);
  for (uint32_t i = 0; i < launches; i++) CTS_SAME("what each of many launches wrote", out[i], (i + 1) * 3);
}

static void private_memory(cts *c) {
  static const char source[] =
      "kernel void sort(global uint *out, uint n) {\n"
      "  uint mine[500];\n"
      "  uint x = (uint)get_global_id(0) + 1;\n"
      "  for (uint i = 0; i < n; i++) { x = x * 1664525u + 1013904223u; mine[i] = x >> 16; }\n"
      "  for (uint i = 1; i < n; i++)\n"
      "    for (uint j = i; j > 0 && mine[j - 1] > mine[j]; j--) { uint t = mine[j]; mine[j] = mine[j - 1]; mine[j - "
      "1] = t; }\n"
      "  out[get_global_id(0)] = mine[n / 2];\n"
      "}\n";
  enum { N = 40, LENGTH = 60 };
  uint32_t out[N];
  qn_queue queue = cts_queue(c);
  qn_kernel kernel = cts_kernel(c, cts_program(c, source), "sort");
  qn_buffer buffer = cts_buffer(c, sizeof out);
  CTS_OK(qn_launch(queue, kernel, QN_RANGE_1D(N), QN_ARGS(buffer, LENGTH), NULL));
  cts_get(queue, buffer, out, sizeof out);
  for (uint32_t i = 0; i < N; i++) { /* a value with LENGTH / 2 that are smaller or equal before it */
    uint32_t x = i + 1, less = 0, equal = 0;
    for (int j = 0; j < LENGTH; j++) {
      x = x * 1664525u + 1013904223u;
      less += x >> 16 < out[i];
      equal += x >> 16 == out[i];
    }
    CTS_TRUE(less <= LENGTH / 2 && less + equal > LENGTH / 2, "item %u finds the middle of its private array", i);
  }
}

#define RANGES "quern.h: qn_range; adapter.h: qn_launch_record: global, local, offset, dimensions"
#define SMALLER "adapter.h: 'always given; may leave a smaller last group when the caller gave none'"

static const cts_test tests[] = {
    {"each_item_of_one_dimension_runs_once", one_dimension, QN_FEATURE_KERNELS, 0, RANGES},
    {"each_item_of_two_and_three_dimensions_runs_once", two_and_three_dimensions, QN_FEATURE_KERNELS, 0, RANGES},
    {"each_of_a_million_items_runs_once", a_million_items, QN_FEATURE_KERNELS, 0, RANGES},
    {"items_know_where_they_are", items_know_where_they_are, QN_FEATURE_KERNELS, 0, RANGES},
    {"the_dimension_may_be_a_variable", variable_dimensions, QN_FEATURE_KERNELS, 0,
     "OpenCL C 1.2, 6.12.1: for dimensions that there are not, identifiers are 0 and sizes are 1"},
    {"the_last_group_may_be_smaller", smaller_last_groups, QN_FEATURE_KERNELS, 0, SMALLER},
    {"offsets_have_as_many_bits_as_addresses", offsets_beyond_32_bits, QN_FEATURE_KERNELS, 0,
     "adapter.h: 'chooses the data model'; qn_launch_record.offset"},
    {"every_local_size_up_to_the_limit", every_local_size, QN_FEATURE_KERNELS, 0,
     "quern.h: 'all zero: the runtime chooses; else each must divide its global size'; adapter.h: max_group_items"},
    {"wrong_local_sizes_are_refused", wrong_local_sizes, QN_FEATURE_KERNELS, 0,
     "quern.h: 'all zero: the runtime chooses; else each must divide its global size'"},
    {"a_required_local_size_is_kept", required_local_size, QN_FEATURE_KERNELS, 0,
     "quern.h: 'reqd_work_group_size, else zeros'; adapter.h: required_local"},
    {"a_range_without_items_gives_a_point", no_items, QN_FEATURE_KERNELS, 0,
     "quern.h: 'a zero makes a launch without work'"},
    {"ranges_that_overflow_are_refused", ranges_that_overflow, QN_FEATURE_KERNELS, 0,
     "quern.h: qn_launch: 'INVALID_ARGUMENT (the text names the argument)'"},
    {"barriers_keep_groups_together", barriers, QN_FEATURE_KERNELS, 0,
     "adapter.h: static_local_bytes of qn_adapter_kernel_description; OpenCL C 1.2, 6.12.8"},
    {"barriers_keep_smaller_groups_together", barriers_in_smaller_groups, QN_FEATURE_KERNELS, 0, SMALLER},
    {"atomics_of_32_bits_lose_nothing", atomics_32, QN_FEATURE_KERNELS, 0, "OpenCL C 1.2, 6.12.11"},
    {"atomics_of_64_bits_lose_nothing", atomics_64, QN_FEATURE_KERNELS | QN_FEATURE_INT64_ATOMICS, 0,
     "quern.h: QN_FEATURE_INT64_ATOMICS"},
    {"many_launches_in_flight_keep_their_arguments", many_in_flight, QN_FEATURE_KERNELS, 0,
     "quern.h: 'Stateless and asynchronous: arguments are copied before it returns.'; adapter.h: 'Everything borrowed "
     "is copied before it returns.'"},
    {"items_have_private_arrays", private_memory, QN_FEATURE_KERNELS, 0,
     "OpenCL C 1.2, 6.5; quern.h: private_bytes_per_item"},
};

CTS_SUITE(launches, "ranges, groups, barriers, atomics");
