/* cuda_fixture.h - the cuda adapter through its own table, with a driver of this machine, or with the stand-in of
 * tests/plugins/fake_cuda.c. */
#ifndef QUERN_TESTS_CUDA_FIXTURE_H
#define QUERN_TESTS_CUDA_FIXTURE_H

#define FIXTURE_ADAPTER "cuda"
#define FIXTURE_VARIABLE "QUERN_CUDA_LIBRARY"
#define FIXTURE_CODE QN_CODE_PTX
#include "../../plugins/fake_cuda.h"
#include "adapter_fixture.h"
#include "cuda_kernels.h"

#define FAKE_LIBRARY QUERN_BINARY_DIR "/tests/plugins/fake/libquern-fake-cuda.so"

static fake_cu_control *fake; /* NULL: a real driver */

static inline void fake_reset(void) {
  static const fake_cu_device plain = {.name = "Fake GPU", .capability = 90, .memory_bytes = UINT64_C(1) << 30};
  memset(fake, 0, sizeof *fake);
  fake->version = 13000;
  fake->device_count = 1;
  for (int i = 0; i < FAKE_DEVICES; i++) fake->devices[i] = plain;
}

static inline void load_fake(void) {
  void *library = dlopen(FAKE_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (!library) fail_msg("%s", dlerror());
  fake_cu_control_fn get;
  *(void **)&get = dlsym(library, FAKE_CU_CONTROL_NAME);
  assert_non_null(get);
  fake = get();
  fixture_library = FAKE_LIBRARY;
  fake_reset();
}

static inline void expect_nothing_left(void) {
  if (!fake) return;
  if (fake->wrong) fail_msg("the driver was called wrongly: %s", fake->what);
  assert_int_equal(fake->objects, 0);
}

static inline uint64_t completed_of(const stream *s) {
  uint64_t value = 0;
  (void)!table->queue_completed(s->queue, &value);
  return value;
}

#endif
