/* labels: threads once */
/* Closing a runtime while others open devices and list adapters: an adapter's instance is closed when nobody uses it any
 * longer, once (L1, L6). */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "fake.h"
#include "support.h"
#include "support/rounds.h"

static qn_runtime open_runtime(void) {
  qn_runtime runtime = NULL;
  qn_runtime_options o = QN_INIT(qn_runtime_options);
  o.adapter_path = QUERN_BINARY_DIR "/tests/plugins/fake:" QUERN_BINARY_DIR;
  OK(qn_runtime_open(&o, &runtime));
  return runtime;
}

/* The address stays for the whole process: the library is never unloaded. */
static fake_control *find_control(void) {
  qn_runtime runtime = open_runtime();
  qn_device device = NULL;
  uint64_t native = 0;
  OK(qn_device_open(runtime, "fake", &device));
  OK(qn_native_handle(device, 0, &native));
  OK(qn_runtime_close(runtime, PATIENCE));
  return (fake_control *)(uintptr_t)native;
}

typedef struct opener {
  qn_runtime runtime;
  qn_status status;
} opener;

static void *open_fake(void *given) {
  opener *o = given;
  qn_device device = NULL;
  o->status = qn_device_open(o->runtime, "fake", &device);
  return NULL;
}

static void test_L6_closing_does_not_take_the_adapter_from_who_opens_a_device(void **state) {
  (void)state;
  fake_control *control = find_control();
  for (int round = 0; round < 20; round++) {
    opener o = {.runtime = open_runtime()};
    pthread_t thread;
    control->blocked = 0;
    control->block_open = 1;
    assert_int_equal(pthread_create(&thread, NULL, open_fake, &o), 0);
    while (!control->blocked) continue; /* it is in the adapter */
    FAILS(qn_runtime_close(o.runtime, 2000000), QN_ERROR_TIMEOUT, "being opened");
    control->block_open = 0;
    pthread_join(thread, NULL);
    assert_int_equal(o.status, QN_ERROR_CLOSED);
    while (control->devices != 0) continue; /* the rest ends by itself */
    assert_int_equal(control->closed_over, 0);
  }
}

static void test_L6_closing_waits_for_who_opens_a_device(void **state) {
  (void)state;
  fake_control *control = find_control();
  for (int round = 0; round < 20; round++) {
    opener o = {.runtime = open_runtime()};
    pthread_t thread;
    control->blocked = 0;
    control->block_open = 1;
    assert_int_equal(pthread_create(&thread, NULL, open_fake, &o), 0);
    while (!control->blocked) continue;
    control->block_open = 0;
    OK(qn_runtime_close(o.runtime, PATIENCE));
    assert_int_equal(control->devices, 0);
    assert_int_equal(control->closed_over, 0);
    pthread_join(thread, NULL);
    assert_true(o.status == QN_OK || o.status == QN_ERROR_CLOSED);
  }
}

/* Opens, lists and describes until the runtime is closed: each call succeeds or says so. */
static void *use_until_closed(void *given) {
  for (;;) {
    qn_runtime runtime = given;
    qn_device device = NULL;
    qn_adapter_info adapter = QN_INIT(qn_adapter_info);
    qn_device_info info = QN_INIT(qn_device_info);
    uint32_t count = 0;
    const qn_status all[] = {qn_device_open(runtime, "null", &device), qn_device_open(runtime, "fake", &device),
                             qn_adapter_count(runtime, &count),        qn_adapter_describe(runtime, 0, &adapter),
                             qn_device_count(runtime, &count),         qn_device_describe(runtime, 0, &info)};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
      if (all[i] == QN_ERROR_INVALID_HANDLE || all[i] == QN_ERROR_CLOSED) return NULL;
      if (all[i] == QN_OK) continue;
      fprintf(stderr, "call %zu gave %s: %s\n", i, qn_status_name(all[i]), qn_error_text());
      abort();
    }
  }
}

enum { THREADS = 4 };

static void test_L6_closing_while_others_open_and_list(void **state) {
  (void)state;
  fake_control *control = find_control();
  uint64_t rounds = test_rounds("runtimes closed while others open devices", 40, 500);
  for (uint64_t round = 0; round < rounds; round++) {
    qn_runtime runtime = open_runtime();
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, use_until_closed, runtime), 0);
    for (uint64_t i = 0; i < round % 64; i++) sched_yield();
    OK(qn_runtime_close(runtime, PATIENCE));
    assert_int_equal(control->devices, 0);
    assert_int_equal(control->closed_over, 0);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_L6_closing_does_not_take_the_adapter_from_who_opens_a_device),
      cmocka_unit_test(test_L6_closing_waits_for_who_opens_a_device),
      cmocka_unit_test(test_L6_closing_while_others_open_and_list),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
