/* labels: threads */
/* Buffers, views, copies, fills, reads, writes and maps, on the devices that run no kernels and on the interpreter. */
#include <pthread.h>
#include <stdlib.h>

#include "support.h"
#include "support/rounds.h"

static const char *const selectors[] = {"null", "check"};
static const char *selector; /* of the test that runs */

static void bytes_go_to_the_device_and_come_back(void **state) {
  (void)state;
  test_device t = test_open(selector);
  qn_queue queue = test_queue(t.device);
  enum { SIZE = 100000 };
  static unsigned char in[SIZE], out[SIZE];
  for (int i = 0; i < SIZE; i++) in[i] = (unsigned char)(i * 7);
  qn_buffer a = test_buffer(t.device, SIZE), b = test_buffer(t.device, SIZE);
  qn_view va = test_view(a, 0, QN_WHOLE), vb = test_view(b, 0, QN_WHOLE);
  qn_point done = {0, 0};
  OK(qn_write(queue, &va, in, NULL));
  OK(qn_copy(queue, &vb, &va, NULL));
  OK(qn_read(queue, &vb, out, &done));
  OK(qn_point_wait(&done, PATIENCE));
  assert_memory_equal(in, out, SIZE);
  test_close(&t);
}

static void parts_of_buffers_are_copied_and_nothing_else(void **state) {
  (void)state;
  test_device t = test_open(selector);
  qn_queue queue = test_queue(t.device);
  qn_buffer a = test_buffer(t.device, 100), b = test_buffer(t.device, 100);
  unsigned char in[100], out[100], one = 1, two = 2;
  for (int i = 0; i < 100; i++) in[i] = (unsigned char)(100 + i);
  qn_view all_a = test_view(a, 0, QN_WHOLE), all_b = test_view(b, 0, 100), part_a = test_view(a, 10, 20),
          part_b = test_view(b, 77, 20), tail = test_view(b, 97, QN_WHOLE);
  OK(qn_write(queue, &all_a, in, NULL));
  OK(qn_fill(queue, &all_b, &one, 1, NULL));
  OK(qn_copy(queue, &part_b, &part_a, NULL));
  OK(qn_fill(queue, &tail, &two, 1, NULL));
  OK(qn_read(queue, &all_b, out, NULL));
  OK(qn_queue_finish(queue, PATIENCE));
  for (int i = 0; i < 100; i++) assert_int_equal(out[i], i >= 97 ? 2 : i >= 77 ? 110 + i - 77 : 1);
  test_close(&t);
}

static void a_fill_takes_each_size_of_pattern(void **state) {
  (void)state;
  test_device t = test_open(selector);
  qn_queue queue = test_queue(t.device);
  qn_buffer buffer = test_buffer(t.device, 256);
  unsigned char pattern[128], out[256];
  for (int i = 0; i < 128; i++) pattern[i] = (unsigned char)(i + 1);
  qn_view view = test_view(buffer, 0, QN_WHOLE);
  for (uint32_t size = 1; size <= 128; size *= 2) {
    OK(qn_fill(queue, &view, pattern, size, NULL));
    OK(qn_read(queue, &view, out, NULL));
    OK(qn_queue_finish(queue, PATIENCE));
    for (uint32_t i = 0; i < 256; i++) assert_int_equal(out[i], pattern[i % size]);
  }
  FAILS(qn_fill(queue, &view, pattern, 3, NULL), QN_ERROR_INVALID_ARGUMENT, "pattern_bytes is 3");
  FAILS(qn_fill(queue, &view, pattern, 0, NULL), QN_ERROR_INVALID_ARGUMENT, "pattern_bytes is 0");
  FAILS(qn_fill(queue, &view, pattern, 256, NULL), QN_ERROR_INVALID_ARGUMENT, "pattern_bytes is 256");
  FAILS(qn_fill(queue, &view, NULL, 4, NULL), QN_ERROR_INVALID_ARGUMENT, "pattern is NULL");
  view.size_bytes = 6;
  FAILS(qn_fill(queue, &view, pattern, 4, NULL), QN_ERROR_INVALID_ARGUMENT, "no multiple");
  test_close(&t);
}

static void a_pattern_is_copied_before_the_call_returns(void **state) {
  (void)state;
  test_device t = test_open(selector);
  qn_queue queue = test_queue(t.device);
  qn_buffer buffer = test_buffer(t.device, 1 << 20);
  qn_view view = test_view(buffer, 0, QN_WHOLE), last = test_view(buffer, (1 << 20) - 4, 4);
  uint32_t pattern = 0, out = 0;
  for (uint32_t i = 1; i <= 50; i++) {
    pattern = i;
    OK(qn_fill(queue, &view, &pattern, 4, NULL));
  }
  pattern = 99;
  OK(qn_read(queue, &last, &out, NULL));
  OK(qn_queue_finish(queue, PATIENCE));
  assert_int_equal(out, 50);
  test_close(&t);
}

static void size_0_does_nothing_and_gives_a_point(void **state) {
  (void)state;
  test_device t = test_open(selector);
  qn_queue queue = test_queue(t.device);
  qn_buffer a = test_buffer(t.device, 16), b = test_buffer(t.device, 16);
  qn_view va = test_view(a, 16, QN_WHOLE), vb = test_view(b, 3, 0);
  qn_point points[4];
  uint32_t pattern = 0;
  OK(qn_copy(queue, &va, &vb, &points[0]));
  OK(qn_fill(queue, &va, &pattern, 4, &points[1]));
  OK(qn_write(queue, &vb, NULL, &points[2]));
  OK(qn_read(queue, &vb, NULL, &points[3]));
  for (int i = 0; i < 4; i++) {
    assert_int_equal(points[i].value, i + 1);
    OK(qn_point_wait(&points[i], PATIENCE));
  }
  test_close(&t);
}

static void views_past_the_end_are_refused(void **state) {
  (void)state;
  test_device t = test_open(selector);
  qn_queue queue = test_queue(t.device);
  qn_buffer a = test_buffer(t.device, 100), b = test_buffer(t.device, 100);
  qn_view good = test_view(a, 0, 10);
  char bytes[100];
  const struct {
    uint64_t offset, size;
  } bad[] = {{0, 101},
             {91, 10},
             {101, 0},
             {101, QN_WHOLE},
             {UINT64_MAX, 10},
             {UINT64_MAX - 5, 10},
             {UINT64_C(1) << 63, UINT64_C(1) << 63},
             {0, UINT64_C(1) << 63},
             {1, UINT64_MAX - 1}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    qn_view view = test_view(b, bad[i].offset, bad[i].size);
    qn_point point = {5, 6};
    void *pointer = bytes;
    FAILS(qn_copy(queue, &view, &good, &point), QN_ERROR_INVALID_ARGUMENT, "target");
    FAILS(qn_copy(queue, &good, &view, &point), QN_ERROR_INVALID_ARGUMENT, "source");
    FAILS(qn_fill(queue, &view, bytes, 1, &point), QN_ERROR_INVALID_ARGUMENT, "target");
    FAILS(qn_write(queue, &view, bytes, &point), QN_ERROR_INVALID_ARGUMENT, "target");
    FAILS(qn_read(queue, &view, bytes, &point), QN_ERROR_INVALID_ARGUMENT, "source");
    FAILS(qn_buffer_map(&view, QN_MAP_READ, 0, &pointer), QN_ERROR_INVALID_ARGUMENT, "view");
    assert_int_equal(point.queue, 5); /* a function that fails changes nothing */
    assert_ptr_equal(pointer, bytes);
  }
  test_close(&t);
}

static void copies_that_overlap_or_differ_in_size_are_refused(void **state) {
  (void)state;
  test_device t = test_open(selector);
  qn_queue queue = test_queue(t.device);
  qn_buffer a = test_buffer(t.device, 100), b = test_buffer(t.device, 50);
  const struct {
    uint64_t to, from, size;
    int overlaps;
  } cases[] = {{0, 0, 10, 1},  {0, 9, 10, 1}, {9, 0, 10, 1}, {0, 10, 10, 0},
               {10, 0, 10, 0}, {5, 5, 0, 0},  {0, 1, 99, 1}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    qn_view to = test_view(a, cases[i].to, cases[i].size), from = test_view(a, cases[i].from, cases[i].size);
    if (cases[i].overlaps)
      FAILS(qn_copy(queue, &to, &from, NULL), QN_ERROR_INVALID_ARGUMENT, "overlap");
    else
      OK(qn_copy(queue, &to, &from, NULL));
  }
  qn_view all_a = test_view(a, 0, QN_WHOLE), all_b = test_view(b, 0, QN_WHOLE);
  FAILS(qn_copy(queue, &all_a, &all_b, NULL), QN_ERROR_INVALID_ARGUMENT, "target has 100 bytes and source 50");
  test_close(&t);
}

static void null_pointers_are_named(void **state) {
  (void)state;
  test_device t = test_open(selector);
  qn_queue queue = test_queue(t.device);
  qn_buffer a = test_buffer(t.device, 16);
  qn_view view = test_view(a, 0, 8);
  qn_buffer_options options = QN_INIT(qn_buffer_options);
  options.size_bytes = 1;
  void *pointer = NULL;
  FAILS(qn_copy(queue, NULL, &view, NULL), QN_ERROR_INVALID_ARGUMENT, "target is NULL");
  FAILS(qn_copy(queue, &view, NULL, NULL), QN_ERROR_INVALID_ARGUMENT, "source is NULL");
  FAILS(qn_write(queue, &view, NULL, NULL), QN_ERROR_INVALID_ARGUMENT, "source, the host memory, is NULL");
  FAILS(qn_read(queue, &view, NULL, NULL), QN_ERROR_INVALID_ARGUMENT, "target, the host memory, is NULL");
  void *last = (void *)(UINTPTR_MAX - 3); /* the view has 8 bytes */
  FAILS(qn_write(queue, &view, last, NULL), QN_ERROR_INVALID_ARGUMENT, "source, the host memory at");
  FAILS(qn_read(queue, &view, last, NULL), QN_ERROR_INVALID_ARGUMENT, "goes past the end of memory");
  FAILS(qn_buffer_map(NULL, QN_MAP_READ, 0, &pointer), QN_ERROR_INVALID_ARGUMENT, "view is NULL");
  FAILS(qn_buffer_map(&view, QN_MAP_READ, 0, NULL), QN_ERROR_INVALID_ARGUMENT, "out_pointer is NULL");
  FAILS(qn_buffer_map(&view, 0, 0, &pointer), QN_ERROR_INVALID_ARGUMENT, "access is 0");
  FAILS(qn_buffer_map(&view, 4, 0, &pointer), QN_ERROR_INVALID_ARGUMENT, "access is 4");
  FAILS(qn_buffer_create(t.device, NULL, &a), QN_ERROR_INVALID_ARGUMENT, "options is NULL");
  FAILS(qn_buffer_create(t.device, &options, NULL), QN_ERROR_INVALID_ARGUMENT, "out_buffer is NULL");
  FAILS(qn_buffer_query(a, NULL), QN_ERROR_INVALID_ARGUMENT, "out_info is NULL");
  test_close(&t);
}

static void options_that_make_no_sense_are_refused(void **state) {
  (void)state;
  test_device t = test_open(selector);
  qn_buffer buffer = NULL;
  qn_buffer_options o = QN_INIT(qn_buffer_options);
  FAILS(qn_buffer_create(t.device, &o, &buffer), QN_ERROR_INVALID_ARGUMENT, "size_bytes is 0");
  o.size_bytes = UINT64_C(1) << 63;
  FAILS(qn_buffer_create(t.device, &o, &buffer), QN_ERROR_LIMIT, "size_bytes is 9223372036854775808");
  o.size_bytes = UINT64_MAX;
  FAILS(qn_buffer_create(t.device, &o, &buffer), QN_ERROR_LIMIT, "size_bytes");
  o.size_bytes = 8;
  o.memory = 77;
  FAILS(qn_buffer_create(t.device, &o, &buffer), QN_ERROR_INVALID_ARGUMENT, "memory is 77");
  o.memory = QN_MEMORY_WRAP;
  FAILS(qn_buffer_create(t.device, &o, &buffer), QN_ERROR_INVALID_ARGUMENT, "host_pointer is NULL");
  o.host_pointer = (void *)(UINTPTR_MAX - 3);
  FAILS(qn_buffer_create(t.device, &o, &buffer), QN_ERROR_INVALID_ARGUMENT, "past the end of memory");
  o.memory = QN_MEMORY_DEVICE;
  FAILS(qn_buffer_create(t.device, &o, &buffer), QN_ERROR_INVALID_ARGUMENT, "only QN_MEMORY_WRAP");
  o.host_pointer = NULL;
  o.flags = UINT64_C(1) << 40;
  FAILS(qn_buffer_create(t.device, &o, &buffer), QN_ERROR_UNSUPPORTED, "unknown flags");
  o.flags = 0;
  o.struct_size = 0;
  FAILS(qn_buffer_create(t.device, &o, &buffer), QN_ERROR_INVALID_ARGUMENT, "struct_size is 0");
  struct {
    qn_buffer_options o;
    uint64_t newer;
  } future = {.o = {.struct_size = sizeof future, .size_bytes = 8}, .newer = 1};
  FAILS(qn_buffer_create(t.device, &future.o, &buffer), QN_ERROR_UNSUPPORTED, "doesn't know");
  future.newer = 0;
  OK(qn_buffer_create(t.device, &future.o, &buffer));
  test_close(&t);
}

static void a_map_waits_for_the_buffer_and_nests(void **state) {
  (void)state;
  test_device t = test_open(selector);
  qn_queue queue = test_queue(t.device);
  qn_buffer buffer = test_buffer(t.device, 1 << 22);
  qn_view all = test_view(buffer, 0, QN_WHOLE), part = test_view(buffer, 100, 8);
  unsigned char pattern = 9;
  unsigned char *first = NULL;
  void *pointer = NULL, *again = NULL;
  OK(qn_fill(queue, &all, &pattern, 1, NULL));
  OK(qn_buffer_map(&all, QN_MAP_READ | QN_MAP_WRITE, PATIENCE, &pointer));
  first = pointer;
  for (size_t i = 0; i < 1 << 22; i++) assert_int_equal(first[i], 9);
  OK(qn_buffer_map(&part, QN_MAP_WRITE, QN_FOREVER, &again));
  *(unsigned char *)again = 1;
  assert_int_equal(first[100], 1);
  OK(qn_buffer_unmap(buffer, again));
  FAILS(qn_buffer_unmap(buffer, again), QN_ERROR_INVALID_ARGUMENT, "not mapped");
  OK(qn_buffer_unmap(buffer, pointer));
  FAILS(qn_buffer_unmap(buffer, &pattern), QN_ERROR_INVALID_ARGUMENT, "not mapped");
  OK(qn_buffer_map(&all, QN_MAP_READ, QN_FOREVER, &pointer)); /* left mapped: the release takes it back */
  test_close(&t);
}

/* One thread's unmap may take the record of another's map of the same address: they are alike, and whose it was is nobody's
 * business. */
enum { MAPPERS = 4 };
typedef struct mapper {
  qn_buffer buffer;
  uint64_t rounds;
} mapper;

static void *map_and_unmap(void *given) {
  const mapper *m = given;
  for (uint64_t i = 0; i < m->rounds; i++) {
    qn_view all = test_view(m->buffer, 0, QN_WHOLE);
    void *pointer = NULL;
    if (qn_buffer_map(&all, QN_MAP_READ, QN_FOREVER, &pointer) != QN_OK) return "a map failed";
    if (*(volatile unsigned char *)pointer != 7) return "a map gave another address";
    if (qn_buffer_unmap(m->buffer, pointer) != QN_OK) return "an unmap failed";
  }
  return NULL;
}

static void threads_map_and_unmap_one_buffer(void **state) {
  (void)state;
  test_device t = test_open(selector);
  qn_queue queue = test_queue(t.device);
  mapper m = {test_buffer(t.device, 1000), test_rounds("maps of one buffer by each of four threads", 60000, 1000000)};
  pthread_t threads[MAPPERS];
  qn_view all = test_view(m.buffer, 0, QN_WHOLE);
  OK(qn_fill(queue, &all, "\a", 1, NULL));
  for (int i = 0; i < MAPPERS; i++) assert_int_equal(pthread_create(&threads[i], NULL, map_and_unmap, &m), 0);
  for (int i = 0; i < MAPPERS; i++) {
    void *wrong = NULL;
    pthread_join(threads[i], &wrong);
    if (wrong) fail_msg("%s: %s", (const char *)wrong, qn_error_text());
  }
  test_close(&t);
}

static void wrapped_memory_is_the_callers_own(void **state) {
  (void)state;
  test_device t = test_open(selector);
  qn_queue queue = test_queue(t.device);
  static uint32_t memory[1000];
  qn_buffer_options o = QN_INIT(qn_buffer_options);
  o.memory = QN_MEMORY_WRAP;
  o.size_bytes = sizeof memory;
  o.host_pointer = memory;
  qn_buffer a = NULL, b = NULL;
  OK(qn_buffer_create(t.device, &o, &a));
  qn_buffer_info info = QN_INIT(qn_buffer_info);
  OK(qn_buffer_query(a, &info));
  assert_ptr_equal(info.host_pointer, memory);
  uint32_t pattern = 0x01020304;
  qn_view view = test_view(a, 0, QN_WHOLE);
  OK(qn_fill(queue, &view, &pattern, 4, NULL));
  OK(qn_queue_finish(queue, PATIENCE));
  assert_int_equal(memory[999], 0x01020304);
  o.host_pointer = memory + 500;
  o.size_bytes = 4;
  FAILS(qn_buffer_create(t.device, &o, &b), QN_ERROR_INVALID_ARGUMENT, "another buffer");
  OK(qn_release(a));
  OK(qn_device_drain(t.device, PATIENCE));
  OK(qn_buffer_create(t.device, &o, &b));
  test_close(&t);
}

static void queries_tell_what_was_asked_for(void **state) {
  (void)state;
  test_device t = test_open(selector);
  const uint32_t kinds[] = {QN_MEMORY_DEVICE, QN_MEMORY_HOST, QN_MEMORY_SHARED};
  for (size_t i = 0; i < 3; i++) {
    qn_buffer_options o = QN_INIT(qn_buffer_options);
    qn_buffer_info info = QN_INIT(qn_buffer_info);
    qn_buffer buffer = NULL;
    o.memory = kinds[i];
    o.size_bytes = 12345;
    o.flags = QN_BUFFER_UNTRACKED;
    OK(qn_buffer_create(t.device, &o, &buffer));
    OK(qn_buffer_query(buffer, &info));
    assert_int_equal(info.memory, kinds[i]);
    assert_int_equal(info.size_bytes, 12345);
    assert_int_equal(info.flags, QN_BUFFER_UNTRACKED);
    assert_true((info.host_pointer != NULL) == (kinds[i] != QN_MEMORY_DEVICE));
    if (info.host_pointer) memset(info.host_pointer, 1, 12345);
  }
  test_close(&t);
}

static void an_older_callers_struct_is_filled_as_far_as_it_goes(void **state) {
  (void)state;
  test_device t = test_open(selector);
  qn_buffer buffer = test_buffer(t.device, 40);
  struct {
    uint32_t struct_size, memory;
    uint64_t size_bytes;
    uint64_t not_part_of_it;
  } old = {.struct_size = 16, .not_part_of_it = 77};
  OK(qn_buffer_query(buffer, (qn_buffer_info *)(void *)&old));
  assert_int_equal(old.size_bytes, 40);
  assert_int_equal(old.struct_size, 16);
  assert_int_equal(old.not_part_of_it, 77);
  struct {
    qn_buffer_info info;
    uint64_t newer;
  } young = {.info = {.struct_size = sizeof young}, .newer = 99};
  OK(qn_buffer_query(buffer, &young.info));
  assert_int_equal(young.info.size_bytes, 40);
  assert_int_equal(young.info.struct_size, sizeof young);
  assert_int_equal(young.newer, 0);
  test_close(&t);
}

static void released_memory_is_used_again(void **state) {
  (void)state;
  test_device t = test_open(selector);
  for (int i = 0; i < 1000; i++) {
    qn_buffer buffer = test_buffer(t.device, 1 << 20);
    OK(qn_release(buffer));
  }
  OK(qn_device_drain(t.device, PATIENCE));
  qn_device_statistics s = test_statistics(t.device);
  assert_int_equal(s.buffers, 0);
  assert_int_equal(s.awaiting_release, 0);
  assert_int_equal(s.memory_reserved, 0); /* draining leaves nothing with the driver */
  qn_buffer buffer = test_buffer(t.device, 1000);
  s = test_statistics(t.device);
  assert_int_equal(s.buffers, 1);
  assert_true(s.memory_used >= 1000 && s.memory_used < 2000);
  assert_int_equal(s.memory_reserved, s.memory_used + s.memory_cached);
  OK(qn_release(buffer));
  test_close(&t);
}

static void statistics_count_copies_and_fills(void **state) {
  (void)state;
  test_device t = test_open(selector);
  qn_queue one = test_queue(t.device), two = test_queue(t.device);
  qn_buffer a = test_buffer(t.device, 64), b = test_buffer(t.device, 64);
  qn_view va = test_view(a, 0, QN_WHOLE), vb = test_view(b, 0, QN_WHOLE);
  char bytes[64] = {0};
  OK(qn_write(one, &va, bytes, NULL));
  OK(qn_copy(one, &vb, &va, NULL));
  OK(qn_fill(two, &vb, bytes, 4, NULL));
  OK(qn_read(two, &vb, bytes, NULL));
  OK(qn_queue_finish(two, PATIENCE));
  OK(qn_release(two)); /* what it counted stays */
  OK(qn_device_drain(t.device, PATIENCE));
  qn_device_statistics s = test_statistics(t.device);
  assert_int_equal(s.copies, 3);
  assert_int_equal(s.fills, 1);
  assert_int_equal(s.launches, 0);
  assert_int_equal(s.queues, 1);
  test_close(&t);
}

static void a_buffer_of_another_device_is_refused(void **state) {
  (void)state;
  test_device t = test_open(selector);
  qn_device other = NULL;
  OK(qn_device_open(t.runtime, selector, &other));
  qn_queue queue = test_queue(t.device);
  qn_buffer mine = test_buffer(t.device, 8), foreign = test_buffer(other, 8);
  qn_view to = test_view(mine, 0, 8), from = test_view(foreign, 0, 8);
  FAILS(qn_copy(queue, &to, &from, NULL), QN_ERROR_INVALID_ARGUMENT, "source is one of device");
  test_close(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bytes_go_to_the_device_and_come_back),
      cmocka_unit_test(parts_of_buffers_are_copied_and_nothing_else),
      cmocka_unit_test(a_fill_takes_each_size_of_pattern),
      cmocka_unit_test(a_pattern_is_copied_before_the_call_returns),
      cmocka_unit_test(size_0_does_nothing_and_gives_a_point),
      cmocka_unit_test(views_past_the_end_are_refused),
      cmocka_unit_test(copies_that_overlap_or_differ_in_size_are_refused),
      cmocka_unit_test(null_pointers_are_named),
      cmocka_unit_test(options_that_make_no_sense_are_refused),
      cmocka_unit_test(a_map_waits_for_the_buffer_and_nests),
      cmocka_unit_test(threads_map_and_unmap_one_buffer),
      cmocka_unit_test(wrapped_memory_is_the_callers_own),
      cmocka_unit_test(queries_tell_what_was_asked_for),
      cmocka_unit_test(an_older_callers_struct_is_filled_as_far_as_it_goes),
      cmocka_unit_test(released_memory_is_used_again),
      cmocka_unit_test(statistics_count_copies_and_fills),
      cmocka_unit_test(a_buffer_of_another_device_is_refused),
  };
  int failed = 0;
  for (size_t i = 0; i < sizeof selectors / sizeof *selectors; i++) {
    selector = selectors[i];
    printf("device %s\n", selector);
    failed += cmocka_run_group_tests(tests, NULL, NULL);
  }
  return failed;
}
