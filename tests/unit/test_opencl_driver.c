/* labels: llvm opencl */
/* The opencl adapter with every device of the drivers that this machine has. `llvm` keeps it out of the thread sanitizer's
 * runs, which can't see into drivers. */
#include "support/opencl_fixture.h"
#include "support/rounds.h"

/* What is resident says nothing under a sanitizer, which keeps what is freed. */
#if defined(__SANITIZE_ADDRESS__)
#define HAS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_SANITIZER 1
#endif
#endif
#ifndef HAS_SANITIZER
#define HAS_SANITIZER 0
#endif

static uint32_t device_count;

/* ---- Programs ----------------------------------------------------------------------------------- */

/* Entries as adapter.h lays them down: the own parameters, then the range and the offsets of buffers in one struct; who has
 * no range has an entry without offsets and one with. */
#define ENTRIES(name, parameters, hidden, sums, body) \
  "kernel void " name "(" parameters ") {\n" body     \
  "}\n"                                               \
  "kernel void " QN_OPENCL_OFFSET_ENTRY name "(" parameters ", " hidden " h) {\n" sums body "}\n"

static const char source[] =
    "typedef struct { ulong global_size[3], global_offset[3], group_base[3], num_groups[3], enqueued_local[3]; ulong "
    "at; }\n"
    "    range;\n"
    "typedef struct { ulong at; } one;\n"
    "typedef struct { ulong at[2]; } two;\n"
    "typedef struct { int a; float b; long c; int d, e; } mixed;\n"
    /* clang-format off */
    ENTRIES("saxpy", "global const float *x, global float *y, float a, uint n", "two",
            "  x = (global const float *)((global const char *)x + h.at[0]);\n"
            "  y = (global float *)((global char *)y + h.at[1]);\n",
            "  size_t i = get_global_id(0);\n"
            "  if (i < n) y[i] = a * x[i] + y[i];\n")
    ENTRIES("advance", "global uint *cell, uint by", "one",
            "  cell = (global uint *)((global char *)cell + h.at);\n",
            "  *cell = *cell * 3 + by;\n")
    ENTRIES("spread", "global long *out, mixed m, global const int *maybe", "two",
            "  out = (global long *)((global char *)out + h.at[0]);\n"
            "  maybe = (global const int *)((global const char *)maybe + h.at[1]);\n",
            "  out[0] = m.a; out[1] = (long)m.b; out[2] = m.c; out[3] = m.d; out[4] = maybe == 0 ? 1 : 0;\n")
    ENTRIES("reverse", "global uint *data, local uint *room", "one",
            "  data = (global uint *)((global char *)data + h.at);\n",
            "  size_t l = get_local_id(0), n = get_local_size(0), first = get_global_id(0) - l;\n"
            "  room[l] = data[first + l];\n"
            "  barrier(CLK_LOCAL_MEM_FENCE);\n"
            "  data[first + l] = room[n - 1 - l];\n")
    "kernel void where(global uint *out, range r) {\n"
    "  out = (global uint *)((global char *)out + r.at);\n"
    "  size_t x = get_global_id(0) - r.global_offset[0], y = get_global_id(1) - r.global_offset[1];\n"
    "  global uint *to = out + 8 * (y * r.global_size[0] + x);\n"
    "  to[0] = get_group_id(0) + r.group_base[0]; to[1] = get_group_id(1) + r.group_base[1];\n"
    "  to[2] = get_local_id(0); to[3] = get_local_id(1);\n"
    "  to[4] = get_local_size(0); to[5] = get_local_size(1);\n"
    "  to[6] = r.num_groups[0]; to[7] = r.num_groups[1];\n"
    "}\n"
    /* Work by many items, for Mesa 22.3's llvmpipe leaves loops after 65,535 rounds. */
    ENTRIES("spend", "global uint *cell", "one",
            "  cell = (global uint *)((global char *)cell + h.at);\n",
            "  uint v = *cell + get_global_id(0);\n"
            "  for (uint i = 0; i < 10000; i++) v = v * 1664525u + 1013904223u;\n"
            "  if (v == 77) *cell = v;\n");
/* clang-format on */

static qn_adapter_program *program;

/* 0.3 ms a launch, however small. */
static bool is_slow(void) { return strstr(device_info.driver, "rusticl") != NULL; }
/* PoCL's device `basic` runs commands in the thread that flushes them: no call on it returns before its work is done. */
static bool is_synchronous(void) { return strncmp(device_info.name, "basic", 5) == 0; }

#define FOR_EACH_DEVICE                                   \
  for (uint32_t index = 0; index < device_count; index++) \
    for (bool once = (begin(index), true); once; end(), once = false)

static void begin(uint32_t index) {
  open_device(index);
  program = make_program(source);
}
static void end(void) {
  expect_ok(ocl->program_destroy(device, program));
  close_device();
}
static void drop_kernel(qn_adapter_kernel *kernel) { expect_ok(ocl->kernel_destroy(device, kernel)); }

/* ---- Launches ----------------------------------------------------------------------------------- */

static void test_a_launch_with_offsets(void **state) {
  (void)state;
  enum { N = 1000 };
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
    /* Offsets that no sub-buffer could have: they are no multiple of any driver's alignment. */
    const qn_launch_argument arguments[] = {buffer_argument(mx, 4), buffer_argument(my, 12), value_argument(&a, 4),
                                            value_argument(&n, 4)};
    const qn_launch_record launch = launch_1d(kernel, 1000, 200, arguments, 4);
    submit_launch(&s, &launch);
    read_memory(&s, my, 0, y, sizeof y);
    for (int i = 0; i < N + 64; i++)
      if (y[i] != (i >= 3 && i < N + 3 ? 2 * (float)(i - 3 + 1) + 1 : 1)) fail_msg("y[%d] is %g", i, (double)y[i]);
    drop_kernel(kernel);
    drop_memory(mx);
    drop_memory(my);
    drop_stream(&s);
  }
}

static void test_structs_null_pointers_and_local_memory(void **state) {
  (void)state;
  FOR_EACH_DEVICE {
    struct {
      int32_t a;
      float b;
      int64_t c;
      int32_t d, e; /* no padding at the end: Mesa 22.3 refuses such arguments, for it counts their size without it */
    } mixed = {-7, 2.5f, INT64_C(-5000000000), 9, 0};
    int64_t out[5];
    uint32_t data[96];
    stream s = make_stream(0);
    qn_adapter_memory *memory = make_memory(1024);
    qn_adapter_kernel *spread = make_kernel(program, "spread", "bsb"), *reverse = make_kernel(program, "reverse", "bl");
    const qn_launch_argument a[] = {buffer_argument(memory, 8), value_argument(&mixed, sizeof mixed),
                                    buffer_argument(NULL, 0)};
    qn_launch_record launch = launch_1d(spread, 1, 1, a, 3);
    submit_launch(&s, &launch);
    read_memory(&s, memory, 8, out, sizeof out);
    assert_true(out[0] == -7 && out[1] == 2 && out[2] == INT64_C(-5000000000) && out[3] == 9 && out[4] == 1);
    for (uint32_t i = 0; i < 96; i++) data[i] = i;
    write_memory(&s, memory, 0, data, sizeof data);
    const qn_launch_argument b[] = {buffer_argument(memory, 0), local_argument(32 * 4)};
    launch = launch_1d(reverse, 96, 32, b, 2);
    submit_launch(&s, &launch);
    read_memory(&s, memory, 0, data, sizeof data);
    for (uint32_t i = 0; i < 96; i++) assert_int_equal(data[i], i / 32 * 32 + 31 - i % 32);
    drop_kernel(spread);
    drop_kernel(reverse);
    drop_memory(memory);
    drop_stream(&s);
  }
}

/* A last group that is smaller, in both dimensions, and a launch from a later group on. */
static void test_a_launch_runs_in_parts_where_groups_do_not_divide(void **state) {
  (void)state;
  enum { W = 10, H = 7 };
  FOR_EACH_DEVICE {
    static uint32_t out[H][W][8];
    stream s = make_stream(0);
    qn_adapter_memory *memory = make_memory(sizeof out);
    qn_adapter_kernel *kernel = make_kernel(program, "where", "br");
    const qn_launch_argument a[] = {buffer_argument(memory, 0)};
    for (uint32_t base = 0; base < 2; base++) {
      const uint32_t none = 0xffffffff;
      fill_memory(&s, memory, 0, sizeof out, &none, 4);
      const qn_launch_record launch = {.struct_size = sizeof launch,
                                       .dimensions = 2,
                                       .global = {W, H, 1},
                                       .local = {4, 2, 1},
                                       .offset = {5, 100, 0},
                                       .group_base = {base, 0, 0},
                                       .kernel = kernel,
                                       .arguments = a,
                                       .argument_count = 1};
      submit_launch(&s, &launch);
      read_memory(&s, memory, 0, out, sizeof out);
      for (uint32_t y = 0; y < H; y++)
        for (uint32_t x = 0; x < W; x++) {
          const uint32_t expected[8] = {x / 4, y / 2, x % 4, y % 2, x < 8 ? 4 : 2, y < 6 ? 2 : 1, 3, 4};
          for (int i = 0; i < 8; i++)
            if (out[y][x][i] != (x < base * 4 ? none : expected[i]))
              fail_msg("%s: (%u, %u) field %d is %u", device_info.name, x, y, i, out[y][x][i]);
        }
    }
    drop_kernel(kernel);
    drop_memory(memory);
    drop_stream(&s);
  }
}

typedef struct worker {
  pthread_t thread;
  qn_adapter_kernel *kernel;
  uint32_t first, got, expected;
} worker;

enum { WORKERS = 4, STEPS = 300 };

/* Each thread steps its own cell through one kernel that all share. */
static void *step_cell(void *given) {
  worker *w = given;
  stream s = make_stream(0);
  qn_adapter_memory *memory = make_memory(64);
  w->expected = w->first;
  write_memory(&s, memory, 8, &w->first, 4);
  for (uint32_t i = 0; i < STEPS; i++) {
    const qn_launch_argument a[] = {buffer_argument(memory, 8), value_argument(&i, 4)};
    const qn_launch_record launch = launch_1d(w->kernel, 1, 1, a, 2);
    submit_launch(&s, &launch);
    w->expected = w->expected * 3 + i;
  }
  read_memory(&s, memory, 8, &w->got, 4);
  drop_memory(memory);
  drop_stream(&s);
  return NULL;
}

static void test_threads_share_a_kernel(void **state) {
  (void)state;
  FOR_EACH_DEVICE {
    worker workers[WORKERS];
    qn_adapter_kernel *kernel = make_kernel(program, "advance", "b4");
    for (uint32_t i = 0; i < WORKERS; i++) {
      workers[i] = (worker){.kernel = kernel, .first = i};
      assert_int_equal(pthread_create(&workers[i].thread, NULL, step_cell, &workers[i]), 0);
    }
    for (uint32_t i = 0; i < WORKERS; i++) {
      pthread_join(workers[i].thread, NULL);
      assert_int_equal(workers[i].got, workers[i].expected);
    }
    drop_kernel(kernel);
  }
}

/* ---- Queues ------------------------------------------------------------------------------------- */

static void test_wait_between_queues_orders_work(void **state) {
  (void)state;
  FOR_EACH_DEVICE {
    stream s[3] = {make_stream(0), make_stream(0), make_stream(0)};
    qn_adapter_memory *memory = make_memory(64);
    qn_adapter_kernel *kernel = make_kernel(program, "advance", "b4");
    const uint32_t one = 1;
    uint32_t expected = one, got = 0;
    write_memory(&s[2], memory, 0, &one, 4);
    for (uint32_t i = 0; i < 300; i++) {
      stream *to = &s[i % 3], *last = &s[(i + 2) % 3];
      wait_for(to, last, last->value);
      const qn_launch_argument a[] = {buffer_argument(memory, 0), value_argument(&i, 4)};
      const qn_launch_record launch = launch_1d(kernel, 1, 1, a, 2);
      submit_launch(to, &launch);
      expected = expected * 3 + i;
    }
    read_memory(&s[2], memory, 0, &got, 4);
    assert_int_equal(got, expected);
    for (int i = 0; i < 3; i++) finish(&s[i]), drop_stream(&s[i]);
    drop_kernel(kernel);
    drop_memory(memory);
  }
}

static void test_time_limits(void **state) {
  (void)state;
  FOR_EACH_DEVICE {
    stream s = make_stream(0);
    qn_adapter_memory *memory = make_memory(64);
    qn_adapter_kernel *kernel = make_kernel(program, "spend", "b");
    const uint32_t zero = 0;
    fill_memory(&s, memory, 0, 64, &zero, 4);
    const qn_launch_argument a = buffer_argument(memory, 0);
    qn_launch_record launch = launch_1d(kernel, 100, 100, &a, 1);
    submit_launch(&s, &launch); /* compiled by now, in drivers that compile at the first launch */
    finish(&s);
    uint64_t value = 0, completed = 0;
    qn_status status = QN_OK;
    /* Some ms on most processors; more work until it is enough. */
    for (launch.global[0] = 20000; status == QN_OK && !is_synchronous(); launch.global[0] *= 2) {
      value = submit_launch(&s, &launch);
      uint64_t start = now_ns();
      status = ocl->queue_wait(s.queue, value, 2000000);
      uint64_t took = now_ns() - start;
      if (status != QN_OK && (took < 2000000 || took >= 20000000000u))
        fail_msg("opencl:%u: a limit of 2 ms took %.3f ms", index, (double)took * 1e-6);
    }
    if (!is_synchronous()) {
      assert_int_equal(status, QN_ERROR_TIMEOUT);
      assert_non_null(strstr(error_text, "did not complete"));
    }
    value = s.value;
    expect_ok(ocl->queue_wait(s.queue, value, UINT64_C(60000000000)));
    expect_ok(ocl->queue_completed(s.queue, &completed));
    assert_true(completed == value);
    expect_ok(ocl->queue_wait(s.queue, value, QN_POLL));
    assert_int_equal(ocl->queue_wait(s.queue, value + 1, QN_FOREVER), QN_ERROR_INVALID_ARGUMENT);
    drop_kernel(kernel);
    drop_memory(memory);
    drop_stream(&s);
  }
}

/* Completion is seen by who only asks, without any wait. */
static void test_completion_is_seen_without_a_wait(void **state) {
  (void)state;
  FOR_EACH_DEVICE {
    stream s = make_stream(0);
    qn_adapter_memory *memory = make_memory(64);
    const uint32_t word = 7;
    uint64_t value = fill_memory(&s, memory, 0, 64, &word, 4), completed = 0, until = now_ns() + 20000000000u;
    while (completed < value && now_ns() < until) expect_ok(ocl->queue_completed(s.queue, &completed));
    assert_true(completed == value);
    drop_memory(memory);
    drop_stream(&s);
  }
}

static void test_timed_queues(void **state) {
  (void)state;
  FOR_EACH_DEVICE {
    if (!(device_info.features & QN_FEATURE_TIMED_QUEUES)) continue;
    stream s = make_stream(QN_QUEUE_TIMED), other = make_stream(0);
    qn_adapter_memory *memory = make_memory(64);
    qn_adapter_kernel *kernel = make_kernel(program, "spend", "b");
    const uint32_t zero = 0;
    uint64_t before = fill_memory(&s, memory, 0, 64, &zero, 4), first = 0, second = 0;
    const qn_launch_argument a = buffer_argument(memory, 0);
    qn_launch_record launch = launch_1d(kernel, 100, 100, &a, 1);
    submit_launch(&s, &launch);
    finish(&s);
    before = submit(&s, (qn_adapter_command){.kind = QN_COMMAND_MARK});
    uint64_t took = 0, after = before;
    for (launch.global[0] = 10000; took < 2000000; launch.global[0] *= 4) { /* until it takes long enough to tell */
      before = after;
      uint64_t start = now_ns();
      after = submit_launch(&s, &launch);
      finish(&s);
      took = now_ns() - start;
    }
    expect_ok(ocl->queue_time(s.queue, before, &first));
    expect_ok(ocl->queue_time(s.queue, after, &second));
    assert_true(second > first && second - first > 100000 && second - first <= took + 1000000);
    assert_int_equal(ocl->queue_time(s.queue, after + 1, &second), QN_NOT_READY);
    fill_memory(&other, memory, 0, 64, &zero, 4);
    finish(&other);
    assert_int_equal(ocl->queue_time(other.queue, 1, &second), QN_ERROR_UNSUPPORTED);
    drop_kernel(kernel);
    drop_memory(memory);
    drop_stream(&s);
    drop_stream(&other);
  }
}

/* How much memory the process has taken, in KiB. */
static long resident_kib(void) {
  FILE *file = fopen("/proc/self/status", "r");
  char line[256];
  long kib = 0;
  while (file && fgets(line, sizeof line, file))
    if (sscanf(line, "VmRSS: %ld", &kib) == 1) break;
  if (file) fclose(file);
  return kib;
}

/* Many more commands than a queue holds, without a wait: each of them counts, and memory stays flat. */
static void test_launches_without_a_wait_are_bounded(void **state) {
  (void)state;
  const uint64_t rounds = test_rounds("launches without a wait, on each device", 20000, 2000000);
  FOR_EACH_DEVICE {
    const uint32_t count = is_slow() ? 3000 : (uint32_t)rounds, by = 1;
    long before = 0;
    stream s = make_stream(0);
    qn_adapter_memory *memory = make_memory(64);
    qn_adapter_kernel *kernel = make_kernel(program, "advance", "b4");
    uint32_t expected = 0, got = 0;
    fill_memory(&s, memory, 0, 64, &got, 4);
    const qn_launch_argument a[] = {buffer_argument(memory, 0), value_argument(&by, 4)};
    const qn_launch_record launch = launch_1d(kernel, 1, 1, a, 2);
    for (uint32_t i = 0; i < count; i++) {
      if (i == count / 2) before = resident_kib();
      submit_launch(&s, &launch);
      expected = expected * 3 + by;
    }
    long after = resident_kib();
    read_memory(&s, memory, 0, &got, 4);
    assert_int_equal(got, expected);
    print_message("opencl:%u: %u launches, %ld KiB resident at half of them, %ld at the end\n", index, count, before,
                  after);
    if (after - before > 16384 && !HAS_SANITIZER) fail_msg("memory grows: %ld KiB", after - before);
    drop_kernel(kernel);
    drop_memory(memory);
    drop_stream(&s);
  }
}

/* ---- Memory ------------------------------------------------------------------------------------- */

static void test_transfers(void **state) {
  (void)state;
  FOR_EACH_DEVICE {
    unsigned char bytes[600], expected[600];
    stream s = make_stream(0);
    qn_adapter_memory *a = make_memory(600), *b = make_memory(600);
    unsigned char pattern[16];
    for (int i = 0; i < 600; i++) bytes[i] = expected[i] = (unsigned char)(i * 7);
    for (int i = 0; i < 16; i++) pattern[i] = (unsigned char)(200 + i);
    write_memory(&s, a, 0, bytes, 600);
    copy_memory(&s, b, 3, a, 5, 500);
    copy_memory(&s, b, 550, b, 100, 50); /* within one */
    fill_memory(&s, b, 32, 64, pattern, 16);
    fill_memory(&s, b, 106, 48, pattern, 16); /* from an offset that is no multiple of the pattern */
    fill_memory(&s, b, 201, 4, pattern, 4);
    write_memory(&s, b, 0, "abc", 3);
    memmove(expected + 3, expected + 5, 500);
    memcpy(expected + 550, expected + 100, 50);
    for (int i = 0; i < 64; i++) expected[32 + i] = pattern[i % 16];
    for (int i = 0; i < 48; i++) expected[106 + i] = pattern[i % 16];
    for (int i = 0; i < 4; i++) expected[201 + i] = pattern[i];
    memcpy(expected, "abc", 3);
    read_memory(&s, b, 0, bytes, 600);
    for (int i = 0; i < 600; i++)
      if (!(i >= 503 && i < 550) && bytes[i] != expected[i])
        fail_msg("%s: byte %d is %u", device_info.name, i, bytes[i]);
    drop_memory(a);
    drop_memory(b);
    drop_stream(&s);
  }
}

static void test_maps_show_and_take_what_is_written(void **state) {
  (void)state;
  static const uint32_t kinds[] = {QN_MEMORY_DEVICE, QN_MEMORY_HOST, QN_MEMORY_SHARED};
  FOR_EACH_DEVICE {
    stream s = make_stream(0);
    for (int k = 0; k < 3; k++) {
      qn_adapter_memory *memory = NULL;
      qn_adapter_memory_info info;
      void *pointer = NULL, *inner = NULL;
      uint32_t words[256] = {0}, word = 5;
      if (kinds[k] == QN_MEMORY_SHARED && !(device_info.features & QN_FEATURE_SHARED_MEMORY)) {
        assert_int_equal(try_memory(kinds[k], 1024, NULL, &memory, &info), QN_ERROR_UNSUPPORTED);
        continue;
      }
      expect_ok(try_memory(kinds[k], 1024, NULL, &memory, &info));
      fill_memory(&s, memory, 0, 1024, &word, 4);
      finish(&s);
      expect_ok(ocl->memory_map(device, memory, 512, 512, QN_MAP_READ | QN_MAP_WRITE, &pointer));
      expect_ok(ocl->memory_map(device, memory, 0, 16, QN_MAP_READ, &inner));
      assert_int_equal(((uint32_t *)inner)[3], 5);
      assert_int_equal(((uint32_t *)pointer)[127], 5);
      for (uint32_t i = 0; i < 128; i++) ((uint32_t *)pointer)[i] = i;
      expect_ok(ocl->memory_unmap(device, memory, inner));
      expect_ok(ocl->memory_unmap(device, memory, pointer));
      read_memory(&s, memory, 0, words, 1024);
      for (uint32_t i = 0; i < 256; i++) assert_int_equal(words[i], i < 128 ? 5 : i - 128);
      if (info.host_pointer) assert_ptr_equal(pointer, (char *)info.host_pointer + 512);
      drop_memory(memory);
    }
    drop_stream(&s);
  }
}

static void test_shared_and_wrapped_memory_is_the_hosts(void **state) {
  (void)state;
  FOR_EACH_DEVICE {
    static uint32_t mine[1001];
    stream s = make_stream(0);
    qn_adapter_kernel *kernel = make_kernel(program, "advance", "b4");
    for (int wrapped = 0; wrapped < 2; wrapped++) {
      qn_adapter_memory *memory = NULL;
      qn_adapter_memory_info info;
      uint64_t feature = wrapped ? QN_FEATURE_WRAP_HOST : QN_FEATURE_SHARED_MEMORY;
      uint32_t kind = wrapped ? QN_MEMORY_WRAP : QN_MEMORY_SHARED, by = 1;
      qn_status status = try_memory(kind, sizeof mine, wrapped ? mine : NULL, &memory, &info);
      if (!(device_info.features & feature)) {
        assert_int_equal(status, QN_ERROR_UNSUPPORTED);
        continue;
      }
      if (status != QN_OK) fail_msg("%s", error_text);
      uint32_t *words = info.host_pointer;
      if (!words) { /* coarse grain */
        drop_memory(memory);
        continue;
      }
      for (uint32_t i = 0; i < 50; i++) {
        words[1000] = i;
        const qn_launch_argument a[] = {buffer_argument(memory, 4000), value_argument(&by, 4)};
        const qn_launch_record launch = launch_1d(kernel, 1, 1, a, 2);
        submit_launch(&s, &launch);
        finish(&s);
        assert_int_equal(words[1000], i * 3 + 1);
      }
      drop_memory(memory);
    }
    drop_kernel(kernel);
    drop_stream(&s);
  }
}

static void test_wrong_requests_for_memory(void **state) {
  (void)state;
  FOR_EACH_DEVICE {
    qn_adapter_memory *memory = NULL;
    qn_adapter_memory_info info;
    assert_int_equal(try_memory(QN_MEMORY_DEVICE, 0, NULL, &memory, &info), QN_ERROR_INVALID_ARGUMENT);
    assert_int_equal(try_memory(QN_MEMORY_DEVICE, UINT64_C(1) << 63, NULL, &memory, &info), QN_ERROR_OUT_OF_MEMORY);
    assert_non_null(strstr(error_text, "at most"));
    assert_true(try_memory(QN_MEMORY_WRAP, 64, NULL, &memory, &info) < 0);
    assert_int_equal(try_memory(17, 64, NULL, &memory, &info), QN_ERROR_INVALID_ARGUMENT);
    assert_null(memory);
  }
}

/* ---- Programs ----------------------------------------------------------------------------------- */

static void test_a_program_that_does_not_build_gives_its_log(void **state) {
  (void)state;
  FOR_EACH_DEVICE {
    static const char wrong[] = "kernel void broken(global int *p) {\n  p[0] = no_such_thing;\n}\n";
    qn_adapter_program *none = NULL;
    assert_int_equal(try_program(QN_CODE_OPENCL_C, wrong, strlen(wrong), &none), QN_ERROR_COMPILE);
    assert_non_null(strstr(error_text, "CL_BUILD_PROGRAM_FAILURE"));
    assert_non_null(strstr(error_text, "no_such_thing"));
    assert_int_equal(try_program(QN_CODE_PTX, wrong, strlen(wrong), &none), QN_ERROR_UNSUPPORTED);
    assert_int_equal(try_program(QN_CODE_OPENCL_C, wrong, 0, &none), QN_ERROR_INVALID_ARGUMENT);
    assert_null(none);
  }
}

static void test_kernels_are_checked_against_what_the_compiler_says(void **state) {
  (void)state;
  FOR_EACH_DEVICE {
    qn_adapter_kernel *kernel = NULL;
    qn_adapter_kernel_info info;
    assert_int_equal(try_kernel(program, "nobody", "b4", &kernel, &info), QN_ERROR_NOT_FOUND);
    assert_non_null(strstr(error_text, "nobody"));
    assert_int_equal(try_kernel(program, "advance", "b44", &kernel, &info), QN_ERROR_ABI);
    assert_non_null(strstr(error_text, "2 parameters; 3"));
    expect_ok(try_kernel(program, "advance", "b4", &kernel, &info));
    assert_true(info.native != 0 && info.max_group_items > 0 && info.max_group_items <= device_info.max_group_items);
    stream s = make_stream(0);
    const uint32_t word = 1;
    const qn_launch_argument a[] = {buffer_argument(NULL, 0), value_argument(&word, 8)};
    qn_launch_record launch = launch_1d(kernel, 1, 1, a, 2);
    qn_adapter_command command = {.kind = QN_COMMAND_LAUNCH, .launch = &launch};
    assert_int_equal(try_submit(&s, command), QN_ERROR_INVALID_ARGUMENT);
    launch.argument_count = 1;
    assert_int_equal(try_submit(&s, command), QN_ERROR_INVALID_ARGUMENT);
    launch.local[0] = 0;
    assert_int_equal(try_submit(&s, command), QN_ERROR_INVALID_ARGUMENT);
    drop_stream(&s);
    drop_kernel(kernel);
  }
}

static void test_a_binary_is_loaded_again(void **state) {
  (void)state;
  FOR_EACH_DEVICE {
    uint64_t size = 0, again = 0;
    expect_ok(ocl->program_binary(device, program, 0, NULL, &size));
    assert_true(size > 0);
    unsigned char *bytes = malloc(size);
    assert_non_null(bytes);
    expect_ok(ocl->program_binary(device, program, size, bytes, &again));
    qn_adapter_program *loaded = NULL;
    expect_ok(try_program(QN_CODE_NATIVE, bytes, size, &loaded));
    qn_adapter_kernel *kernel = make_kernel(loaded, "advance", "b4");
    stream s = make_stream(0);
    qn_adapter_memory *memory = make_memory(64);
    uint32_t got = 4, by = 2;
    write_memory(&s, memory, 0, &got, 4);
    const qn_launch_argument a[] = {buffer_argument(memory, 0), value_argument(&by, 4)};
    const qn_launch_record launch = launch_1d(kernel, 1, 1, a, 2);
    submit_launch(&s, &launch);
    read_memory(&s, memory, 0, &got, 4);
    assert_int_equal(got, 14);
    drop_kernel(kernel);
    expect_ok(ocl->program_destroy(device, loaded));
    drop_memory(memory);
    drop_stream(&s);
    free(bytes);
  }
}

/* ---- Devices ------------------------------------------------------------------------------------ */

static void test_what_a_device_says_is_whole(void **state) {
  (void)state;
  FOR_EACH_DEVICE {
    const qn_adapter_device_info *i = &device_info;
    print_message("opencl:%u  %s, %s, features 0x%llx\n", index, i->name, i->driver, (unsigned long long)i->features);
    assert_true(i->name[0] && i->driver[0]);
    assert_int_equal(i->code_kind, QN_CODE_OPENCL_C);
    assert_true(i->memory_bytes > 0 && i->max_allocation_bytes > 0 && i->local_memory_bytes > 0);
    assert_true(i->max_group_items > 0 && i->compute_units > 0 && i->allocation_alignment > 0);
    assert_true(i->max_local_size[0] > 0 && i->max_local_size[1] > 0 && i->max_local_size[2] > 0);
    assert_true(i->address_bits == 32 || i->address_bits == 64);
    for (uint32_t which = 0; which < 3; which++) {
      uint64_t native = 0;
      expect_ok(ocl->native(QN_KIND_DEVICE, device, which, &native));
      assert_true(native != 0);
    }
  }
}

static int open_all(void **state) {
  (void)state;
  fixture_load();
  setenv("POCL_CACHE_DIR", QUERN_BINARY_DIR "/pocl-cache", 0);
  setenv("POCL_DEVICES", "basic pthread pthread", 0); /* three devices of one driver */
  setenv("RUSTICL_ENABLE", "llvmpipe", 0);
  if (ocl->instance_open(&fixture_host, &instance) != QN_OK) {
    print_message("skipped: %s\n", error_text);
    return 0; /* device_count is 0: nothing is tried */
  }
  return ocl->device_count(instance, &device_count) == QN_OK ? 0 : -1;
}
static int close_all(void **state) {
  (void)state;
  if (instance) close_instance();
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_what_a_device_says_is_whole),
                                     cmocka_unit_test(test_a_launch_with_offsets),
                                     cmocka_unit_test(test_structs_null_pointers_and_local_memory),
                                     cmocka_unit_test(test_a_launch_runs_in_parts_where_groups_do_not_divide),
                                     cmocka_unit_test(test_threads_share_a_kernel),
                                     cmocka_unit_test(test_wait_between_queues_orders_work),
                                     cmocka_unit_test(test_time_limits),
                                     cmocka_unit_test(test_completion_is_seen_without_a_wait),
                                     cmocka_unit_test(test_timed_queues),
                                     cmocka_unit_test(test_launches_without_a_wait_are_bounded),
                                     cmocka_unit_test(test_transfers),
                                     cmocka_unit_test(test_maps_show_and_take_what_is_written),
                                     cmocka_unit_test(test_shared_and_wrapped_memory_is_the_hosts),
                                     cmocka_unit_test(test_wrong_requests_for_memory),
                                     cmocka_unit_test(test_a_program_that_does_not_build_gives_its_log),
                                     cmocka_unit_test(test_kernels_are_checked_against_what_the_compiler_says),
                                     cmocka_unit_test(test_a_binary_is_loaded_again)};
  return cmocka_run_group_tests(tests, open_all, close_all);
}
