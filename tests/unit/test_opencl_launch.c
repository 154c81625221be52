/* labels: threads opencl */
/* Kernels, arguments, parts, memory and programs of the opencl adapter: what the driver is given, and how often. */
#include "support/opencl_fake.h"
#include "support/rounds.h"

static qn_adapter_program *program;
static stream s;

static int begin(void **state) {
  fake_begin(state);
  program = make_program("nothing advance take where lonely");
  s = make_stream(0);
  return 0;
}
static int end(void **state) {
  finish(&s);
  drop_stream(&s);
  expect_ok(ocl->program_destroy(device, program));
  return fake_end(state);
}
static void drop_kernel(qn_adapter_kernel *kernel) { expect_ok(ocl->kernel_destroy(device, kernel)); }
static uint64_t arguments_set(void) { return fake->calls[FAKE_SetKernelArg]; }

/* ---- Arguments ---------------------------------------------------------------------------------- */

static void test_each_argument_goes_to_its_place(void **state) {
  (void)state;
  qn_adapter_kernel *kernel = make_kernel(program, "take", "bb4ls");
  qn_adapter_memory *a = make_memory(64), *b = make_memory(64);
  const uint32_t word = 0x12345678;
  const uint64_t three[3] = {11, 22, 33};
  const qn_launch_argument arguments[] = {buffer_argument(a, 12), buffer_argument(b, 34), value_argument(&word, 4),
                                          local_argument(56), value_argument(three, 24)};
  const qn_launch_record launch = launch_1d(kernel, 4, 2, arguments, 5);
  submit_launch(&s, &launch);
  const fake_cl_launch got = last_launch();
  assert_true(got.arguments[0] != got.arguments[1] && got.arguments[0] != 0);
  assert_true(got.arguments[2] == word && got.arguments[3] == 56 && got.arguments[4] == 11);
  assert_true(got.arguments[5] == 12 && got.arguments[6] == 34);
  finish(&s);
  drop_memory(a);
  drop_memory(b);
  drop_kernel(kernel);
}

static void test_only_arguments_that_change_are_set(void **state) {
  (void)state;
  qn_adapter_kernel *kernel = make_kernel(program, "take", "bb4ls");
  qn_adapter_memory *a = make_memory(64), *b = make_memory(64);
  uint32_t word = 1;
  uint64_t three[3] = {1, 2, 3};
  qn_launch_argument arguments[] = {buffer_argument(a, 0), buffer_argument(b, 0), value_argument(&word, 4),
                                    local_argument(32), value_argument(three, 24)};
  const qn_launch_record launch = launch_1d(kernel, 4, 2, arguments, 5);
#define EXPECT_SET(count)                             \
  do {                                                \
    uint64_t before = arguments_set();                \
    submit_launch(&s, &launch);                       \
    assert_true(arguments_set() - before == (count)); \
  } while (0)
  EXPECT_SET(5); /* no offsets, no parameter for them */
  EXPECT_SET(0);
  three[2]++;
  EXPECT_SET(1);
  word++;
  EXPECT_SET(1);
  arguments[1].offset_bytes = 8;
  EXPECT_SET(6); /* the other entry: all arguments, and the offsets, which are one */
  EXPECT_SET(0);
  arguments[1].offset_bytes = 16;
  EXPECT_SET(1);
  arguments[0].memory = b;
  arguments[3].size_bytes = 64;
  EXPECT_SET(2);
  arguments[0].memory = NULL; /* a null pointer has no offset */
  arguments[0].offset_bytes = 40;
  EXPECT_SET(1);
  assert_true(last_launch().arguments[0] == 0 && last_launch().arguments[5] == 0);
  arguments[1].offset_bytes = 0;
  EXPECT_SET(2); /* back again: what has changed since */
  EXPECT_SET(0);
  finish(&s);
  drop_memory(a);
  drop_memory(b);
  drop_kernel(kernel);
}

/* The driver gives a released buffer's address to the next one. It is another buffer all the same, and the driver may have
 * looked up what lay behind the address when the argument was set. */
static void test_L2_a_buffer_at_an_old_address_is_set_anew(void **state) {
  (void)state;
  qn_adapter_kernel *kernel = make_kernel(program, "advance", "b4");
  uint64_t address = 0, same = 0, rounds = test_rounds("buffers at the address of the one before", 1000, 100000);
  for (uint32_t i = 0; i < rounds; i++) {
    qn_adapter_memory *memory = make_memory(64);
    const uint32_t two = 2, by = i;
    uint32_t got = 0;
    write_memory(&s, memory, 0, &two, 4);
    const qn_launch_argument arguments[] = {buffer_argument(memory, 0), value_argument(&by, 4)};
    const qn_launch_record launch = launch_1d(kernel, 1, 1, arguments, 2);
    submit_launch(&s, &launch);
    read_memory(&s, memory, 0, &got, 4);
    assert_int_equal(got, 6 + i);
    if (last_launch().arguments[0] == address) same++;
    address = last_launch().arguments[0];
    drop_memory(memory);
  }
  assert_true(same == rounds - 1);
  drop_kernel(kernel); /* the driver says whether it was ever launched with a dead buffer: expect_nothing_left */
}

static void test_wrong_arguments_are_refused(void **state) {
  (void)state;
  qn_adapter_kernel *kernel = make_kernel(program, "advance", "b4");
  const uint64_t word = 1;
  qn_launch_argument arguments[] = {buffer_argument(NULL, 0), value_argument(&word, 8)};
  qn_launch_record launch = launch_1d(kernel, 1, 1, arguments, 2);
  const qn_adapter_command command = {.kind = QN_COMMAND_LAUNCH, .launch = &launch};
  assert_int_equal(try_submit(&s, command), QN_ERROR_INVALID_ARGUMENT);
  assert_non_null(strstr(error_text, "argument 1 of kernel 'advance'"));
  arguments[1] = local_argument(4);
  assert_int_equal(try_submit(&s, command), QN_ERROR_INVALID_ARGUMENT);
  launch.argument_count = 1;
  assert_int_equal(try_submit(&s, command), QN_ERROR_INVALID_ARGUMENT);
  launch.dimensions = 4;
  assert_int_equal(try_submit(&s, command), QN_ERROR_INVALID_ARGUMENT);
  assert_int_equal(try_submit(&s, (qn_adapter_command){.kind = 99}), QN_ERROR_UNSUPPORTED);
  assert_true(fake->calls[FAKE_EnqueueNDRange] == 0);
  drop_kernel(kernel);
}

static void test_kernels_that_cannot_be(void **state) {
  (void)state;
  qn_adapter_kernel *kernel = NULL;
  qn_adapter_kernel_info info;
  assert_int_equal(try_kernel(program, "nobody", "b", &kernel, &info), QN_ERROR_NOT_FOUND);
  assert_int_equal(try_kernel(program, "advance", "b44", &kernel, &info), QN_ERROR_ABI);
  assert_non_null(strstr(error_text, "has 2 parameters; 3 are to be set"));
  assert_int_equal(try_kernel(program, "lonely", "b", &kernel, &info), QN_ERROR_NOT_FOUND);
  assert_non_null(strstr(error_text, "quern_at_lonely"));
  assert_int_equal(try_kernel(program, "nothing", "r", &kernel, &info), QN_ERROR_ABI);
  qn_adapter_parameter image = {.kind = QN_ARGUMENT_IMAGE};
  qn_adapter_kernel_description d = {
      .struct_size = sizeof d, .name = "nothing", .symbol = "nothing", .parameters = &image, .parameter_count = 1};
  assert_int_equal(ocl->kernel_create(device, program, &d, &kernel, &info), QN_ERROR_UNSUPPORTED);
  d.parameter_count = 0;
  d.entry_flags = 2;
  assert_int_equal(ocl->kernel_create(device, program, &d, &kernel, &info), QN_ERROR_UNSUPPORTED);
  expect_ok(try_kernel(program, "nothing", "", &kernel, &info));
  assert_true(info.max_group_items == 128 && info.native != 0);
  drop_kernel(kernel);
}

/* ---- Parts -------------------------------------------------------------------------------------- */

static void expect_part(uint32_t back, uint64_t ox, uint64_t oy, uint64_t gx, uint64_t gy, uint64_t lx, uint64_t ly) {
  const fake_cl_launch *l = &fake->launches[fake->launch_count - 1 - back];
  assert_true(l->offset[0] == ox && l->offset[1] == oy && l->global[0] == gx && l->global[1] == gy &&
              l->local[0] == lx && l->local[1] == ly);
}

static void test_uneven_ranges_run_in_parts(void **state) {
  (void)state;
  qn_adapter_kernel *kernel = make_kernel(program, "nothing", "");
  qn_launch_record launch = {.struct_size = sizeof launch,
                             .dimensions = 2,
                             .global = {10, 7, 1},
                             .local = {4, 2, 1},
                             .offset = {100, 1000, 0},
                             .kernel = kernel};
  submit_launch(&s, &launch);
  assert_true(fake->launch_count == 4);
  expect_part(3, 100, 1000, 8, 6, 4, 2);
  expect_part(2, 108, 1000, 2, 6, 2, 2);
  expect_part(1, 100, 1006, 8, 1, 4, 1);
  expect_part(0, 108, 1006, 2, 1, 2, 1);
  launch.global[0] = 3; /* no whole group at all in x */
  submit_launch(&s, &launch);
  assert_true(fake->launch_count == 6);
  expect_part(1, 100, 1000, 3, 6, 3, 2);
  launch.global[0] = 8;
  launch.global[1] = 6;
  submit_launch(&s, &launch);
  assert_true(fake->launch_count == 7);
  launch.group_base[0] = 1; /* from the second column of groups on */
  submit_launch(&s, &launch);
  expect_part(0, 104, 1000, 4, 6, 4, 2);
  launch.group_base[0] = 2; /* nothing is left; the value is complete all the same */
  uint64_t value = submit_launch(&s, &launch);
  assert_true(fake->launch_count == 8);
  finish(&s);
  assert_true(completed_of(&s) == value);
  drop_kernel(kernel);
}

/* A part that is refused behind one that was taken: the value is there, and has failed. */
static void test_a_launch_that_is_refused_in_the_middle_has_failed(void **state) {
  (void)state;
  qn_adapter_kernel *kernel = make_kernel(program, "nothing", "");
  const qn_launch_record launch = launch_1d(kernel, 10, 4, NULL, 0);
  stream t = make_stream(0);
  fail_call(FAKE_EnqueueNDRange, -5, 1);
  submit_launch(&t, &launch);
  expect_ok(ocl->queue_wait(t.queue, 1, QN_FOREVER));
  uint64_t completed = 0;
  assert_int_equal(ocl->queue_completed(t.queue, &completed), QN_ERROR_DEVICE);
  assert_true(completed == 1);
  fail_call(FAKE_EnqueueNDRange, 0, 0);
  drop_stream(&t);
  drop_kernel(kernel);
}

static void test_the_range_of_a_launch_reaches_its_parts(void **state) {
  (void)state;
  qn_adapter_kernel *kernel = make_kernel(program, "where", "br");
  qn_adapter_memory *memory = make_memory(1024);
  uint32_t out[10][2];
  const qn_launch_argument a = buffer_argument(memory, 0);
  qn_launch_record launch = launch_1d(kernel, 10, 4, &a, 1);
  launch.offset[0] = 50;
  submit_launch(&s, &launch);
  read_memory(&s, memory, 0, out, sizeof out);
  for (uint32_t i = 0; i < 10; i++) assert_true(out[i][0] == i / 4 && out[i][1] == 3);
  uint64_t before = arguments_set();
  launch.global[0] = 8;
  submit_launch(&s, &launch);
  submit_launch(&s, &launch);
  assert_true(arguments_set() - before == 1); /* the range, once */
  finish(&s);
  drop_memory(memory);
  drop_kernel(kernel);
}

/* ---- Threads ------------------------------------------------------------------------------------ */

enum { THREADS = 12 }; /* more than a kernel has seats */

typedef struct runner {
  pthread_t thread;
  qn_adapter_kernel *kernel;
  uint64_t rounds;
  uint32_t got, expected;
} runner;

static void *run_many(void *given) {
  runner *r = given;
  stream own = make_stream(0);
  qn_adapter_memory *memory = make_memory(64);
  const uint32_t first = r->expected;
  write_memory(&own, memory, 8, &first, 4);
  for (uint32_t i = 0; i < r->rounds; i++) {
    const qn_launch_argument a[] = {buffer_argument(memory, 8), value_argument(&i, 4)};
    const qn_launch_record launch = launch_1d(r->kernel, 1, 1, a, 2);
    submit_launch(&own, &launch);
    r->expected = r->expected * 3 + i;
  }
  read_memory(&own, memory, 8, &r->got, 4);
  drop_memory(memory);
  drop_stream(&own);
  return NULL;
}

static void test_threads_launch_one_kernel(void **state) {
  (void)state;
  runner runners[THREADS];
  qn_adapter_kernel *kernel = make_kernel(program, "advance", "b4");
  uint64_t rounds = test_rounds("launches of one kernel by each of 12 threads", 300, 30000);
  for (uint32_t i = 0; i < THREADS; i++) {
    runners[i] = (runner){.kernel = kernel, .rounds = rounds, .expected = i};
    assert_int_equal(pthread_create(&runners[i].thread, NULL, run_many, &runners[i]), 0);
  }
  for (uint32_t i = 0; i < THREADS; i++) {
    pthread_join(runners[i].thread, NULL);
    assert_int_equal(runners[i].got, runners[i].expected);
  }
  assert_true(fake->calls[FAKE_CreateKernel] <= 1 + 8); /* the entry without offsets, and seats of the other */
  drop_kernel(kernel);
}

/* ---- Memory and transfers ----------------------------------------------------------------------- */

static void test_memory_that_cannot_be(void **state) {
  (void)state;
  qn_adapter_memory *memory = NULL;
  qn_adapter_memory_info info;
  assert_int_equal(try_memory(QN_MEMORY_DEVICE, 0, NULL, &memory, &info), QN_ERROR_INVALID_ARGUMENT);
  assert_int_equal(try_memory(QN_MEMORY_DEVICE, 1 << 29, NULL, &memory, &info), QN_ERROR_OUT_OF_MEMORY);
  assert_int_equal(try_memory(9, 64, NULL, &memory, &info), QN_ERROR_INVALID_ARGUMENT);
  assert_int_equal(try_memory(QN_MEMORY_SHARED, 64, NULL, &memory, &info), QN_ERROR_UNSUPPORTED);
  assert_int_equal(try_memory(QN_MEMORY_WRAP, 64, NULL, &memory, &info), QN_ERROR_INVALID_ARGUMENT);
  fail_call(FAKE_CreateBuffer, -5, 0);
  assert_int_equal(try_memory(QN_MEMORY_DEVICE, 64, NULL, &memory, &info), QN_ERROR_OUT_OF_MEMORY);
  assert_non_null(strstr(error_text, "no device memory for 64 bytes: CL_OUT_OF_RESOURCES (-5)"));
  fail_call(FAKE_CreateBuffer, -4, 0);
  assert_int_equal(try_memory(QN_MEMORY_HOST, 64, NULL, &memory, &info), QN_ERROR_OUT_OF_MEMORY);
  fail_call(FAKE_CreateBuffer, 0, 0);
  memory = make_memory(64);
  void *pointer = NULL;
  fail_call(FAKE_EnqueueMap, -12, 0);
  assert_int_equal(ocl->memory_map(device, memory, 0, 64, QN_MAP_READ, &pointer), QN_ERROR_DEVICE);
  assert_non_null(strstr(error_text, "CL_MAP_FAILURE"));
  fail_call(FAKE_EnqueueMap, 0, 0);
  expect_ok(ocl->memory_map(device, memory, 16, 32, QN_MAP_READ, &pointer));
  fail_call(FAKE_EnqueueUnmap, -5, 0);
  assert_int_equal(ocl->memory_unmap(device, memory, pointer), QN_ERROR_DEVICE);
  fail_call(FAKE_EnqueueUnmap, 0, 0);
  expect_ok(ocl->memory_unmap(device, memory, pointer));
  drop_memory(memory);
}

static void *map_again_and_again(void *given) {
  void *pointer = NULL;
  for (int i = 0; i < 100; i++) {
    expect_ok(ocl->memory_map(device, given, 0, 64, QN_MAP_READ, &pointer));
    expect_ok(ocl->memory_unmap(device, given, pointer));
  }
  return NULL;
}

/* The driver counts it as wrong when two are at it at a time. */
static void test_threads_map_one_buffer_by_turns(void **state) {
  (void)state;
  pthread_t threads[THREADS];
  qn_adapter_memory *memory = make_memory(64);
  for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, map_again_and_again, memory), 0);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  assert_int_equal(fake->calls[FAKE_EnqueueMap], THREADS * 100);
  drop_memory(memory);
}

static void test_fills_from_any_offset(void **state) {
  (void)state;
  unsigned char pattern[128], got[512];
  qn_adapter_memory *memory = make_memory(512);
  for (int i = 0; i < 128; i++) pattern[i] = (unsigned char)(i + 1);
  for (uint64_t width = 1; width <= 128; width *= 2)
    for (uint64_t offset = 0; offset < 20; offset++)
      for (uint64_t count = 1; count <= 3; count++) {
        const unsigned char none = 0;
        fill_memory(&s, memory, 0, 512, &none, 1);
        fill_memory(&s, memory, offset, width * count, pattern, width);
        read_memory(&s, memory, 0, got, 512);
        for (uint64_t i = 0; i < 512; i++) {
          bool inside = i >= offset && i < offset + width * count;
          if (got[i] != (inside ? pattern[(i - offset) % width] : 0))
            fail_msg("pattern of %d bytes from %d on, %d times: byte %d is %u", (int)width, (int)offset, (int)count,
                     (int)i, got[i]);
        }
      }
  drop_memory(memory);
}

/* ---- Programs ----------------------------------------------------------------------------------- */

static void test_programs_that_cannot_be(void **state) {
  (void)state;
  static const char text[] = "advance";
  qn_adapter_program *none = NULL;
  fail_call(FAKE_BuildProgram, -11, 0);
  fake->log = "input:3: no such thing as 'x'";
  assert_int_equal(try_program(QN_CODE_OPENCL_C, text, 7, &none), QN_ERROR_COMPILE);
  assert_non_null(strstr(error_text, "CL_BUILD_PROGRAM_FAILURE (-11)\ninput:3: no such thing as 'x'"));
  fake->log = NULL;
  assert_int_equal(try_program(QN_CODE_OPENCL_C, text, 7, &none), QN_ERROR_COMPILE);
  assert_non_null(strstr(error_text, "gave no log"));
  fail_call(FAKE_BuildProgram, -6, 0);
  assert_int_equal(try_program(QN_CODE_OPENCL_C, text, 7, &none), QN_ERROR_OUT_OF_HOST_MEMORY);
  fail_call(FAKE_BuildProgram, 0, 0);
  fail_call(FAKE_CreateProgram, -6, 0);
  assert_int_equal(try_program(QN_CODE_OPENCL_C, text, 7, &none), QN_ERROR_OUT_OF_HOST_MEMORY);
  fail_call(FAKE_CreateProgram, 0, 0);
  assert_int_equal(try_program(QN_CODE_NATIVE, text, 7, &none), QN_ERROR_DATA);
  assert_non_null(strstr(error_text, "CL_INVALID_BINARY"));
  assert_int_equal(try_program(QN_CODE_PTX, text, 7, &none), QN_ERROR_UNSUPPORTED);
  assert_int_equal(try_program(QN_CODE_OPENCL_C, NULL, 7, &none), QN_ERROR_INVALID_ARGUMENT);
  assert_null(none);
}

static void test_options_reach_the_drivers_compiler(void **state) {
  (void)state;
  qn_adapter_program *made = NULL;
  const qn_adapter_code code = {.struct_size = sizeof code,
                                .kind = QN_CODE_OPENCL_C,
                                .bytes = "advance",
                                .size_bytes = 7,
                                .options = "-cl-one -cl-two"};
  expect_ok(ocl->program_create(device, &code, &made));
  assert_string_equal(fake->options, "-cl-one -cl-two");
  expect_ok(ocl->program_destroy(device, made));
}

static void test_a_binary_comes_back(void **state) {
  (void)state;
  char bytes[256];
  uint64_t size = 0;
  expect_ok(ocl->program_binary(device, program, 0, NULL, &size));
  assert_true(size == strlen("BIN:nothing advance take where lonely"));
  expect_ok(ocl->program_binary(device, program, sizeof bytes, bytes, &size));
  qn_adapter_program *again = NULL;
  expect_ok(try_program(QN_CODE_NATIVE, bytes, size, &again));
  drop_kernel(make_kernel(again, "advance", "b4"));
  expect_ok(ocl->program_destroy(device, again));
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
  const struct CMUnitTest tests[] = {TEST(test_each_argument_goes_to_its_place),
                                     TEST(test_only_arguments_that_change_are_set),
                                     TEST(test_L2_a_buffer_at_an_old_address_is_set_anew),
                                     TEST(test_wrong_arguments_are_refused),
                                     TEST(test_kernels_that_cannot_be),
                                     TEST(test_uneven_ranges_run_in_parts),
                                     TEST(test_a_launch_that_is_refused_in_the_middle_has_failed),
                                     TEST(test_the_range_of_a_launch_reaches_its_parts),
                                     TEST(test_threads_launch_one_kernel),
                                     TEST(test_memory_that_cannot_be),
                                     TEST(test_threads_map_one_buffer_by_turns),
                                     TEST(test_fills_from_any_offset),
                                     TEST(test_programs_that_cannot_be),
                                     TEST(test_options_reach_the_drivers_compiler),
                                     TEST(test_a_binary_comes_back)};
  return cmocka_run_group_tests(tests, fake_load, NULL);
}
