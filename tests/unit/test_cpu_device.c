/* The cpu adapter's table, its description of the device, and what the environment says to it. */
#include <sched.h>

#include "support/cpu_fixture.h"

static qn_adapter_device_info describe(void) {
  qn_adapter_device_info info = {.struct_size = sizeof info};
  assert_int_equal(cpu->device_describe(instance, 0, &info), QN_OK);
  return info;
}

static void test_table_is_complete(void **state) {
  (void)state;
  assert_int_equal(cpu->struct_size, sizeof(qn_adapter_table));
  assert_int_equal(cpu->abi_version, QN_ADAPTER_ABI_VERSION);
  assert_string_equal(cpu->name, "cpu");
  assert_non_null(cpu->queue_submit);
  assert_null(cpu->memory_map); /* host_pointer serves always */
}

static void test_description_says_what_the_machine_is(void **state) {
  (void)state;
  open_device(3);
  qn_adapter_device_info info = describe();
  uint32_t count;
  assert_int_equal(cpu->device_count(instance, &count), QN_OK);
  assert_int_equal(count, 1);
  assert_int_equal(info.struct_size, sizeof info);
  assert_int_equal(info.type, QN_DEVICE_CPU);
  assert_int_equal(info.code_kind, QN_CODE_ELF_OBJECT);
  assert_int_equal(info.failure_domain, QN_FAILURE_QUEUE);
  assert_int_equal(info.compute_units, 3);
  assert_int_equal(info.address_bits, 64);
  assert_true(info.memory_bytes > 1 << 20);
  assert_true(info.max_group_items >= 4096);
  assert_true(strlen(info.name) > 0);
  assert_true(strcmp(info.target, "x86-64") == 0 || strcmp(info.target, "aarch64") == 0);
  assert_true(cpu->device_describe(instance, 1, &info) == QN_ERROR_NOT_FOUND);
  close_device();
}

static void test_description_fits_an_older_struct(void **state) {
  (void)state;
  struct {
    qn_adapter_device_info info;
  } s;
  memset(&s, 0x5a, sizeof s);
  open_device(1);
  s.info.struct_size = offsetof(qn_adapter_device_info, name);
  assert_int_equal(cpu->device_describe(instance, 0, &s.info), QN_OK);
  assert_int_equal(s.info.struct_size, offsetof(qn_adapter_device_info, name));
  assert_int_equal(s.info.type, QN_DEVICE_CPU);
  assert_int_equal((unsigned char)s.info.name[0], 0x5a);
  close_device();
}

static void test_threads_come_from_the_affinity_unless_given(void **state) {
  (void)state;
  cpu_set_t old, one;
  assert_int_equal(sched_getaffinity(0, sizeof old, &old), 0);
  CPU_ZERO(&one);
  int first = 0;
  while (!CPU_ISSET(first, &old)) first++;
  CPU_SET(first, &one);
  assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
  unsetenv("QUERN_CPU_THREADS");
  assert_int_equal(cpu->instance_open(&fixture_host, &instance), QN_OK);
  assert_int_equal(describe().compute_units, 1);
  assert_int_equal(cpu->instance_close(instance), QN_OK);
  assert_int_equal(sched_setaffinity(0, sizeof old, &old), 0);
}

static void test_wrong_environment_is_named(void **state) {
  (void)state;
  static const char *const wrong[] = {"0", "-1", "two", "3x", "99999", "18446744073709551617"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    setenv("QUERN_CPU_THREADS", wrong[i], 1);
    assert_int_equal(cpu->instance_open(&fixture_host, &instance), QN_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(cpu_error_text, "QUERN_CPU_THREADS"));
    assert_non_null(strstr(cpu_error_text, wrong[i]));
  }
  /* A failed opening is followed by a good one. */
  open_device(1);
  close_device();
  setenv("QUERN_CPU_SPIN_US", "long", 1);
  assert_int_equal(cpu->instance_open(&fixture_host, &instance), QN_OK);
  assert_int_equal(cpu->device_open(instance, 0, &device), QN_ERROR_INVALID_ARGUMENT);
  assert_non_null(strstr(cpu_error_text, "QUERN_CPU_SPIN_US"));
  unsetenv("QUERN_CPU_SPIN_US");
  assert_int_equal(cpu->device_open(instance, 0, &device), QN_OK);
  close_device();
}

static void test_opens_and_closes_again_and_again(void **state) {
  (void)state;
  for (int i = 0; i < 20; i++) {
    open_device(4);
    close_device();
  }
}

/* ---- The target, beside clang's own detection --------------------------------------------------- */

static int compare_words(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* Splits at commas, sorts. */
static size_t sorted_words(char *text, char **words, size_t capacity) {
  size_t count = 0;
  for (char *word = strtok(text, ","); word && count < capacity; word = strtok(NULL, ",")) words[count++] = word;
  qsort(words, count, sizeof *words, compare_words);
  return count;
}

static void test_target_is_what_llvm_finds(void **state) {
  (void)state;
#if defined(__x86_64__)
  FILE *clang = popen("clang-19 -march=native -### -c -x c /dev/null 2>&1", "r");
  static char line[65536], theirs[8192], found_cpu[64], ours[sizeof((qn_adapter_device_info *)0)->target_features];
  assert_non_null(clang);
  while (fgets(line, sizeof line, clang))
    for (char *word = strtok(line, " \n"); word; word = strtok(NULL, " \n")) {
      bool is_cpu = strcmp(word, "\"-target-cpu\"") == 0;
      if (!is_cpu && strcmp(word, "\"-target-feature\"") != 0) continue;
      word = strtok(NULL, " \n");
      if (!word) break;
      word[strlen(word) - 1] = 0; /* the quotes */
      if (is_cpu)
        snprintf(found_cpu, sizeof found_cpu, "%s", word + 1);
      else
        snprintf(theirs + strlen(theirs), sizeof theirs - strlen(theirs), "%s,", word + 1);
    }
  pclose(clang);
  if (!*theirs) skip(); /* no clang 19 here */
  open_device(1);
  qn_adapter_device_info info = describe();
  close_device();
  assert_string_equal(info.target_cpu, found_cpu);
  char *a[256], *b[256];
  memcpy(ours, info.target_features, sizeof ours);
  size_t n = sorted_words(ours, a, 256), m = sorted_words(theirs, b, 256);
  for (size_t i = 0; i < n && i < m; i++) assert_string_equal(a[i], b[i]);
  assert_int_equal(n, m);
#else
  skip();
#endif
}

static int setup(void **state) {
  (void)state;
  fixture_load();
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_table_is_complete),
      cmocka_unit_test(test_description_says_what_the_machine_is),
      cmocka_unit_test(test_description_fits_an_older_struct),
      cmocka_unit_test(test_threads_come_from_the_affinity_unless_given),
      cmocka_unit_test(test_wrong_environment_is_named),
      cmocka_unit_test(test_opens_and_closes_again_and_again),
      cmocka_unit_test(test_target_is_what_llvm_finds),
  };
  return cmocka_run_group_tests(tests, setup, NULL);
}
