/* labels: threads llvm */
/* Images: built without a device, loaded by one, launched through qn_launch_image. */
#include <pthread.h>
#include <stdlib.h>

#include "quern/quern_build.h"
#include "support.h"

enum { COUNT = 1000 };

static const char source[] =
    "__kernel void twice(__global const int *in, __global int *out, int n) {\n"
    "  int i = get_global_id(0);\n"
    "  if (i < n) out[i] = in[i] * 2;\n"
    "}\n"
    "__kernel void plus(__global int *x, float3 v, char c) { x[get_global_id(0)] += (int)v.z + c; }\n";

static qn_artifact build(const char *target) {
  qn_artifact artifact = QN_INIT(qn_artifact);
  qn_build_options options = QN_INIT(qn_build_options);
  options.kind = QN_ARTIFACT_IMAGE;
  options.source = source;
  options.target = target;
  options.name = "pair";
  OK(qn_build(&options, &artifact));
  return artifact;
}

typedef struct bench {
  test_device t;
  qn_queue queue;
  qn_buffer in, out;
} bench;

static bench open_bench(const char *selector) {
  bench b = {.t = test_open(selector)};
  b.queue = test_queue(b.t.device);
  b.in = test_buffer(b.t.device, COUNT * sizeof(int));
  b.out = test_buffer(b.t.device, COUNT * sizeof(int));
  return b;
}

static void launch_twice(bench *b, qn_queue queue, const qn_artifact *image) {
  const qn_view in = test_view(b->in, 0, QN_WHOLE), out = test_view(b->out, 0, QN_WHOLE);
  const qn_argument arguments[] = {qn_arg_view(&in), qn_arg_view(&out), qn_arg_i32(COUNT)};
  OK(qn_launch_image(queue, image->bytes, image->size_bytes, 0, QN_RANGE_1D(COUNT), arguments, 3, NULL));
}

static void check_twice(bench *b, qn_queue queue, const qn_artifact *image) {
  int numbers[COUNT];
  qn_point done;
  for (int i = 0; i < COUNT; i++) numbers[i] = i;
  const qn_view in = test_view(b->in, 0, QN_WHOLE), out = test_view(b->out, 0, QN_WHOLE);
  OK(qn_write(queue, &in, numbers, NULL));
  launch_twice(b, queue, image);
  OK(qn_read(queue, &out, numbers, &done));
  OK(qn_point_wait(&done, QN_FOREVER));
  for (int i = 0; i < COUNT; i++) assert_int_equal(numbers[i], i * 2);
}

/* ---- Loading ------------------------------------------------------------------------------------ */

static void test_an_image_is_loaded_and_launched(void **state) {
  (void)state;
  qn_artifact image = build("host");
  bench b = open_bench("cpu");
  qn_program program = NULL;
  qn_kernel kernel = NULL;
  qn_kernel_info info = QN_INIT(qn_kernel_info);
  qn_argument_info argument = QN_INIT(qn_argument_info);
  OK(qn_program_load(b.t.device, image.bytes, image.size_bytes, &program));
  OK(qn_kernel_get(program, "plus", &kernel));
  OK(qn_kernel_query(kernel, &info));
  OK(qn_kernel_argument(kernel, 1, &argument));
  assert_int_equal(info.argument_count, 3);
  assert_string_equal(argument.name, "v");
  assert_string_equal(argument.type_name, "float3");
  assert_int_equal(test_statistics(b.t.device).programs_compiled, 0);
  check_twice(&b, b.queue, &image);
  test_close(&b.t);
  qn_artifact_free(&image);
}

/* Code for another processor is no use here; the IR is. The device that interprets takes the IR always. */
static void test_what_has_no_code_for_the_device_is_made_from_the_ir(void **state) {
  (void)state;
#if defined(__x86_64__)
  qn_artifact image = build("aarch64-linux");
#else
  qn_artifact image = build("x86-64-linux");
#endif
  static const char *const devices[] = {"cpu", "check"};
  for (int i = 0; i < 2; i++) {
    bench b = open_bench(devices[i]);
    check_twice(&b, b.queue, &image);
    test_close(&b.t);
  }
  qn_artifact_free(&image);
}

static void test_several_levels_are_in_one_image(void **state) {
  (void)state;
#if defined(__x86_64__)
  qn_artifact image = build("x86-64-linux,x86-64-v2-linux,x86-64-v3-linux,x86-64-v4-linux");
  bench b = open_bench("cpu");
  check_twice(&b, b.queue, &image);
  assert_int_equal(test_statistics(b.t.device).programs_compiled, 0);
  test_close(&b.t);
  qn_artifact_free(&image);
#else
  skip();
#endif
}

static void test_a_queue_loads_an_image_once(void **state) {
  (void)state;
  qn_artifact image = build("host");
  bench b = open_bench("cpu");
  for (int i = 0; i < 10; i++) launch_twice(&b, b.queue, &image);
  assert_int_equal(test_statistics(b.t.device).kernels, 2);
  qn_queue second = test_queue(b.t.device);
  check_twice(&b, second, &image);
  assert_int_equal(test_statistics(b.t.device).kernels, 4); /* two handles for one binary */
  assert_int_equal(test_statistics(b.t.device).program_cache_hits, 1);
  OK(qn_release(second));
  OK(qn_device_drain(b.t.device, PATIENCE));
  assert_int_equal(test_statistics(b.t.device).kernels, 2);
  /* A copy elsewhere is the same image: its hash names it. */
  void *copy = malloc((size_t)image.size_bytes);
  memcpy(copy, image.bytes, (size_t)image.size_bytes);
  qn_artifact other = image;
  other.bytes = copy;
  check_twice(&b, b.queue, &other);
  assert_int_equal(test_statistics(b.t.device).kernels, 2);
  free(copy);
  OK(qn_release(b.queue));
  OK(qn_release(b.in));
  OK(qn_release(b.out));
  OK(qn_release(b.t.device));
  test_close(&b.t);
  qn_artifact_free(&image);
}

typedef struct shared {
  bench *b;
  const qn_artifact *image;
} shared;

static void *launch_many(void *given) {
  const shared *s = given;
  for (int i = 0; i < 50; i++) launch_twice(s->b, s->b->queue, s->image);
  return NULL;
}

static void test_threads_load_an_image_once(void **state) {
  (void)state;
  qn_artifact image = build("host");
  bench b = open_bench("cpu");
  shared s = {&b, &image};
  pthread_t threads[8];
  for (int i = 0; i < 8; i++) assert_int_equal(pthread_create(&threads[i], NULL, launch_many, &s), 0);
  for (int i = 0; i < 8; i++) pthread_join(threads[i], NULL);
  assert_int_equal(test_statistics(b.t.device).kernels, 2);
  check_twice(&b, b.queue, &image);
  test_close(&b.t);
  qn_artifact_free(&image);
}

/* ---- Refusals ----------------------------------------------------------------------------------- */

static void test_bytes_that_are_no_image(void **state) {
  (void)state;
  qn_artifact image = build("host");
  bench b = open_bench("cpu");
  qn_program program = NULL;
  unsigned char *bytes = malloc((size_t)image.size_bytes);
  FAILS(qn_program_load(b.t.device, NULL, 10, &program), QN_ERROR_INVALID_ARGUMENT, "image is NULL");
  FAILS(qn_program_load(b.t.device, image.bytes, image.size_bytes, NULL), QN_ERROR_INVALID_ARGUMENT, "out_program");
  FAILS(qn_program_load(b.t.device, "text", 4, &program), QN_ERROR_DATA, "no image");
  FAILS(qn_program_load(b.t.device, image.bytes, image.size_bytes - 1, &program), QN_ERROR_DATA, "bytes, and says");
  for (uint64_t at = 0; at < image.size_bytes; at += 1 + image.size_bytes / 200) {
    memcpy(bytes, image.bytes, (size_t)image.size_bytes);
    bytes[at] ^= 0x10;
    assert_int_equal(qn_program_load(b.t.device, bytes, image.size_bytes, &program), QN_ERROR_DATA);
  }
  assert_null(program);
  FAILS(qn_launch_image(b.queue, image.bytes, image.size_bytes, 2, QN_RANGE_1D(1), NULL, 0, NULL), QN_ERROR_NOT_FOUND,
        "the image has 2 kernels");
  FAILS(qn_launch_image(b.queue, NULL, 0, 0, QN_RANGE_1D(1), NULL, 0, NULL), QN_ERROR_INVALID_ARGUMENT,
        "image is NULL");
  free(bytes);
  test_close(&b.t);
  qn_artifact_free(&image);
}

static void test_a_device_without_kernels(void **state) {
  (void)state;
  qn_artifact image = build("host");
  test_device t = test_open("null");
  qn_program program = NULL;
  FAILS(qn_program_load(t.device, image.bytes, image.size_bytes, &program), QN_ERROR_UNSUPPORTED, "runs no kernels");
  test_close(&t);
  qn_artifact_free(&image);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_an_image_is_loaded_and_launched),
      cmocka_unit_test(test_what_has_no_code_for_the_device_is_made_from_the_ir),
      cmocka_unit_test(test_several_levels_are_in_one_image),
      cmocka_unit_test(test_a_queue_loads_an_image_once),
      cmocka_unit_test(test_threads_load_an_image_once),
      cmocka_unit_test(test_bytes_that_are_no_image),
      cmocka_unit_test(test_a_device_without_kernels),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
