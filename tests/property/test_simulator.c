/* labels: threads */
/* The simulated device itself, by its adapter's table: it must find what is put wrong for it, and nothing else. */
#include <dlfcn.h>
#include <stdlib.h>

#include "adapters/null/control.h"
#include "adapters/null/sim/mix.h"
#include "api/support.h"
#include "quern/adapter.h"

static const qn_adapter_table *table;
static char error_text[512], settings[256];

static qn_status set_error(qn_status status, int64_t code, const char *text) {
  (void)code;
  snprintf(error_text, sizeof error_text, "%s", text);
  return status;
}
static void take_line(const char *text) { (void)text; }
static const char *environment(const char *name) { return strcmp(name, "QUERN_NULL") == 0 ? settings : NULL; }
static const qn_adapter_host host = {.struct_size = sizeof host,
                                     .abi_version = QN_ADAPTER_ABI_VERSION,
                                     .set_error = set_error,
                                     .log = take_line,
                                     .environment = environment};

/* ---- A device and what is done with it ---------------------------------------------------------- */

enum { QUEUES = 3, MEMORIES = 3, SIZE = 256 };
typedef struct rig {
  qn_adapter_instance *instance;
  qn_adapter_device *device;
  const null_control *control;
  qn_adapter_queue *queue[QUEUES]; /* ids 1, 2, 3 */
  uint64_t last[QUEUES];
  qn_adapter_memory *memory[MEMORIES];
  unsigned char *bytes[MEMORIES];
} rig;

static qn_adapter_memory *make_memory(rig *r, uint64_t size, unsigned char **out_bytes) {
  const qn_adapter_memory_request request = {.struct_size = sizeof request, .size_bytes = size, .alignment = 128};
  qn_adapter_memory_info info = {.struct_size = sizeof info};
  qn_adapter_memory *memory = NULL;
  if (table->memory_create(r->device, &request, &memory, &info) != QN_OK) return NULL;
  if (out_bytes) *out_bytes = info.host_pointer;
  return memory;
}

static qn_adapter_queue *make_queue(rig *r, uint64_t id, uint64_t flags) {
  const qn_adapter_queue_options options = {.struct_size = sizeof options, .id = id, .flags = flags};
  qn_adapter_queue *queue = NULL;
  assert_int_equal(table->queue_create(r->device, &options, &queue), QN_OK);
  return queue;
}

static rig set_up(const char *given) {
  rig r = {0};
  uint64_t control = 0;
  snprintf(settings, sizeof settings, "%s", given);
  assert_int_equal(table->instance_open(&host, &r.instance), QN_OK);
  assert_int_equal(table->device_open(r.instance, 0, &r.device), QN_OK);
  assert_int_equal(table->native(QN_KIND_DEVICE, r.device, NULL_CONTROL, &control), QN_OK);
  r.control = (const null_control *)(uintptr_t)control;
  r.control->forget_violations();
  for (uint64_t i = 0; i < QUEUES; i++) r.queue[i] = make_queue(&r, i + 1, QN_QUEUE_TIMED);
  for (int i = 0; i < MEMORIES; i++) r.memory[i] = make_memory(&r, SIZE, &r.bytes[i]);
  return r;
}

static null_counts counts(const rig *r) {
  null_counts c;
  r->control->count(r->control->device, &c);
  return c;
}

static qn_status submit(rig *r, int queue, qn_adapter_command c) {
  c.struct_size = sizeof c;
  c.value = r->last[queue] + 1;
  qn_status status = table->queue_submit(r->queue[queue], &c, 1);
  if (status == QN_OK) r->last[queue]++;
  return status;
}

static qn_status fill_part(rig *r, int queue, int memory, uint64_t offset, uint64_t size, unsigned char byte) {
  return submit(r, queue,
                (qn_adapter_command){.kind = QN_COMMAND_FILL,
                                     .target = r->memory[memory],
                                     .target_offset = offset,
                                     .size_bytes = size,
                                     .pattern = &byte,
                                     .pattern_bytes = 1});
}
static void fill(rig *r, int queue, int memory, unsigned char byte) {
  assert_int_equal(fill_part(r, queue, memory, 0, SIZE, byte), QN_OK);
}
static void copy(rig *r, int queue, int target, int source) {
  assert_int_equal(
      submit(
          r, queue,
          (qn_adapter_command){
              .kind = QN_COMMAND_COPY, .target = r->memory[target], .source = r->memory[source], .size_bytes = SIZE}),
      QN_OK);
}
static void wait_for(rig *r, int queue, int other, uint64_t value) {
  assert_int_equal(
      submit(r, queue,
             (qn_adapter_command){.kind = QN_COMMAND_WAIT, .wait_queue = r->queue[other], .wait_value = value}),
      QN_OK);
}
static qn_status finish(rig *r, int queue) { return table->queue_wait(r->queue[queue], r->last[queue], PATIENCE); }

static void tear_down(rig *r) {
  uint64_t value = 0;
  for (int i = 0; i < QUEUES; i++)
    if (r->queue[i] && finish(r, i) == QN_OK) (void)table->queue_completed(r->queue[i], &value);
  for (int i = 0; i < QUEUES; i++)
    if (r->queue[i]) assert_int_equal(table->queue_destroy(r->device, r->queue[i]), QN_OK);
  for (int i = 0; i < MEMORIES; i++)
    if (r->memory[i]) assert_int_equal(table->memory_destroy(r->device, r->memory[i]), QN_OK);
  assert_int_equal(table->device_close(r->device), QN_OK);
  assert_int_equal(table->instance_close(r->instance), QN_OK);
}

/* The violations since the last call, which must be `count`; the first has these words. */
static void violations(const rig *r, uint64_t count, const char *words) {
  char text[256] = "";
  null_counts c = counts(r);
  (void)r->control->violation(0, text, sizeof text);
  if (c.violations != count)
    fail_msg("%llu violations, not %llu: %s", (unsigned long long)c.violations, (unsigned long long)count, text);
  if (count > 0 && !strstr(text, words)) fail_msg("'%s' lacks '%s'", text, words);
  r->control->forget_violations();
}

/* ---- Order -------------------------------------------------------------------------------------- */

static void a_missing_wait_is_found_whatever_the_schedule(void **state) {
  (void)state;
  for (int seed = 0; seed < 50; seed++) {
    char text[64];
    snprintf(text, sizeof text, "seed=%d,check=1", seed);
    rig r = set_up(text);
    fill(&r, 0, 0, 1);
    copy(&r, 1, 1, 0);
    violations(&r, 1, "use before ready: queue 2 value 1 (copy) uses bytes 0 to 256 of memory");
    fill(&r, 2, 1, 2);
    violations(&r, 1, "which queue 2 value 1 (copy) wrote");
    fill(&r, 1, 0, 3); /* after its own read, but not after the write of queue 1 */
    violations(&r, 1, "which queue 1 value 1 (fill) wrote");
    tear_down(&r);
  }
}

static void recorded_waits_order_also_through_others(void **state) {
  (void)state;
  rig r = set_up("seed=3");
  fill(&r, 0, 0, 7);
  wait_for(&r, 1, 0, 1);
  copy(&r, 1, 1, 0);
  wait_for(&r, 2, 1, 1); /* the wait of queue 2, and so value 1 of queue 1 */
  copy(&r, 2, 2, 0);
  violations(&r, 0, "");
  copy(&r, 2, 2, 1); /* but not the copy after that wait */
  violations(&r, 1, "which queue 2 value 2 (copy) wrote");
  for (int i = 0; i < QUEUES; i++) assert_int_equal(finish(&r, i), QN_OK);
  assert_int_equal(r.bytes[1][SIZE - 1], 7);
  tear_down(&r);
}

static void what_the_host_was_told_orders_and_what_only_ran_does_not(void **state) {
  (void)state;
  rig r = set_up("check=1,host=1");
  uint64_t value = 0;
  fill(&r, 0, 0, 1);
  while (r.control->step(r.control->device, 1)) continue;
  assert_int_equal(r.bytes[0][0], 1);
  copy(&r, 1, 1, 0);
  violations(&r, 1, "use before ready");
  assert_int_equal(table->queue_completed(r.queue[0], &value), QN_OK);
  assert_int_equal(value, 1);
  copy(&r, 2, 2, 0);
  violations(&r, 0, "");
  tear_down(&r);
}

static void readers_and_uses_of_other_bytes_need_no_order(void **state) {
  (void)state;
  rig r = set_up("seed=9");
  copy(&r, 0, 1, 0);
  copy(&r, 1, 2, 0);
  assert_int_equal(fill_part(&r, 2, 1, SIZE / 2, SIZE / 2, 1), QN_OK);
  violations(&r, 1, "which queue 1 value 1 (copy) wrote");
  tear_down(&r);
  r = set_up("seed=9");
  assert_int_equal(fill_part(&r, 0, 0, 0, SIZE / 2, 1), QN_OK);
  assert_int_equal(fill_part(&r, 1, 0, SIZE / 2, SIZE / 2, 2), QN_OK);
  violations(&r, 0, "");
  assert_int_equal(fill_part(&r, 2, 0, SIZE / 2 - 1, 2, 3), QN_OK);
  violations(&r, 2, "which queue 1 value 1 (fill) wrote");
  tear_down(&r);
}

static void doubled_waits_are_counted(void **state) {
  (void)state;
  rig r = set_up("seed=4");
  r.control->hold(r.control->device, 1, 1);
  fill(&r, 0, 0, 1);
  fill(&r, 0, 0, 2);
  wait_for(&r, 1, 0, 2);
  wait_for(&r, 1, 0, 1);
  wait_for(&r, 2, 1, 2);
  wait_for(&r, 2, 0, 2); /* implied by the one before */
  null_counts c = counts(&r);
  assert_int_equal(c.commands[NULL_WAIT], 4);
  assert_int_equal(c.waits_doubled, 1);
  assert_int_equal(c.waits_implied, 1);
  r.control->go(r.control->device, 1);
  tear_down(&r);
}

/* ---- Memory ------------------------------------------------------------------------------------- */

static void memory_that_is_destroyed_too_early_is_found(void **state) {
  (void)state;
  rig r = set_up("seed=2");
  r.control->hold(r.control->device, 1, 1);
  fill(&r, 0, 0, 1);
  fill(&r, 1, 1, 1);
  assert_int_equal(finish(&r, 1), QN_OK);
  assert_int_equal(table->memory_destroy(r.device, r.memory[1]), QN_OK);
  violations(&r, 0, "");
  r.memory[1] = make_memory(&r, SIZE, NULL);
  r.control->go(r.control->device, 1);
  while (r.bytes[0][0] != 1) (void)r.control->step(r.control->device, 1); /* it ran, but nobody was told */
  assert_int_equal(table->memory_destroy(r.device, r.memory[0]), QN_OK);
  violations(&r, 1, "use after free: memory");
  r.memory[0] = NULL;
  tear_down(&r);
}

static void the_address_freed_last_is_given_out_first(void **state) {
  (void)state;
  rig r = set_up("seed=1");
  unsigned char *first = r.bytes[0], *second = r.bytes[1];
  memset(first, 1, SIZE);
  for (int i = 0; i < 2; i++) assert_int_equal(table->memory_destroy(r.device, r.memory[i]), QN_OK);
  r.memory[0] = make_memory(&r, SIZE, &r.bytes[0]);
  r.memory[1] = make_memory(&r, SIZE, &r.bytes[1]);
  assert_ptr_equal(r.bytes[0], second);
  assert_ptr_equal(r.bytes[1], first);
  assert_true(first[0] != 1 && first[SIZE - 1] != 1); /* nothing is left of what stood there */
  assert_int_equal(counts(&r).addresses_again, 1);
  tear_down(&r);
}

static void memory_has_a_limit(void **state) {
  (void)state;
  rig r = set_up("memory=2K");
  qn_adapter_memory *rest = make_memory(&r, 2048 - MEMORIES * SIZE, NULL);
  assert_non_null(rest);
  assert_null(make_memory(&r, 1, NULL));
  assert_non_null(strstr(error_text, "no memory left for 1 bytes"));
  assert_int_equal(table->memory_destroy(r.device, rest), QN_OK);
  rest = make_memory(&r, 1, NULL);
  assert_non_null(rest);
  assert_int_equal(table->memory_destroy(r.device, rest), QN_OK);
  tear_down(&r);
}

/* ---- Schedules ---------------------------------------------------------------------------------- */

static uint32_t next_random(uint64_t *random) {
  *random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)(*random >> 33);
}

typedef struct trace {
  uint64_t steps, hash;
} trace;

/* Random work with waits for all that was submitted before: legal, whatever it is. What was seen goes into the trace. */
static trace random_work(const char *given) {
  rig r = set_up(given);
  trace t = {0, 0};
  uint64_t random = 5, seen = 0;
  for (int i = 0; i < 100; i++) {
    int queue = (int)(next_random(&random) % QUEUES), memory = (int)(next_random(&random) % MEMORIES);
    for (int other = 0; other < QUEUES; other++)
      if (other != queue && r.last[other] > 0 && r.last[queue] + 3 < 60) wait_for(&r, queue, other, r.last[other]);
    for (int other = 0; r.last[queue] + 3 >= 60 && other < QUEUES; other++) {
      assert_int_equal(finish(&r, other), QN_OK);
    }
    fill(&r, queue, memory, (unsigned char)i);
    assert_int_equal(table->queue_completed(r.queue[queue], &seen), QN_OK);
    t.hash = sim_mix(t.hash, seen);
    if (seen == r.last[queue]) assert_int_equal(r.bytes[memory][0], (unsigned char)i); /* never early */
  }
  for (int i = 0; i < QUEUES; i++) {
    assert_int_equal(finish(&r, i), QN_OK);
    assert_int_equal(table->queue_time(r.queue[i], r.last[i], &seen), QN_OK);
    t.hash = sim_mix(t.hash, seen);
  }
  violations(&r, 0, "");
  t.steps = counts(&r).steps;
  tear_down(&r);
  return t;
}

static void a_seed_gives_the_same_schedule_again_and_another_seed_another(void **state) {
  (void)state;
  trace first = random_work("seed=77"), again = random_work("seed=77"), other = random_work("seed=78");
  assert_true(first.hash == again.hash && first.steps == again.steps);
  assert_true(first.hash != other.hash);
  trace plain = random_work("check=1,host=1"), plain_again = random_work("check=1,host=1");
  assert_true(plain.hash == plain_again.hash);
}

static void hostile_schedules_run_late_and_out_of_step(void **state) {
  (void)state;
  uint64_t behind = 0, overtaken = 0;
  for (int seed = 1; seed <= 20; seed++) {
    char text[64];
    uint64_t a = 0;
    snprintf(text, sizeof text, "seed=%d", seed);
    rig r = set_up(text);
    for (int i = 0; i < 20; i++) {
      fill(&r, 0, 0, (unsigned char)(i + 1));
      fill(&r, 1, 1, (unsigned char)(i + 1));
    }
    (void)table->queue_completed(r.queue[0], &a);
    behind += a < 20 && r.bytes[0][0] > a; /* ran, and isn't seen yet */
    overtaken += abs(r.bytes[0][0] - r.bytes[1][0]) > 3;
    tear_down(&r);
  }
  assert_in_range(behind, 3, 20);
  assert_in_range(overtaken, 3, 20);
}

static void times_are_virtual_and_waits_order_them(void **state) {
  (void)state;
  rig r = set_up("host=1,check=1");
  uint64_t a = 0, b = 0, c = 0;
  fill(&r, 0, 0, 1);
  wait_for(&r, 1, 0, 1);
  copy(&r, 1, 1, 0);
  for (int i = 0; i < QUEUES; i++) assert_int_equal(finish(&r, i), QN_OK);
  assert_int_equal(table->queue_time(r.queue[0], 1, &a), QN_OK);
  assert_int_equal(table->queue_time(r.queue[1], 1, &b), QN_OK);
  assert_int_equal(table->queue_time(r.queue[1], 2, &c), QN_OK);
  assert_int_equal(a, 1000 + SIZE / 16);
  assert_int_equal(b, a);
  assert_int_equal(c, b + 1000 + 2 * SIZE / 16);
  qn_adapter_queue *untimed = make_queue(&r, 9, 0);
  assert_int_equal(table->queue_time(untimed, 0, &a), QN_ERROR_UNSUPPORTED);
  assert_int_equal(table->queue_begin(r.queue[1], 2, &a), QN_OK);
  assert_int_equal(a, b);
  assert_int_equal(table->queue_time(r.queue[1], 3, &a), QN_NOT_READY);
  assert_int_equal(table->queue_time(r.queue[1], 0, &a), QN_ERROR_NOT_FOUND);
  assert_int_equal(table->queue_destroy(r.device, untimed), QN_OK);
  tear_down(&r);
}

/* ---- On command --------------------------------------------------------------------------------- */

static void a_held_queue_stands_still_until_it_is_let_go(void **state) {
  (void)state;
  rig r = set_up("");
  uint64_t value = 0;
  r.control->hold(r.control->device, 1, 2);
  fill(&r, 0, 0, 1);
  fill(&r, 0, 0, 2);
  fill(&r, 1, 1, 3);
  assert_int_equal(finish(&r, 1), QN_OK);
  assert_int_equal(table->queue_wait(r.queue[0], 2, 2000000), QN_ERROR_TIMEOUT);
  assert_int_equal(table->queue_completed(r.queue[0], &value), QN_OK);
  assert_int_equal(value, 1);
  r.control->go(r.control->device, 1);
  assert_int_equal(finish(&r, 0), QN_OK);
  assert_int_equal(r.bytes[0][0], 2);
  tear_down(&r);
}

static void a_failure_covers_what_comes_after_it_on_its_queue(void **state) {
  (void)state;
  rig r = set_up("");
  uint64_t value = 0;
  qn_adapter_progress progress = {.struct_size = sizeof progress};
  r.control->fail_at(r.control->device, 1, 2, 42, "smoke");
  for (int i = 1; i <= 3; i++) fill(&r, 0, 0, (unsigned char)i);
  wait_for(&r, 1, 0, 3); /* done or failed: it goes on */
  fill(&r, 1, 1, 5);
  assert_int_equal(finish(&r, 1), QN_OK);
  assert_int_equal(table->queue_completed(r.queue[0], &value), QN_ERROR_DEVICE);
  assert_int_equal(value, 3);
  assert_int_equal(table->queue_progress(r.queue[0], &progress), QN_OK);
  assert_int_equal(progress.failed_first, 2);
  assert_int_equal(progress.driver_code, 42);
  assert_int_equal(progress.cause, QN_ERROR_DEVICE);
  assert_string_equal(progress.text, "smoke");
  assert_true(r.bytes[0][0] != 1 && r.bytes[0][0] != 3);
  tear_down(&r);
  r = set_up("domain=3");
  r.control->fail_at(r.control->device, 1, 1, 42, "smoke");
  fill(&r, 0, 0, 1);
  assert_int_equal(finish(&r, 0), QN_OK);
  assert_int_equal(table->queue_completed(r.queue[1], &value), QN_ERROR_DEVICE);
  tear_down(&r);
}

/* What is complete, done or failed, means that all it waited for is, also after a failure. */
static void a_failure_does_not_pass_a_wait(void **state) {
  (void)state;
  rig r = set_up("");
  uint64_t value = 0;
  r.control->hold(r.control->device, 2, 1);
  fill(&r, 1, 1, 1);
  r.control->fail_at(r.control->device, 1, 1, 42, "smoke");
  fill(&r, 0, 0, 1);
  fill(&r, 0, 0, 2);
  wait_for(&r, 0, 1, 1);
  fill(&r, 0, 0, 3);
  assert_int_equal(table->queue_wait(r.queue[0], 2, PATIENCE), QN_OK);
  assert_int_equal(table->queue_wait(r.queue[0], 3, 2000000), QN_ERROR_TIMEOUT);
  assert_int_equal(table->queue_completed(r.queue[0], &value), QN_ERROR_DEVICE);
  assert_int_equal(value, 2);
  r.control->go(r.control->device, 2);
  assert_int_equal(finish(&r, 0), QN_OK);
  tear_down(&r);
}

static void a_lost_device_fails_everywhere(void **state) {
  (void)state;
  rig r = set_up("seed=5");
  uint64_t value = 0;
  r.control->hold(r.control->device, 2, 1);
  fill(&r, 1, 1, 1);
  r.control->lose(r.control->device, "fell off the bus");
  for (int i = 0; i < QUEUES; i++) assert_int_equal(table->queue_completed(r.queue[i], &value), QN_ERROR_DEVICE_LOST);
  assert_int_equal(submit(&r, 0, (qn_adapter_command){.kind = QN_COMMAND_MARK}), QN_ERROR_DEVICE_LOST);
  assert_null(make_memory(&r, SIZE, NULL));
  const qn_adapter_queue_options options = {.struct_size = sizeof options, .id = 9};
  qn_adapter_queue *queue = NULL;
  assert_int_equal(table->queue_create(r.device, &options, &queue), QN_ERROR_DEVICE_LOST);
  assert_int_equal(finish(&r, 1), QN_OK);
  tear_down(&r);
}

static void submissions_are_rejected_or_find_no_room_on_command(void **state) {
  (void)state;
  rig r = set_up("capacity=4");
  r.control->reject(r.control->device, 1, 2);
  for (int i = 0; i < 2; i++) {
    assert_int_equal(fill_part(&r, 0, 0, 0, SIZE, 1), QN_ERROR_DEVICE);
    assert_non_null(strstr(error_text, "rejects"));
  }
  fill(&r, 0, 0, 1);
  fill(&r, 1, 1, 1);
  assert_int_equal(finish(&r, 1), QN_OK);
  r.control->hold(r.control->device, 2, 2);
  for (int i = 0; i < 4; i++) fill(&r, 1, 1, 1);
  assert_int_equal(fill_part(&r, 1, 1, 0, SIZE, 1), QN_NOT_READY);
  null_counts c = counts(&r);
  assert_int_equal(c.rejected, 2);
  assert_int_equal(c.full, 1);
  r.control->go(r.control->device, 0);
  tear_down(&r);
  r = set_up("seed=8,reject=3,full=3");
  for (int i = 0; i < 60; i++) (void)fill_part(&r, 0, 0, 0, SIZE, 1);
  c = counts(&r);
  assert_true(c.rejected > 5 && c.full > 5);
  uint64_t value = 0;
  assert_int_equal(finish(&r, 0), QN_OK);
  assert_int_equal(r.control->set(r.control->device, "fail=50"), 0);
  for (int i = 0; i < 1000 && table->queue_completed(r.queue[0], &value) == QN_OK; i++)
    if (fill_part(&r, 0, 0, 0, SIZE, 1) == QN_OK) (void)finish(&r, 0);
  assert_int_equal(table->queue_completed(r.queue[0], &value), QN_ERROR_DEVICE);
  assert_int_equal(r.control->set(r.control->device, "no_memory=2"), 0);
  int refused = 0;
  for (int i = 0; i < 40; i++) {
    qn_adapter_memory *memory = make_memory(&r, SIZE, NULL);
    refused += memory == NULL;
    if (memory) assert_int_equal(table->memory_destroy(r.device, memory), QN_OK);
  }
  assert_in_range(refused, 5, 35);
  tear_down(&r);
}

static void launches_mix_their_arguments(void **state) {
  (void)state;
  rig r = set_up("seed=6,kernels=1");
  const qn_adapter_code code = {.struct_size = sizeof code, .kind = QN_CODE_IR, .bytes = "", .size_bytes = 0};
  qn_adapter_program *program = NULL;
  qn_adapter_kernel *kernel = NULL;
  assert_int_equal(table->program_create(r.device, &code, &program), QN_OK);
  const qn_adapter_kernel_description description = {.struct_size = sizeof description, .name = "k"};
  qn_adapter_kernel_info info = {.struct_size = sizeof info};
  assert_int_equal(table->kernel_create(r.device, program, &description, &kernel, &info), QN_OK);
  uint32_t number = 17;
  fill(&r, 0, 0, 3);
  const qn_launch_argument arguments[] = {
      {.kind = QN_ARGUMENT_BUFFER, .access = QN_ACCESS_READ, .memory = r.memory[0], .size_bytes = SIZE},
      {.kind = QN_ARGUMENT_VALUE, .bytes = &number, .size_bytes = sizeof number},
      {.kind = QN_ARGUMENT_BUFFER,
       .access = QN_ACCESS_WRITE,
       .memory = r.memory[1],
       .offset_bytes = 8,
       .size_bytes = 16}};
  const qn_launch_record launch = {
      .struct_size = sizeof launch, .kernel = kernel, .arguments = arguments, .argument_count = 3};
  assert_int_equal(submit(&r, 0, (qn_adapter_command){.kind = QN_COMMAND_LAUNCH, .launch = &launch}), QN_OK);
  assert_int_equal(finish(&r, 0), QN_OK);
  unsigned char input[SIZE], expected[16];
  memset(input, 3, SIZE);
  uint64_t digest = sim_mix_bytes(sim_mix_bytes(sim_mix_bytes(0, "k", 1), &number, sizeof number), input, SIZE);
  sim_mix_fill(digest, 1, expected, sizeof expected);
  assert_memory_equal(r.bytes[1] + 8, expected, sizeof expected);
  fill(&r, 1, 1, 1);
  violations(&r, 0, "");
  fill(&r, 0, 1, 1);
  violations(&r, 1, "use before ready");
  assert_int_equal(table->kernel_destroy(r.device, kernel), QN_OK);
  assert_int_equal(table->program_destroy(r.device, program), QN_OK);
  tear_down(&r);
}

/* ---- The core's promises ------------------------------------------------------------------------ */

static void strange_and_dead_objects_are_found(void **state) {
  (void)state;
  rig r = set_up("");
  uint64_t strange[32] = {0}, value = 0;
  qn_adapter_queue *dead = make_queue(&r, 7, 0);
  assert_int_equal(table->queue_destroy(r.device, dead), QN_OK);
  assert_int_equal(table->queue_completed(dead, &value), QN_ERROR_INTERNAL);
  violations(&r, 1, "is no object of this adapter (any longer)");
  assert_int_equal(table->queue_destroy(r.device, dead), QN_ERROR_INTERNAL);
  violations(&r, 1, "queue_destroy");
  assert_int_equal(table->memory_destroy(r.device, (qn_adapter_memory *)(void *)strange), QN_ERROR_INTERNAL);
  violations(&r, 1, "memory_destroy");
  assert_int_equal(table->queue_completed((qn_adapter_queue *)(void *)r.memory[0], &value), QN_ERROR_INTERNAL);
  violations(&r, 1, "given as a queue, but is memory");
  qn_adapter_device *other = NULL;
  assert_int_equal(table->device_open(r.instance, 0, &other), QN_OK);
  assert_int_equal(table->memory_destroy(other, r.memory[0]), QN_ERROR_INTERNAL);
  violations(&r, 1, "of another parent");
  assert_int_equal(table->device_close(other), QN_OK);
  qn_adapter_memory *kept = r.memory[0];
  r.memory[0] = (qn_adapter_memory *)(void *)strange;
  assert_int_equal(fill_part(&r, 0, 0, 0, 1, 1), QN_ERROR_INTERNAL);
  violations(&r, 1, "queue_submit");
  r.memory[0] = kept;
  tear_down(&r);
}

static void values_and_waits_out_of_order_are_found(void **state) {
  (void)state;
  rig r = set_up("");
  r.last[0] = 1; /* the next value would be 2 */
  assert_int_equal(submit(&r, 0, (qn_adapter_command){.kind = QN_COMMAND_MARK}), QN_ERROR_INTERNAL);
  violations(&r, 1, "has value 2, and the one before it 0");
  r.last[0] = 0;
  const qn_adapter_command early = {.kind = QN_COMMAND_WAIT, .wait_queue = r.queue[1], .wait_value = 1};
  assert_int_equal(submit(&r, 0, early), QN_ERROR_INTERNAL);
  violations(&r, 1, "waits for value 1 of another, which has 0");
  const qn_adapter_command own = {.kind = QN_COMMAND_WAIT, .wait_queue = r.queue[0]};
  assert_int_equal(submit(&r, 0, own), QN_ERROR_INTERNAL);
  violations(&r, 1, "itself");
  tear_down(&r);
}

static void queues_that_are_destroyed_too_early_are_found(void **state) {
  (void)state;
  rig r = set_up("check=1");
  r.control->hold(r.control->device, 3, 1);
  fill(&r, 0, 0, 1);
  wait_for(&r, 2, 0, 1);
  assert_int_equal(finish(&r, 0), QN_OK);
  assert_int_equal(table->queue_destroy(r.device, r.queue[0]), QN_OK);
  r.queue[0] = NULL;
  violations(&r, 1, "while 1 recorded waits for it have not run");
  r.control->lose(r.control->device, "so that the wait is not run");
  tear_down(&r);
}

static void settings_that_are_not_understood_are_refused(void **state) {
  (void)state;
  static const char *const bad[] = {
      "sed=1",    "seed",    "seed=",   "seed=x", "late=1,full=-1",      "heap=/nowhere/at.all",        "domain=2",
      "domain=9", "check=7", "reuse=5", "late=2", "memory=99999999999G", "seed=99999999999999999999999"};
  qn_adapter_instance *instance = NULL;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    snprintf(settings, sizeof settings, "%s", bad[i]);
    assert_int_equal(table->instance_open(&host, &instance), QN_ERROR_INVALID_ARGUMENT);
    const char *word = strrchr(bad[i], ',') ? strrchr(bad[i], ',') + 1 : bad[i];
    assert_non_null(strstr(error_text, "QUERN_NULL"));
    if (!strstr(error_text, word)) fail_msg("'%s' lacks '%s'", error_text, word);
  }
  rig r = set_up("seed=1,late=0,,memory=64K");
  assert_int_equal(r.control->set(r.control->device, "lag=3,late=1"), 0);
  assert_int_equal(r.control->set(r.control->device, "lug=3"), -1);
  tear_down(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_missing_wait_is_found_whatever_the_schedule),
      cmocka_unit_test(recorded_waits_order_also_through_others),
      cmocka_unit_test(what_the_host_was_told_orders_and_what_only_ran_does_not),
      cmocka_unit_test(readers_and_uses_of_other_bytes_need_no_order),
      cmocka_unit_test(doubled_waits_are_counted),
      cmocka_unit_test(memory_that_is_destroyed_too_early_is_found),
      cmocka_unit_test(the_address_freed_last_is_given_out_first),
      cmocka_unit_test(memory_has_a_limit),
      cmocka_unit_test(a_seed_gives_the_same_schedule_again_and_another_seed_another),
      cmocka_unit_test(hostile_schedules_run_late_and_out_of_step),
      cmocka_unit_test(times_are_virtual_and_waits_order_them),
      cmocka_unit_test(a_held_queue_stands_still_until_it_is_let_go),
      cmocka_unit_test(a_failure_covers_what_comes_after_it_on_its_queue),
      cmocka_unit_test(a_failure_does_not_pass_a_wait),
      cmocka_unit_test(a_lost_device_fails_everywhere),
      cmocka_unit_test(submissions_are_rejected_or_find_no_room_on_command),
      cmocka_unit_test(launches_mix_their_arguments),
      cmocka_unit_test(strange_and_dead_objects_are_found),
      cmocka_unit_test(values_and_waits_out_of_order_are_found),
      cmocka_unit_test(queues_that_are_destroyed_too_early_are_found),
      cmocka_unit_test(settings_that_are_not_understood_are_refused),
  };
  setenv("QUERN_NULL", "", 1); /* while the library is loaded: the core's calls are watched */
  void *library = dlopen(QUERN_BINARY_DIR "/libquern-adapter-null.so", RTLD_NOW);
  qn_adapter_entry_fn entry = NULL;
  void *symbol = library ? dlsym(library, QN_ADAPTER_ENTRY_NAME) : NULL;
  memcpy(&entry, &symbol, sizeof entry);
  if (!entry) return 1;
  table = entry(QN_ADAPTER_ABI_VERSION);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
