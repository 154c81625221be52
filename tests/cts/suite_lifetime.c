/* suite_lifetime.c - objects end in any order, with work in flight, at exit and beside a fork; nothing is counted twice. */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cts.h"

static const char add_source[] = "kernel void add(global int *sum, int a) { sum[get_global_id(0)] += a; }";

/* ---- Orders of release ----------------------------------------------------------------------------- */

enum { RUNTIME, DEVICE, QUEUE, BUFFER, PROGRAM, KERNEL, MOST_OBJECTS };

/* One of each kind with work in flight. A device without kernels has four kinds of objects. */
typedef struct family {
  const void *objects[MOST_OBJECTS];
  uint32_t count;
  qn_point done;
  int32_t *out; /* the first number of the buffer when the work is done: 4 */
} family;

static void start_with_kernels(cts *c, family *f, qn_queue queue, qn_buffer buffer) {
  qn_device device = (qn_device)f->objects[DEVICE];
  qn_program program = cts_make_program(CTS_HERE, c, device, add_source);
  qn_kernel add = cts_kernel(c, program, "add");
  f->objects[PROGRAM] = program;
  f->objects[KERNEL] = add;
  f->count = 6;
  for (int i = 0; i < 4; i++) CTS_OK(qn_launch(queue, add, QN_RANGE_1D(1000), QN_ARGS(buffer, 1), NULL));
}

static void start_family(cts *c, family *f) {
  qn_runtime runtime = cts_runtime(c);
  qn_device device = cts_device_in(c, runtime);
  qn_queue queue = cts_queue_on(c, device);
  qn_buffer buffer = cts_buffer_on(c, device, 4000);
  const int32_t zero = 0, four = 4;
  const qn_view all = cts_view(buffer, 0, QN_WHOLE), first = cts_view(buffer, 0, sizeof zero);
  *f = (family){.objects = {runtime, device, queue, buffer}, .count = 4, .out = cts_alloc(c, sizeof(int32_t))};
  CTS_OK(qn_fill(queue, &all, &zero, sizeof zero, NULL));
  if (cts_has(c, QN_FEATURE_KERNELS))
    start_with_kernels(c, f, queue, buffer);
  else
    CTS_OK(qn_fill(queue, &all, &four, sizeof four, NULL));
  CTS_OK(qn_read(queue, &first, f->out, &f->done));
}

static void release_in_order(cts *c, const uint32_t *order) {
  family f;
  start_family(c, &f);
  for (uint32_t i = 0; i < f.count; i++) cts_drop(c, f.objects[order[i]]);
  for (uint32_t i = 0; i < f.count; i++) CTS_GIVES(qn_release(f.objects[i]), QN_ERROR_INVALID_HANDLE);
  cts_wait(&f.done);
  CTS_SAME("what work gave whose objects were released in flight", *f.out, 4);
}

/* Every `step`th permutation. */
static void permute(cts *c, uint32_t *order, uint32_t count, uint32_t from, uint64_t step, uint64_t *number) {
  if (from == count && (*number)++ % step == 0) release_in_order(c, order);
  for (uint32_t i = from; i < count; i++) {
    uint32_t first = order[from];
    order[from] = order[i];
    order[i] = first;
    permute(c, order, count, from + 1, step, number);
    order[i] = order[from];
    order[from] = first;
  }
}

static void every_order(cts *c) {
  uint32_t order[MOST_OBJECTS] = {0, 1, 2, 3, 4, 5}, count = cts_has(c, QN_FEATURE_KERNELS) ? 6 : 4;
  /* Of 720 each 31st in short: 31 shares no factor with 720, so that each position sees each kind. */
  uint64_t number = cts_random(c, 720), step = count == 6 ? cts_count(c, 31, 1) : 1;
  permute(c, order, count, 0, step, &number);
}

/* ---- Children hold their parents -------------------------------------------------------------------- */

static void children_hold_parents(cts *c) {
  unsigned char out[1000];
  for (int i = 0; i < 20; i++) {
    qn_runtime runtime = cts_runtime(c);
    qn_device device = cts_device_in(c, runtime);
    qn_queue queue = cts_queue_on(c, device);
    qn_buffer buffer = cts_buffer_on(c, device, sizeof out);
    cts_drop(c, runtime);
    cts_drop(c, device);
    cts_fill(queue, buffer, (unsigned char)i); /* as if nothing had been released */
    cts_get(queue, buffer, out, sizeof out);
    CTS_FILLED("a buffer whose device and runtime were released", out, (unsigned char)i, sizeof out);
    cts_drop(c, queue);
    cts_drop(c, buffer);
  }
}

static void kernels_hold_programs(cts *c) {
  int32_t out[10];
  qn_queue queue = cts_queue(c);
  qn_buffer buffer = cts_buffer(c, sizeof out);
  cts_fill(queue, buffer, 0);
  for (int i = 0; i < 10; i++) {
    qn_program program = cts_program(c, add_source);
    qn_kernel add = cts_kernel(c, program, "add"), again = cts_kernel(c, program, "add");
    cts_drop(c, program);
    CTS_OK(qn_launch(queue, add, QN_RANGE_1D(10), QN_ARGS(buffer, 1), NULL));
    cts_drop(c, add);
    CTS_OK(qn_launch(queue, again, QN_RANGE_1D(10), QN_ARGS(buffer, 10), NULL));
    cts_drop(c, again);
  }
  cts_get(queue, buffer, out, sizeof out);
  for (int i = 0; i < 10; i++) CTS_SAME("a sum by kernels whose program was released", out[i], 110);
}

static void work_holds_objects(cts *c) {
  enum { SIZE = 2 << 20 };
  unsigned char *out = cts_alloc(c, 10 * SIZE);
  qn_point points[10];
  for (int i = 0; i < 10; i++) {
    qn_queue queue = cts_queue(c);
    qn_buffer a = cts_buffer(c, SIZE), b = cts_buffer(c, SIZE);
    const qn_view from = cts_view(a, 0, QN_WHOLE), to = cts_view(b, 0, QN_WHOLE);
    cts_fill(queue, a, (unsigned char)i);
    CTS_OK(qn_copy(queue, &to, &from, NULL));
    CTS_OK(qn_read(queue, &to, out + i * SIZE, &points[i]));
    cts_drop(c, a);
    cts_drop(c, queue);
    cts_drop(c, b);
  }
  for (int i = 0; i < 10; i++) {
    cts_wait(&points[i]);
    CTS_FILLED("what work wrote whose objects were all released", out + i * SIZE, (unsigned char)i, SIZE);
  }
}

/* ---- Counts ---------------------------------------------------------------------------------------- */

static void ask_queue(qn_queue queue) {
  qn_point last = {0, 0};
  CTS_OK(qn_queue_last(queue, &last));
  CTS_OK(qn_queue_finish(queue, CTS_PATIENCE));
  CTS_OK(qn_queue_wait(queue, &last, 1));
}

static void ask_buffer(qn_buffer buffer) {
  qn_buffer_info info = QN_INIT(qn_buffer_info);
  uint64_t native = 0;
  CTS_OK(qn_buffer_query(buffer, &info));
  qn_status status = qn_native_handle(buffer, 0, &native);
  CTS_TRUE(status == QN_OK || status == QN_ERROR_UNSUPPORTED,
           "qn_native_handle gives a value or says UNSUPPORTED, not %s", qn_status_name(status));
}

/* After a thousand queries one release ends each object, and what it held. */
static void one_count_each(cts *c) {
  qn_queue queue = cts_queue(c);
  qn_buffer buffer = cts_buffer(c, 64);
  uint32_t kind = 0;
  for (int i = 0; i < 1000; i++) {
    ask_queue(queue);
    ask_buffer(buffer);
    CTS_OK(qn_handle_kind(queue, &kind));
    CTS_OK(qn_handle_kind(buffer, &kind));
  }
  const qn_device_statistics before = cts_statistics(c->device);
  cts_drop(c, queue);
  cts_drop(c, buffer);
  CTS_OK(qn_device_drain(c->device, CTS_PATIENCE));
  const qn_device_statistics after = cts_statistics(c->device);
  CTS_EQUAL(after.queues, before.queues - 1);
  CTS_EQUAL(after.buffers, before.buffers - 1);
  CTS_EQUAL(after.awaiting_release, 0);
}

static void counts_are_exact(cts *c) {
  qn_queue queue = cts_queue(c);
  for (int i = 0; i < 100; i++) CTS_OK(qn_retain(queue));
  for (int i = 0; i < 100; i++) CTS_OK(qn_release(queue));
  cts_fill(queue, cts_buffer(c, 64), 1);
  cts_finish(queue);
  cts_drop(c, queue);
  CTS_GIVES(qn_release(queue), QN_ERROR_INVALID_HANDLE);
  CTS_GIVES(qn_retain(queue), QN_ERROR_INVALID_HANDLE);
  CTS_GIVES(qn_queue_finish(queue, CTS_SECOND), QN_ERROR_INVALID_HANDLE);
}

/* The founding report of the loader: objects of several adapters come and go, addresses are used again by another one, and
 * nobody's call may reach the wrong one. */
typedef struct tenant {
  qn_device device; /* NULL: the place is free */
  qn_device_info info;
  qn_queue queue;
  qn_buffer buffer;
  unsigned char byte;
} tenant;

static void move_in(cts *c, qn_runtime runtime, const char *selector, tenant *t) {
  qn_device device = NULL;
  CTS_OK(qn_device_open(runtime, selector, &device));
  cts_keep(c, device);
  *t = (tenant){.device = device, .byte = (unsigned char)cts_random(c, 256)};
  t->info = (qn_device_info)QN_INIT(qn_device_info);
  CTS_OK(qn_device_query(device, &t->info));
  CTS_TRUE(strcmp(t->info.selector, selector) == 0, "a device opened as '%s' says so, not '%s'", selector,
           t->info.selector);
  t->queue = cts_queue_on(c, device);
  t->buffer = cts_buffer_on(c, device, 1000 + cts_random(c, 5000));
  cts_fill(t->queue, t->buffer, t->byte);
}

static void check_tenant(const tenant *t) {
  unsigned char out[1000];
  qn_device_info info = QN_INIT(qn_device_info);
  CTS_OK(qn_device_query(t->device, &info));
  CTS_BYTES("what a device says of itself while others come and go", &info, &t->info, sizeof info);
  cts_get(t->queue, t->buffer, out, sizeof out);
  CTS_FILLED("a buffer of one of several adapters that come and go", out, t->byte, sizeof out);
}

static void move_out(cts *c, tenant *t) {
  const void *objects[] = {t->device, t->queue, t->buffer};
  uint64_t first = cts_random(c, 3);
  for (uint64_t i = 0; i < 3; i++) cts_drop(c, objects[(first + i) % 3]);
  t->device = NULL;
}

/* There are devices whose driver takes seconds to open them: fewer rounds then, and some in any case. */
enum { SOME_ROUNDS = 6 };
static bool goes_on(uint64_t round, uint64_t rounds, uint64_t start) {
  return round < rounds && (round < SOME_ROUNDS || cts_now_ns() - start < 40 * CTS_SECOND);
}

static void adapters_come_and_go(cts *c) {
  enum { PLACES = 6, MOST = 16 };
  tenant tenants[PLACES];
  char selectors[MOST][64];
  uint32_t count = 0;
  memcpy(selectors[count++], c->info.selector, sizeof selectors[0]);
  for (uint32_t i = 0; i < c->other_count && count < MOST; i++) {
    qn_device_info info = QN_INIT(qn_device_info);
    CTS_OK(qn_device_query(c->others[i], &info));
    memcpy(selectors[count++], info.selector, sizeof selectors[0]);
  }
  memset(tenants, 0, sizeof tenants);
  qn_runtime runtime = cts_runtime(c);
  uint64_t rounds = cts_count(c, 150, 5000), start = cts_now_ns();
  for (uint64_t i = 0; goes_on(i, rounds, start); i++) {
    tenant *t = &tenants[cts_random(c, PLACES)];
    if (t->device) {
      check_tenant(t);
      move_out(c, t);
    }
    move_in(c, runtime, selectors[cts_random(c, count)], t);
    for (int n = 0; n < PLACES; n++)
      if (tenants[n].device && i % 4 == 0) check_tenant(&tenants[n]);
  }
  cts_close(c, runtime);
}

/* ---- Closing --------------------------------------------------------------------------------------- */

static void close_ends_everything(cts *c) {
  family f;
  start_family(c, &f);
  qn_runtime runtime = (qn_runtime)f.objects[RUNTIME];
  for (int i = 0; i < 3; i++) CTS_OK(qn_retain(f.objects[QUEUE])); /* whoever still holds counts of them */
  cts_close(c, runtime);
  for (uint32_t i = 0; i < f.count; i++) CTS_GIVES(qn_release(f.objects[i]), QN_ERROR_INVALID_HANDLE);
  CTS_GIVES(qn_runtime_close(runtime, CTS_SECOND), QN_ERROR_INVALID_HANDLE);
  cts_wait(&f.done);
  CTS_SAME("what work gave whose runtime was closed", *f.out, 4);
}

static void failed_openings(cts *c) {
  qn_runtime runtime = cts_runtime(c);
  uint64_t start = cts_now_ns();
  for (uint64_t i = 0; goes_on(i, 50, start); i++) {
    qn_device device = NULL;
    char selector[96];
    snprintf(selector, sizeof selector, "%s:%d", c->info.adapter, 1000 + (int)i);
    CTS_GIVES(qn_device_open(runtime, selector, &device), QN_ERROR_NOT_FOUND);
    device = cts_device_in(c, runtime);
    qn_queue queue = cts_queue_on(c, device);
    cts_fill(queue, cts_buffer_on(c, device, 64), 1);
    cts_finish(queue);
    cts_drop(c, device);
  }
  cts_close(c, runtime);
}

static void drain_leaves_what_lives(cts *c) {
  qn_queue queue = cts_queue(c);
  qn_buffer kept = cts_buffer(c, 100000);
  unsigned char *out = cts_alloc(c, 100000);
  cts_fill(queue, kept, 3);
  for (int i = 0; i < 20; i++) {
    qn_queue other = cts_queue(c);
    qn_buffer buffer = cts_buffer(c, 1000000);
    cts_fill(other, buffer, 1);
    cts_drop(c, other);
    cts_drop(c, buffer);
    CTS_OK(qn_device_drain(c->device, CTS_PATIENCE));
    CTS_SAME("objects that await release after a drain", cts_statistics(c->device).awaiting_release, 0);
  }
  cts_get(queue, kept, out, 100000);
  CTS_FILLED("a living buffer after drains", out, 3, 100000);
}

/* ---- Exit and fork --------------------------------------------------------------------------------- */

static void exits_with_work(cts *c) {
  uint64_t rounds = cts_count(c, 3, 100);
  for (uint64_t i = 0; i < rounds; i++) {
    CTS_SAME("exit status of a process that ends with work in flight", cts_run_helper(c, "exit-with-work", NULL), 0);
    CTS_SAME("exit status of a process that ends after a close", cts_run_helper(c, "exit-after-close", NULL), 0);
    CTS_SAME("exit status of a process that closes in a handler of its exit",
             cts_run_helper(c, "release-in-exit-handler", NULL), 0);
  }
}

/* In the child nothing works, and nothing is touched. Its exit status. */
static int try_in_child(qn_queue queue, qn_buffer buffer) {
  const qn_view view = cts_view(buffer, 0, QN_WHOLE);
  if (qn_fill(queue, &view, "x", 1, NULL) != QN_ERROR_FORKED) return 1;
  if (qn_queue_finish(queue, CTS_SECOND) != QN_ERROR_FORKED) return 2;
  if (qn_release(queue) != QN_OK || qn_release(buffer) != QN_OK) return 3;
  return 0;
}

static void forks_beside_work(cts *c) {
  enum { SIZE = 1 << 20 };
  qn_queue queue = cts_queue(c);
  qn_buffer buffer = cts_buffer(c, SIZE);
  unsigned char *out = cts_alloc(c, SIZE);
  uint64_t rounds = cts_count(c, 10, 300);
  for (uint64_t i = 0; i < rounds; i++) {
    for (int n = 0; n < 5; n++) cts_fill(queue, buffer, (unsigned char)i);
    fflush(NULL);
    pid_t child = fork();
    CTS_TRUE(child >= 0, "fork works");
    if (child == 0) _exit(try_in_child(queue, buffer));
    int status = 0;
    CTS_TRUE(waitpid(child, &status, 0) == child, "waitpid works");
    CTS_SAME("wait status of a forked child that calls the library", status, 0);
    cts_get(queue, buffer, out, SIZE);
    CTS_FILLED("what the parent reads after a fork", out, (unsigned char)i, SIZE);
  }
}

#define HOLDS "quern.h: 'Each child holds its parent; every order of release is right.'"
#define LOADER "adapter.h: 'An adapter counts no references, keeps no pointer to a core object past the call'"

static const cts_test tests[] = {
    {"every_order_of_release_is_right_with_work_in_flight", every_order, 0, 0, HOLDS},
    {"children_hold_their_parents", children_hold_parents, 0, 0, HOLDS},
    {"kernels_hold_their_programs", kernels_hold_programs, QN_FEATURE_KERNELS, 0, HOLDS},
    {"work_in_flight_holds_its_objects", work_holds_objects, 0, 0,
     "quern.h: 'An object that work in flight uses lives on until that work is complete.'; adapter.h: memory_destroy "
     "and queue_destroy come later"},
    {"a_thousand_queries_leave_one_count", one_count_each, 0, 0, LOADER},
    {"counts_are_exact", counts_are_exact, 0, 0, "quern.h: qn_release: 'at zero the handle is stale at once'"},
    {"adapters_come_and_go_and_none_gets_anothers_objects", adapters_come_and_go, 0, 0, LOADER},
    {"closing_ends_everything_and_waits_for_its_work", close_ends_everything, 0, 0,
     "quern.h: qn_runtime_close: 'frees every object and makes all of its handles stale, whoever still holds "
     "counts of them'"},
    {"a_failed_opening_is_followed_by_a_good_one", failed_openings, 0, 0,
     "adapter.h: instance_open 'May be called again after a close or a failed open.'; device_open too"},
    {"a_drain_leaves_what_lives", drain_leaves_what_lives, 0, 0,
     "quern.h: 'Returns when the driver holds nothing of ours for this device but what lives.'"},
    {"a_process_may_exit_with_work_in_flight", exits_with_work, 0, 0,
     "docs/runtime.md: 'Nothing has to be closed before exit, and nothing is unloaded.'; adapter.h: no 'static state "
     "that needs a destructor'"},
    {"a_fork_leaves_the_parents_device_alone", forks_beside_work, 0, 0,
     "docs/runtime.md: 'In a forked child every call is QN_ERROR_FORKED and a release does nothing; the parent goes "
     "on.'"},
};

CTS_SUITE(lifetime, "objects end in any order, with work in flight, at exit, beside a fork");
