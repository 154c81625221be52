/* support.h - what the tests of the public interface share. */
#ifndef QUERN_TEST_API_SUPPORT_H
#define QUERN_TEST_API_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
/* cmocka asks for some of the above. */
#include <cmocka.h>

#include "quern/quern.h"

/* The call must succeed; else the test fails with the library's words. */
#define OK(call)                                                                               \
  do {                                                                                         \
    qn_status ok_ = (call);                                                                    \
    if (ok_ != QN_OK) fail_msg("%s gave %s: %s", #call, qn_status_name(ok_), qn_error_text()); \
  } while (0)

/* The call must fail with this status and a text that has these words. */
#define FAILS(call, status, words)                                                                                    \
  do {                                                                                                                \
    qn_status is_ = (call);                                                                                           \
    if (is_ != (status))                                                                                              \
      fail_msg("%s gave %s (%s), not %s", #call, qn_status_name(is_), qn_error_text(), qn_status_name(status));       \
    if (!strstr(qn_error_text(), (words))) fail_msg("%s: the text '%s' lacks '%s'", #call, qn_error_text(), (words)); \
  } while (0)

static const uint64_t SECOND = UINT64_C(1000000000);
/* What must happen happens within this, also on a machine that stands still for seconds at a time. */
static const uint64_t PATIENCE = UINT64_C(60000000000);

/* A runtime and a device of it. */
typedef struct test_device {
  qn_runtime runtime;
  qn_device device;
} test_device;

static inline test_device test_open(const char *selector) {
  test_device t = {0};
  OK(qn_runtime_open(NULL, &t.runtime));
  OK(qn_device_open(t.runtime, selector, &t.device));
  return t;
}

static inline void test_close(test_device *t) {
  OK(qn_runtime_close(t->runtime, PATIENCE));
  *t = (test_device){0};
}

static inline qn_queue test_queue(qn_device device) {
  qn_queue queue = NULL;
  OK(qn_queue_create(device, NULL, &queue));
  return queue;
}

static inline qn_buffer test_buffer(qn_device device, uint64_t size_bytes) {
  qn_buffer buffer = NULL;
  qn_buffer_options options = QN_INIT(qn_buffer_options);
  options.size_bytes = size_bytes;
  OK(qn_buffer_create(device, &options, &buffer));
  return buffer;
}

static inline qn_view test_view(qn_buffer buffer, uint64_t offset_bytes, uint64_t size_bytes) {
  qn_view view = {0};
  view.buffer = buffer;
  view.offset_bytes = offset_bytes;
  view.size_bytes = size_bytes;
  return view;
}

static inline qn_program test_program(qn_device device, const char *source) {
  qn_program program = NULL;
  qn_program_options o = QN_INIT(qn_program_options);
  o.source = source;
  o.file_name = "test.cl";
  OK(qn_program_build(device, &o, &program));
  return program;
}

static inline qn_kernel test_kernel(qn_program program, const char *name) {
  qn_kernel kernel = NULL;
  OK(qn_kernel_get(program, name, &kernel));
  return kernel;
}

static inline qn_device_statistics test_statistics(qn_device device) {
  qn_device_statistics s = QN_INIT(qn_device_statistics);
  OK(qn_device_statistics_get(device, &s));
  return s;
}

#endif
