/* labels: threads */
/* The cuda adapter with every GPU of this machine's driver; where there is none, with the stand-in for a driver. Each test is run with
 * both kinds of marks. */
#include "support/cuda_fixture.h"
#include "support/rounds.h"

static uint32_t device_count;
static qn_adapter_program *program;

static const char *const marks[] = {"events", "words"};

#define FOR_EACH_DEVICE                                 \
  for (uint32_t run = 0; run < 2 * device_count; run++) \
    for (bool once = (begin(run / 2, marks[run % 2]), true); once; end(), once = false)

static void begin(uint32_t index, const char *kind) {
  setenv("QUERN_CUDA_MARKS", kind, 1);
  open_device(index);
  program = make_program(cuda_kernels);
}
static void end(void) {
  expect_ok(table->program_destroy(device, program));
  close_device();
  expect_nothing_left();
}
static void drop_kernel(qn_adapter_kernel *kernel) { expect_ok(table->kernel_destroy(device, kernel)); }

static void launch(stream *s, qn_adapter_kernel *kernel, const qn_launch_argument *arguments, uint32_t count) {
  const qn_launch_record record = launch_1d(kernel, 1, 1, arguments, count);
  submit_launch(s, &record);
}
/* Keeps a queue busy for so long. */
static void spin(stream *s, qn_adapter_kernel *kernel, uint64_t ns) {
  const qn_launch_argument a[] = {value_argument(&ns, sizeof ns)};
  launch(s, kernel, a, 1);
}

/* ---- Launches ----------------------------------------------------------------------------------- */

static void test_a_launch_with_offsets_and_a_smaller_last_group(void **state) {
  (void)state;
  enum { N = 1001 };
  FOR_EACH_DEVICE {
    static float x[N + 64], y[N + 64];
    const float a = 2;
    const uint32_t n = N;
    for (int i = 0; i < N + 64; i++) x[i] = (float)i, y[i] = 1;
    stream s = make_stream(0);
    qn_adapter_memory *mx = make_memory(sizeof x), *my = make_memory(sizeof y);
    qn_adapter_kernel *kernel = make_kernel(program, "saxpy", "bb44");
    write_memory(&s, mx, 0, x, sizeof x);
    write_memory(&s, my, 0, y, sizeof y);
    const qn_launch_argument arguments[] = {buffer_argument(mx, 4), buffer_argument(my, 12), value_argument(&a, 4),
                                            value_argument(&n, 4)};
    const qn_launch_record record = launch_1d(kernel, N, 128, arguments, 4);
    submit_launch(&s, &record);
    read_memory(&s, my, 0, y, sizeof y);
    for (int i = 0; i < N + 64; i++)
      if (y[i] != (i >= 3 && i < N + 3 ? 2 * (float)(i - 3 + 1) + 1 : 1)) fail_msg("y[%d] is %g", i, (double)y[i]);
    drop_kernel(kernel);
    drop_memory(mx);
    drop_memory(my);
    drop_stream(&s);
  }
}

static void reverse(stream *s, qn_adapter_kernel *kernel, qn_adapter_memory *memory, uint64_t local_bytes) {
  enum { N = 512 };
  uint32_t data[N];
  for (uint32_t i = 0; i < N; i++) data[i] = i;
  write_memory(s, memory, 0, data, sizeof data);
  const qn_launch_argument a[] = {buffer_argument(memory, 0), local_argument(local_bytes)};
  const qn_launch_record record = launch_1d(kernel, N, 128, a, 2);
  submit_launch(s, &record);
  read_memory(s, memory, 0, data, sizeof data);
  for (uint32_t i = 0; i < N; i++) assert_int_equal(data[i], i / 128 * 128 + 127 - i % 128);
}

static void test_local_memory_also_more_than_the_usual(void **state) {
  (void)state;
  FOR_EACH_DEVICE {
    stream s = make_stream(0);
    qn_adapter_memory *memory = make_memory(2048);
    qn_adapter_kernel *kernel = make_kernel(program, "reverse", "bl");
    uint64_t most = device_info.local_memory_bytes;
    reverse(&s, kernel, memory, 512);
    reverse(&s, kernel, memory, 49152);
    reverse(&s, kernel, memory, most);
    const qn_launch_argument a[] = {buffer_argument(memory, 0), local_argument(most + 4)};
    const qn_launch_record record = launch_1d(kernel, 128, 128, a, 2);
    assert_int_equal(try_submit(&s, (qn_adapter_command){.kind = QN_COMMAND_LAUNCH, .launch = &record}),
                     QN_ERROR_LIMIT);
    assert_non_null(strstr(error_text, "kernel 'reverse'"));
    reverse(&s, kernel, memory, 512); /* nothing of that was taken */
    drop_kernel(kernel);
    drop_memory(memory);
    drop_stream(&s);
  }
}

/* Beyond a grid's size, and with an offset that the kernel must not see in its memory. */
static void test_items_know_where_they_are(void **state) {
  (void)state;
  static const struct {
    uint64_t global[2], local[2];
  } cases[] = {{{7, 5}, {3, 2}}, {{64, 4}, {64, 4}}, {{1, 1}, {1, 1}}, {{2, 70000}, {1, 1}}};
  FOR_EACH_DEVICE {
    stream s = make_stream(0);
    qn_adapter_kernel *kernel = make_kernel(program, "where", "b");
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
      uint64_t w = cases[k].global[0], h = cases[k].global[1], lw = cases[k].local[0], lh = cases[k].local[1];
      size_t bytes = (size_t)(w * h) * 24;
      uint32_t *out = malloc(bytes);
      qn_adapter_memory *memory = make_memory(bytes);
      const qn_launch_argument a[] = {buffer_argument(memory, 0)};
      qn_launch_record record = launch_1d(kernel, w, lw, a, 1);
      record.dimensions = 2;
      record.global[1] = h;
      record.local[1] = lh;
      record.offset[0] = 1000;
      record.offset[1] = 5;
      submit_launch(&s, &record);
      read_memory(&s, memory, 0, out, bytes);
      for (uint64_t y = 0; y < h; y++)
        for (uint64_t x = 0; x < w; x++) {
          const uint32_t *at = out + 6 * (y * w + x);
          bool right = at[0] == x / lw && at[1] == y / lh && at[2] == x % lw && at[3] == y % lh &&
                       at[4] == (w + lw - 1) / lw && at[5] == (h + lh - 1) / lh;
          if (!right) fail_msg("case %zu: item %d, %d is elsewhere", k, (int)x, (int)y);
        }
      drop_memory(memory);
      free(out);
    }
    drop_kernel(kernel);
    drop_stream(&s);
  }
}

static void test_a_launch_without_work_has_a_value(void **state) {
  (void)state;
  FOR_EACH_DEVICE {
    stream s = make_stream(0);
    qn_adapter_memory *memory = make_memory(64);
    qn_adapter_kernel *kernel = make_kernel(program, "reverse", "bl");
    const qn_launch_argument a[] = {buffer_argument(memory, 0), local_argument(4)};
    const qn_launch_record record = launch_1d(kernel, 0, 1, a, 2);
    submit_launch(&s, &record);
    submit(&s, (qn_adapter_command){.kind = QN_COMMAND_MARK});
    finish(&s);
    assert_true(completed_of(&s) == 2);
    drop_kernel(kernel);
    drop_memory(memory);
    drop_stream(&s);
  }
}

static void test_thousands_of_launches_run_in_order(void **state) {
  (void)state;
  FOR_EACH_DEVICE {
    stream s = make_stream(0);
    qn_adapter_memory *memory = make_memory(64);
    qn_adapter_kernel *kernel = make_kernel(program, "advance", "b4");
    uint32_t expected = 7, got = 0;
    write_memory(&s, memory, 8, &expected, 4);
    for (uint32_t i = 0; i < 3000; i++) {
      const qn_launch_argument a[] = {buffer_argument(memory, 8), value_argument(&i, 4)};
      launch(&s, kernel, a, 2);
      expected = expected * 3 + i;
    }
    read_memory(&s, memory, 8, &got, 4);
    assert_int_equal(got, expected);
    drop_kernel(kernel);
    drop_memory(memory);
    drop_stream(&s);
  }
}

/* ---- Memory ------------------------------------------------------------------------------------- */

static void fill_bytes(unsigned char *at, size_t size, uint32_t seed) {
  for (size_t i = 0; i < size; i++) at[i] = (unsigned char)((i * 2654435761u + seed) >> 13);
}

/* The device writes what the host reads, and the other way round, without a copy of ours. */
static void try_host_pointer(stream *s, qn_adapter_memory *memory, unsigned char *host, size_t size) {
  unsigned char seen[1000];
  const uint32_t word = 0x01020304;
  assert_true(size <= sizeof seen);
  fill_bytes(host, size, 5);
  read_memory(s, memory, 0, seen, size);
  assert_memory_equal(seen, host, size);
  fill_memory(s, memory, 0, size / 4 * 4, &word, 4);
  finish(s);
  for (size_t i = 0; i < size / 4 * 4; i += 4) assert_memory_equal(host + i, &word, 4);
}

static void test_memory_of_each_kind(void **state) {
  (void)state;
  FOR_EACH_DEVICE {
    static const uint32_t kinds[] = {QN_MEMORY_HOST, QN_MEMORY_SHARED};
    static const uint64_t features[] = {0, QN_FEATURE_SHARED_MEMORY};
    stream s = make_stream(0);
    for (int i = 0; i < 2; i++) {
      qn_adapter_memory *memory;
      qn_adapter_memory_info info;
      if ((device_info.features & features[i]) != features[i]) continue;
      expect_ok(try_memory(kinds[i], 1000, NULL, &memory, &info));
      assert_non_null(info.host_pointer);
      assert_true(info.size_bytes >= 1000 && info.native != 0);
      try_host_pointer(&s, memory, info.host_pointer, 1000);
      drop_memory(memory);
    }
    drop_stream(&s);
  }
}

static qn_adapter_memory *wrap(void *at, size_t size) {
  qn_adapter_memory *memory;
  qn_adapter_memory_info info;
  expect_ok(try_memory(QN_MEMORY_WRAP, size, at, &memory, &info));
  assert_ptr_equal(info.host_pointer, at);
  return memory;
}

/* Blocks that share pages, lie in one another, and reach over what is pinned already. */
static void test_wrapped_memory_may_share_pages(void **state) {
  (void)state;
  FOR_EACH_DEVICE {
    enum { SIZE = 100000 };
    unsigned char *all = malloc(SIZE), *back = malloc(SIZE);
    if (device_info.features & QN_FEATURE_WRAP_HOST) {
      stream s = make_stream(0);
      qn_adapter_memory *inner = wrap(all + 30000, 500), *first = wrap(all + 3, 1000), *whole = wrap(all, SIZE);
      qn_adapter_memory *again = wrap(all + 3, 1000), *copy = make_memory(SIZE);
      try_host_pointer(&s, first, all + 3, 1000);
      try_host_pointer(&s, inner, all + 30000, 500);
      drop_memory(inner);
      drop_memory(first);
      fill_bytes(all, SIZE, 9);
      copy_memory(&s, copy, 0, whole, 0, SIZE);
      read_memory(&s, copy, 0, back, SIZE);
      assert_memory_equal(back, all, SIZE);
      read_memory(&s, whole, 1, back, SIZE - 1);
      assert_memory_equal(back, all + 1, SIZE - 1);
      const unsigned char pattern[8] = {1, 2, 3, 4, 5, 6, 7, 8};
      fill_memory(&s, whole, 4, 80000, pattern, 8);
      finish(&s);
      for (int i = 0; i < 80000; i += 8) assert_memory_equal(all + 4 + i, pattern, 8);
      /* The first pattern lies over the end of a span: that of the block at the beginning. */
      size_t edge = 4096 - (uintptr_t)all % 4096 - 4;
      fill_memory(&s, whole, edge, 800, pattern, 8);
      finish(&s);
      for (size_t i = 0; i < 800; i += 8) assert_memory_equal(all + edge + i, pattern, 8);
      drop_memory(whole);
      try_host_pointer(&s, again, all + 3, 1000);
      drop_memory(again);
      drop_memory(copy);
      drop_stream(&s);
    }
    free(all);
    free(back);
  }
}

static void test_memory_that_is_refused(void **state) {
  (void)state;
  FOR_EACH_DEVICE {
    qn_adapter_memory *none;
    qn_adapter_memory_info info;
    char byte;
    assert_int_equal(try_memory(9, 64, NULL, &none, &info), QN_ERROR_INVALID_ARGUMENT);
    assert_int_equal(try_memory(QN_MEMORY_DEVICE, 0, NULL, &none, &info), QN_ERROR_INVALID_ARGUMENT);
    assert_int_equal(try_memory(QN_MEMORY_WRAP, 64, NULL, &none, &info), QN_ERROR_INVALID_ARGUMENT);
    assert_int_equal(try_memory(QN_MEMORY_WRAP, UINT64_MAX, &byte, &none, &info), QN_ERROR_INVALID_ARGUMENT);
    assert_int_equal(try_memory(QN_MEMORY_DEVICE, UINT64_C(1) << 50, NULL, &none, &info), QN_ERROR_OUT_OF_MEMORY);
    /* The driver itself says no to the second half. */
    uint64_t most = device_info.memory_bytes / 8 * 5;
    qn_adapter_memory *half;
    if (fake) {
      expect_ok(try_memory(QN_MEMORY_DEVICE, most, NULL, &half, &info));
      assert_int_equal(try_memory(QN_MEMORY_DEVICE, most, NULL, &none, &info), QN_ERROR_OUT_OF_MEMORY);
      assert_int_equal(error_code, 2);
      drop_memory(half);
    }
  }
}

static void test_maps_nest_and_keep_what_the_host_does_not_write(void **state) {
  (void)state;
  FOR_EACH_DEVICE {
    unsigned char bytes[256], back[256];
    void *one = NULL, *two = NULL;
    stream s = make_stream(0);
    qn_adapter_memory *memory = make_memory(sizeof bytes);
    fill_bytes(bytes, sizeof bytes, 1);
    write_memory(&s, memory, 0, bytes, sizeof bytes);
    finish(&s);
    expect_ok(table->memory_map(device, memory, 16, 64, QN_MAP_WRITE, &one));
    expect_ok(table->memory_map(device, memory, 128, 64, QN_MAP_READ, &two));
    assert_memory_equal(two, bytes + 128, 64);
    ((unsigned char *)one)[3] = bytes[19] = 99;
    ((unsigned char *)two)[3] = 77; /* for reading alone: it goes nowhere */
    expect_ok(table->memory_unmap(device, memory, two));
    expect_ok(table->memory_unmap(device, memory, one));
    read_memory(&s, memory, 0, back, sizeof back);
    assert_memory_equal(back, bytes, sizeof bytes);
    drop_memory(memory);
    drop_stream(&s);
  }
}

/* ---- Transfers ---------------------------------------------------------------------------------- */

static void test_fills_of_every_pattern_from_anywhere(void **state) {
  (void)state;
  FOR_EACH_DEVICE {
    enum { SIZE = 70000 };
    static unsigned char seen[SIZE + 64], wanted[SIZE + 64];
    static const uint64_t offsets[] = {0, 1, 2, 4, 6};
    stream s = make_stream(0);
    qn_adapter_memory *memory = make_memory(sizeof seen);
    for (uint32_t pattern_bytes = 1; pattern_bytes <= 128; pattern_bytes *= 2)
      for (size_t o = 0; o < sizeof offsets / sizeof *offsets; o++) {
        unsigned char pattern[128];
        const unsigned char zero = 0;
        uint64_t size = SIZE / pattern_bytes * pattern_bytes;
        if (o % 2) size = 3 * (uint64_t)pattern_bytes;
        fill_bytes(pattern, sizeof pattern, pattern_bytes);
        if (o == 4) memset(pattern, 0x5a, sizeof pattern); /* one byte, whatever the pattern's size */
        memset(wanted, 0, sizeof wanted);
        for (uint64_t i = 0; i < size; i++) wanted[offsets[o] + i] = pattern[i % pattern_bytes];
        fill_memory(&s, memory, 0, sizeof seen, &zero, 1);
        fill_memory(&s, memory, offsets[o], size, pattern, pattern_bytes);
        read_memory(&s, memory, 0, seen, sizeof seen);
        if (memcmp(seen, wanted, sizeof seen) != 0)
          fail_msg("pattern of %u bytes at %d", pattern_bytes, (int)offsets[o]);
      }
    drop_memory(memory);
    drop_stream(&s);
  }
}

static void test_pageable_memory_of_every_size(void **state) {
  (void)state;
  FOR_EACH_DEVICE {
    enum { MOST = 21 << 20 };
    static const uint64_t sizes[] = {1, 4096, 65536, 65537, 4 << 20, (4 << 20) + 1, MOST - 5};
    unsigned char *from = malloc(MOST), *to = calloc(1, MOST);
    stream s = make_stream(0);
    qn_adapter_memory *memory = make_memory(MOST);
    if (fake) fake->waits_on_host = 0;
    /* Marks have no part in it: once around the ring of pieces is enough. */
    size_t count = sizeof sizes / sizeof *sizes - run % 2;
    for (size_t i = 0; i < count; i++) {
      fill_bytes(from, sizes[i], (uint32_t)i);
      write_memory(&s, memory, 5, from, sizes[i]);
      write_memory(&s, memory, 0, from, 1);
      read_memory(&s, memory, 5, to, sizes[i]);
      assert_memory_equal(to, from, sizes[i]);
    }
    if (fake) assert_int_equal(fake->waits_on_host, 0);
    drop_memory(memory);
    drop_stream(&s);
    free(from);
    free(to);
  }
}

/* ---- Queues ------------------------------------------------------------------------------------- */

static void test_a_queue_waits_for_another_on_the_device(void **state) {
  (void)state;
  FOR_EACH_DEVICE {
    stream a = make_stream(0), b = make_stream(0);
    qn_adapter_memory *memory = make_memory(64);
    qn_adapter_kernel *advance = make_kernel(program, "advance", "b4"), *busy = make_kernel(program, "spin", "8");
    uint32_t expected = 1, got = 0;
    write_memory(&a, memory, 8, &expected, 4);
    for (uint32_t i = 0; i < 100; i++) {
      stream *s = i % 2 ? &b : &a, *other = i % 2 ? &a : &b;
      const qn_launch_argument arguments[] = {buffer_argument(memory, 8), value_argument(&i, 4)};
      if (other->value > 0) wait_for(s, other, other->value);
      if (i % 16 == 0) spin(s, busy, 500000);
      launch(s, advance, arguments, 2);
      expected = expected * 3 + i;
    }
    read_memory(&b, memory, 8, &got, 4);
    assert_int_equal(got, expected);
    assert_true(completed_of(&a) == a.value); /* b waited for all of it */
    drop_kernel(advance);
    drop_kernel(busy);
    drop_memory(memory);
    drop_stream(&a);
    drop_stream(&b);
  }
}

static void test_a_limit_holds_behind_a_long_kernel(void **state) {
  (void)state;
  enum { SIZE = 9 << 20 };
  FOR_EACH_DEVICE {
    unsigned char *host = malloc(SIZE);
    stream s = make_stream(0);
    qn_adapter_memory *memory = make_memory(SIZE);
    qn_adapter_kernel *busy = make_kernel(program, "spin", "8");
    memset(host, 1, SIZE);
    /* The first transfers of a queue make what they need. */
    write_memory(&s, memory, 0, host, SIZE);
    read_memory(&s, memory, 0, host, SIZE);
    uint64_t start = now_ns();
    spin(&s, busy, 300000000);
    assert_int_equal(table->queue_wait(s.queue, s.value, 1000000), QN_ERROR_TIMEOUT);
    assert_int_equal(table->queue_wait(s.queue, s.value, QN_POLL), QN_ERROR_TIMEOUT);
    write_memory(&s, memory, 0, host, 65536); /* what the driver copies while the call lasts */
    write_memory(&s, memory, 0, host, SIZE);
    submit(&s, (qn_adapter_command){.kind = QN_COMMAND_READ, .source = memory, .size_bytes = SIZE, .host = host});
    assert_int_equal(table->queue_wait(s.queue, s.value - 1, 1000000), QN_ERROR_TIMEOUT);
    uint64_t took = now_ns() - start;
    if (took > 250000000) fail_msg("calls took %d ms behind a kernel of 300", (int)(took / 1000000));
    expect_ok(table->queue_wait(s.queue, s.value, UINT64_C(30000000000)));
    assert_true(now_ns() - start >= 290000000);
    assert_true(host[0] == 1 && memcmp(host, host + 1, SIZE - 1) == 0);
    drop_kernel(busy);
    drop_memory(memory);
    drop_stream(&s);
    free(host);
  }
}

static void test_nobody_waits_and_completion_is_seen(void **state) {
  (void)state;
  FOR_EACH_DEVICE {
    stream s = make_stream(0);
    qn_adapter_kernel *busy = make_kernel(program, "spin", "8");
    for (int i = 0; i < 40; i++) spin(&s, busy, 10000);
    while (completed_of(&s) < s.value) sleep_ms(1);
    drop_kernel(busy);
    drop_stream(&s);
  }
}

static uint64_t time_of(stream *s, uint64_t value, bool begin_of) {
  uint64_t ns = 0;
  expect_ok((begin_of ? table->queue_begin : table->queue_time)(s->queue, value, &ns));
  return ns;
}

static void test_timed_queues_share_a_clock(void **state) {
  (void)state;
  FOR_EACH_DEVICE {
    stream a = make_stream(QN_QUEUE_TIMED), b = make_stream(QN_QUEUE_TIMED), plain = make_stream(0);
    qn_adapter_kernel *busy = make_kernel(program, "spin", "8");
    uint64_t ns = 0;
    assert_int_equal(table->queue_time(plain.queue, 1, &ns), QN_ERROR_UNSUPPORTED);
    spin(&a, busy, 2000000);
    spin(&a, busy, 1000000);
    wait_for(&b, &a, a.value);
    spin(&b, busy, 1000000);
    finish(&b);
    finish(&a);
    for (uint64_t v = 1; v <= 2; v++) {
      uint64_t took = time_of(&a, v, false) - time_of(&a, v, true), wanted = v == 1 ? 2000000 : 1000000;
      if (took < wanted - wanted / 10 || took > 20 * wanted) fail_msg("%d ns for %d", (int)took, (int)wanted);
    }
    assert_true(time_of(&a, 2, true) + 2000 >= time_of(&a, 1, false));
    assert_true(time_of(&b, 2, true) + 2000 >= time_of(&a, 2, false));
    assert_true(time_of(&b, 2, false) > time_of(&b, 1, false));
    assert_int_equal(table->queue_time(a.queue, a.value + 1, &ns), QN_NOT_READY);
    drop_kernel(busy);
    drop_stream(&a);
    drop_stream(&b);
    drop_stream(&plain);
  }
}

/* ---- Programs ----------------------------------------------------------------------------------- */

static void test_a_device_binary_is_a_program(void **state) {
  (void)state;
  FOR_EACH_DEVICE {
    uint64_t size = 0, again = 0;
    qn_adapter_program *second = NULL, *none = NULL;
    expect_ok(table->program_binary(device, program, 0, NULL, &size));
    assert_true(size > 64);
    unsigned char *bytes = malloc(size);
    expect_ok(table->program_binary(device, program, size, bytes, &again));
    assert_true(again == size);
    expect_ok(try_program(QN_CODE_NATIVE, bytes, size, &second));
    stream s = make_stream(0);
    qn_adapter_memory *memory = make_memory(2048);
    qn_adapter_kernel *kernel = make_kernel(second, "reverse", "bl");
    reverse(&s, kernel, memory, 512);
    drop_kernel(kernel);
    drop_memory(memory);
    drop_stream(&s);
    expect_ok(table->program_destroy(device, second));
    /* Cut or damaged, it never reaches the driver, which takes no length. */
    if (!fake) assert_int_equal(try_program(QN_CODE_NATIVE, bytes, size / 2, &none), QN_ERROR_DATA);
    assert_int_equal(try_program(QN_CODE_NATIVE, bytes, 40, &none), QN_ERROR_DATA);
    bytes[0] = 0;
    assert_int_equal(try_program(QN_CODE_NATIVE, bytes, size, &none), QN_ERROR_DATA);
    free(bytes);
  }
}

static void test_programs_and_kernels_that_are_refused(void **state) {
  (void)state;
  static const char wrong[] = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry broken(\n{\n";
  FOR_EACH_DEVICE {
    qn_adapter_program *none = NULL;
    qn_adapter_kernel *kernel = NULL;
    qn_adapter_kernel_info info;
    assert_int_equal(try_program(FIXTURE_CODE, wrong, strlen(wrong), &none), QN_ERROR_COMPILE);
    assert_non_null(strstr(error_text, "ptxas"));
    assert_non_null(strstr(error_text, "line"));
    assert_int_equal(try_program(QN_CODE_OPENCL_C, wrong, strlen(wrong), &none), QN_ERROR_UNSUPPORTED);
    assert_int_equal(try_program(FIXTURE_CODE, wrong, 0, &none), QN_ERROR_INVALID_ARGUMENT);
    assert_int_equal(try_kernel(program, "absent", "b", &kernel, &info), QN_ERROR_NOT_FOUND);
    assert_non_null(strstr(error_text, "'absent'"));
    qn_adapter_kernel *advance = make_kernel(program, "advance", "b4");
    stream s = make_stream(0);
    const uint64_t wide = 1;
    const qn_launch_argument a[] = {buffer_argument(NULL, 0), value_argument(&wide, 8)};
    const qn_launch_record record = launch_1d(advance, 1, 1, a, 2);
    assert_int_equal(try_submit(&s, (qn_adapter_command){.kind = QN_COMMAND_LAUNCH, .launch = &record}),
                     QN_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(error_text, "argument 1 of kernel 'advance'"));
    drop_stream(&s);
    drop_kernel(advance);
  }
}

/* ---- Context ------------------------------------------------------------------------------------ */

static void test_native_handles(void **state) {
  (void)state;
  FOR_EACH_DEVICE {
    uint64_t context = 0, id = 99, stream_handle = 0, none = 0;
    stream s = make_stream(0);
    expect_ok(table->native(QN_KIND_DEVICE, device, 0, &context));
    expect_ok(table->native(QN_KIND_DEVICE, device, 1, &id));
    expect_ok(table->native(QN_KIND_QUEUE, s.queue, 0, &stream_handle));
    assert_true(context != 0 && stream_handle != 0 && id == run / 2);
    assert_int_equal(table->native(QN_KIND_QUEUE, s.queue, 1, &none), QN_ERROR_UNSUPPORTED);
    drop_stream(&s);
  }
}

/* The last of the tests: a real driver gives the process no context afterwards. */
static void test_a_kernels_fault_is_told_by_every_queue_of_the_device(void **state) {
  (void)state;
  begin(0, marks[0]);
  stream bad = make_stream(0), other = make_stream(0);
  qn_adapter_kernel *fault = make_kernel(program, "fault", ""), *busy = make_kernel(program, "spin", "8");
  qn_adapter_memory *memory = make_memory(64);
  qn_adapter_progress p = {.struct_size = sizeof p};
  spin(&other, busy, 50000000);
  spin(&other, busy, 50000000);
  launch(&bad, fault, NULL, 0);
  expect_ok(table->queue_wait(bad.queue, bad.value, UINT64_C(10000000000)));
  expect_ok(table->queue_progress(bad.queue, &p));
  assert_true(p.failed_first == 1 && p.completed == 1);
  assert_int_equal(p.cause, QN_ERROR_DEVICE_LOST);
  assert_int_equal(p.driver_code, 700);
  assert_non_null(strstr(p.text, "CUDA_ERROR_ILLEGAL_ADDRESS"));
  (void)!table->queue_wait(other.queue, other.value, UINT64_C(10000000000));
  assert_true(completed_of(&other) == other.value);
  expect_ok(table->queue_progress(other.queue, &p));
  assert_int_equal(p.cause, QN_ERROR_DEVICE_LOST);
  assert_int_equal(try_submit(&other, (qn_adapter_command){.kind = QN_COMMAND_MARK}), QN_ERROR_DEVICE_LOST);
  drop_kernel(fault);
  drop_kernel(busy);
  drop_memory(memory);
  drop_stream(&bad);
  drop_stream(&other);
  end();
  assert_int_equal(table->device_open(instance, 0, &device), QN_ERROR_DEVICE_LOST);
  assert_non_null(strstr(error_text, "spoiled it for this process"));
}

/* A library that is named is taken as it is. */
static bool wants_driver(void) {
  const char *named = getenv("QUERN_CUDA_LIBRARY");
  return (named && *named) || dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
}

static int load(void **state) {
  (void)state;
  if (!wants_driver()) load_fake();
  fixture_load();
  expect_ok(table->instance_open(&fixture_host, &instance));
  expect_ok(table->device_count(instance, &device_count));
  for (uint32_t i = 0; i < device_count; i++) {
    expect_ok(table->device_describe(instance, i, &device_info));
    printf("cuda:%u %s, %s, %s, %s\n", i, device_info.name, device_info.driver, device_info.target,
           device_info.target_cpu);
  }
  return 0;
}
static int unload(void **state) {
  (void)state;
  close_instance();
  expect_nothing_left();
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_launch_with_offsets_and_a_smaller_last_group),
      cmocka_unit_test(test_local_memory_also_more_than_the_usual),
      cmocka_unit_test(test_items_know_where_they_are),
      cmocka_unit_test(test_a_launch_without_work_has_a_value),
      cmocka_unit_test(test_thousands_of_launches_run_in_order),
      cmocka_unit_test(test_memory_of_each_kind),
      cmocka_unit_test(test_wrapped_memory_may_share_pages),
      cmocka_unit_test(test_memory_that_is_refused),
      cmocka_unit_test(test_maps_nest_and_keep_what_the_host_does_not_write),
      cmocka_unit_test(test_fills_of_every_pattern_from_anywhere),
      cmocka_unit_test(test_pageable_memory_of_every_size),
      cmocka_unit_test(test_a_queue_waits_for_another_on_the_device),
      cmocka_unit_test(test_a_limit_holds_behind_a_long_kernel),
      cmocka_unit_test(test_nobody_waits_and_completion_is_seen),
      cmocka_unit_test(test_timed_queues_share_a_clock),
      cmocka_unit_test(test_a_device_binary_is_a_program),
      cmocka_unit_test(test_programs_and_kernels_that_are_refused),
      cmocka_unit_test(test_native_handles),
      cmocka_unit_test(test_a_kernels_fault_is_told_by_every_queue_of_the_device),
  };
  return cmocka_run_group_tests(tests, load, unload);
}
