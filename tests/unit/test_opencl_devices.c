/* labels: threads opencl */
/* What the opencl adapter finds and what it says of it, with a driver that is what a test wants it to be. */
#include "support/opencl_fake.h"

static qn_status open_and_count(uint32_t *count) {
  qn_status status = ocl->instance_open(&fixture_host, &instance);
  *count = 0;
  if (status == QN_OK) expect_ok(ocl->device_count(instance, count));
  return status;
}
static qn_adapter_device_info describe(uint32_t index) {
  qn_adapter_device_info info;
  expect_ok(ocl->device_describe(instance, index, &info));
  return info;
}
static int begin(void **state) {
  (void)state;
  fake_reset();
  return 0;
}
static int end(void **state) {
  (void)state;
  if (instance) close_instance();
  expect_nothing_left();
  return 0;
}

static void test_no_library_is_told_with_the_linkers_words(void **state) {
  (void)state;
  uint32_t count;
  fixture_library = "libOpenCL-that-is-nowhere.so.1";
  assert_int_equal(open_and_count(&count), QN_ERROR_NOT_FOUND);
  fixture_library = FAKE_LIBRARY;
  assert_non_null(strstr(error_text, "libOpenCL-that-is-nowhere.so.1"));
  assert_non_null(strstr(error_text, "ocl-icd-libopencl1"));
}

static void test_a_library_without_the_functions_is_named(void **state) {
  (void)state;
  uint32_t count;
  fixture_library = "libm.so.6";
  assert_int_equal(open_and_count(&count), QN_ERROR_NOT_FOUND);
  fixture_library = FAKE_LIBRARY;
  assert_non_null(strstr(error_text, "libm.so.6 has no function clGetPlatformIDs"));
}

static void test_a_loader_without_drivers(void **state) {
  (void)state;
  uint32_t count;
  fail_call(FAKE_GetPlatformIDs, -1001, 0); /* CL_PLATFORM_NOT_FOUND_KHR */
  assert_int_equal(open_and_count(&count), QN_ERROR_NOT_FOUND);
  assert_non_null(strstr(error_text, "/etc/OpenCL/vendors"));
  fail_call(FAKE_GetPlatformIDs, 0, 0);
  fake->platform_count = 0;
  assert_int_equal(open_and_count(&count), QN_ERROR_NOT_FOUND);
  assert_non_null(strstr(error_text, "no driver"));
  fail_call(FAKE_GetPlatformIDs, -6, 0);
  assert_int_equal(open_and_count(&count), QN_ERROR_NOT_FOUND);
  assert_non_null(strstr(error_text, "CL_OUT_OF_HOST_MEMORY (-6)"));
}

/* Each device that isn't used is named with the reason; after a failed opening another one is good. */
static void test_reasons_when_no_device_can_be_used(void **state) {
  (void)state;
  uint32_t count;
  fake->platform_count = 2;
  fake->platforms[1] = (fake_cl_platform){.name = "Empty", .version = "OpenCL 1.1 x"};
  fake_cl_device *d = &fake->platforms[0].devices[0];
  d->version = "OpenCL 1.1 old";
  assert_int_equal(open_and_count(&count), QN_ERROR_NOT_FOUND);
  assert_non_null(strstr(error_text, "'fake device' of platform 'Fake' has an OpenCL older than 1.2"));
  assert_non_null(strstr(error_text, "'Empty' has no device"));
  d->version = "OpenCL 2.0 x";
  d->no_compiler = true;
  assert_int_equal(open_and_count(&count), QN_ERROR_NOT_FOUND);
  assert_non_null(strstr(error_text, "without a compiler"));
  d->no_compiler = false;
  d->big_endian = true;
  assert_int_equal(open_and_count(&count), QN_ERROR_NOT_FOUND);
  assert_non_null(strstr(error_text, "big-endian"));
  d->big_endian = false;
  d->not_available = true;
  assert_int_equal(open_and_count(&count), QN_ERROR_NOT_FOUND);
  assert_non_null(strstr(error_text, "not available"));
  d->not_available = false;
  fail_call(FAKE_GetDeviceIDs, -5, 0);
  assert_int_equal(open_and_count(&count), QN_ERROR_NOT_FOUND);
  assert_non_null(strstr(error_text, "can't list its devices: CL_OUT_OF_RESOURCES"));
  fail_call(FAKE_GetDeviceIDs, 0, 0);
  assert_int_equal(open_and_count(&count), QN_OK);
  assert_int_equal(count, 1);
}

/* Whatever order the loader gives platforms in; one that is listed twice counts once. */
static void test_devices_of_all_platforms_in_a_stable_order(void **state) {
  (void)state;
  static const char *const names[] = {"Zeta", "Alpha", "Mitte"};
  uint32_t count;
  fake->platform_count = 3;
  for (int turn = 0; turn < 3; turn++) {
    for (int i = 0; i < 3; i++) {
      const char *name = names[(i + turn) % 3];
      fake->platforms[i] =
          (fake_cl_platform){.name = name, .version = "OpenCL 3.0 x", .device_count = name[0] == 'M' ? 2 : 1};
      for (int d = 0; d < 2; d++)
        fake->platforms[i].devices[d] = (fake_cl_device){.name = d ? "second" : "first", .version = "OpenCL 3.0 x"};
    }
    assert_int_equal(open_and_count(&count), QN_OK);
    assert_int_equal(count, 4);
    assert_string_equal(describe(0).driver, "Alpha 17.4, OpenCL 3.0");
    assert_string_equal(describe(1).driver, "Mitte 17.4, OpenCL 3.0");
    assert_string_equal(describe(1).name, "first");
    assert_string_equal(describe(2).name, "second");
    assert_string_equal(describe(3).driver, "Zeta 17.4, OpenCL 3.0");
    qn_adapter_device_info none;
    assert_int_equal(ocl->device_describe(instance, 4, &none), QN_ERROR_NOT_FOUND);
    assert_int_equal(ocl->device_open(instance, 4, &device), QN_ERROR_NOT_FOUND);
    close_instance();
  }
}

/* The version is the least of the platform's and the device's; only from 2.0 on is shared memory asked for. */
static void test_features_follow_versions_and_extensions(void **state) {
  (void)state;
  uint32_t count;
  fake_cl_platform *p = &fake->platforms[0];
  fake_cl_device *d = &p->devices[0];
  d->svm = 3;
  static const struct {
    const char *platform, *device;
    bool shared;
  } cases[] = {{"OpenCL 1.2 x", "OpenCL 1.2 x", false},
               {"OpenCL 1.2 x", "OpenCL 2.1 x", false},
               {"OpenCL 3.0 x", "OpenCL 2.1 x", true}};
  for (int i = 0; i < 3; i++) {
    p->version = cases[i].platform;
    d->version = cases[i].device;
    assert_int_equal(open_and_count(&count), QN_OK);
    qn_adapter_device_info info = describe(0);
    assert_int_equal(info.features & QN_FEATURE_SHARED_MEMORY, cases[i].shared ? QN_FEATURE_SHARED_MEMORY : 0);
    assert_int_equal(info.features & (QN_FEATURE_DOUBLE | QN_FEATURE_HALF | QN_FEATURE_INT64_ATOMICS), 0);
    assert_true((info.features & QN_FEATURE_TIMED_QUEUES) && (info.features & QN_FEATURE_WRAP_HOST));
    assert_string_equal(info.target, "opencl");
    assert_string_equal(info.target_cpu, i == 2 ? "2.1" : "1.2");
    assert_true(info.max_local_size[0] == 512 && info.max_local_size[1] == 256 && info.max_local_size[2] == 64);
    close_instance();
  }
  d->extensions =
      "cl_khr_fp64_of_others cl_khr_fp64 cl_khr_fp16 cl_khr_int64_base_atomics cl_khr_int64_extended_atomics";
  d->no_timer = true;
  assert_int_equal(open_and_count(&count), QN_OK);
  uint64_t features = describe(0).features;
  assert_true((features & QN_FEATURE_DOUBLE) && (features & QN_FEATURE_HALF) && (features & QN_FEATURE_INT64_ATOMICS));
  assert_false(features & QN_FEATURE_TIMED_QUEUES);
  close_instance();
  d->extensions = "cl_khr_fp64_of_others cl_khr_int64_base_atomics";
  assert_int_equal(open_and_count(&count), QN_OK);
  features = describe(0).features;
  assert_false((features & QN_FEATURE_DOUBLE) || (features & QN_FEATURE_INT64_ATOMICS));
}

/* A driver may work on a copy of wrapped memory; nothing tells but trying. GPUs are not tried. */
static void test_wrapping_is_found_out_by_trying(void **state) {
  (void)state;
  uint32_t count;
  fake_cl_device *d = &fake->platforms[0].devices[0];
  d->copies_wrapped = true;
  assert_int_equal(open_and_count(&count), QN_OK);
  assert_false(describe(0).features & QN_FEATURE_WRAP_HOST);
  expect_ok(ocl->device_open(instance, 0, &device));
  qn_adapter_memory *memory = NULL;
  qn_adapter_memory_info info;
  uint32_t word = 0;
  assert_int_equal(try_memory(QN_MEMORY_WRAP, 4, &word, &memory, &info), QN_ERROR_UNSUPPORTED);
  close_device();
  close_instance();
  d->copies_wrapped = false;
  d->is_gpu = true;
  assert_int_equal(open_and_count(&count), QN_OK);
  assert_false(describe(0).features & QN_FEATURE_WRAP_HOST);
  assert_int_equal(describe(0).type, QN_DEVICE_GPU);
  close_instance();
  d->is_gpu = false;
  fail_call(FAKE_CreateBuffer, -4, 1); /* a driver that can't even try */
  assert_int_equal(open_and_count(&count), QN_OK);
  assert_false(describe(0).features & QN_FEATURE_WRAP_HOST);
}

static void test_a_device_that_does_not_open_says_why(void **state) {
  (void)state;
  fake->platforms[0].devices[0].is_gpu = true; /* no trial, which makes contexts as well */
  uint32_t count;
  assert_int_equal(open_and_count(&count), QN_OK);
  fail_call(FAKE_CreateContext, -2, 0);
  assert_int_equal(ocl->device_open(instance, 0, &device), QN_ERROR_DEVICE_LOST);
  assert_non_null(strstr(error_text, "no context for device 'fake device': CL_DEVICE_NOT_AVAILABLE (-2)"));
  assert_int_equal(error_code, -2);
  fail_call(FAKE_CreateContext, 0, 0);
  fail_call(FAKE_CreateCommandQueue, -6, 0);
  assert_int_equal(ocl->device_open(instance, 0, &device), QN_ERROR_OUT_OF_HOST_MEMORY);
  fail_call(FAKE_CreateCommandQueue, 0, 0);
  expect_ok(ocl->device_open(instance, 0, &device));
  fail_call(FAKE_Release, -34, 0);
  assert_int_equal(ocl->device_close(device), QN_ERROR_DEVICE_LOST);
  assert_non_null(strstr(error_text, "can't be released"));
  fail_call(FAKE_Release, 0, 0);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
  const struct CMUnitTest tests[] = {TEST(test_no_library_is_told_with_the_linkers_words),
                                     TEST(test_a_library_without_the_functions_is_named),
                                     TEST(test_a_loader_without_drivers),
                                     TEST(test_reasons_when_no_device_can_be_used),
                                     TEST(test_devices_of_all_platforms_in_a_stable_order),
                                     TEST(test_features_follow_versions_and_extensions),
                                     TEST(test_wrapping_is_found_out_by_trying),
                                     TEST(test_a_device_that_does_not_open_says_why)};
  return cmocka_run_group_tests(tests, fake_load, NULL);
}
