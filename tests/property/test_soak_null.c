/* labels: threads */
/* In-flight state is bounded: launches, copies and fills by the million, without a wait, keep memory flat. */
#include <unistd.h>

#include "support.h"

enum { QUEUES = 3, BUFFERS = 4, SIZE = 64 };

static uint64_t resident_bytes(void) {
  unsigned long long size = 0, resident = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  assert_non_null(file);
  assert_int_equal(fscanf(file, "%llu %llu", &size, &resident), 2);
  fclose(file);
  return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

static const char source[] = "kernel void mix(global const uchar *a, global uchar *b) { b[get_global_id(0)] += a[0]; }";

typedef struct soak {
  property_device d;
  qn_queue queues[QUEUES];
  qn_buffer buffers[BUFFERS];
  qn_program program;
  qn_kernel kernel;
} soak;

/* Each command uses two buffers, and most have a wait for another queue before them. */
static void submit(const soak *s, uint64_t i) {
  qn_queue queue = s->queues[i % QUEUES];
  qn_buffer from = s->buffers[i % BUFFERS], to = s->buffers[(i + 1 + i / BUFFERS % (BUFFERS - 1)) % BUFFERS];
  qn_view target = test_view(to, 0, QN_WHOLE), from_view = test_view(from, 0, QN_WHOLE);
  unsigned char byte = (unsigned char)i;
  switch (i / QUEUES % 3) {
    case 0:
      OK(qn_launch(queue, s->kernel, QN_RANGE_1D(SIZE), QN_ARGS(from, to), NULL));
      return;
    case 1:
      OK(qn_copy(queue, &target, &from_view, NULL));
      return;
    default:
      OK(qn_fill(queue, &target, &byte, 1, NULL));
  }
}

static void open_soak(soak *s, const char *settings) {
  qn_program_options o = QN_INIT(qn_program_options);
  o.source = source;
  s->d = property_open("null", "%s", settings);
  for (int i = 0; i < QUEUES; i++) s->queues[i] = test_queue(s->d.device);
  for (int i = 0; i < BUFFERS; i++) s->buffers[i] = test_buffer(s->d.device, SIZE);
  OK(qn_program_build(s->d.device, &o, &s->program));
  OK(qn_kernel_get(s->program, "mix", &s->kernel));
}

/* What the sanitizers keep of each access and allocation isn't ours. */
static bool memory_can_be_measured(void) {
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
  return false;
#endif
#endif
  return !PROPERTY_TSAN;
}

static void soak_with(const char *what, const char *settings, uint64_t in_short, uint64_t in_long) {
  soak s;
  uint64_t count = test_rounds(what, in_short, in_long), early = 0;
  open_soak(&s, settings);
  for (uint64_t i = 0; i < count; i++) {
    submit(&s, i);
    if (i == count / 10) early = resident_bytes();
  }
  uint64_t late = resident_bytes();
  for (int i = 0; i < QUEUES; i++) OK(qn_queue_finish(s.queues[i], 600 * SECOND));
  printf("measured: %s: resident %llu KiB after a tenth, %llu KiB at the end\n", what, (unsigned long long)early >> 10,
         (unsigned long long)late >> 10);
  if (memory_can_be_measured()) assert_in_range(late, 0, early + (1 << 20));
  property_close(&s.d);
}

static void in_flight_state_is_bounded(void **state) {
  (void)state;
  soak_with("commands without a wait on null", "kernels=1", 100000, 2000000);
}
/* The model of the right order is bounded as well. */
static void in_flight_state_is_bounded_when_queues_are_late(void **state) {
  (void)state;
  soak_with("commands without a wait on hostile null", "seed=5,kernels=1", 20000, 500000);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(in_flight_state_is_bounded),
      cmocka_unit_test(in_flight_state_is_bounded_when_queues_are_late),
  };
  property_watch();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
