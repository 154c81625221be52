/* suite_program_cache.c - programs in memory (C2): the founding report of the GPU compilation cache, whose freed slots were
 * released again. One physical device is opened twice; programs are made on the first, one is in flight on the second; the
 * first ends, is opened again, filled past a rehash, ends again; then the second's program must still be whole. */
#include <stdio.h>

#include "cts.h"

enum { KERNELS = 16, MANY = 100 };

/* A program that gives `number`, on a device. */
static qn_program number_program(cts *c, qn_device device, uint32_t number) {
  char source[160];
  snprintf(source, sizeof source, "kernel void get(global uint *out) { out[get_global_id(0)] = %uu; }", number);
  return cts_make_program(CTS_HERE, c, device, source);
}

static void check_number(cts *c, qn_device device, qn_queue queue, qn_kernel kernel, uint32_t number) {
  uint32_t out = 0;
  qn_buffer buffer = cts_buffer_on(c, device, sizeof out);
  CTS_OK(qn_launch(queue, kernel, QN_RANGE_1D(1), QN_ARGS(buffer), NULL));
  cts_get(queue, buffer, &out, sizeof out);
  CTS_SAME("what the program gives", out, number);
  cts_drop(c, buffer);
}

/* The library counts its entries anew for the statistics, and says INTERNAL when its own count is another. */
static uint32_t recount(qn_device device) {
  qn_device_statistics s = QN_INIT(qn_device_statistics);
  CTS_OK(qn_device_statistics_get(device, &s));
  return s.cached_programs;
}

static void fill_and_end(cts *c, qn_runtime runtime, uint32_t count) {
  qn_device device = cts_device_in(c, runtime);
  qn_queue queue = cts_queue_on(c, device);
  CTS_SAME("programs in the cache of a device that was just opened", recount(device), 0);
  qn_program programs[MANY];
  for (uint32_t i = 0; i < count; i++) {
    programs[i] = number_program(c, device, i);
    CTS_SAME("programs in the cache", recount(device), i + 1);
  }
  for (uint32_t i = 0; i < count; i += 5) check_number(c, device, queue, cts_kernel(c, programs[i], "get"), i);
  for (uint32_t i = 0; i < count; i++) {
    cts_drop(c, programs[(i * 7) % count]);
    (void)recount(device);
  }
  CTS_OK(qn_device_drain(device, CTS_PATIENCE));
  cts_drop(c, queue);
  cts_drop(c, device);
}

static void one_device_opened_twice(cts *c) {
  qn_runtime runtime = cts_runtime(c);
  qn_device second = cts_device_in(c, runtime);
  qn_queue queue = cts_queue_on(c, second);
  qn_program held = number_program(c, second, 1000);
  qn_kernel kernel = cts_kernel(c, held, "get");
  enum { ROOM = 1 << 16 };
  qn_buffer busy = cts_buffer_on(c, second, ROOM * sizeof(uint32_t));
  for (int round = 0; round < 2; round++) {
    CTS_OK(qn_launch(queue, kernel, QN_RANGE_1D(ROOM), QN_ARGS(busy), NULL)); /* in flight while the others end */
    fill_and_end(c, runtime, KERNELS);
    CTS_SAME("programs in the cache of the second device", recount(second), 1);
    fill_and_end(c, runtime, (uint32_t)cts_count(c, 40, MANY)); /* opened again, past a rehash */
    CTS_SAME("programs in the cache of the second device", recount(second), 1);
  }
  check_number(c, second, queue, kernel, 1000);
  cts_finish(queue);
  cts_close(c, runtime); /* each module unloaded once: what the driver refused would be told here */
}

/* What nobody holds is kept for the next who asks, within limits; closing one device leaves others' programs alone. */
static void unused_programs_are_bounded(cts *c) {
  qn_runtime runtime = cts_runtime(c);
  qn_device device = cts_device_in(c, runtime), other = cts_device_in(c, runtime);
  qn_program kept = number_program(c, other, 7);
  for (uint32_t i = 0; i < 2 * cts_count(c, 40, MANY); i++) cts_drop(c, number_program(c, device, i));
  CTS_OK(qn_queue_finish(cts_queue_on(c, device), CTS_PATIENCE));
  for (int i = 0; i < 1000 && cts_statistics(device).programs > 0; i++) cts_sleep_ns(CTS_MILLISECOND);
  CTS_TRUE(recount(device) <= 64, "at most 64 unused programs are kept, as docs/cache.md says");
  CTS_TRUE(recount(device) > 0, "unused programs are kept for the next who asks");
  CTS_OK(qn_device_drain(device, CTS_PATIENCE));
  CTS_SAME("programs in the cache after a drain", recount(device), 0);
  cts_drop(c, device);
  qn_queue queue = cts_queue_on(c, other);
  check_number(c, other, queue, cts_kernel(c, kept, "get"), 7);
  cts_close(c, runtime);
}

typedef struct crowd {
  qn_device device;
} crowd;

static void want_one(cts *c, uint32_t index, void *user) {
  const crowd *s = user;
  (void)index;
  number_program(c, s->device, 4711);
}

static void a_crowd_compiles_once(cts *c) {
  qn_runtime runtime = cts_runtime(c);
  crowd s = {cts_device_in(c, runtime)};
  cts_threads(c, 64, want_one, &s);
  qn_device_statistics after = cts_statistics(s.device);
  CTS_SAME("compiled by 64 threads that want one program", after.programs_compiled, 1);
  CTS_SAME("found by the others", after.program_cache_hits, 63);
  CTS_SAME("programs in the cache", recount(s.device), 1);
  cts_close(c, runtime);
}

#define ONCE "adapter.h: 'each destroyed exactly once, children before parents'"
#define CACHE "quern.h: '0: compiled, 1: found in memory, 2: found on disk'"

static const cts_test tests[] = {
    {"one_device_opened_twice", one_device_opened_twice, QN_FEATURE_KERNELS, 0, ONCE},
    {"unused_programs_are_bounded", unused_programs_are_bounded, QN_FEATURE_KERNELS, 0, ONCE},
    {"a_crowd_compiles_once", a_crowd_compiles_once, QN_FEATURE_KERNELS, 0, CACHE},
};

CTS_SUITE(program_cache, "compiled programs in memory, of devices that come and go");
