/* labels: threads once */
/* Adapters that can't be used: the others work, and each says why it doesn't (A5, L7). */
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

#define BAD_ADAPTERS QUERN_BINARY_DIR "/tests/plugins"

static qn_runtime open_with(const char *path, const char *names) {
  qn_runtime runtime = NULL;
  qn_runtime_options o = QN_INIT(qn_runtime_options);
  o.adapter_path = path;
  o.adapters = names;
  OK(qn_runtime_open(&o, &runtime));
  return runtime;
}

static qn_adapter_info adapter_of(qn_runtime runtime, const char *name) {
  uint32_t count = 0;
  OK(qn_adapter_count(runtime, &count));
  for (uint32_t i = 0; i < count; i++) {
    qn_adapter_info info = QN_INIT(qn_adapter_info);
    OK(qn_adapter_describe(runtime, i, &info));
    if (strcmp(info.name, name) == 0) return info;
  }
  fail_msg("adapter '%s' is not listed", name);
  return (qn_adapter_info){0};
}

static const struct {
  const char *name, *words;
} bad[] = {
    {"no_entry", "no symbol 'qn_adapter_entry'"},
    {"no_table", "no table of functions"},
    {"other_version", "built for version 77"},
    {"short_table", "its table has 64 bytes"},
    {"null_function", "lacks the function queue_submit"},
    {"other_name", "calls itself 'somebody'"},
    {"crash_in_load", "tried"},
    {"crash_in_entry", "tried"},
    {"crash_in_open", "tried"},
    {"exit_in_load", "ended the process that tried it out, with exit status"}, /* sanitizers change it */
    {"no_instance", "libvendor.so.1 is not there"},
    {"missing_symbol", "a_function_that_no_library_has"},
    {"crash_in_count", "tried"},
    {"crash_in_describe", "tried"},
    {"crash_in_close", "tried"},
    {"garbage_table", "tried"},
    {"null_instance", "gave no instance"},
    {"many_devices", "it says that it has 4294967295 devices"},
    {"fail_to_describe", "the device has fallen off the bus"},
    {"quiet_failure", "instance_open failed and gave no reason"},
};
enum { BAD = sizeof bad / sizeof *bad };

static void assert_bad_ones_are_listed_with_reasons(qn_runtime runtime) {
  for (size_t i = 0; i < BAD; i++) {
    qn_adapter_info info = adapter_of(runtime, bad[i].name);
    assert_int_equal(info.loaded, 0);
    assert_non_null(strstr(info.path, bad[i].name));
    if (!strstr(info.reason, bad[i].words)) fail_msg("%s: '%s' lacks '%s'", info.name, info.reason, bad[i].words);
  }
}

static void test_A5_bad_adapters_are_refused_with_reasons_and_the_others_work(void **state) {
  (void)state;
  for (int round = 0; round < 2; round++) { /* a library that crashed once is not tried again */
    qn_runtime runtime = open_with(BAD_ADAPTERS ":" QUERN_BINARY_DIR, NULL);
    qn_device device = NULL;
    assert_bad_ones_are_listed_with_reasons(runtime);
    assert_int_equal(adapter_of(runtime, "no_devices").loaded, 1);
    assert_int_equal(adapter_of(runtime, "null").loaded, 1);
    OK(qn_device_open(runtime, "null", &device));
    test_queue(device);
    for (size_t i = 0; i < BAD; i++) {
      qn_device none = NULL;
      qn_status status = qn_device_open(runtime, bad[i].name, &none);
      assert_true(status < 0);
      if (!strstr(qn_error_text(), bad[i].words)) fail_msg("'%s' lacks '%s'", qn_error_text(), bad[i].words);
    }
    FAILS(qn_device_open(runtime, "no_devices", &device), QN_ERROR_NOT_FOUND, "has 0 devices");
    OK(qn_runtime_close(runtime, PATIENCE));
  }
}

static void test_L7_a_named_adapter_tells_the_vendors_reason_and_code(void **state) {
  (void)state;
  qn_runtime runtime = open_with(BAD_ADAPTERS, NULL);
  qn_device device = NULL;
  FAILS(qn_device_open(runtime, "no_instance", &device), QN_ERROR_NOT_FOUND, "libvendor.so.1 is not there");
  assert_int_equal(qn_error_driver_code(), 42);
  FAILS(qn_device_open(runtime, "null", &device), QN_ERROR_NOT_FOUND, "there is no device 'null'");
  OK(qn_runtime_close(runtime, PATIENCE));
}

/* ---- Those that hang ---------------------------------------------------------------------------- */

static void test_A5_an_adapter_that_hangs_is_given_up_and_the_others_work(void **state) {
  static const char *const hanging[] = {"hang_in_load", "hang_in_entry", "hang_in_open"};
  (void)state;
  setenv("QUERN_ADAPTER_PATIENCE", "1", 1);
  for (int round = 0; round < 2; round++) {
    qn_runtime runtime = open_with(BAD_ADAPTERS "/hanging", NULL);
    qn_device device = NULL;
    for (size_t i = 0; i < 3; i++) {
      qn_adapter_info info = adapter_of(runtime, hanging[i]);
      assert_int_equal(info.loaded, 0);
      if (!strstr(info.reason, "did not finish loading in 1 seconds")) fail_msg("%s: '%s'", info.name, info.reason);
      FAILS(qn_device_open(runtime, hanging[i], &device), QN_ERROR_ABI, "did not finish");
    }
    OK(qn_device_open(runtime, "check", &device));
    OK(qn_runtime_close(runtime, PATIENCE));
  }
  unsetenv("QUERN_ADAPTER_PATIENCE");
}

/* ---- The program's own children ----------------------------------------------------------------- */

/* A program that ignores SIGCHLD never learns how a child ended. Each of these is a fresh process: PROGRAM ignoring. */
static int list_without_sigchld(void) {
  qn_runtime runtime = NULL;
  qn_runtime_options o = QN_INIT(qn_runtime_options);
  uint32_t count = 0;
  o.adapter_path = BAD_ADAPTERS ":" QUERN_BINARY_DIR;
  if (signal(SIGCHLD, SIG_IGN) == SIG_ERR) return 2;
  if (qn_runtime_open(&o, &runtime) != QN_OK || qn_adapter_count(runtime, &count) != QN_OK) return 3;
  for (uint32_t i = 0; i < count; i++) {
    qn_adapter_info info = QN_INIT(qn_adapter_info);
    if (qn_adapter_describe(runtime, i, &info) != QN_OK) return 4;
    if (strcmp(info.name, "null") == 0 && !info.loaded) return 5;
    if (strcmp(info.name, "crash_in_load") == 0 && (info.loaded || !strstr(info.reason, "tried"))) return 6;
  }
  return qn_runtime_close(runtime, PATIENCE) == QN_OK ? 0 : 7;
}

static void test_A5_a_crash_is_noticed_by_a_program_that_ignores_its_children(void **state) {
  (void)state;
  int status = 0;
  fflush(NULL);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    alarm(60);
    execl("/proc/self/exe", "test_adapters", "ignoring", (char *)NULL);
    _exit(8);
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
}

/* ---- What is no adapter ------------------------------------------------------------------------- */

static char place[] = "/tmp/quern-adapters-XXXXXX";

static const char *file_named(const char *name) {
  static char path[256];
  snprintf(path, sizeof path, "%s/libquern-adapter-%s.so", place, name);
  return path;
}

static void write_file(const char *name, const char *bytes, size_t size) {
  FILE *file = fopen(file_named(name), "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, size, file), size);
  assert_int_equal(fclose(file), 0);
}

/* A real adapter's file, cut short, or with another machine in its header. */
static void write_damaged(const char *name, bool other_machine) {
  static char bytes[1 << 22];
  FILE *file = fopen(QUERN_BINARY_DIR "/libquern-adapter-null.so", "rb");
  assert_non_null(file);
  size_t size = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  assert_true(size > 20000);
  if (other_machine) bytes[18] = (char)0xf3, bytes[19] = 0; /* e_machine: RISC-V */
  write_file(name, bytes, other_machine ? size : size / 3);
}

static const char *const made[] = {"empty",  "text",      "elf",  "cut",     "machine",
                                   "secret", "directory", "pipe", "nowhere", "endless"};
enum { MADE = sizeof made / sizeof *made };

#define LONG_NAME "a_name_of_more_than_31_characters_in_all"

static int make_place(void **state) {
  (void)state;
  assert_non_null(mkdtemp(place));
  assert_int_equal(chmod(place, 0755), 0);
  write_file("empty", "", 0);
  write_file("text", "this is no library\n", 19);
  write_file("elf", "\177ELF and no more", 16);
  write_damaged("cut", false);
  write_damaged("machine", true);
  write_damaged("secret", true);
  assert_int_equal(chmod(file_named("secret"), 0), 0);
  assert_int_equal(mkdir(file_named("directory"), 0755), 0);
  assert_int_equal(mkfifo(file_named("pipe"), 0644), 0);
  assert_int_equal(symlink("/nowhere/at/all.so", file_named("nowhere")), 0);
  assert_int_equal(symlink("libquern-adapter-endless.so", file_named("endless")), 0);
  write_file("", "", 0);
  write_file(LONG_NAME, "", 0);
  return 0;
}

static int remove_place(void **state) {
  (void)state;
  for (size_t i = 0; i < MADE; i++)
    if (unlink(file_named(made[i])) != 0) rmdir(file_named(made[i]));
  unlink(file_named(""));
  unlink(file_named(LONG_NAME));
  return rmdir(place);
}

static void test_A5_what_is_no_library_is_refused_and_the_others_work(void **state) {
  (void)state;
  char path[512];
  snprintf(path, sizeof path, "%s:%s", place, QUERN_BINARY_DIR);
  for (int round = 0; round < 2; round++) {
    qn_runtime runtime = open_with(path, NULL);
    for (size_t i = 0; i < MADE; i++) {
      qn_adapter_info info = adapter_of(runtime, made[i]);
      assert_int_equal(info.loaded, 0);
      assert_string_equal(info.path, file_named(made[i]));
      if (strlen(info.reason) < 10) fail_msg("%s: the reason is '%s'", info.name, info.reason);
    }
    assert_non_null(strstr(adapter_of(runtime, "directory").reason, "a directory"));
    assert_non_null(strstr(adapter_of(runtime, "pipe").reason, "special"));
    assert_non_null(strstr(adapter_of(runtime, "text").reason, "can't be loaded"));
    assert_non_null(strstr(adapter_of(runtime, "...").reason, "and this one has 0"));
    assert_non_null(strstr(adapter_of(runtime, "a_name_of_more_than_31_chara...").reason, "and this one has 40"));
    assert_int_equal(adapter_of(runtime, "check").loaded, 1);
    assert_int_equal(adapter_of(runtime, "null").loaded, 1);
    OK(qn_runtime_close(runtime, PATIENCE));
  }
}

/* Root may read everything: as somebody else. */
static int list_as_nobody(void) {
  qn_runtime runtime = NULL;
  qn_runtime_options o = QN_INIT(qn_runtime_options);
  uint32_t count = 0;
  bool is_refused = false;
  o.adapter_path = place;
  if (geteuid() == 0 && (setegid(65534) != 0 || seteuid(65534) != 0)) return 2;
  if (qn_runtime_open(&o, &runtime) != QN_OK || qn_adapter_count(runtime, &count) != QN_OK) return 3;
  for (uint32_t i = 0; i < count; i++) {
    qn_adapter_info info = QN_INIT(qn_adapter_info);
    if (qn_adapter_describe(runtime, i, &info) != QN_OK) return 4;
    if (strcmp(info.name, "secret") == 0) is_refused = !info.loaded && strstr(info.reason, "Permission denied");
  }
  return qn_runtime_close(runtime, PATIENCE) != QN_OK ? 5 : is_refused ? 0 : 6;
}

static void test_A5_a_library_that_may_not_be_read_says_so(void **state) {
  (void)state;
  int status = 0;
  fflush(NULL);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    alarm(60);
    setenv("ASAN_OPTIONS", "detect_leaks=0", 1); /* looking for leaks takes rights that nobody has */
    execl("/proc/self/exe", "test_adapters", "nobody", place, (char *)NULL);
    _exit(8);
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
}

static void places_that_are_not_there_are_no_error(void **state) {
  (void)state;
  qn_runtime runtime = open_with("/nowhere:/etc/passwd::" QUERN_BINARY_DIR, "null");
  assert_int_equal(adapter_of(runtime, "null").loaded, 1);
  OK(qn_runtime_close(runtime, PATIENCE));
}

static void the_first_of_a_name_is_taken(void **state) {
  (void)state;
  char directory[] = "/tmp/quern-adapters-XXXXXX", path[128];
  assert_non_null(mkdtemp(directory));
  snprintf(path, sizeof path, "%s/libquern-adapter-null.so", directory);
  assert_int_equal(symlink(QUERN_BINARY_DIR "/libquern-adapter-null.so", path), 0);
  char both[512];
  snprintf(both, sizeof both, "%s:%s", directory, QUERN_BINARY_DIR);
  qn_runtime runtime = open_with(both, "null");
  assert_string_equal(adapter_of(runtime, "null").path, path);
  OK(qn_runtime_close(runtime, PATIENCE));
  unlink(path);
  rmdir(directory);
}

int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "ignoring") == 0) return list_without_sigchld();
  if (argc == 3 && strcmp(argv[1], "nobody") == 0) {
    snprintf(place, sizeof place, "%s", argv[2]);
    return list_as_nobody();
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_A5_bad_adapters_are_refused_with_reasons_and_the_others_work),
      cmocka_unit_test(test_A5_an_adapter_that_hangs_is_given_up_and_the_others_work),
      cmocka_unit_test(test_A5_a_crash_is_noticed_by_a_program_that_ignores_its_children),
      cmocka_unit_test(test_A5_what_is_no_library_is_refused_and_the_others_work),
      cmocka_unit_test(test_A5_a_library_that_may_not_be_read_says_so),
      cmocka_unit_test(test_L7_a_named_adapter_tells_the_vendors_reason_and_code),
      cmocka_unit_test(places_that_are_not_there_are_no_error),
      cmocka_unit_test(the_first_of_a_name_is_taken),
  };
  return cmocka_run_group_tests(tests, make_place, remove_place);
}
