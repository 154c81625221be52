/* labels: threads */
/* Programs, kernels and launches on the interpreter; test_launch_cpu.c runs the same on the processor. */
#include <pthread.h>
#include <stdlib.h>

#include "support.h"

#ifndef SELECTOR
#define SELECTOR "check"
#define LIVES 30
#endif
static const char *const selector = SELECTOR;

static const char source[] =
    "typedef struct { float4 a; int b; } pair;\n"
    "kernel void saxpy(global float *y, global const float *x, float a, int n) {\n"
    "  int i = get_global_id(0);\n"
    "  if (i < n) y[i] = a * x[i] + y[i];\n"
    "}\n"
    "kernel void add(global int *sum, int a) { sum[get_global_id(0)] += a; }\n"
    "kernel void types(global float *out, char c, uchar uc, short s, ushort us, int i, uint ui, long l, ulong ul, "
    "float f,\n"
    "                  double d, float4 v, pair p) {\n"
    "  out[0] = c; out[1] = uc; out[2] = s; out[3] = us; out[4] = i; out[5] = ui; out[6] = l; out[7] = ul; out[8] = "
    "f;\n"
    "  out[9] = d; out[10] = v.w; out[11] = p.a.y; out[12] = p.b;\n"
    "}\n"
    "kernel void locals(global int *out, local int *mine, int n) {\n"
    "  local int fixed[16];\n"
    "  int l = get_local_id(0);\n"
    "  mine[l] = get_global_id(0) * n; if (l < 16) fixed[l] = l;\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  out[get_global_id(0)] = mine[get_local_size(0) - 1 - l] + fixed[l % 16];\n"
    "}\n"
    "kernel void null_is_null(global int *out, global int *maybe) { out[0] = maybe ? 1 : 2; }\n"
    "kernel __attribute__((reqd_work_group_size(8, 1, 1))) void eight(global int *out) {\n"
    "  out[get_global_id(0)] = get_local_size(0);\n"
    "}\n"
    "kernel void where(global int *out) {\n"
    "  size_t i = get_global_id(0) - get_global_offset(0);\n"
    "  out[i] = get_global_id(0) * 1000 + get_global_size(0);\n"
    "}\n";

typedef struct fixture {
  test_device t;
  qn_queue queue;
  qn_program program;
} fixture;

static fixture open_fixture(void) {
  fixture f = {.t = test_open(selector)};
  f.queue = test_queue(f.t.device);
  f.program = test_program(f.t.device, source);
  return f;
}

/* A buffer that the host reads and writes at quiet moments. */
static qn_buffer shared_buffer(qn_device device, uint64_t size, void *out_pointer) {
  qn_buffer buffer = NULL;
  qn_buffer_options o = QN_INIT(qn_buffer_options);
  qn_buffer_info info = QN_INIT(qn_buffer_info);
  o.memory = QN_MEMORY_SHARED;
  o.size_bytes = size;
  OK(qn_buffer_create(device, &o, &buffer));
  OK(qn_buffer_query(buffer, &info));
  memset(info.host_pointer, 0, (size_t)size);
  memcpy(out_pointer, &info.host_pointer, sizeof(void *));
  return buffer;
}

static void a_saxpy_runs(void **state) {
  (void)state;
  enum { N = 1000 };
  fixture f = open_fixture();
  float *x = NULL, *y = NULL;
  qn_buffer bx = shared_buffer(f.t.device, N * sizeof(float), &x),
            by = shared_buffer(f.t.device, N * sizeof(float), &y);
  qn_kernel saxpy = test_kernel(f.program, "saxpy");
  for (int i = 0; i < N; i++) x[i] = (float)i, y[i] = 1;
  qn_point done = {0, 0};
  OK(qn_launch(f.queue, saxpy, QN_RANGE_1D(N), QN_ARGS(by, bx, 2.0f, N), &done));
  OK(qn_point_wait(&done, PATIENCE));
  for (int i = 0; i < N; i++) assert_true(y[i] == 2.0f * (float)i + 1.0f);
  test_close(&f.t);
}

static void every_type_of_value_arrives(void **state) {
  (void)state;
  fixture f = open_fixture();
  float *out = NULL;
  qn_buffer buffer = shared_buffer(f.t.device, 64 * sizeof(float), &out);
  qn_kernel types = test_kernel(f.program, "types");
  const float v[4] = {1, 2, 3, 4};
  const struct {
    float a[4];
    int32_t b, padding[3];
  } p = {{5, 6, 7, 8}, 9, {0}};
  OK(qn_launch(f.queue, types, QN_RANGE_1D(1),
               QN_ARGS(buffer, (signed char)-1, (unsigned char)200, (short)-300, (unsigned short)60000, -5, 6u, -7l,
                       8ul, 9.5f, 10.25, qn_arg_bytes(v, sizeof v), qn_arg_bytes(&p, sizeof p)),
               NULL));
  OK(qn_queue_finish(f.queue, PATIENCE));
  const float wanted[] = {-1, 200, -300, 60000, -5, 6, -7, 8, 9.5f, 10.25f, 4, 6, 9};
  for (size_t i = 0; i < 13; i++)
    if (out[i] != wanted[i]) fail_msg("value %zu is %g, not %g", i, (double)out[i], (double)wanted[i]);
  /* An integer of another width or sign is taken when its value fits. */
  memset(out, 0, 64 * sizeof(float));
  OK(qn_launch(f.queue, types, QN_RANGE_1D(1),
               QN_ARGS(buffer, -1, 200, -300l, 60000ul, (short)-5, 6, -7, 8, 9.5f, 10.25, qn_arg_bytes(v, sizeof v),
                       qn_arg_bytes(&p, sizeof p)),
               NULL));
  OK(qn_queue_finish(f.queue, PATIENCE));
  for (size_t i = 0; i < 13; i++)
    if (out[i] != wanted[i]) fail_msg("value %zu is %g, not %g", i, (double)out[i], (double)wanted[i]);
  test_close(&f.t);
}

static void local_memory_is_given_by_size(void **state) {
  (void)state;
  enum { N = 128, L = 32 };
  fixture f = open_fixture();
  int32_t *out = NULL;
  qn_buffer buffer = shared_buffer(f.t.device, N * sizeof(int32_t), &out);
  qn_kernel locals = test_kernel(f.program, "locals");
  qn_range range = QN_INIT(qn_range);
  range.dimensions = 1;
  range.global[0] = N;
  range.local[0] = L;
  OK(qn_launch(f.queue, locals, &range, QN_ARGS(buffer, qn_arg_local(L * sizeof(int32_t)), 10), NULL));
  OK(qn_queue_finish(f.queue, PATIENCE));
  for (int i = 0; i < N; i++) {
    int l = i % L, other = i - l + L - 1 - l;
    assert_int_equal(out[i], other * 10 + l % 16);
  }
  qn_kernel_info info = QN_INIT(qn_kernel_info);
  OK(qn_kernel_query(locals, &info));
  assert_int_equal(info.static_local_bytes, 64);
  FAILS(qn_launch(f.queue, locals, &range, QN_ARGS(buffer, qn_arg_local(0), 1), NULL), QN_ERROR_INVALID_ARGUMENT,
        "size_bytes is 0");
  FAILS(qn_launch(f.queue, locals, &range, QN_ARGS(buffer, qn_arg_local(UINT64_MAX), 1), NULL),
        QN_ERROR_INVALID_ARGUMENT,
        "argument 1 'mine' (int*) of kernel 'locals': 18446744073709551615 bytes of local memory");
  test_close(&f.t);
}

static void a_null_buffer_is_a_null_pointer(void **state) {
  (void)state;
  fixture f = open_fixture();
  int32_t *out = NULL;
  qn_buffer buffer = shared_buffer(f.t.device, 8, &out), none = NULL;
  OK(qn_launch(f.queue, test_kernel(f.program, "null_is_null"), QN_RANGE_1D(1), QN_ARGS(buffer, none), NULL));
  OK(qn_queue_finish(f.queue, PATIENCE));
  assert_int_equal(out[0], 2);
  test_close(&f.t);
}

static void a_required_group_size_is_kept(void **state) {
  (void)state;
  fixture f = open_fixture();
  int32_t *out = NULL;
  qn_buffer buffer = shared_buffer(f.t.device, 64 * sizeof(int32_t), &out);
  qn_kernel eight = test_kernel(f.program, "eight");
  OK(qn_launch(f.queue, eight, QN_RANGE_1D(64), QN_ARGS(buffer), NULL));
  OK(qn_queue_finish(f.queue, PATIENCE));
  for (int i = 0; i < 64; i++) assert_int_equal(out[i], 8);
  FAILS(qn_launch(f.queue, eight, QN_RANGE_1D(60), QN_ARGS(buffer), NULL), QN_ERROR_INVALID_ARGUMENT,
        "does not divide");
  qn_range range = QN_INIT(qn_range);
  range.dimensions = 1;
  range.global[0] = 64;
  range.local[0] = 16;
  FAILS(qn_launch(f.queue, eight, &range, QN_ARGS(buffer), NULL), QN_ERROR_INVALID_ARGUMENT, "reqd_work_group_size");
  test_close(&f.t);
}

static void offsets_and_sub_buffers_are_passed(void **state) {
  (void)state;
  fixture f = open_fixture();
  int32_t *out = NULL;
  qn_buffer buffer = shared_buffer(f.t.device, 1000 * sizeof(int32_t), &out);
  qn_device_info info = QN_INIT(qn_device_info);
  OK(qn_device_query(f.t.device, &info));
  qn_range range = QN_INIT(qn_range);
  range.dimensions = 1;
  range.global[0] = 10;
  range.offset[0] = 7;
  uint64_t at = info.buffer_alignment < 4 ? 4 : info.buffer_alignment;
  qn_view view = test_view(buffer, at, 10 * sizeof(int32_t));
  qn_kernel where = test_kernel(f.program, "where");
  OK(qn_launch(f.queue, where, &range, QN_ARGS(&view), NULL));
  OK(qn_queue_finish(f.queue, PATIENCE));
  for (uint64_t i = 0; i < 10; i++) assert_int_equal(out[at / 4 + i], (i + 7) * 1000 + 10);
  view.offset_bytes = at + 2;
  FAILS(qn_launch(f.queue, where, &range, QN_ARGS(&view), NULL), QN_ERROR_INVALID_ARGUMENT, "offset_bytes is");
  view.offset_bytes = 4000;
  FAILS(qn_launch(f.queue, where, &range, QN_ARGS(&view), NULL), QN_ERROR_INVALID_ARGUMENT, "'out'");
  test_close(&f.t);
}

static void errors_name_the_argument(void **state) {
  (void)state;
  fixture f = open_fixture();
  qn_buffer b = test_buffer(f.t.device, 64);
  qn_kernel saxpy = test_kernel(f.program, "saxpy"), types = test_kernel(f.program, "types");
  qn_point point = {3, 4};
  const qn_range *r = QN_RANGE_1D(4);
  FAILS(qn_launch(f.queue, saxpy, r, QN_ARGS(b, b, 2.0f), &point), QN_ERROR_INVALID_ARGUMENT,
        "kernel 'saxpy' has 4 arguments, 3 are given; 'n' is the first that is missing");
  FAILS(qn_launch(f.queue, saxpy, r, QN_ARGS(b, b, 2.0f, 4, 5), &point), QN_ERROR_INVALID_ARGUMENT,
        "has 4 arguments, 5 are given");
  FAILS(qn_launch(f.queue, saxpy, r, NULL, 4, &point), QN_ERROR_INVALID_ARGUMENT, "arguments is NULL");
  FAILS(qn_launch(f.queue, saxpy, r, QN_ARGS(b, 1, 2.0f, 4), &point), QN_ERROR_INVALID_ARGUMENT,
        "argument 1 'x' (float*) of kernel 'saxpy': a value is given, it is a buffer");
  FAILS(qn_launch(f.queue, saxpy, r, QN_ARGS(b, b, b, 4), &point), QN_ERROR_INVALID_ARGUMENT,
        "argument 2 'a' (float) of kernel 'saxpy': a buffer is given, it is a value");
  FAILS(qn_launch(f.queue, saxpy, r, QN_ARGS(b, b, 2.0, 4), &point), QN_ERROR_INVALID_ARGUMENT,
        "argument 2 'a' (float) of kernel 'saxpy': a double is given, it is a float");
  FAILS(qn_launch(f.queue, saxpy, r, QN_ARGS(b, b, 2, 4), &point), QN_ERROR_INVALID_ARGUMENT, "a 32-bit int is given");
  FAILS(qn_launch(f.queue, saxpy, r, QN_ARGS(b, b, 2.0f, UINT64_C(1) << 31), &point), QN_ERROR_INVALID_ARGUMENT,
        "argument 3 'n' (int) of kernel 'saxpy': the value 2147483648 does not fit");
  FAILS(qn_launch(f.queue, saxpy, r, QN_ARGS(b, b, 2.0f, qn_arg_bytes("12345", 5)), &point), QN_ERROR_INVALID_ARGUMENT,
        "5 bytes are given, it has 4");
  FAILS(qn_launch(f.queue, saxpy, r, QN_ARGS(b, b, qn_arg_local(4), 4), &point), QN_ERROR_INVALID_ARGUMENT,
        "local memory");
  float v[4] = {0};
  FAILS(qn_launch(f.queue, types, r,
                  QN_ARGS(b, 1, -1, 3, 4, 5, 6, 7, 8, 9.0f, 10.0, qn_arg_bytes(v, 16), qn_arg_bytes(v, 16)), &point),
        QN_ERROR_INVALID_ARGUMENT, "argument 2 'uc' (uchar) of kernel 'types': the value -1 does not fit");
  FAILS(qn_launch(f.queue, types, r,
                  QN_ARGS(b, 1, 2, 3, 4, 5, 6, 7, 8, 9.0f, 10.0, qn_arg_bytes(v, 16), qn_arg_bytes(v, 16)), &point),
        QN_ERROR_INVALID_ARGUMENT, "argument 12 'p' (pair) of kernel 'types': 16 bytes are given, it has 32");
  FAILS(qn_launch(f.queue, types, r, QN_ARGS(b, 1, 2, 3, 4, 5, 6, 7, 8, 9.0f, 10.0, 1.0f, qn_arg_bytes(v, 16)), &point),
        QN_ERROR_INVALID_ARGUMENT, "argument 11 'v' (float4)");
  OK(qn_release(b));
  FAILS(qn_launch(f.queue, saxpy, r, QN_ARGS(b, b, 2.0f, 4), &point), QN_ERROR_INVALID_HANDLE,
        "argument 0 'y' (float*) of kernel 'saxpy': the buffer");
  assert_int_equal(point.queue, 3);
  qn_device_statistics s = test_statistics(f.t.device);
  assert_int_equal(s.launches, 0);
  test_close(&f.t);
}

static void ranges_are_checked(void **state) {
  (void)state;
  fixture f = open_fixture();
  qn_buffer b = test_buffer(f.t.device, 64 * sizeof(int32_t));
  qn_kernel add = test_kernel(f.program, "add");
  qn_range r = QN_INIT(qn_range);
  FAILS(qn_launch(f.queue, add, NULL, QN_ARGS(b, 1), NULL), QN_ERROR_INVALID_ARGUMENT, "range is NULL");
  FAILS(qn_launch(f.queue, add, &r, QN_ARGS(b, 1), NULL), QN_ERROR_INVALID_ARGUMENT, "dimensions is 0");
  r.dimensions = 4;
  FAILS(qn_launch(f.queue, add, &r, QN_ARGS(b, 1), NULL), QN_ERROR_INVALID_ARGUMENT, "dimensions is 4");
  r.dimensions = 1;
  r.global[0] = 64;
  r.local[0] = 7;
  FAILS(qn_launch(f.queue, add, &r, QN_ARGS(b, 1), NULL), QN_ERROR_INVALID_ARGUMENT,
        "local[0] is 7, which does not divide");
  r.local[0] = 1 << 20;
  r.global[0] = 1 << 20;
  FAILS(qn_launch(f.queue, add, &r, QN_ARGS(b, 1), NULL), QN_ERROR_INVALID_ARGUMENT, "local");
  r.local[0] = 0;
  r.global[0] = UINT64_MAX;
  r.offset[0] = 1;
  FAILS(qn_launch(f.queue, add, &r, QN_ARGS(b, 1), NULL), QN_ERROR_INVALID_ARGUMENT, "past the device's");
  r.dimensions = 3;
  r.offset[0] = 0;
  r.global[0] = r.global[1] = r.global[2] = UINT64_C(1) << 40;
  FAILS(qn_launch(f.queue, add, &r, QN_ARGS(b, 1), NULL), QN_ERROR_INVALID_ARGUMENT, "more work-items");
  r.global[1] = 0;
  qn_point point = {0, 0};
  OK(qn_launch(f.queue, add, &r, QN_ARGS(b, 1), &point)); /* a launch without work */
  assert_int_equal(point.value, 1);
  OK(qn_point_wait(&point, PATIENCE));
  r.struct_size = 3;
  FAILS(qn_launch(f.queue, add, &r, QN_ARGS(b, 1), NULL), QN_ERROR_INVALID_ARGUMENT, "struct_size is 3");
  test_close(&f.t);
}

static void any_size_runs_when_no_local_size_is_given(void **state) {
  (void)state;
  fixture f = open_fixture();
  enum { MOST = 3000 };
  int32_t *out = NULL;
  qn_buffer b = shared_buffer(f.t.device, MOST * sizeof(int32_t), &out);
  qn_kernel add = test_kernel(f.program, "add");
  const uint64_t sizes[] = {1, 2, 3, 7, 16, 63, 64, 65, 97, 127, 128, 509, 1000, 1021, 2048, 2999, 3000};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    memset(out, 0, MOST * sizeof(int32_t));
    OK(qn_launch(f.queue, add, QN_RANGE_1D(sizes[i]), QN_ARGS(b, 5), NULL));
    OK(qn_queue_finish(f.queue, PATIENCE));
    for (uint64_t at = 0; at < MOST; at++) assert_int_equal(out[at], at < sizes[i] ? 5 : 0);
  }
  test_close(&f.t);
}

static void programs_and_kernels_are_described(void **state) {
  (void)state;
  fixture f = open_fixture();
  qn_program_info p = QN_INIT(qn_program_info);
  char name[64] = "";
  OK(qn_program_query(f.program, &p));
  assert_int_equal(p.kernel_count, 7);
  assert_true(p.compile_ns > 0);
  OK(qn_program_kernel_name(f.program, 3, name, sizeof name));
  assert_string_equal(name, "locals");
  OK(qn_program_kernel_name(f.program, 0, name, 4));
  assert_string_equal(name, "sax");
  FAILS(qn_program_kernel_name(f.program, 7, name, 4), QN_ERROR_NOT_FOUND, "has 7 kernels");
  qn_kernel kernel = NULL;
  FAILS(qn_kernel_get(f.program, "saxby", &kernel), QN_ERROR_NOT_FOUND, "did you mean 'saxpy'?");
  FAILS(qn_kernel_get(f.program, "saxby", &kernel), QN_ERROR_NOT_FOUND, "there are: saxpy, add, types, locals");
  FAILS(qn_kernel_get(f.program, NULL, &kernel), QN_ERROR_INVALID_ARGUMENT, "name is NULL");
  kernel = test_kernel(f.program, "saxpy");
  qn_kernel_info k = QN_INIT(qn_kernel_info);
  OK(qn_kernel_query(kernel, &k));
  assert_string_equal(k.name, "saxpy");
  assert_int_equal(k.argument_count, 4);
  assert_int_equal(k.required_local[0], 0);
  qn_argument_info a = QN_INIT(qn_argument_info);
  OK(qn_kernel_argument(kernel, 0, &a));
  assert_int_equal(a.kind, QN_ARGUMENT_BUFFER);
  assert_int_equal(a.element_type, QN_TYPE_F32);
  assert_int_equal(a.access, QN_ACCESS_READ | QN_ACCESS_WRITE);
  assert_int_equal(a.address_space, QN_SPACE_GLOBAL);
  assert_string_equal(a.name, "y");
  OK(qn_kernel_argument(kernel, 1, &a));
  assert_int_equal(a.access, QN_ACCESS_READ);
  assert_int_equal(a.is_const, 1);
  OK(qn_kernel_argument(kernel, 3, &a));
  assert_int_equal(a.kind, QN_ARGUMENT_VALUE);
  assert_int_equal(a.element_type, QN_TYPE_I32);
  assert_int_equal(a.element_bytes, 4);
  FAILS(qn_kernel_argument(kernel, 4, &a), QN_ERROR_NOT_FOUND, "has 4 arguments");
  OK(qn_kernel_query(test_kernel(f.program, "eight"), &k));
  assert_int_equal(k.required_local[0], 8);
  test_close(&f.t);
}

static void errors_of_the_source_are_told(void **state) {
  (void)state;
  fixture f = open_fixture();
  qn_program program = NULL;
  qn_program_options o = QN_INIT(qn_program_options);
  FAILS(qn_program_build(f.t.device, NULL, &program), QN_ERROR_INVALID_ARGUMENT, "options is NULL");
  FAILS(qn_program_build(f.t.device, &o, &program), QN_ERROR_INVALID_ARGUMENT, "source is NULL");
  o.source = "kernel void k(global int *x) {\n  x[0] = nothing;\n}\n";
  o.file_name = "bad.cl";
  FAILS(qn_program_build(f.t.device, &o, &program), QN_ERROR_COMPILE, "bad.cl:2:10: error:");
  o.source = "kernel void k(global int *x) { x[0] = N; }";
  o.options = "-D N=3 -cl-nonesuch";
  FAILS(qn_program_build(f.t.device, &o, &program), QN_ERROR_INVALID_ARGUMENT, "-cl-nonesuch");
  assert_null(program);
  o.options = "-D N=3";
  OK(qn_program_build(f.t.device, &o, &program));
  o.source_bytes = 10; /* the part that is given ends early */
  FAILS(qn_program_build(f.t.device, &o, &program), QN_ERROR_COMPILE, "error:");
  test_close(&f.t);
}

static void test_C2_one_key_is_compiled_once(void **state) {
  (void)state;
  fixture f = open_fixture();
  qn_program_info info = QN_INIT(qn_program_info);
  OK(qn_program_query(f.program, &info));
  assert_int_equal(info.cached, 0);
  qn_program again = test_program(f.t.device, source);
  OK(qn_program_query(again, &info));
  assert_int_equal(info.cached, 1);
  OK(qn_release(again));
  OK(qn_release(f.program));
  OK(qn_device_statistics_get(f.t.device, &(qn_device_statistics)QN_INIT(qn_device_statistics)));
  again = test_program(f.t.device, source); /* idle ones are kept */
  OK(qn_program_query(again, &info));
  assert_int_equal(info.cached, 1);
  qn_device_statistics s = test_statistics(f.t.device);
  assert_int_equal(s.programs_compiled, 1);
  assert_int_equal(s.program_cache_hits, 2);
  test_close(&f.t);
}

static void *build_the_same(void *given) {
  qn_device device = given;
  for (int i = 0; i < 8; i++) {
    char text[128];
    snprintf(text, sizeof text, "kernel void k(global int *x) { x[get_global_id(0)] = %d; }", i % 3);
    qn_program program = NULL;
    qn_program_options o = QN_INIT(qn_program_options);
    o.source = text;
    if (qn_program_build(device, &o, &program) != QN_OK) abort();
    if (qn_release(program) != QN_OK) abort();
  }
  return NULL;
}

static void test_C2_many_threads_want_one_key(void **state) {
  (void)state;
  test_device t = test_open(selector);
  pthread_t threads[6];
  for (int i = 0; i < 6; i++) assert_int_equal(pthread_create(&threads[i], NULL, build_the_same, t.device), 0);
  for (int i = 0; i < 6; i++) pthread_join(threads[i], NULL);
  qn_device_statistics s = test_statistics(t.device);
  assert_int_equal(s.programs_compiled, 3);
  assert_int_equal(s.program_cache_hits, 45);
  test_close(&t);
}

static void test_L4_objects_live_until_their_launch_is_complete(void **state) {
  (void)state;
  for (int round = 0; round < LIVES; round++) {
    test_device t = test_open(selector);
    qn_queue queue = test_queue(t.device);
    qn_program program = test_program(t.device, source);
    qn_kernel add = test_kernel(program, "add");
    qn_buffer buffer = test_buffer(t.device, 4000);
    qn_view view = test_view(buffer, 0, QN_WHOLE);
    static int32_t out[1000];
    int32_t zero = 0;
    qn_point done = {0, 0};
    OK(qn_fill(queue, &view, &zero, 4, NULL));
    for (int i = 0; i < 10; i++) OK(qn_launch(queue, add, QN_RANGE_1D(1000), QN_ARGS(buffer, 1), NULL));
    OK(qn_read(queue, &view, out, &done));
    OK(qn_release(program));
    OK(qn_release(t.device));
    OK(qn_release(buffer));
    OK(qn_release(add));
    OK(qn_release(queue));
    OK(qn_release(t.runtime));
    OK(qn_point_wait(&done, PATIENCE));
    for (int i = 0; i < 1000; i++) assert_int_equal(out[i], 10);
  }
}

#ifndef TEST_PROCESSOR
/* The interpreter notices what a processor would crash on. */
static void test_L7_a_fault_names_the_kernel(void **state) {
  (void)state;
  test_device t = test_open(selector);
  qn_queue bad = test_queue(t.device), good = test_queue(t.device);
  qn_program program = test_program(t.device, "kernel void wild(global int *x, int at) { x[at] = 1; }");
  qn_kernel wild = test_kernel(program, "wild");
  qn_buffer buffer = test_buffer(t.device, 400);
  qn_point fine = {0, 0}, wrong = {0, 0};
  OK(qn_launch(bad, wild, QN_RANGE_1D(1), QN_ARGS(buffer, 99), &fine));
  OK(qn_launch(bad, wild, QN_RANGE_1D(1), QN_ARGS(buffer, 100), &wrong));
  OK(qn_point_wait(&fine, PATIENCE));
  FAILS(qn_point_wait(&wrong, PATIENCE), QN_ERROR_DEVICE, "failed at value 2, kernel 'wild': ");
  OK(qn_launch(good, wild, QN_RANGE_1D(1), QN_ARGS(buffer, 0), &fine));
  OK(qn_point_wait(&fine, PATIENCE));
  FAILS(qn_launch(bad, wild, QN_RANGE_1D(1), QN_ARGS(buffer, 0), NULL), QN_ERROR_DEVICE, "kernel 'wild'");
  test_close(&t);
}
#endif

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_saxpy_runs),
      cmocka_unit_test(every_type_of_value_arrives),
      cmocka_unit_test(local_memory_is_given_by_size),
      cmocka_unit_test(a_null_buffer_is_a_null_pointer),
      cmocka_unit_test(a_required_group_size_is_kept),
      cmocka_unit_test(offsets_and_sub_buffers_are_passed),
      cmocka_unit_test(errors_name_the_argument),
      cmocka_unit_test(ranges_are_checked),
      cmocka_unit_test(any_size_runs_when_no_local_size_is_given),
      cmocka_unit_test(programs_and_kernels_are_described),
      cmocka_unit_test(errors_of_the_source_are_told),
      cmocka_unit_test(test_C2_one_key_is_compiled_once),
      cmocka_unit_test(test_C2_many_threads_want_one_key),
      cmocka_unit_test(test_L4_objects_live_until_their_launch_is_complete),
#ifndef TEST_PROCESSOR
      cmocka_unit_test(test_L7_a_fault_names_the_kernel),
#endif
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
