/* labels: threads */
/* QUERN_CHECK=leaks: what was not released when its runtime closes, and the place where it was made. */
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake_device.h"

typedef struct report {
  uint64_t count;
  char text[8192];
} report;

static report take_report(void) {
  report r = {0};
  OK(qn_leak_report(r.text, sizeof r.text, &r.count));
  return r;
}

static void has_line(const report *r, const char *line) {
  char wanted[300];
  snprintf(wanted, sizeof wanted, "%s\n", line);
  if (!strstr(r->text, wanted)) fail_msg("there is no line '%s' in:\n%s", line, r->text);
}

static void __attribute__((noinline)) make_buffer(qn_device device, uint64_t size_bytes, qn_buffer *out) {
  qn_buffer_options o = QN_INIT(qn_buffer_options);
  o.size_bytes = size_bytes;
  OK(qn_buffer_create(device, &o, out));
}

/* ---- What is a leak ----------------------------------------------------------------------------- */

static void a_runtime_that_everything_was_released_of_has_none(void **state) {
  (void)state;
  test_device t = test_open("null");
  qn_queue queue = test_queue(t.device);
  qn_buffer buffer = test_buffer(t.device, 1 << 20);
  for (int i = 0; i < 100; i++) fill(queue, buffer, 1);
  OK(qn_retain(buffer));
  OK(qn_release(t.device)); /* its children hold it, and work in flight holds them: none of that is a leak */
  OK(qn_release(queue));
  OK(qn_release(buffer));
  OK(qn_release(buffer));
  test_close(&t);
  report r = take_report();
  assert_int_equal(r.count, 0);
  assert_string_equal(r.text, "");
}

static void leaks_are_told_by_kind_and_place_with_their_counts(void **state) {
  (void)state;
  qn_runtime runtime = NULL;
  qn_device device = NULL;
  qn_queue queue = NULL;
  qn_buffer buffers[3] = {NULL};
  qn_buffer_options o = QN_INIT(qn_buffer_options);
  char line[3][300];
  OK(qn_runtime_open(NULL, &runtime));
  snprintf(line[0], sizeof line[0], "1 x device null:0: %s:%d", __FILE__, __LINE__ + 1);
  OK(QN_HERE(qn_device_open(runtime, "null", &device)));
  snprintf(line[1], sizeof line[1], "1 x queue: %s:%d", __FILE__, __LINE__ + 1);
  OK(QN_HERE(qn_queue_create(device, NULL, &queue)));
  snprintf(line[2], sizeof line[2], "3 x buffer, 4 counts, 600 bytes: %s:%d", __FILE__, __LINE__ + 3);
  for (int i = 0; i < 3; i++) {
    o.size_bytes = 100u * (uint64_t)(i + 1);
    OK(QN_HERE(qn_buffer_create(device, &o, &buffers[i])));
  }
  OK(qn_retain(buffers[1]));
  OK(qn_runtime_close(runtime, PATIENCE));
  report r = take_report();
  assert_int_equal(r.count, 5);
  for (int i = 0; i < 3; i++) has_line(&r, line[i]);
  assert_int_equal(take_report().count, 0); /* told once */
}

static void programs_and_kernels_are_told_too(void **state) {
  (void)state;
  test_device t = test_open("check");
  qn_program_options o = QN_INIT(qn_program_options);
  qn_program program = NULL;
  qn_kernel kernel = NULL;
  o.source = "kernel void first() {}\n";
  OK(QN_HERE(qn_program_build(t.device, &o, &program)));
  OK(QN_HERE(qn_kernel_get(program, "first", &kernel)));
  OK(qn_release(t.device));
  test_close(&t);
  report r = take_report();
  assert_int_equal(r.count, 2);
  assert_non_null(strstr(r.text, "1 x program: "));
  assert_non_null(strstr(r.text, "1 x kernel 'first': "));
}

/* ---- Places ------------------------------------------------------------------------------------- */

static void without_a_place_the_call_stack_is_told(void **state) {
  (void)state;
  test_device t = test_open("null");
  qn_buffer one = NULL, two = NULL;
  make_buffer(t.device, 10, &one);
  make_buffer(t.device, 20, &two); /* another place */
  OK(qn_release(t.device));
  test_close(&t);
  report r = take_report();
  assert_int_equal(r.count, 2);
  assert_non_null(strstr(r.text, "1 x buffer, 10 bytes: test_leaks_"));
  assert_non_null(strstr(r.text, "1 x buffer, 20 bytes: test_leaks_"));
  assert_null(strstr(r.text, "libquern.so")); /* the caller's frames alone */
}

static void a_place_is_that_of_one_call(void **state) {
  (void)state;
  test_device t = test_open("null");
  qn_buffer first = NULL, second = NULL;
  qn_buffer_options bad = QN_INIT(qn_buffer_options);
  FAILS(QN_HERE(qn_buffer_create(t.device, &bad, &first)), QN_ERROR_INVALID_ARGUMENT, "size_bytes is 0");
  make_buffer(t.device, 10, &first);
  assert_int_equal(QN_HERE(qn_buffer_create(NULL, &bad, &second)), QN_ERROR_INVALID_HANDLE);
  qn_here("binding.py", 77);
  make_buffer(t.device, 20, &second);
  OK(qn_release(t.device));
  test_close(&t);
  report r = take_report();
  assert_null(strstr(r.text, "1 x buffer, 10 bytes: " __FILE__));
  has_line(&r, "1 x buffer, 20 bytes: binding.py:77");
}

static void the_text_is_cut_to_its_capacity(void **state) {
  (void)state;
  char small[12];
  uint64_t count = 0;
  for (int round = 0; round < 2; round++) {
    test_device t = test_open("null");
    qn_runtime_close(t.runtime, PATIENCE);
  }
  memset(small, 'x', sizeof small);
  OK(qn_leak_report(small, sizeof small, &count));
  assert_int_equal(count, 2); /* of both runtimes */
  assert_string_equal(small, "1 x device ");
  test_device t = test_open("null");
  qn_runtime_close(t.runtime, PATIENCE);
  OK(qn_leak_report(NULL, 0, &count));
  assert_int_equal(count, 1);
  FAILS(qn_leak_report(NULL, 1, &count), QN_ERROR_INVALID_ARGUMENT, "text is NULL");
  FAILS(qn_leak_report(small, sizeof small, NULL), QN_ERROR_INVALID_ARGUMENT, "out_count is NULL");
}

/* ---- Threads ------------------------------------------------------------------------------------ */

enum { THREADS = 4, ROUNDS = 20 };

static void *leak(void *given) {
  (void)given;
  for (int i = 0; i < ROUNDS; i++) {
    test_device t = {0};
    qn_queue queue = NULL;
    if (qn_runtime_open(NULL, &t.runtime) != QN_OK || qn_device_open(t.runtime, "null", &t.device) != QN_OK) abort();
    qn_here("threads.c", 1);
    if (qn_queue_create(t.device, NULL, &queue) != QN_OK) abort();
    if (qn_release(t.device) != QN_OK) abort();
    if (qn_runtime_close(t.runtime, PATIENCE) != QN_OK) abort();
  }
  return NULL;
}

static void runtimes_of_many_threads_are_told_each(void **state) {
  (void)state;
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, leak, NULL), 0);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  report r = take_report();
  assert_int_equal(r.count, THREADS * ROUNDS);
  has_line(&r, "1 x queue: threads.c:1");
}

/* ---- The environment ---------------------------------------------------------------------------- */

static const char *self;

/* This program again, in a case of its own, with QUERN_CHECK as given; what it says on standard error. */
static int run_case(const char *name, const char *check, char *out, size_t capacity) {
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    close(ends[1]);
    setenv("QUERN_CHECK", check, 1);
    execl(self, self, name, (char *)NULL);
    _exit(126);
  }
  close(ends[1]);
  size_t size = 0;
  for (ssize_t n = 1; n > 0 && size < capacity - 1; size += n > 0 ? (size_t)n : 0)
    n = read(ends[0], out + size, capacity - 1 - size);
  out[size] = '\0';
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int leak_a_device(void) {
  qn_runtime runtime = NULL;
  qn_device device = NULL;
  uint64_t count = 7;
  if (qn_runtime_open(NULL, &runtime) != QN_OK) return 1;
  if (QN_HERE(qn_device_open(runtime, "null", &device)) != QN_OK) return 2;
  if (qn_runtime_close(runtime, PATIENCE) != QN_OK) return 3;
  qn_status status = qn_leak_report(NULL, 0, &count);
  return status == QN_OK ? 10 + (int)count : status == QN_ERROR_UNSUPPORTED ? 20 : 4;
}

static void the_log_tells_what_leaked(void **state) {
  (void)state;
  char out[4096];
  assert_int_equal(run_case("leak", "leaks", out, sizeof out), 11);
  assert_non_null(strstr(out, "1 objects were not released when their runtime closed"));
  assert_non_null(strstr(out, "1 x device null:0: " __FILE__ ":"));
}

static void without_the_check_nothing_is_told_and_asking_is_an_error(void **state) {
  (void)state;
  char out[4096];
  assert_int_equal(run_case("leak", "", out, sizeof out), 20);
  assert_string_equal(out, "");
}

static void an_unknown_check_is_told(void **state) {
  (void)state;
  char out[4096];
  assert_int_equal(run_case("leak", "leeks,leaks", out, sizeof out), 11);
  assert_non_null(strstr(out, "QUERN_CHECK has no topic 'leeks'; there are: leaks, costs"));
}

int main(int count, char **arguments) {
  if (count == 2) return strcmp(arguments[1], "leak") == 0 ? leak_a_device() : 125;
  self = arguments[0];
  setenv("QUERN_CHECK", "leaks", 1);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_runtime_that_everything_was_released_of_has_none),
      cmocka_unit_test(leaks_are_told_by_kind_and_place_with_their_counts),
      cmocka_unit_test(programs_and_kernels_are_told_too),
      cmocka_unit_test(without_a_place_the_call_stack_is_told),
      cmocka_unit_test(a_place_is_that_of_one_call),
      cmocka_unit_test(the_text_is_cut_to_its_capacity),
      cmocka_unit_test(runtimes_of_many_threads_are_told_each),
      cmocka_unit_test(the_log_tells_what_leaked),
      cmocka_unit_test(without_the_check_nothing_is_told_and_asking_is_an_error),
      cmocka_unit_test(an_unknown_check_is_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
