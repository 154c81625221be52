/* Every allocation of a program's life made to fail in turn: each call then succeeds or says that memory is short, and
 * nothing is lost or freed twice (the address sanitizer looks). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
/* cmocka asks for some of the above. */
#include <cmocka.h>

#include "quern/quern.h"
#include "support/failing.h"

static const char source[] =
    "kernel void add(global int *sum, local int *mine, int a) {\n"
    "  mine[get_local_id(0)] = a;\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  sum[get_global_id(0)] += mine[0];\n"
    "}\n";

#define TRY(call)                         \
  do {                                    \
    qn_status status_ = (call);           \
    if (status_ != QN_OK) return status_; \
  } while (0)

typedef struct life {
  qn_runtime runtime;
  qn_device device;
  qn_queue queue, other;
  qn_buffer buffer;
  qn_program program;
  qn_kernel kernel;
  int32_t out[64];
} life;

static qn_status build(life *l) {
  qn_program_options o = QN_INIT(qn_program_options);
  o.source = source;
  TRY(qn_program_build(l->device, &o, &l->program));
  return qn_kernel_get(l->program, "add", &l->kernel);
}

static qn_status use(life *l) {
  int32_t zero = 0;
  void *pointer = NULL;
  qn_view view = {0};
  view.buffer = l->buffer;
  view.size_bytes = QN_WHOLE;
  TRY(qn_fill(l->queue, &view, &zero, 4, NULL));
  TRY(qn_launch(l->queue, l->kernel, QN_RANGE_1D(64), QN_ARGS(l->buffer, qn_arg_local(1024), 5), NULL));
  TRY(qn_launch(l->other, l->kernel, QN_RANGE_1D(64), QN_ARGS(l->buffer, qn_arg_local(1024), 6), NULL));
  TRY(qn_read(l->queue, &view, l->out, NULL));
  TRY(qn_queue_finish(l->other, QN_FOREVER)); /* its failure would not be the other queue's */
  TRY(qn_queue_finish(l->queue, QN_FOREVER));
  TRY(qn_buffer_map(&view, QN_MAP_READ, QN_FOREVER, &pointer));
  return qn_buffer_unmap(l->buffer, pointer);
}

static qn_status live(life *l) {
  qn_buffer_options o = QN_INIT(qn_buffer_options);
  o.size_bytes = sizeof l->out;
  TRY(qn_runtime_open(NULL, &l->runtime));
  TRY(qn_device_open(l->runtime, "check", &l->device));
  TRY(qn_queue_create(l->device, NULL, &l->queue));
  TRY(qn_queue_create(l->device, NULL, &l->other));
  TRY(qn_buffer_create(l->device, &o, &l->buffer));
  TRY(build(l));
  return use(l);
}

static int is_memory(qn_status status) {
  return status == QN_ERROR_OUT_OF_HOST_MEMORY || status == QN_ERROR_OUT_OF_MEMORY;
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  uint64_t failures = 0;
  FAILING_EACH(n) {
    life l = {0};
    qn_status status = live(&l);
    failing_pause();
    if (status != QN_OK) {
      failures++;
      if (!is_memory(status))
        fail_msg("allocation %llu: %s: %s", (unsigned long long)n, qn_status_name(status), qn_error_text());
    } else {
      for (int i = 0; i < 64; i++) assert_int_equal(l.out[i], 11);
    }
    if (l.runtime) assert_int_equal(qn_runtime_close(l.runtime, QN_FOREVER), QN_OK);
  }
  assert_true(failures > 20);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation_may_fail)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
