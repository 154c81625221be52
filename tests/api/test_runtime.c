/* labels: threads */
/* Opening and closing, adapters, devices. */
#include <pthread.h>
#include <stdlib.h>

#include "support.h"

static void test_L6_closing_twice_and_calling_after_closing_are_errors(void **state) {
  (void)state;
  test_device t = test_open("null");
  qn_runtime runtime = t.runtime;
  qn_queue queue = test_queue(t.device);
  qn_device_info info = QN_INIT(qn_device_info);
  uint32_t count = 0;
  OK(qn_runtime_close(runtime, PATIENCE));
  FAILS(qn_runtime_close(runtime, PATIENCE), QN_ERROR_INVALID_HANDLE, "stale");
  FAILS(qn_device_query(t.device, &info), QN_ERROR_INVALID_HANDLE, "its runtime is closed");
  FAILS(qn_queue_finish(queue, 0), QN_ERROR_INVALID_HANDLE, "stale");
  FAILS(qn_device_count(runtime, &count), QN_ERROR_INVALID_HANDLE, "stale");
  FAILS(qn_release(queue), QN_ERROR_INVALID_HANDLE, "stale");
}

static void test_L6_a_failed_opening_is_followed_by_a_good_one(void **state) {
  (void)state;
  qn_runtime runtime = NULL;
  qn_device device = NULL;
  qn_runtime_options o = {0};
  for (int i = 0; i < 3; i++) {
    FAILS(qn_runtime_open(&o, &runtime), QN_ERROR_INVALID_ARGUMENT, "struct_size");
    FAILS(qn_runtime_open(NULL, NULL), QN_ERROR_INVALID_ARGUMENT, "out_runtime is NULL");
    assert_null(runtime);
  }
  OK(qn_runtime_open(NULL, &runtime));
  FAILS(qn_device_open(runtime, "null:7", &device), QN_ERROR_NOT_FOUND, "adapter 'null' has 1 device");
  FAILS(qn_device_open(runtime, "nowhere", &device), QN_ERROR_NOT_FOUND, "there are adapters: ");
  FAILS(qn_device_open(runtime, "nowhere", &device), QN_ERROR_NOT_FOUND, "null");
  FAILS(qn_device_open(runtime, "null:x", &device), QN_ERROR_INVALID_ARGUMENT, "no number after ':'");
  FAILS(qn_device_open(runtime, "null:", &device), QN_ERROR_INVALID_ARGUMENT, "no number after ':'");
  FAILS(qn_device_open(runtime, "null:00", &device), QN_ERROR_INVALID_ARGUMENT, "no number after ':'");
  FAILS(qn_device_open(runtime, "null:0x0", &device), QN_ERROR_INVALID_ARGUMENT, "no number after ':'");
  FAILS(qn_device_open(runtime, "null:99999999999999999999", &device), QN_ERROR_NOT_FOUND, "no adapter has that many");
  FAILS(qn_device_open(runtime, "", &device), QN_ERROR_NOT_FOUND, "there is no device ''");
  FAILS(qn_device_open(runtime, "null", NULL), QN_ERROR_INVALID_ARGUMENT, "out_device is NULL");
  assert_null(device);
  OK(qn_device_open(runtime, "null:0", &device));
  OK(qn_runtime_close(runtime, PATIENCE));
}

static void test_L6_a_runtime_is_opened_and_closed_again_and_again(void **state) {
  (void)state;
  for (int i = 0; i < 500; i++) {
    test_device t = test_open("null");
    qn_queue queue = test_queue(t.device);
    qn_buffer buffer = test_buffer(t.device, 100);
    qn_view view = test_view(buffer, 0, QN_WHOLE);
    char byte = 1;
    OK(qn_fill(queue, &view, &byte, 1, NULL));
    test_close(&t);
  }
}

static void closing_waits_for_work_in_flight(void **state) {
  (void)state;
  test_device t = test_open("null");
  qn_queue queue = test_queue(t.device);
  static unsigned char host[1 << 22];
  qn_buffer buffer = test_buffer(t.device, sizeof host);
  qn_view view = test_view(buffer, 0, QN_WHOLE);
  unsigned char byte = 3;
  OK(qn_fill(queue, &view, &byte, 1, NULL));
  OK(qn_read(queue, &view, host, NULL));
  test_close(&t); /* else the read would go on in freed memory */
  assert_int_equal(host[sizeof host - 1], 3);
}

static void releasing_every_handle_ends_a_runtime_too(void **state) {
  (void)state;
  for (int i = 0; i < 100; i++) {
    test_device t = test_open("null");
    qn_queue queue = test_queue(t.device);
    OK(qn_release(t.runtime));
    OK(qn_release(t.device));
    qn_point point = {0, 0};
    OK(qn_queue_last(queue, &point)); /* children hold their parents */
    OK(qn_release(queue));
  }
}

static void a_released_runtime_takes_no_calls_but_its_device_does(void **state) {
  (void)state;
  test_device t = test_open("null");
  qn_device other = NULL;
  OK(qn_release(t.runtime));
  FAILS(qn_device_open(t.runtime, "null", &other), QN_ERROR_INVALID_HANDLE, "runtime");
  qn_queue queue = test_queue(t.device);
  OK(qn_queue_finish(queue, PATIENCE));
  OK(qn_release(queue));
  OK(qn_release(t.device));
}

static void two_runtimes_live_side_by_side(void **state) {
  (void)state;
  test_device a = test_open("null"), b = test_open("null");
  qn_queue qa = test_queue(a.device), qb = test_queue(b.device);
  qn_buffer buffer = test_buffer(b.device, 8);
  qn_view view = test_view(buffer, 0, 8);
  char byte = 0;
  FAILS(qn_fill(qa, &view, &byte, 1, NULL), QN_ERROR_INVALID_HANDLE, "another runtime");
  test_close(&a);
  OK(qn_fill(qb, &view, &byte, 1, NULL));
  OK(qn_queue_finish(qb, PATIENCE));
  test_close(&b);
}

static void adapters_are_listed_with_reasons(void **state) {
  (void)state;
  qn_runtime runtime = NULL;
  qn_runtime_options o = QN_INIT(qn_runtime_options);
  o.adapters = "null,nonesuch";
  OK(qn_runtime_open(&o, &runtime));
  uint32_t count = 0, seen = 0;
  OK(qn_adapter_count(runtime, &count));
  for (uint32_t i = 0; i < count; i++) {
    qn_adapter_info info = QN_INIT(qn_adapter_info);
    OK(qn_adapter_describe(runtime, i, &info));
    if (strcmp(info.name, "null") == 0) {
      assert_int_equal(info.loaded, 1);
      assert_string_equal(info.reason, "");
      assert_non_null(strstr(info.path, "libquern-adapter-null.so"));
      seen++;
    } else if (strcmp(info.name, "nonesuch") == 0) {
      assert_int_equal(info.loaded, 0);
      assert_non_null(strstr(info.reason, "no file"));
      seen++;
    } else {
      assert_int_equal(info.loaded, 0);
      assert_non_null(strstr(info.reason, "QUERN_ADAPTERS"));
    }
  }
  assert_int_equal(seen, 2);
  qn_adapter_info past = QN_INIT(qn_adapter_info);
  FAILS(qn_adapter_describe(runtime, count, &past), QN_ERROR_NOT_FOUND, "index is");
  qn_device device = NULL;
  FAILS(qn_device_open(runtime, "nonesuch", &device), QN_ERROR_NOT_FOUND, "no file");
  OK(qn_runtime_close(runtime, PATIENCE));
}

static void devices_are_listed_in_a_stable_order(void **state) {
  (void)state;
  char first[16][64];
  uint32_t count = 0;
  for (int round = 0; round < 3; round++) {
    qn_runtime runtime = NULL;
    OK(qn_runtime_open(NULL, &runtime));
    OK(qn_device_count(runtime, &count));
    assert_true(count >= 1 && count <= 16);
    for (uint32_t i = 0; i < count; i++) {
      qn_device_info info = QN_INIT(qn_device_info);
      OK(qn_device_describe(runtime, i, &info));
      if (round == 0) memcpy(first[i], info.selector, sizeof info.selector);
      assert_string_equal(info.selector, first[i]);
      qn_device device = NULL;
      OK(qn_device_open(runtime, info.selector, &device)); /* a selector opens what it names */
      qn_device_info again = QN_INIT(qn_device_info);
      OK(qn_device_query(device, &again));
      assert_string_equal(again.selector, info.selector);
      assert_string_equal(again.adapter, info.adapter);
    }
    qn_device_info past = QN_INIT(qn_device_info);
    FAILS(qn_device_describe(runtime, count, &past), QN_ERROR_NOT_FOUND, "index is");
    OK(qn_runtime_close(runtime, PATIENCE));
  }
}

static void the_environment_chooses_the_device(void **state) {
  (void)state;
  qn_runtime runtime = NULL;
  qn_device device = NULL;
  qn_device_info info = QN_INIT(qn_device_info);
  setenv("QUERN_DEVICE", "null:0", 1);
  OK(qn_runtime_open(NULL, &runtime));
  OK(qn_device_open(runtime, NULL, &device));
  OK(qn_device_query(device, &info));
  assert_string_equal(info.selector, "null:0");
  unsetenv("QUERN_DEVICE");
  OK(qn_device_open(runtime, "best", &device));
  OK(qn_runtime_close(runtime, PATIENCE));
}

static void draining_tells_when_nothing_waits(void **state) {
  (void)state;
  test_device t = test_open("null");
  for (int i = 0; i < 100; i++) OK(qn_release(test_queue(t.device)));
  OK(qn_device_drain(t.device, PATIENCE));
  qn_device_statistics s = test_statistics(t.device);
  assert_int_equal(s.queues, 0);
  assert_int_equal(s.awaiting_release, 0);
  test_close(&t);
}

/* ---- Threads ---- */

enum { THREADS = 6, ROUNDS = 60 };

static void *open_and_close(void *given) {
  (void)given;
  for (int i = 0; i < ROUNDS; i++) {
    qn_runtime runtime = NULL;
    qn_device device = NULL;
    qn_queue queue = NULL;
    if (qn_runtime_open(NULL, &runtime) != QN_OK) abort();
    if (qn_device_open(runtime, "null", &device) != QN_OK) abort();
    if (qn_queue_create(device, NULL, &queue) != QN_OK) abort();
    if (qn_runtime_close(runtime, PATIENCE) != QN_OK) abort();
  }
  return NULL;
}

static void runtimes_come_and_go_on_many_threads(void **state) {
  (void)state;
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, open_and_close, NULL), 0);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
}

/* Creates until the runtime is closed under it: every call succeeds or says that the runtime is closed. */
static void *create_until_closed(void *given) {
  qn_device device = given;
  for (;;) {
    qn_buffer buffer = NULL;
    qn_buffer_options o = QN_INIT(qn_buffer_options);
    o.size_bytes = 64;
    qn_status status = qn_buffer_create(device, &o, &buffer);
    if (status == QN_ERROR_INVALID_HANDLE || status == QN_ERROR_CLOSED) return NULL;
    if (status != QN_OK) abort();
    status = qn_release(buffer);
    if (status != QN_OK && status != QN_ERROR_INVALID_HANDLE) abort();
  }
}

static void a_runtime_is_closed_while_threads_create(void **state) {
  (void)state;
  for (int round = 0; round < 40; round++) {
    test_device t = test_open("null");
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
      assert_int_equal(pthread_create(&threads[i], NULL, create_until_closed, t.device), 0);
    test_close(&t);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  }
}

static void *close_it(void *given) {
  qn_status status = qn_runtime_close(given, PATIENCE);
  return status == QN_OK ? given : status == QN_ERROR_INVALID_HANDLE ? NULL : (abort(), NULL);
}

static void of_many_who_close_one_does(void **state) {
  (void)state;
  for (int round = 0; round < 40; round++) {
    test_device t = test_open("null");
    pthread_t threads[THREADS];
    int closed = 0;
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, close_it, t.runtime), 0);
    for (int i = 0; i < THREADS; i++) {
      void *result = NULL;
      pthread_join(threads[i], &result);
      closed += result != NULL;
    }
    assert_int_equal(closed, 1);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_L6_closing_twice_and_calling_after_closing_are_errors),
      cmocka_unit_test(test_L6_a_failed_opening_is_followed_by_a_good_one),
      cmocka_unit_test(test_L6_a_runtime_is_opened_and_closed_again_and_again),
      cmocka_unit_test(closing_waits_for_work_in_flight),
      cmocka_unit_test(releasing_every_handle_ends_a_runtime_too),
      cmocka_unit_test(a_released_runtime_takes_no_calls_but_its_device_does),
      cmocka_unit_test(two_runtimes_live_side_by_side),
      cmocka_unit_test(adapters_are_listed_with_reasons),
      cmocka_unit_test(devices_are_listed_in_a_stable_order),
      cmocka_unit_test(the_environment_chooses_the_device),
      cmocka_unit_test(draining_tells_when_nothing_waits),
      cmocka_unit_test(runtimes_come_and_go_on_many_threads),
      cmocka_unit_test(a_runtime_is_closed_while_threads_create),
      cmocka_unit_test(of_many_who_close_one_does),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
