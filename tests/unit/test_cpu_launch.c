/* labels: threads */
/* The cpu adapter: launches, what a kernel sees, copies and fills. */
#include <fenv.h>

#include "support/cpu_fixture.h"

/* Kernels in C with the entry's own interface. `A(type, n)` is the n-th 8-byte slot. */
static const char kernels[] =
    "#define A(type, n) (*(type *)((const char *)launch->arguments + 8 * (n)))\n"
    "#define ENTRY(name) void name(const qn_cpu_launch *launch, const qn_cpu_group *group)\n"
    "#define FOR(i, d) for (uint64_t i = 0; i < group->local[d]; i++)\n"
    "static uint64_t gid(const qn_cpu_launch *launch, const qn_cpu_group *group, int d, uint64_t i) {\n"
    "  return launch->offset[d] + group->id[d] * launch->local[d] + i;\n"
    "}\n"
    "ENTRY(nothing) { (void)launch; (void)group; }\n"
    /* counts[x + y * gx + z * gx * gy]++ */
    "ENTRY(count) {\n"
    "  uint32_t *counts = A(uint32_t *, 0);\n"
    "  FOR(z, 2) FOR(y, 1) FOR(x, 0) {\n"
    "    uint64_t gx = gid(launch, group, 0, x), gy = gid(launch, group, 1, y), gz = gid(launch, group, 2, z);\n"
    "    __atomic_fetch_add(&counts[gx + launch->global[0] * (gy + launch->global[1] * gz)], 1, __ATOMIC_RELAXED);\n"
    "  }\n"
    "}\n"
    "ENTRY(saxpy) {\n"
    "  float *x = A(float *, 0), *y = A(float *, 1), a = A(float, 2);\n"
    "  FOR(i, 0) { uint64_t g = gid(launch, group, 0, i); y[g] += a * x[g]; }\n"
    "}\n"
    /* v = v * 3 + k: the order of launches shows */
    "ENTRY(step) { uint64_t *v = A(uint64_t *, 0); *v = *v * 3 + A(uint64_t, 1); }\n"
    /* Everything of the group's record, for one group. */
    "ENTRY(record) {\n"
    "  uint64_t *out = A(uint64_t *, 0);\n"
    "  uint64_t at = group->id[0] + launch->groups[0] * (group->id[1] + launch->groups[1] * group->id[2]);\n"
    "  out += at * 20;\n"
    "  for (int d = 0; d < 3; d++) {\n"
    "    out[d] = group->id[d]; out[3 + d] = group->local[d]; out[6 + d] = launch->groups[d];\n"
    "    out[9 + d] = launch->offset[d]; out[12 + d] = launch->global[d]; out[15 + d] = launch->local[d];\n"
    "  }\n"
    "  out[18] = launch->dimensions;\n"
    "  out[19] = launch->struct_size == sizeof *launch;\n"
    "}\n"
    /* Two local arguments and static local memory: fills each with the group's number and looks again. */
    "ENTRY(locals) {\n"
    "  uint32_t *bad = A(uint32_t *, 0), *a = A(uint32_t *, 1), *b = A(uint32_t *, 2);\n"
    "  uint32_t *s = group->local_memory, *scratch = group->scratch, me = (uint32_t)group->id[0];\n"
    "  if ((uintptr_t)a % 128 || (uintptr_t)b % 128 || (uintptr_t)s % 128 || (uintptr_t)scratch % 128) *bad = 1;\n"
    "  for (int i = 0; i < 256; i++) a[i] = me, b[i] = me + 1, s[i] = me + 2;\n"
    "  for (int i = 0; i < 16 + 2 * 16; i++) scratch[i] = me + 3;\n"
    "  for (volatile int i = 0; i < 100; i++) {}\n"
    "  for (int i = 0; i < 256; i++) if (a[i] != me || b[i] != me + 1 || s[i] != me + 2) *bad = 2;\n"
    "  for (int i = 0; i < 16 + 2 * 16; i++) if (scratch[i] != me + 3) *bad = 3;\n"
    "}\n"
    "ENTRY(rounding) {\n"
    "  volatile float *out = A(float *, 0); volatile float one = 1, three = 3, small = 1e-38f;\n"
    "  out[2 * group->id[0]] = one / three; out[2 * group->id[0] + 1] = small / 16;\n"
    "}\n"
    "typedef struct { char c[40]; } big;\n"
    "ENTRY(by_value) { *A(big *, 5) = A(big, 0); }\n";

static qn_adapter_program *program;

static qn_adapter_kernel *kernel(const char *name, const kernel_shape *shape) {
  return make_kernel(program, name, shape);
}
static void drop_kernel(qn_adapter_kernel *k) { assert_int_equal(cpu->kernel_destroy(device, k), QN_OK); }

static const kernel_shape no_arguments = {0};
static const kernel_shape one_buffer = {1, {QN_ARGUMENT_BUFFER}, {0}};

static void test_every_item_runs_once(void **state) {
  (void)state;
  static const struct {
    uint64_t global[3], local[3];
  } ranges[] = {{{1, 1, 1}, {1, 1, 1}},      {{1000, 1, 1}, {10, 1, 1}}, {{1000, 1, 1}, {7, 1, 1}},
                {{64, 48, 1}, {16, 16, 1}},  {{33, 17, 5}, {8, 4, 2}},   {{5, 3, 70}, {2, 2, 9}},
                {{100000, 1, 1}, {3, 1, 1}}, {{3, 1, 1}, {4096, 1, 1}},  {{1, 100000, 1}, {1, 1, 1}},
                {{300, 300, 2}, {16, 1, 1}}};
  qn_adapter_kernel *k = kernel("count", &one_buffer);
  stream s = make_stream(0);
  for (size_t r = 0; r < sizeof ranges / sizeof *ranges; r++) {
    uint64_t items = ranges[r].global[0] * ranges[r].global[1] * ranges[r].global[2];
    uint32_t *counts;
    qn_adapter_memory *memory = make_memory(items * 4, &counts);
    qn_launch_argument argument = buffer_argument(memory, items * 4);
    qn_launch_record launch = launch_1d(k, 0, 0, &argument, 1);
    launch.dimensions = 3;
    memcpy(launch.global, ranges[r].global, sizeof launch.global);
    memcpy(launch.local, ranges[r].local, sizeof launch.local);
    for (int repeat = 0; repeat < 5; repeat++) submit_launch(&s, &launch);
    finish(&s);
    for (uint64_t i = 0; i < items; i++) assert_int_equal(counts[i], 5);
    drop_memory(memory);
  }
  drop_stream(&s);
  drop_kernel(k);
}

static void test_saxpy(void **state) {
  (void)state;
  enum { N = 100000 };
  float *x, *y, a = 2;
  qn_adapter_memory *mx = make_memory(N * 4, &x), *my = make_memory(N * 4, &y);
  for (int i = 0; i < N; i++) x[i] = (float)i, y[i] = 1;
  kernel_shape shape = {3, {QN_ARGUMENT_BUFFER, QN_ARGUMENT_BUFFER, QN_ARGUMENT_VALUE}, {0, 0, 4}};
  qn_adapter_kernel *k = kernel("saxpy", &shape);
  qn_launch_argument arguments[] = {buffer_argument(mx, N * 4), buffer_argument(my, N * 4), value_argument(&a, 4)};
  qn_launch_record launch = launch_1d(k, N, 250, arguments, 3);
  stream s = make_stream(0);
  submit_launch(&s, &launch);
  a = 100; /* copied before submit returns */
  finish(&s);
  for (int i = 0; i < N; i++) assert_true(y[i] == 2 * (float)i + 1);
  drop_stream(&s);
  drop_kernel(k);
  drop_memory(mx);
  drop_memory(my);
}

static void test_launches_run_in_order(void **state) {
  (void)state;
  uint64_t *v, expected = 0;
  qn_adapter_memory *memory = make_memory(8, &v);
  kernel_shape shape = {2, {QN_ARGUMENT_BUFFER, QN_ARGUMENT_VALUE}, {0, 8}};
  qn_adapter_kernel *k = kernel("step", &shape);
  stream s = make_stream(0);
  for (uint64_t i = 0; i < 20000; i++) {
    qn_launch_argument arguments[] = {buffer_argument(memory, 8), value_argument(&i, 8)};
    qn_launch_record launch = launch_1d(k, 1, 1, arguments, 2);
    submit_launch(&s, &launch);
    expected = expected * 3 + i;
    if (i % 1777 == 0) finish(&s);
  }
  finish(&s);
  assert_true(*v == expected);
  drop_stream(&s);
  drop_kernel(k);
  drop_memory(memory);
}

static void test_group_record_is_filled(void **state) {
  (void)state;
  uint64_t *out;
  qn_adapter_memory *memory = make_memory(3 * 2 * 2 * 20 * 8, &out);
  qn_adapter_kernel *k = kernel("record", &one_buffer);
  qn_launch_argument argument = buffer_argument(memory, 0);
  qn_launch_record launch = launch_1d(k, 0, 0, &argument, 1);
  launch.dimensions = 3;
  const uint64_t global[] = {10, 7, 4}, local[] = {4, 4, 2}, offset[] = {100, 200, 300}, groups[] = {3, 2, 2};
  memcpy(launch.global, global, sizeof global);
  memcpy(launch.local, local, sizeof local);
  memcpy(launch.offset, offset, sizeof offset);
  stream s = make_stream(0);
  submit_launch(&s, &launch);
  finish(&s);
  for (uint64_t g = 0; g < 12; g++) {
    const uint64_t *o = out + 20 * g, id[] = {g % 3, g / 3 % 2, g / 6};
    for (int d = 0; d < 3; d++) {
      assert_int_equal(o[d], id[d]);
      uint64_t rest = global[d] - id[d] * local[d];
      assert_int_equal(o[3 + d], rest < local[d] ? rest : local[d]);
      assert_int_equal(o[6 + d], groups[d]);
      assert_int_equal(o[9 + d], offset[d]);
      assert_int_equal(o[12 + d], global[d]);
      assert_int_equal(o[15 + d], local[d]);
    }
    assert_int_equal(o[18], 3);
    assert_int_equal(o[19], 1);
  }
  drop_stream(&s);
  drop_kernel(k);
  drop_memory(memory);
}

static void test_launch_in_parts_begins_at_its_base(void **state) {
  (void)state;
  uint32_t *counts;
  qn_adapter_memory *memory = make_memory(100 * 4, &counts);
  qn_adapter_kernel *k = kernel("count", &one_buffer);
  qn_launch_argument argument = buffer_argument(memory, 400);
  qn_launch_record launch = launch_1d(k, 100, 10, &argument, 1);
  launch.group_base[0] = 4;
  stream s = make_stream(0);
  submit_launch(&s, &launch);
  launch.group_base[0] = 10; /* nothing is left */
  submit_launch(&s, &launch);
  finish(&s);
  for (uint32_t i = 0; i < 100; i++) assert_int_equal(counts[i], i >= 40);
  drop_stream(&s);
  drop_kernel(k);
  drop_memory(memory);
}

static void test_local_memory_and_scratch_are_each_groups_own(void **state) {
  (void)state;
  uint32_t *bad;
  qn_adapter_memory *memory = make_memory(4, &bad);
  kernel_shape shape = {3, {QN_ARGUMENT_BUFFER, QN_ARGUMENT_LOCAL, QN_ARGUMENT_LOCAL}, {0}, 1024, 8, 64};
  qn_adapter_kernel *k = kernel("locals", &shape);
  qn_launch_argument arguments[] = {buffer_argument(memory, 4), local_argument(1024), local_argument(1024)};
  qn_launch_record launch = launch_1d(k, 13 * 500, 13, arguments, 3);
  stream a = make_stream(0), b = make_stream(0);
  for (int i = 0; i < 20; i++) {
    submit_launch(&a, &launch);
    submit_launch(&b, &launch);
  }
  finish(&a);
  finish(&b);
  assert_int_equal(*bad, 0);
  drop_stream(&a);
  drop_stream(&b);
  drop_kernel(k);
  drop_memory(memory);
}

static void test_empty_launches_complete(void **state) {
  (void)state;
  qn_adapter_kernel *k = kernel("nothing", &no_arguments);
  qn_launch_record launch = launch_1d(k, 0, 1, NULL, 0);
  stream s = make_stream(0);
  submit_launch(&s, &launch);
  launch.global[0] = 1;
  submit_launch(&s, &launch);
  finish(&s);
  drop_stream(&s);
  drop_kernel(k);
}

static void test_values_of_any_size(void **state) {
  (void)state;
  char *out;
  qn_adapter_memory *memory = make_memory(40, &out);
  kernel_shape shape = {2, {QN_ARGUMENT_VALUE, QN_ARGUMENT_BUFFER}, {40, 0}};
  qn_adapter_kernel *k = kernel("by_value", &shape);
  const char text[40] = "thirty-nine characters and a NUL, so 40";
  qn_launch_argument arguments[] = {value_argument(text, 40), buffer_argument(memory, 40)};
  qn_launch_record launch = launch_1d(k, 1, 1, arguments, 2);
  stream s = make_stream(0);
  submit_launch(&s, &launch);
  finish(&s);
  assert_memory_equal(out, text, 40);
  drop_stream(&s);
  drop_kernel(k);
  drop_memory(memory);
}

static void test_float_environment_is_kernels_own_and_callers_is_kept(void **state) {
  (void)state;
  enum { GROUPS = 64 };
  float *out;
  qn_adapter_memory *memory = make_memory(GROUPS * 8, &out);
  qn_adapter_kernel *k = kernel("rounding", &one_buffer);
  qn_launch_argument argument = buffer_argument(memory, GROUPS * 8);
  qn_launch_record launch = launch_1d(k, GROUPS, 1, &argument, 1);
  stream s = make_stream(0);
  fesetround(FE_UPWARD);
#if defined(__x86_64__)
  unsigned control = __builtin_ia32_stmxcsr() | 0x8040; /* flush to zero, denormals are zero */
  __builtin_ia32_ldmxcsr(control);
#endif
  for (int repeat = 0; repeat < 200; repeat++) {
    memset(out, 0, GROUPS * 8);
    submit_launch(&s, &launch);
    finish(&s);
    for (int i = 0; i < GROUPS; i++) {
      uint32_t third, denormal;
      memcpy(&third, &out[2 * i], 4);
      memcpy(&denormal, &out[2 * i + 1], 4);
      assert_int_equal(third, 0x3eaaaaab); /* 1/3 to nearest */
      assert_true(denormal != 0);
    }
  }
  assert_int_equal(fegetround(), FE_UPWARD);
#if defined(__x86_64__)
  assert_int_equal(__builtin_ia32_stmxcsr() & 0xffc0, control & 0xffc0);
  __builtin_ia32_ldmxcsr(0x1f80);
#endif
  fesetround(FE_TONEAREST);
  drop_stream(&s);
  drop_kernel(k);
  drop_memory(memory);
}

static void expect_refused(stream *s, const qn_launch_record *launch, const char *word) {
  qn_adapter_command command = {
      .struct_size = sizeof command, .kind = QN_COMMAND_LAUNCH, .value = s->value + 1, .launch = launch};
  assert_true(cpu->queue_submit(s->queue, &command, 1) < 0);
  if (!strstr(cpu_error_text, word)) fail_msg("'%s' does not say '%s'", cpu_error_text, word);
}

static void test_wrong_launches_are_refused_by_name(void **state) {
  (void)state;
  char *bytes;
  uint64_t value = 0;
  qn_adapter_memory *memory = make_memory(16, &bytes);
  kernel_shape shape = {2, {QN_ARGUMENT_BUFFER, QN_ARGUMENT_VALUE}, {0, 8}};
  qn_adapter_kernel *k = kernel("step", &shape);
  stream s = make_stream(0);
  qn_launch_argument good[] = {buffer_argument(memory, 8), value_argument(&value, 8)}, bad[2];
  qn_launch_record launch = launch_1d(k, 1, 1, good, 1);
  expect_refused(&s, &launch, "takes 2 arguments");
  launch.argument_count = 2;
  launch.arguments = bad;
  memcpy(bad, good, sizeof bad);
  bad[1] = value_argument(&value, 4);
  expect_refused(&s, &launch, "argument 1 has 4 bytes");
  bad[1] = good[0];
  expect_refused(&s, &launch, "argument 1 is a buffer where the kernel takes a value");
  memcpy(bad, good, sizeof bad);
  bad[0].offset_bytes = 17;
  expect_refused(&s, &launch, "argument 0 begins at 17");
  launch.arguments = good;
  launch.local[0] = 0;
  expect_refused(&s, &launch, "local size");
  launch.local[0] = 5000;
  expect_refused(&s, &launch, "local size");
  launch.dimensions = 3;
  launch.local[0] = 1;
  launch.local[1] = launch.local[2] = 1;
  for (int i = 0; i < 3; i++) launch.global[i] = UINT64_MAX;
  expect_refused(&s, &launch, "too many");
  launch.dimensions = 4;
  expect_refused(&s, &launch, "dimensions");
  /* Nothing of it was taken. */
  launch = launch_1d(k, 1, 1, good, 2);
  submit_launch(&s, &launch);
  finish(&s);
  drop_stream(&s);
  drop_kernel(k);
  drop_memory(memory);
}

static void test_misaligned_buffer_is_refused(void **state) {
  (void)state;
  char *bytes;
  qn_adapter_memory *memory = make_memory(64, &bytes);
  qn_adapter_parameter parameter = {QN_ARGUMENT_BUFFER, 0, 16, 0};
  qn_adapter_kernel_description d = {.struct_size = sizeof d,
                                     .parameter_count = 1,
                                     .name = "count",
                                     .symbol = "count",
                                     .parameters = &parameter,
                                     .argument_block_bytes = 8};
  qn_adapter_kernel_info info = {.struct_size = sizeof info};
  qn_adapter_kernel *k;
  assert_int_equal(cpu->kernel_create(device, program, &d, &k, &info), QN_OK);
  qn_launch_argument argument = buffer_argument(memory, 64);
  argument.offset_bytes = 8;
  qn_launch_record launch = launch_1d(k, 1, 1, &argument, 1);
  stream s = make_stream(0);
  expect_refused(&s, &launch, "multiples of 16");
  drop_stream(&s);
  drop_kernel(k);
  drop_memory(memory);
}

/* ---- Memory ------------------------------------------------------------------------------------- */

static void test_copies_fills_reads_and_writes(void **state) {
  (void)state;
  static const uint64_t sizes[] = {0, 1, 5, 127, 128, 4096, 65535, 65536, 65537, 1000003, 5 << 20, (25 << 20) + 13};
  for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++) {
    uint64_t size = sizes[n];
    uint8_t *a, *b, *from = malloc(size + 1), *to = calloc(size + 1, 1);
    qn_adapter_memory *ma = make_memory(size + 64, &a), *mb = make_memory(size + 64, &b);
    for (uint64_t i = 0; i < size; i++) from[i] = (uint8_t)(i * 7 + 1);
    stream s = make_stream(0);
    submit(&s, (qn_adapter_command){
                   .kind = QN_COMMAND_WRITE, .target = ma, .target_offset = 3, .size_bytes = size, .host = from});
    submit(&s, (qn_adapter_command){.kind = QN_COMMAND_COPY,
                                    .target = mb,
                                    .source = ma,
                                    .target_offset = 5,
                                    .source_offset = 3,
                                    .size_bytes = size});
    submit(&s, (qn_adapter_command){
                   .kind = QN_COMMAND_READ, .source = mb, .source_offset = 5, .size_bytes = size, .host = to});
    finish(&s);
    assert_memory_equal(from, to, size);
    assert_int_equal(to[size], 0);
    assert_int_equal(b[4], 0);
    assert_int_equal(b[5 + size], 0);
    drop_stream(&s);
    drop_memory(ma);
    drop_memory(mb);
    free(from);
    free(to);
  }
}

static void test_fills_repeat_the_pattern(void **state) {
  (void)state;
  uint8_t pattern[128];
  for (int i = 0; i < 128; i++) pattern[i] = (uint8_t)(i + 1);
  stream s = make_stream(0);
  for (uint64_t bytes = 1; bytes <= 128; bytes *= 2)
    for (int same = 0; same < 2; same++) {
      uint64_t size = 128 * 1031 + (bytes < 128 ? bytes : 0);
      uint8_t *a, given[128];
      qn_adapter_memory *memory = make_memory(size + 128, &a);
      memcpy(given, pattern, 128);
      if (same) memset(given, 9, 128);
      submit(&s, (qn_adapter_command){.kind = QN_COMMAND_FILL,
                                      .target = memory,
                                      .target_offset = 64,
                                      .size_bytes = size,
                                      .pattern = given,
                                      .pattern_bytes = bytes});
      memset(given, 0, 128); /* copied before submit returns */
      finish(&s);
      for (uint64_t i = 0; i < size; i++) assert_int_equal(a[64 + i], same ? 9 : pattern[i % bytes]);
      assert_int_equal(a[63], 0);
      assert_int_equal(a[64 + size], 0);
      drop_memory(memory);
    }
  drop_stream(&s);
}

static void test_ranges_outside_of_memory_are_refused(void **state) {
  (void)state;
  uint8_t *a;
  qn_adapter_memory *memory = make_memory(100, &a);
  stream s = make_stream(0);
  const qn_adapter_command wrong[] = {
      {.kind = QN_COMMAND_FILL, .target = memory, .size_bytes = 101, .pattern = "x", .pattern_bytes = 1},
      {.kind = QN_COMMAND_FILL,
       .target = memory,
       .target_offset = UINT64_MAX,
       .size_bytes = 2,
       .pattern = "x",
       .pattern_bytes = 1},
      {.kind = QN_COMMAND_FILL, .target = memory, .size_bytes = 100, .pattern = "abcdefg", .pattern_bytes = 8},
      {.kind = QN_COMMAND_FILL, .target = memory, .size_bytes = 99, .pattern = "abc", .pattern_bytes = 3},
      {.kind = QN_COMMAND_WRITE, .target = memory, .target_offset = 1, .size_bytes = 100, .host = &s},
      {.kind = QN_COMMAND_READ, .source = memory, .source_offset = 101, .size_bytes = 0, .host = &s},
      {.kind = QN_COMMAND_READ, .source = memory, .size_bytes = 8},
      {.kind = QN_COMMAND_COPY, .target = memory, .source = NULL, .size_bytes = 8},
      {.kind = 77},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    qn_adapter_command command = wrong[i];
    command.value = 1;
    *cpu_error_text = 0;
    assert_true(cpu->queue_submit(s.queue, &command, 1) < 0);
    assert_true(*cpu_error_text);
  }
  drop_stream(&s);
  drop_memory(memory);
}

static void test_memory_is_aligned_and_wraps(void **state) {
  (void)state;
  static const uint64_t sizes[] = {1, 100, 4096, 2 << 20, (2 << 20) + 1, 5 << 20};
  qn_adapter_memory_info info = {.struct_size = sizeof info};
  qn_adapter_memory *memory;
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    for (uint64_t alignment = 1; alignment <= 8 << 20; alignment *= 16) {
      qn_adapter_memory_request request = {
          .struct_size = sizeof request, .size_bytes = sizes[i], .alignment = alignment};
      assert_int_equal(cpu->memory_create(device, &request, &memory, &info), QN_OK);
      assert_int_equal((uintptr_t)info.host_pointer % 128, 0);
      assert_int_equal((uintptr_t)info.host_pointer % alignment, 0);
      assert_true(info.size_bytes >= sizes[i]);
      assert_int_equal(info.native, (uintptr_t)info.host_pointer);
      memset(info.host_pointer, 1, sizes[i]);
      drop_memory(memory);
    }
  char own[64];
  qn_adapter_memory_request request = {
      .struct_size = sizeof request, .memory = QN_MEMORY_WRAP, .size_bytes = 64, .host_pointer = own};
  assert_int_equal(cpu->memory_create(device, &request, &memory, &info), QN_OK);
  assert_ptr_equal(info.host_pointer, own);
  assert_int_equal(info.size_bytes, 64);
  drop_memory(memory);
  request.host_pointer = NULL;
  assert_int_equal(cpu->memory_create(device, &request, &memory, &info), QN_ERROR_INVALID_ARGUMENT);
}

static void test_too_much_memory_is_an_error(void **state) {
  (void)state;
  static const uint64_t sizes[] = {UINT64_C(1) << 50, UINT64_MAX - 4096, UINT64_MAX};
  qn_adapter_memory_info info = {.struct_size = sizeof info};
  qn_adapter_memory *memory;
  for (size_t i = 0; i < 3; i++) {
    qn_adapter_memory_request request = {.struct_size = sizeof request, .size_bytes = sizes[i]};
    assert_int_equal(cpu->memory_create(device, &request, &memory, &info), QN_ERROR_OUT_OF_MEMORY);
    assert_non_null(strstr(cpu_error_text, "out of memory"));
  }
}

static void test_native_handles_are_addresses(void **state) {
  (void)state;
  char *bytes;
  uint64_t native = 0;
  qn_adapter_memory *memory = make_memory(16, &bytes);
  qn_adapter_kernel *k = kernel("count", &one_buffer);
  assert_int_equal(cpu->native(QN_KIND_BUFFER, memory, 0, &native), QN_OK);
  assert_true(native == (uint64_t)(uintptr_t)bytes);
  assert_int_equal(cpu->native(QN_KIND_KERNEL, k, 0, &native), QN_OK);
  assert_true(native != 0);
  assert_int_equal(cpu->native(QN_KIND_PROGRAM, program, 0, &native), QN_OK);
  *cpu_error_text = 0;
  assert_int_equal(cpu->native(QN_KIND_BUFFER, memory, 1, &native), QN_ERROR_UNSUPPORTED);
  assert_int_equal(cpu->native(QN_KIND_DEVICE, device, 0, &native), QN_ERROR_UNSUPPORTED);
  assert_non_null(strstr(cpu_error_text, "native handle"));
  drop_kernel(k);
  drop_memory(memory);
}

/* ---- The same with one, two and five workers ---------------------------------------------------- */

static int open_with(uint32_t threads) {
  open_device(threads);
  program = load(kernels);
  return 0;
}
static int setup_1(void **state) { return (void)state, open_with(1); }
static int setup_2(void **state) { return (void)state, open_with(2); }
static int setup_5(void **state) { return (void)state, open_with(5); }
static int teardown(void **state) {
  (void)state;
  assert_int_equal(cpu->program_destroy(device, program), QN_OK);
  close_device();
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_item_runs_once),
      cmocka_unit_test(test_saxpy),
      cmocka_unit_test(test_launches_run_in_order),
      cmocka_unit_test(test_group_record_is_filled),
      cmocka_unit_test(test_launch_in_parts_begins_at_its_base),
      cmocka_unit_test(test_local_memory_and_scratch_are_each_groups_own),
      cmocka_unit_test(test_empty_launches_complete),
      cmocka_unit_test(test_values_of_any_size),
      cmocka_unit_test(test_float_environment_is_kernels_own_and_callers_is_kept),
      cmocka_unit_test(test_wrong_launches_are_refused_by_name),
      cmocka_unit_test(test_misaligned_buffer_is_refused),
      cmocka_unit_test(test_copies_fills_reads_and_writes),
      cmocka_unit_test(test_fills_repeat_the_pattern),
      cmocka_unit_test(test_ranges_outside_of_memory_are_refused),
      cmocka_unit_test(test_memory_is_aligned_and_wraps),
      cmocka_unit_test(test_too_much_memory_is_an_error),
      cmocka_unit_test(test_native_handles_are_addresses),
  };
  return cmocka_run_group_tests_name("one worker", tests, setup_1, teardown) +
         cmocka_run_group_tests_name("two workers", tests, setup_2, teardown) +
         cmocka_run_group_tests_name("five workers", tests, setup_5, teardown);
}
