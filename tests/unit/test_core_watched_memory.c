/* labels: threads */
/* As test_core_memory, with all that watches a run switched on, QUERN_TRACE and QUERN_CHECK=leaks, and with callbacks: every
 * allocation made to fail in turn. What is told may lack an event then; nothing else may go wrong, and the trace stays JSON. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* cmocka asks for some of the above. */
#include <cmocka.h>

#include "quern/quern.h"
#include "support/failing.h"

static const char source[] = "kernel void add(global int *sum, int a) { sum[get_global_id(0)] += a; }\n";

#define TRY(call)                         \
  do {                                    \
    qn_status status_ = (call);           \
    if (status_ != QN_OK) return status_; \
  } while (0)

typedef struct life {
  qn_runtime runtime;
  qn_device device;
  qn_queue queue;
  qn_buffer buffer;
  qn_program program;
  qn_kernel kernel;
  int32_t descriptor;
  _Atomic uint32_t called;
  uint32_t asked;
} life;

static void called(void *user, qn_status status) {
  (void)status;
  atomic_fetch_add(&((life *)user)->called, 1);
}

static qn_status make(life *l) {
  qn_buffer_options buffer = QN_INIT(qn_buffer_options);
  qn_queue_options queue = QN_INIT(qn_queue_options);
  qn_program_options program = QN_INIT(qn_program_options);
  buffer.size_bytes = 256;
  queue.flags = QN_QUEUE_TIMED;
  program.source = source;
  TRY(qn_runtime_open(NULL, &l->runtime));
  TRY(qn_device_open(l->runtime, "check", &l->device));
  TRY(qn_queue_create(l->device, &queue, &l->queue));
  TRY(QN_HERE(qn_buffer_create(l->device, &buffer, &l->buffer)));
  TRY(qn_program_build(l->device, &program, &l->program));
  return qn_kernel_get(l->program, "add", &l->kernel);
}

static qn_status call(life *l) {
  TRY(qn_queue_call(l->queue, NULL, called, l));
  l->asked++;
  return QN_OK;
}

static qn_status use(life *l) {
  qn_point first = {0, 0}, last = {0, 0};
  int64_t ns = 0;
  TRY(qn_launch(l->queue, l->kernel, QN_RANGE_1D(64), QN_ARGS(l->buffer, 5), &first));
  TRY(call(l));
  TRY(qn_queue_descriptor(l->queue, NULL, &l->descriptor));
  TRY(qn_launch(l->queue, l->kernel, QN_RANGE_1D(64), QN_ARGS(l->buffer, 6), &last));
  TRY(call(l));
  TRY(qn_queue_finish(l->queue, QN_FOREVER));
  return qn_point_elapsed(&first, &last, &ns);
}

static qn_status live(life *l) {
  TRY(make(l));
  return use(l);
}

static char path[64];

/* An array that was ended. test_trace.py reads a trace with care. */
static void check_trace(void) {
  char ends[4] = "";
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  assert_int_equal(fgetc(file), '[');
  assert_int_equal(fseek(file, -3, SEEK_END), 0);
  assert_int_equal(fread(ends, 1, 3, file), 3);
  assert_string_equal(ends, "\n]\n");
  fclose(file);
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  uint64_t failures = 0;
  FAILING_EACH(n) {
    life l = {.descriptor = -1};
    char text[256];
    uint64_t leaks = 0;
    qn_status status = live(&l);
    /* Nothing is released: closing looks for it and tells. */
    if (l.runtime) assert_int_equal(qn_runtime_close(l.runtime, UINT64_C(10000000000)), QN_OK);
    if (l.runtime) assert_int_equal(qn_leak_report(text, sizeof text, &leaks), QN_OK);
    failing_pause();
    if (status != QN_OK && status != QN_ERROR_OUT_OF_HOST_MEMORY && status != QN_ERROR_OUT_OF_MEMORY)
      fail_msg("allocation %llu: %s: %s", (unsigned long long)n, qn_status_name(status), qn_error_text());
    assert_int_equal(l.called, l.asked); /* closing waited for the calls, each exactly once */
    if (l.descriptor >= 0) close(l.descriptor);
    if (l.runtime) check_trace();
    failures += status != QN_OK;
  }
  printf("rounds: allocations that a watched life needs %llu\n", (unsigned long long)failures);
  assert_true(failures > 20);
}

int main(void) {
  snprintf(path, sizeof path, "/tmp/quern-trace-%ld.json", (long)getpid());
  setenv("QUERN_TRACE", path, 1);
  setenv("QUERN_CHECK", "leaks", 1);
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation_may_fail)};
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  unlink(path);
  return failed;
}
