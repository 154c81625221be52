/* labels: threads warm serial once */
/* What does not grow: openings and closings (L6), launches without a wait (section 8), objects that come and go (L2, L5). */
#include <malloc.h>

#include "exits.h"
#include "support/process.h"
#include "support/rounds.h"
#include "support/warm.h"

/* ---- What is looked at -------------------------------------------------------------------------- */

/* A sanitizer keeps freed memory for a while: what the process holds says nothing there. It finds leaks itself. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HAS_SANITIZER 1
#endif
#endif
#ifndef HAS_SANITIZER
#define HAS_SANITIZER 0
#endif

typedef struct holdings {
  uint64_t threads, descriptors, mappings;
  uint64_t allocated; /* by malloc, and not freed */
  uint64_t resident;
} holdings;

static uint64_t count_mappings(void) {
  uint64_t count = 0;
  FILE *maps = fopen("/proc/self/maps", "r");
  for (int c = 0; maps && (c = fgetc(maps)) != EOF;) count += c == '\n';
  if (maps) fclose(maps);
  return count;
}

static holdings look(void) {
  return (holdings){.threads = count_threads(),
                    .descriptors = count_descriptors(),
                    .mappings = count_mappings(),
                    .allocated = HAS_SANITIZER ? 0 : mallinfo2().uordblks + mallinfo2().hblkhd,
                    .resident = resident_bytes()};
}

/* How much may come and go without a leak: the allocator's caches, stacks that are kept. A leak grows with the rounds. */
enum { ALLOCATED_SLACK = 256 << 10, RESIDENT_SLACK = 4 << 20, MAPPINGS_SLACK = 16 };

static bool is_flat(const holdings *before, const holdings *now) {
  if (now->threads > before->threads || now->descriptors != before->descriptors) return false;
  return HAS_SANITIZER ||
         (now->mappings <= before->mappings + MAPPINGS_SLACK && now->allocated <= before->allocated + ALLOCATED_SLACK &&
          now->resident <= before->resident + RESIDENT_SLACK);
}

/* What was closed or released last may still be on its way out: some time is given to that. */
static void assert_flat(const char *what, const holdings *before) {
  holdings now = look();
  for (int i = 0; i < 20000 && !is_flat(before, &now); i++) {
    usleep(1000);
    now = look();
  }
  printf("measured: %s: %lld bytes allocated more, %lld resident more, %lld mappings more\n", what,
         (long long)(now.allocated - before->allocated), (long long)(now.resident - before->resident),
         (long long)(now.mappings - before->mappings));
  if (!is_flat(before, &now))
    fail_msg("%s: %llu threads where there were %llu, %llu descriptors where there were %llu", what,
             (unsigned long long)now.threads, (unsigned long long)before->threads, (unsigned long long)now.descriptors,
             (unsigned long long)before->descriptors);
}

/* When threads and descriptors of what ended last are gone: nothing has changed for a while. */
static holdings look_when_settled(void) {
  holdings last = look();
  for (int i = 0, same = 0; i < 10000 && same < 20; i++) {
    usleep(1000);
    holdings now = look();
    bool is_same = now.threads == last.threads && now.descriptors == last.descriptors;
    same = is_same ? same + 1 : 0;
    last = now;
  }
  return last;
}

/* Calls `once` a tenth of the rounds, looks, calls it for the rest, and looks again. */
static void stays_flat(const char *what, uint64_t rounds, void (*once)(void *), void *user) {
  uint64_t warm_up = rounds / 10;
  for (uint64_t i = 0; i < warm_up; i++) once(user);
  holdings before = look_when_settled();
  for (uint64_t i = warm_up; i < rounds; i++) once(user);
  assert_flat(what, &before);
}

/* ---- Openings ----------------------------------------------------------------------------------- */

static void open_work_close(void *user) {
  world w = make_world(user);
  submit(&w, 3);
  OK(qn_runtime_close(w.runtime, PATIENCE));
}

static void test_L6_opening_and_closing_leaks_nothing(void **state) {
  static const char *const devices[] = {"cpu", "check", "null"};
  uint64_t rounds = test_rounds("openings and closings, on cpu, check and null, of each", 300, 10000);
  (void)state;
  for (int i = 0; i < 3; i++) stays_flat(devices[i], rounds, open_work_close, (void *)(uintptr_t)devices[i]);
}

/* Ended by releases alone: the last threads end a little later. */
static void open_work_release(void *user) {
  world w = make_world(user);
  const void *all[] = {w.buffer, w.runtime, w.kernel, w.queue, w.device, w.program};
  submit(&w, 3);
  for (int i = 0; i < 6; i++) OK(qn_release(all[i]));
  assert_true(threads_fall_to(2 + SANITIZER_THREADS));
}

static void test_L4_releasing_everything_leaks_nothing(void **state) {
  uint64_t rounds = test_rounds("openings that end by releases", 100, 10000);
  (void)state;
  stays_flat("cpu, released", rounds, open_work_release, (void *)(uintptr_t)"cpu");
}

/* An opening that fails, in each way that a caller can bring about, and a good one after it. */
static void fail_to_open(void *user) {
  static const char *const selectors[] = {"nowhere", "cpu:7", "cpu:x", "", "cpu:99999999999999999999"};
  qn_runtime runtime = NULL;
  qn_device device = NULL;
  qn_runtime_options bad = {.struct_size = 3}, elsewhere = QN_INIT(qn_runtime_options);
  elsewhere.adapter_path = "/nowhere:/proc/self/mem:/etc/passwd";
  assert_int_equal(qn_runtime_open(&bad, &runtime), QN_ERROR_INVALID_ARGUMENT);
  OK(qn_runtime_open(&elsewhere, &runtime));
  assert_int_equal(qn_device_open(runtime, "cpu", &device), QN_ERROR_NOT_FOUND);
  OK(qn_runtime_close(runtime, PATIENCE));
  OK(qn_runtime_open(NULL, &runtime));
  for (size_t i = 0; i < sizeof selectors / sizeof *selectors; i++) {
    assert_true(qn_device_open(runtime, selectors[i], &device) < 0);
    assert_null(device);
  }
  OK(qn_device_open(runtime, user, &device));
  OK(qn_queue_finish(test_queue(device), QN_POLL));
  OK(qn_runtime_close(runtime, PATIENCE));
}

static void test_L6_failed_openings_leak_nothing_and_good_ones_follow(void **state) {
  uint64_t rounds = test_rounds("failed openings, each followed by a good one", 100, 10000);
  (void)state;
  stays_flat("failed openings", rounds, fail_to_open, (void *)(uintptr_t)"cpu");
}

/* ---- Work --------------------------------------------------------------------------------------- */

static void launch_without_wait(void *user) { OK(submit_one(user, NULL)); }

static void soak(const char *device, uint64_t launches) {
  world w = make_world(device);
  stays_flat(device, launches, launch_without_wait, &w);
  qn_point last = {0, 0};
  OK(qn_queue_last(w.queue, &last));
  assert_int_equal(last.value, launches);
  OK(qn_queue_finish(w.queue, 60 * SECOND));
  assert_int_equal(test_statistics(w.device).launches, w.kernel ? launches : 0);
  OK(qn_runtime_close(w.runtime, 60 * SECOND));
}

/* A launch takes the processor a microsecond; the interpreter takes a hundred. */
static void test_launches_without_a_wait_keep_memory_flat(void **state) {
  (void)state;
  soak("cpu", test_rounds("launches on cpu without a wait", HAS_SANITIZER ? 10000 : 50000, 2000000));
  soak("check", test_rounds("launches on check without a wait", 100, 10000));
}

/* What lives at a time sets how many slots there are, and they stay: so it is a fixed number. */
enum { AT_A_TIME = 64 };

static void make_use_release(world *w) {
  const void *made[3 * AT_A_TIME];
  qn_buffer_options o = QN_INIT(qn_buffer_options);
  o.size_bytes = 1 << 12;
  for (int i = 0; i < AT_A_TIME; i++) {
    world own = *w;
    OK(qn_queue_create(own.device, NULL, &own.queue));
    OK(qn_buffer_create(own.device, &o, &own.buffer));
    OK(qn_kernel_get(own.program, "add", &own.kernel));
    OK(submit_one(&own, NULL));
    made[3 * i] = own.queue, made[3 * i + 1] = own.buffer, made[3 * i + 2] = own.kernel;
  }
  for (int i = 0; i < 3 * AT_A_TIME; i++) OK(qn_release(made[i]));
  OK(qn_device_drain(w->device, 60 * SECOND));
}

static void make_and_release(void *user) { make_use_release(user); }

static void test_L2_objects_that_come_and_go_keep_memory_flat(void **state) {
  uint64_t rounds = test_rounds("times 64 queues, buffers and kernels made and released", 50, 10000);
  (void)state;
  world w = make_world("cpu");
  stays_flat("objects", rounds, make_and_release, &w);
  qn_device_statistics s = test_statistics(w.device);
  assert_int_equal(s.queues + s.buffers + s.kernels + s.awaiting_release, 3);
  OK(qn_runtime_close(w.runtime, PATIENCE));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_L6_opening_and_closing_leaks_nothing),
      cmocka_unit_test(test_L4_releasing_everything_leaks_nothing),
      cmocka_unit_test(test_L6_failed_openings_leak_nothing_and_good_ones_follow),
      cmocka_unit_test(test_launches_without_a_wait_keep_memory_flat),
      cmocka_unit_test(test_L2_objects_that_come_and_go_keep_memory_flat),
  };
  const char *const sources[] = {exits_source};
  if (!warm_start(sources, 1)) return 1;
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  warm_end();
  return failed;
}
