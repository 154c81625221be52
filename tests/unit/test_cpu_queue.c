/* labels: threads */
/* The cpu adapter's queues: asynchrony, order, waits, failures, time limits, many threads. */
#include <pthread.h>
#include <sched.h>
#include <time.h>

#include "../support/rounds.h"
#include "support/cpu_fixture.h"

static const char kernels[] =
    "#define A(type, n) (*(type *)((const char *)launch->arguments + 8 * (n)))\n"
    "#define ENTRY(name) void name(const qn_cpu_launch *launch, const qn_cpu_group *group)\n"
    "ENTRY(nothing) { (void)launch; (void)group; }\n"
    "ENTRY(step) { uint64_t *v = A(uint64_t *, 0); *v = *v * 3 + A(uint64_t, 1); }\n"
    "ENTRY(add) { __atomic_fetch_add(A(uint64_t *, 0), 1, __ATOMIC_RELAXED); }\n"
    /* Runs until *flag is `value`; bounded, so that a broken scheduler fails and does not hang. *out is 2 meanwhile. */
    "ENTRY(until) {\n"
    "  uint64_t *flag = A(uint64_t *, 0), *out = A(uint64_t *, 1), value = A(uint64_t, 2);\n"
    "  uint64_t rounds = 0; __atomic_store_n(out, 2, __ATOMIC_RELEASE);\n"
    "  while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) != value && rounds < 200000000) rounds++;\n"
    "  *out = __atomic_load_n(flag, __ATOMIC_ACQUIRE) == value;\n"
    "}\n"
    /* The same for any flag; *out becomes 1 when it is the thread `value` that runs it, else 2. */
    "#ifdef __x86_64__\n"
    "#define SELF(self) __asm__ volatile(\"mov %%fs:0, %0\" : \"=r\"(self))\n"
    "#else\n"
    "#define SELF(self) __asm__ volatile(\"mrs %0, tpidr_el0\" : \"=r\"(self))\n"
    "#endif\n"
    "ENTRY(whose) {\n"
    "  uint64_t *flag = A(uint64_t *, 0), *out = A(uint64_t *, 1), self, rounds = 0; SELF(self);\n"
    "  if (__atomic_load_n(out, __ATOMIC_ACQUIRE) != 1) __atomic_store_n(out, self == A(uint64_t, 2) ? 1 : 2, "
    "__ATOMIC_RELEASE);\n"
    "  while (!__atomic_load_n(flag, __ATOMIC_ACQUIRE) && rounds < 200000000) rounds++;\n"
    "}\n"
    "ENTRY(set) { __atomic_store_n(A(uint64_t *, 0), A(uint64_t, 1), __ATOMIC_RELEASE); }\n"
    "ENTRY(note) { __atomic_store_n(A(uint64_t *, 1), __atomic_load_n(A(uint64_t *, 0), __ATOMIC_ACQUIRE), "
    "__ATOMIC_RELEASE); }\n"
    "ENTRY(spend) { for (volatile uint64_t i = 0; i < A(uint64_t, 1); i++) {} __atomic_fetch_add(A(uint64_t *, 0), 1, "
    "__ATOMIC_RELAXED); }\n";

enum { NOTHING, STEP, ADD, UNTIL, WHOSE, SET, NOTE, SPEND, KERNEL_COUNT };
static const struct {
  const char *name;
  kernel_shape shape;
} shapes[KERNEL_COUNT] = {
    [NOTHING] = {"nothing", {0}},
    [STEP] = {"step", {2, {QN_ARGUMENT_BUFFER, QN_ARGUMENT_VALUE}, {0, 8}}},
    [ADD] = {"add", {1, {QN_ARGUMENT_BUFFER}, {0}}},
    [UNTIL] = {"until", {3, {QN_ARGUMENT_BUFFER, QN_ARGUMENT_BUFFER, QN_ARGUMENT_VALUE}, {0, 0, 8}}},
    [WHOSE] = {"whose", {3, {QN_ARGUMENT_BUFFER, QN_ARGUMENT_BUFFER, QN_ARGUMENT_VALUE}, {0, 0, 8}}},
    [SET] = {"set", {2, {QN_ARGUMENT_BUFFER, QN_ARGUMENT_VALUE}, {0, 8}}},
    [NOTE] = {"note", {3, {QN_ARGUMENT_BUFFER, QN_ARGUMENT_BUFFER, QN_ARGUMENT_VALUE}, {0, 0, 8}}},
    [SPEND] = {"spend", {2, {QN_ARGUMENT_BUFFER, QN_ARGUMENT_VALUE}, {0, 8}}},
};
static qn_adapter_program *program;
static qn_adapter_kernel *kernel[KERNEL_COUNT];
static qn_adapter_memory *cells; /* 64 counters */
static volatile uint64_t *cell;
static uint64_t come_and_go_rounds;

static uint64_t read_cell(int i) { return __atomic_load_n(&cell[i], __ATOMIC_ACQUIRE); }
static void write_cell(int i, uint64_t v) { __atomic_store_n(&cell[i], v, __ATOMIC_RELEASE); }

static qn_launch_argument cell_argument(int i) {
  qn_launch_argument a = buffer_argument(cells, 8);
  a.offset_bytes = 8 * (uint64_t)i;
  return a;
}
/* Launches `groups` groups of a kernel whose arguments are cells and one value. */
static uint64_t run_cells(stream *s, int k, uint64_t groups, int first, int second, uint64_t value) {
  qn_launch_argument a[3];
  uint32_t n = shapes[k].shape.count;
  if (n > 0) a[0] = cell_argument(first);
  if (n == 3) a[1] = cell_argument(second);
  if (n > 1) a[n - 1] = value_argument(&value, 8);
  qn_launch_record launch = launch_1d(kernel[k], groups, 1, a, n);
  return submit_launch(s, &launch);
}
static uint64_t wait_for(stream *s, const stream *other, uint64_t value) {
  return submit(s, (qn_adapter_command){.kind = QN_COMMAND_WAIT, .wait_queue = other->queue, .wait_value = value});
}
static uint64_t completed(const stream *s) {
  uint64_t value;
  assert_int_equal(cpu->queue_completed(s->queue, &value), QN_OK);
  return value;
}
static uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
static void sleep_ms(long ms) { nanosleep(&(struct timespec){0, ms * 1000000}, NULL); }

static void test_submit_is_asynchronous(void **state) {
  (void)state;
  stream s = make_stream(0);
  write_cell(0, 0);
  run_cells(&s, UNTIL, 1, 0, 1, 1); /* can't end before this thread goes on */
  for (int i = 0; i < 100; i++) run_cells(&s, ADD, 1, 2, 0, 0);
  assert_true(completed(&s) == 0);
  write_cell(0, 1);
  finish(&s);
  assert_int_equal(read_cell(1), 1);
  assert_int_equal(completed(&s), s.value);
  drop_stream(&s);
}

static void test_work_goes_on_without_a_waiting_thread(void **state) {
  (void)state;
  stream s = make_stream(0);
  for (int round = 0; round < 20; round++) {
    run_cells(&s, ADD, 100, 0, 0, 0);
    uint64_t limit = now_ns() + 5000000000u;
    while (completed(&s) < s.value && now_ns() < limit) sched_yield();
    assert_int_equal(completed(&s), s.value);
    sleep_ms(round % 3); /* workers asleep, and not */
  }
  drop_stream(&s);
}

static void test_poll_and_time_limits(void **state) {
  (void)state;
  stream s = make_stream(0);
  write_cell(0, 0), write_cell(1, 0);
  assert_int_equal(cpu->queue_wait(s.queue, 0, QN_POLL), QN_OK);
  uint64_t value = run_cells(&s, UNTIL, 1, 0, 1, 1);
  while (read_cell(1) != 2) sched_yield(); /* until a worker has it: this thread must not */
  assert_int_equal(cpu->queue_wait(s.queue, value, QN_POLL), QN_ERROR_TIMEOUT);
  uint64_t start = now_ns();
  assert_int_equal(cpu->queue_wait(s.queue, value, 20000000), QN_ERROR_TIMEOUT);
  uint64_t took = now_ns() - start;
  assert_true(took >= 20000000 && took < 2000000000);
  assert_non_null(strstr(cpu_error_text, "did not complete"));
  write_cell(0, 1);
  assert_int_equal(cpu->queue_wait(s.queue, value, 5000000000), QN_OK);
  assert_int_equal(cpu->queue_wait(s.queue, value, UINT64_MAX - 1), QN_OK);
  drop_stream(&s);
}

static uint64_t this_thread(void) {
  uint64_t self;
#ifdef __x86_64__
  __asm__ volatile("mov %%fs:0, %0" : "=r"(self));
#else
  __asm__ volatile("mrs %0, tpidr_el0" : "=r"(self));
#endif
  return self;
}

/* A work-group can't be left: a thread with a time limit may begin only what will be over by then. Of a kernel that never
 * ran that is not known, and of one that took long it is known that it isn't so. */
static void test_a_wait_with_a_limit_begins_nothing_that_may_last_longer(void **state) {
  (void)state;
  qn_adapter_kernel *known = kernel[WHOSE];
  for (int round = 0; round < 10; round++) {
    stream s = make_stream(0);
    kernel[WHOSE] = make_kernel(program, shapes[WHOSE].name, &shapes[WHOSE].shape);
    for (int again = 0; again < 3; again++) {
      write_cell(0, 0), write_cell(1, 0);
      uint64_t value = run_cells(&s, WHOSE, 1 + 2 * (round & 1), 0, 1, this_thread());
      uint64_t start = now_ns();
      if (cpu->queue_wait(s.queue, value, 3000000) != QN_OK) assert_true(now_ns() - start >= 3000000);
      while (read_cell(1) == 0) sched_yield(); /* this thread does not help any more */
      sleep_ms(2);                             /* so that the kernel is known to take long */
      write_cell(0, 1);
      while (completed(&s) < value) sched_yield();
      assert_int_equal(read_cell(1), 2);
    }
    drop_stream(&s);
    assert_int_equal(cpu->kernel_destroy(device, kernel[WHOSE]), QN_OK);
  }
  kernel[WHOSE] = known;
}

static void test_full_queue_says_not_ready_and_takes_nothing(void **state) {
  (void)state;
  stream s = make_stream(0);
  uint64_t zero = 0, expected = 0;
  write_cell(0, 0);
  write_cell(2, 0);
  run_cells(&s, UNTIL, 1, 0, 1, 1);
  qn_launch_argument a[] = {cell_argument(2), value_argument(&zero, 8)};
  qn_launch_record launch = launch_1d(kernel[STEP], 1, 1, a, 2);
  qn_adapter_command command = {.struct_size = sizeof command, .kind = QN_COMMAND_LAUNCH, .launch = &launch};
  qn_status status = QN_OK;
  for (uint64_t i = 1; status == QN_OK && i < 1000000; i++) {
    command.value = s.value + 1;
    a[1].bytes = &i;
    status = cpu->queue_submit(s.queue, &command, 1);
    if (status == QN_OK) s.value++, expected = expected * 3 + i;
  }
  assert_int_equal(status, QN_NOT_READY);
  assert_true(s.value > 100);
  write_cell(0, 1);
  finish(&s);
  assert_true(read_cell(2) == expected);
  for (uint64_t i = 0; i < 1000; i++) run_cells(&s, STEP, 1, 2, 0, i), expected = expected * 3 + i;
  finish(&s);
  assert_true(read_cell(2) == expected);
  drop_stream(&s);
}

static void test_batches_are_taken_whole_or_not(void **state) {
  (void)state;
  enum { COUNT = 64 };
  stream s = make_stream(0);
  static qn_adapter_command batch[4096];
  write_cell(0, 0);
  qn_launch_argument a = cell_argument(0);
  qn_launch_record launch = launch_1d(kernel[ADD], 1, 1, &a, 1), wrong = launch;
  wrong.local[0] = 0;
  for (uint32_t i = 0; i < COUNT; i++)
    batch[i] = (qn_adapter_command){
        .struct_size = sizeof *batch, .kind = QN_COMMAND_LAUNCH, .value = i + 1, .launch = &launch};
  batch[COUNT - 1].launch = &wrong;
  assert_true(cpu->queue_submit(s.queue, batch, COUNT) < 0);
  sleep_ms(2);
  assert_int_equal(read_cell(0), 0);
  batch[COUNT - 1].launch = &launch;
  assert_int_equal(cpu->queue_submit(s.queue, batch, COUNT), QN_OK);
  s.value = COUNT;
  finish(&s);
  assert_int_equal(read_cell(0), COUNT);
  batch[1].value = 1; /* values must rise */
  assert_int_equal(cpu->queue_submit(s.queue, batch, COUNT), QN_ERROR_INVALID_ARGUMENT);
  for (uint32_t i = 0; i < 4096; i++) batch[i] = batch[0], batch[i].value = s.value + 1 + i;
  assert_int_equal(cpu->queue_submit(s.queue, batch, 4096), QN_ERROR_LIMIT);
  assert_non_null(strstr(cpu_error_text, "in parts"));
  drop_stream(&s);
}

static void test_two_queues_run_at_the_same_time(void **state) {
  (void)state;
  stream a = make_stream(0), b = make_stream(0);
  for (uint64_t i = 1; i <= 50; i++) {
    /* a's kernel ends when b's has run, and the other way round. */
    write_cell(0, 0), write_cell(1, 0), write_cell(2, 0);
    uint64_t first = run_cells(&a, UNTIL, 1, 0, 1, i);
    while (i % 2 && read_cell(1) != 2) sched_yield(); /* let a worker take it */
    run_cells(&b, SET, 1, 0, 0, i);
    assert_int_equal(cpu->queue_wait(a.queue, first, QN_FOREVER), QN_OK);
    finish(&b);
    assert_int_equal(read_cell(1), 1);
  }
  drop_stream(&a);
  drop_stream(&b);
}

/* Other queues get their turn beside a busy one. The system may take the core from the very thread that has the other
 * queue's launch, and then it comes last: so one of several tries must be right. A starving scheduler has none. */
static void expect_a_turn(void (*give_load)(stream *busy), uint64_t total) {
  stream a = make_stream(0), b = make_stream(0);
  bool had_turn = false;
  for (int i = 0; i < 40 && !had_turn; i++) {
    write_cell(0, 0), write_cell(2, 0), write_cell(3, total);
    uint64_t gate = run_cells(&a, UNTIL, 1, 0, 1, 1);
    give_load(&a);
    wait_for(&b, &a, gate);
    run_cells(&b, NOTE, 1, 2, 3, 0); /* how much of a's load came before it */
    write_cell(0, 1);
    finish(&a);
    finish(&b);
    assert_int_equal(read_cell(2), total);
    had_turn = i > 0 && read_cell(3) < total; /* the first time, what groups cost is not known yet */
  }
  assert_true(had_turn);
  drop_stream(&a);
  drop_stream(&b);
}

static void load_with_launches(stream *busy) {
  for (int i = 0; i < 400; i++) run_cells(busy, SPEND, 1, 2, 0, 1000);
}
static void test_a_stream_of_launches_does_not_starve_other_queues(void **state) {
  (void)state;
  expect_a_turn(load_with_launches, 400);
}

static void load_with_groups(stream *busy) { run_cells(busy, SPEND, 4000, 2, 0, 3000); }
static void test_a_large_launch_does_not_starve_other_queues(void **state) {
  (void)state;
  expect_a_turn(load_with_groups, 4000);
}

static void test_wait_between_queues_orders_work(void **state) {
  (void)state;
  stream a = make_stream(0), b = make_stream(0), c = make_stream(0);
  uint64_t expected = 0;
  write_cell(0, 0);
  for (uint64_t i = 0; i < 3000; i++) {
    stream *from[] = {&a, &b, &c};
    stream *to = from[i % 3], *last = from[(i + 2) % 3];
    if (i > 0) wait_for(to, last, last->value);
    run_cells(to, STEP, 1, 0, 0, i);
    expected = expected * 3 + i;
  }
  finish(&b);
  finish(&a);
  finish(&c);
  assert_true(read_cell(0) == expected);
  drop_stream(&a);
  drop_stream(&b);
  drop_stream(&c);
}

static void test_blocked_queue_occupies_no_worker(void **state) {
  (void)state;
  /* More queues than workers wait for one whose work comes last. */
  enum { COUNT = 20 };
  stream first = make_stream(0), waiting[COUNT];
  write_cell(0, 0), write_cell(1, 0);
  uint64_t gate = run_cells(&first, UNTIL, 1, 0, 2, 1);
  for (int i = 0; i < COUNT; i++) {
    waiting[i] = make_stream(0);
    wait_for(&waiting[i], &first, gate);
    run_cells(&waiting[i], ADD, 10, 1, 0, 0);
  }
  sleep_ms(5);
  assert_int_equal(read_cell(1), 0);
  stream opener = make_stream(0);
  write_cell(0, 1);
  for (int i = COUNT; i-- > 0;) finish(&waiting[i]);
  assert_int_equal(read_cell(1), COUNT * 10);
  for (int i = 0; i < COUNT; i++) drop_stream(&waiting[i]);
  drop_stream(&opener);
  drop_stream(&first);
}

static void test_chain_of_waits_unwinds(void **state) {
  (void)state;
  enum { COUNT = 1000 };
  static stream s[COUNT];
  write_cell(0, 0), write_cell(1, 0);
  for (int i = 0; i < COUNT; i++) {
    s[i] = make_stream(0);
    if (i == 0)
      run_cells(&s[0], UNTIL, 1, 0, 2, 1);
    else
      wait_for(&s[i], &s[i - 1], s[i - 1].value); /* no work of its own: completes in the other's completion */
  }
  run_cells(&s[COUNT - 1], ADD, 1, 1, 0, 0);
  write_cell(0, 1);
  finish(&s[COUNT - 1]);
  assert_int_equal(read_cell(1), 1);
  for (int i = 0; i < COUNT; i++) drop_stream(&s[i]);
}

static void test_wait_for_a_destroyed_queue_is_over(void **state) {
  (void)state;
  stream a = make_stream(0), b = make_stream(0);
  write_cell(0, 0);
  for (int i = 0; i < 100; i++) run_cells(&b, ADD, 1, 1, 0, 0);
  run_cells(&a, UNTIL, 1, 0, 2, 1);
  wait_for(&a, &b, b.value); /* not looked at before b is gone */
  finish(&b);
  drop_stream(&b);
  stream again = make_stream(0); /* the same memory, another queue */
  run_cells(&again, ADD, 1, 1, 0, 0);
  write_cell(0, 1);
  finish(&a);
  finish(&again);
  qn_adapter_command own = {
      .kind = QN_COMMAND_WAIT, .value = a.value + 1, .wait_queue = a.queue, .wait_value = a.value + 1};
  assert_int_equal(cpu->queue_submit(a.queue, &own, 1), QN_ERROR_INVALID_ARGUMENT);
  drop_stream(&a);
  drop_stream(&again);
}

static void test_queues_are_destroyed_only_when_done(void **state) {
  (void)state;
  stream s = make_stream(0);
  write_cell(0, 0);
  run_cells(&s, UNTIL, 1, 0, 1, 1);
  assert_int_equal(cpu->queue_destroy(device, s.queue), QN_ERROR_INVALID_ARGUMENT);
  write_cell(0, 1);
  finish(&s);
  drop_stream(&s);
  for (int i = 0; i < 2000; i++) { /* destroyed right behind the completion */
    s = make_stream(0);
    run_cells(&s, ADD, 1 + (uint64_t)i % 3, 1, 0, 0);
    finish(&s);
    drop_stream(&s);
  }
}

static void test_marks_have_values_of_their_own(void **state) {
  (void)state;
  stream s = make_stream(0);
  for (int i = 0; i < 5000; i++) submit(&s, (qn_adapter_command){.kind = QN_COMMAND_MARK});
  finish(&s);
  assert_int_equal(completed(&s), 5000);
  drop_stream(&s);
}

static void test_timed_queue_tells_device_times(void **state) {
  (void)state;
  stream s = make_stream(QN_QUEUE_TIMED), plain = make_stream(0);
  uint64_t before = now_ns(), last = 0, t;
  uint64_t first = submit(&s, (qn_adapter_command){.kind = QN_COMMAND_MARK});
  for (int i = 0; i < 50; i++) run_cells(&s, SPEND, 4, 0, 0, 20000);
  finish(&s);
  for (uint64_t v = first; v <= s.value; v++) {
    assert_int_equal(cpu->queue_time(s.queue, v, &t), QN_OK);
    assert_true(t >= last && t >= before && t <= now_ns());
    if (v > first) assert_true(t - last > 1000); /* four times 20,000 rounds take longer */
    last = t;
  }
  assert_int_equal(cpu->queue_time(s.queue, s.value + 1, &t), QN_NOT_READY);
  assert_int_equal(cpu->queue_time(plain.queue, 0, &t), QN_ERROR_UNSUPPORTED);
  for (int i = 0; i < 70000; i++) submit(&s, (qn_adapter_command){.kind = QN_COMMAND_MARK});
  finish(&s);
  assert_int_equal(cpu->queue_time(s.queue, first, &t), QN_ERROR_NOT_FOUND);
  assert_int_equal(cpu->queue_time(s.queue, s.value - 65000, &t), QN_OK);
  drop_stream(&s);
  drop_stream(&plain);
}

static void test_L7_lack_of_memory_fails_the_queue_with_its_cause(void **state) {
  (void)state;
  kernel_shape shape = shapes[NOTHING].shape;
  shape.scratch_per_item = UINT64_C(1) << 44;
  qn_adapter_kernel *greedy = make_kernel(program, "nothing", &shape);
  stream s = make_stream(0), other = make_stream(0);
  qn_adapter_progress progress = {.struct_size = sizeof progress};
  write_cell(0, 0);
  for (uint64_t groups = 1; groups < 1000; groups += 333) {
    run_cells(&s, ADD, 1, 0, 0, 0);
    finish(&s);
    qn_launch_record launch = launch_1d(greedy, groups, 1, NULL, 0);
    uint64_t bad = submit_launch(&s, &launch);
    uint64_t after = run_cells(&s, ADD, 1, 0, 0, 0);
    wait_for(&other, &s, after); /* the other queue goes on */
    run_cells(&other, ADD, 1, 1, 0, 0);
    finish(&s);
    finish(&other);
    assert_int_equal(cpu->queue_progress(s.queue, &progress), QN_OK);
    assert_int_equal(progress.completed, after);
    assert_int_equal(progress.failed_first, bad);
    assert_int_equal(progress.cause, QN_ERROR_OUT_OF_MEMORY);
    assert_non_null(strstr(progress.text, "kernel nothing"));
    assert_int_equal(read_cell(0), 1); /* nothing behind the failure ran */
    assert_int_equal(cpu->queue_progress(other.queue, &progress), QN_OK);
    assert_int_equal(progress.failed_first, 0);
    drop_stream(&s); /* a new queue in its memory has no failure */
    s = make_stream(0);
    write_cell(0, 0);
  }
  drop_stream(&s);
  drop_stream(&other);
  assert_int_equal(cpu->kernel_destroy(device, greedy), QN_OK);
}

static uint64_t resident_pages(void) {
  char text[128] = "";
  unsigned long long total = 0, resident = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  assert_non_null(file);
  assert_non_null(fgets(text, sizeof text, file));
  fclose(file);
  assert_int_equal(sscanf(text, "%llu %llu", &total, &resident), 2);
  return resident;
}

/* The address sanitizer keeps what was freed for a while: what is resident says nothing there. */
#if defined(__SANITIZE_ADDRESS__)
#define KEEPS_FREED_MEMORY 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KEEPS_FREED_MEMORY 1
#endif
#endif
#ifndef KEEPS_FREED_MEMORY
#define KEEPS_FREED_MEMORY 0
#endif

static void test_many_launches_leave_nothing_behind(void **state) {
  (void)state;
  stream s = make_stream(0);
  uint64_t before = 0;
  write_cell(0, 0);
  for (int i = 0; i < 300000; i++) {
    if (i == 5000) before = resident_pages(); /* the ring has gone round */
    run_cells(&s, ADD, 1, 0, 0, 0);
    if (i % 1000 == 0) finish(&s);
  }
  finish(&s);
  assert_int_equal(read_cell(0), 300000);
  if (!KEEPS_FREED_MEMORY) assert_true(resident_pages() < before + 256);
  drop_stream(&s);
}

/* ---- Many threads ------------------------------------------------------------------------------- */

enum { THREADS = 4, ROUNDS = 1500 };

static void *launch_and_wait(void *argument) {
  int me = (int)(intptr_t)argument;
  stream s = make_stream(0);
  uint64_t expected = 0;
  write_cell(me, 0);
  write_cell(16 + me, 0);
  for (uint64_t i = 0; i < ROUNDS; i++) {
    run_cells(&s, STEP, 1, me, 0, i);
    expected = expected * 3 + i;
    if (i % 16 == 0) run_cells(&s, ADD, 1 + i % 50, 16 + me, 0, 0);
    if (i % 3 == 0) finish(&s);
    if (i % 200 == 0) sleep_ms(1);
  }
  finish(&s);
  bool right = read_cell(me) == expected;
  drop_stream(&s);
  return (void *)(intptr_t)right;
}

static void test_threads_with_queues_of_their_own(void **state) {
  (void)state;
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, launch_and_wait, (void *)(intptr_t)i), 0);
  for (int i = 0; i < THREADS; i++) {
    void *right;
    assert_int_equal(pthread_join(threads[i], &right), 0);
    assert_non_null(right);
    uint64_t sum = 0;
    for (uint64_t k = 0; k < ROUNDS; k += 16) sum += 1 + k % 50;
    assert_int_equal(read_cell(16 + i), sum);
  }
}

/* A worker that puts a queue down looks again whether work came in between, and may be late: the queue is another thread's by then. */
static void *come_and_go(void *argument) {
  uint64_t rounds = come_and_go_rounds, sum = 0;
  int me = (int)(intptr_t)argument;
  for (uint64_t i = 0; i < rounds; i++) {
    stream s = make_stream(0);
    uint64_t launches = 1 + i % 4;
    for (uint64_t k = 0; k < launches; k++) {
      run_cells(&s, ADD, 1, me, 0, 0);
      if (i % 2) /* a worker does it */
        for (int looks = 0; looks < 2000 && completed(&s) < s.value; looks++) sched_yield();
    }
    finish(&s);
    drop_stream(&s);
    sum += launches;
    if (read_cell(me) != sum) return NULL;
  }
  return argument;
}

static void test_queues_that_come_and_go_run_each_launch_once(void **state) {
  (void)state;
  pthread_t threads[THREADS];
  come_and_go_rounds = test_rounds("queues of each of four threads that come and go", 1500, 200000);
  for (int i = 1; i <= THREADS; i++) {
    write_cell(i, 0);
    assert_int_equal(pthread_create(&threads[i - 1], NULL, come_and_go, (void *)(intptr_t)i), 0);
  }
  for (int i = 0; i < THREADS; i++) {
    void *right;
    assert_int_equal(pthread_join(threads[i], &right), 0);
    assert_non_null(right);
  }
}

typedef struct shared_wait {
  stream *s;
  uint64_t first, last, step;
} shared_wait;

static void *wait_for_values(void *argument) {
  shared_wait *w = argument;
  for (uint64_t v = w->first; v <= w->last; v += w->step)
    if (cpu->queue_wait(w->s->queue, v, QN_FOREVER) != QN_OK || completed(w->s) < v) return NULL;
  return w;
}

static void test_many_threads_wait_for_one_queue(void **state) {
  (void)state;
  stream s = make_stream(0);
  pthread_t threads[THREADS];
  shared_wait waits[THREADS];
  for (int i = 0; i < THREADS; i++) {
    waits[i] = (shared_wait){&s, 1 + (uint64_t)i, 3000, 1 + (uint64_t)i * 7};
    assert_int_equal(pthread_create(&threads[i], NULL, wait_for_values, &waits[i]), 0);
  }
  for (int i = 0; i < 3000; i++) {
    run_cells(&s, i % 5 ? ADD : SPEND, 1 + (uint64_t)i % 7, 1, 0, 300);
    if (i % 500 == 0) sleep_ms(2);
  }
  for (int i = 0; i < THREADS; i++) {
    void *right;
    assert_int_equal(pthread_join(threads[i], &right), 0);
    assert_non_null(right);
  }
  drop_stream(&s);
}

static void *small_stack_wait(void *argument) {
  stream *s = argument;
  return cpu->queue_wait(s->queue, s->value, QN_FOREVER) == QN_OK ? s : NULL;
}

static void test_thread_with_a_small_stack_may_wait(void **state) {
  (void)state;
  stream s = make_stream(0);
  pthread_attr_t attributes;
  pthread_t thread;
  void *right;
  run_cells(&s, SPEND, 100, 0, 0, 1000);
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 64 << 10);
  assert_int_equal(pthread_create(&thread, &attributes, small_stack_wait, &s), 0);
  pthread_join(thread, &right);
  pthread_attr_destroy(&attributes);
  assert_non_null(right);
  drop_stream(&s);
}

/* ---- Fork --------------------------------------------------------------------------------------- */

static void test_L6_forked_child_gets_errors_and_never_hangs(void **state) {
  (void)state;
  stream s = make_stream(0), idle = make_stream(0);
  write_cell(0, 0);
  run_cells(&s, UNTIL, 1, 0, 1, 1); /* in flight over the fork */
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    alarm(20);
    qn_adapter_command mark = {.kind = QN_COMMAND_MARK, .value = 1000};
    qn_adapter_queue_options options = {.struct_size = sizeof options};
    qn_adapter_memory_request request = {.struct_size = sizeof request, .size_bytes = 100};
    qn_adapter_memory_info info = {.struct_size = sizeof info};
    qn_adapter_memory *memory;
    qn_adapter_queue *queue;
    int wrong = 0;
    wrong += cpu->queue_submit(idle.queue, &mark, 1) != QN_ERROR_FORKED;
    wrong += cpu->queue_wait(s.queue, s.value, QN_FOREVER) != QN_ERROR_FORKED;
    wrong += cpu->queue_create(device, &options, &queue) != QN_ERROR_FORKED;
    wrong += cpu->memory_create(device, &request, &memory, &info) != QN_ERROR_FORKED;
    wrong += cpu->queue_destroy(device, s.queue) != QN_OK;
    wrong += cpu->memory_destroy(device, cells) != QN_OK;
    wrong += cpu->device_close(device) != QN_OK;
    _exit(wrong);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
  write_cell(0, 1);
  finish(&s);
  drop_stream(&s);
  drop_stream(&idle);
}

/* ---- With one, two and five workers, spinning and not ------------------------------------------- */

static int open_with(uint32_t threads, const char *spin_us) {
  setenv("QUERN_CPU_SPIN_US", spin_us, 1);
  open_device(threads);
  program = load(kernels);
  for (int i = 0; i < KERNEL_COUNT; i++) kernel[i] = make_kernel(program, shapes[i].name, &shapes[i].shape);
  cells = make_memory(64 * 8, &cell);
  return 0;
}
static int setup_1(void **state) { return (void)state, open_with(1, "50"); }
static int setup_2(void **state) { return (void)state, open_with(2, "50"); }
static int setup_5(void **state) { return (void)state, open_with(5, "0"); }
static int teardown(void **state) {
  (void)state;
  for (int i = 0; i < KERNEL_COUNT; i++) assert_int_equal(cpu->kernel_destroy(device, kernel[i]), QN_OK);
  assert_int_equal(cpu->program_destroy(device, program), QN_OK);
  drop_memory(cells);
  close_device();
  return 0;
}

#define COMMON_TESTS                                                                                                   \
  cmocka_unit_test(test_submit_is_asynchronous), cmocka_unit_test(test_work_goes_on_without_a_waiting_thread),         \
      cmocka_unit_test(test_poll_and_time_limits),                                                                     \
      cmocka_unit_test(test_a_wait_with_a_limit_begins_nothing_that_may_last_longer),                                  \
      cmocka_unit_test(test_full_queue_says_not_ready_and_takes_nothing),                                              \
      cmocka_unit_test(test_batches_are_taken_whole_or_not),                                                           \
      cmocka_unit_test(test_a_stream_of_launches_does_not_starve_other_queues),                                        \
      cmocka_unit_test(test_a_large_launch_does_not_starve_other_queues),                                              \
      cmocka_unit_test(test_wait_between_queues_orders_work), cmocka_unit_test(test_blocked_queue_occupies_no_worker), \
      cmocka_unit_test(test_chain_of_waits_unwinds), cmocka_unit_test(test_wait_for_a_destroyed_queue_is_over),        \
      cmocka_unit_test(test_queues_are_destroyed_only_when_done),                                                      \
      cmocka_unit_test(test_marks_have_values_of_their_own), cmocka_unit_test(test_timed_queue_tells_device_times),    \
      cmocka_unit_test(test_L7_lack_of_memory_fails_the_queue_with_its_cause),                                         \
      cmocka_unit_test(test_many_launches_leave_nothing_behind),                                                       \
      cmocka_unit_test(test_threads_with_queues_of_their_own), cmocka_unit_test(test_many_threads_wait_for_one_queue), \
      cmocka_unit_test(test_queues_that_come_and_go_run_each_launch_once),                                             \
      cmocka_unit_test(test_thread_with_a_small_stack_may_wait),                                                       \
      cmocka_unit_test(test_L6_forked_child_gets_errors_and_never_hangs)

int main(void) {
  const struct CMUnitTest one[] = {COMMON_TESTS};
  const struct CMUnitTest more[] = {cmocka_unit_test(test_two_queues_run_at_the_same_time), COMMON_TESTS};
  return cmocka_run_group_tests_name("one worker", one, setup_1, teardown) +
         cmocka_run_group_tests_name("two workers", more, setup_2, teardown) +
         cmocka_run_group_tests_name("five workers that never spin", more, setup_5, teardown);
}
