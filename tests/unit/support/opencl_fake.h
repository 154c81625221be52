/* opencl_fake.h - the opencl adapter over the driver of tests/plugins/fake_opencl.c. */
#ifndef QUERN_TESTS_OPENCL_FAKE_H
#define QUERN_TESTS_OPENCL_FAKE_H

#include "../../plugins/fake_opencl.h"
#include "opencl_fixture.h"

#define FAKE_LIBRARY QUERN_BINARY_DIR "/tests/plugins/fake/libquern-fake-opencl.so"

static fake_cl_control *fake;

/* One platform with one device. */
static inline void fake_reset(void) {
  memset(fake, 0, sizeof *fake);
  fake->platform_count = 1;
  fake->platforms[0] = (fake_cl_platform){.name = "Fake",
                                          .version = "OpenCL 2.0 fake",
                                          .device_count = 1,
                                          .devices = {{.name = "fake device", .version = "OpenCL 2.0 fake"}}};
}

static inline int fake_load(void **state) {
  (void)state;
  void *library = dlopen(FAKE_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (!library) fail_msg("%s", dlerror());
  fake_cl_control_fn get;
  *(void **)&get = dlsym(library, FAKE_CL_CONTROL_NAME);
  assert_non_null(get);
  fake = get();
  fixture_library = FAKE_LIBRARY;
  fixture_load();
  fake_reset();
  return 0;
}

/* Every test starts with nothing told to the driver, and must leave none of its objects. */
static inline int fake_begin(void **state) {
  (void)state;
  fake_reset();
  open_device(0);
  memset((void *)fake->calls, 0, sizeof fake->calls);
  fake->events_made = 0;
  return 0;
}
static inline void expect_nothing_left(void) {
  if (fake->wrong) fail_msg("the driver was called wrongly: %s", fake->what);
  assert_int_equal(fake->objects, 0);
  assert_int_equal(fake->flushes_missed, 0);
}
static inline int fake_end(void **state) {
  (void)state;
  close_device();
  close_instance();
  expect_nothing_left();
  return 0;
}

static inline uint64_t completed_of(const stream *s) {
  uint64_t value = 0;
  (void)!ocl->queue_completed(s->queue, &value);
  return value;
}
static inline fake_cl_launch last_launch(void) { return fake->launches[(fake->launch_count - 1) % FAKE_LAUNCHES]; }
/* Makes the next of these calls fail, and all after it until told otherwise. */
static inline void fail_call(int call, int32_t code, uint64_t after) {
  fake->fail_after[call] = after;
  fake->fail_code[call] = code;
}

#endif
