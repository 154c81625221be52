/* The cpu adapter's object loader: objects of several compilers and models run; hostile ones are refused. */
#include "support/cpu_fixture.h"

/* Every kind of data and reference that an object may have. */
static const char everything[] =
    "static const int table[8] = {3, 1, 4, 1, 5, 9, 2, 6};\n"
    "static const double coefficients[4] __attribute__((aligned(64))) = {0.5, 1.25, 2.5, 4.0};\n"
    "static int in_data = 40, in_bss[1000];\n"
    "int exported = 7, tentative;\n"
    "const char *const names[3] = {\"zero\", \"one\", \"two\"};\n" /* relocated read-only data */
    "int twice(int x) { return 2 * x; }\n"
    "int square(int x) { return x * x; }\n"
    "__attribute__((weak)) int weak(int x) { return x + 100; }\n"
    "int (*const functions[3])(int) = {twice, square, weak};\n"
    "int (*changeable)(int) = square;\n"
    "__attribute__((noinline)) int choose(int x) {\n" /* a jump table */
    "  switch (x) { case 0: return 11; case 1: return 23; case 2: return 5; case 3: return 87; case 4: return 2;\n"
    "    case 5: return -4; case 6: return 99; case 7: return 1000; case 8: return 31; default: return 0; }\n"
    "}\n"
    "__attribute__((noinline)) static int length(const volatile char *s) { int n = 0; while (s[n]) n++; return n; }\n"
    "void all(const qn_cpu_launch *launch, const qn_cpu_group *group) {\n"
    "  int *out = *(int **)launch->arguments, n = 0;\n"
    "  for (int i = 0; i < 8; i++) out[n++] = table[i];\n"
    "  for (int i = 0; i < 4; i++) out[n++] = (int)(4 * coefficients[i & (int)group->local[0] * 3]);\n"
    "  out[n++] = ++in_data; in_bss[999] += 5; out[n++] = in_bss[999]; out[n++] = in_bss[3];\n"
    "  exported += 1; tentative += 2; out[n++] = exported; out[n++] = tentative;\n"
    "  for (int i = 0; i < 3; i++) out[n++] = length(names[i]);\n"
    "  for (int i = 0; i < 3; i++) out[n++] = functions[i](9);\n"
    "  out[n++] = changeable(5); changeable = twice; out[n++] = changeable(5);\n"
    "  for (int i = 0; i < 10; i++) out[n++] = choose(i + (int)group->id[0]);\n"
    "  out[n++] = ((unsigned long)coefficients & 63) == 0;\n"
    "}\n";
static const int expected[] = {3, 1, 4,  1,  5,   9,  2,  6,  2,  5, 10, 16, 41, 5,  0,    8,  2, 4,
                               3, 3, 18, 81, 109, 25, 10, 11, 23, 5, 87, 2,  -4, 99, 1000, 31, 0, 1};
#define EXPECTED_COUNT (sizeof expected / sizeof *expected)

static void run_everything(qn_adapter_program *program) {
  int *out;
  qn_adapter_memory *memory = make_memory(sizeof expected, &out);
  kernel_shape shape = {1, {QN_ARGUMENT_BUFFER}, {0}};
  qn_adapter_kernel *k = make_kernel(program, "all", &shape);
  qn_launch_argument argument = buffer_argument(memory, sizeof expected);
  qn_launch_record launch = launch_1d(k, 1, 1, &argument, 1);
  stream s = make_stream(0);
  submit_launch(&s, &launch);
  finish(&s);
  for (size_t i = 0; i < EXPECTED_COUNT; i++)
    if (out[i] != expected[i]) fail_msg("result %zu is %d, not %d", i, out[i], expected[i]);
  drop_stream(&s);
  assert_int_equal(cpu->kernel_destroy(device, k), QN_OK);
  drop_memory(memory);
}

static const char *const commands[] = {
    "gcc -O2 -fPIC",
    "gcc -O0 -fPIC -fcommon",
    "gcc -O2 -fPIC -fno-plt -ffunction-sections -fdata-sections",
    "gcc -O2 -fPIE -fno-jump-tables",
    "gcc -O2 -g -fPIC",
    "clang-19 -O2 -fPIC",
    "clang-19 -O3 -fPIC -g",
    "clang-19 -O1 -fPIE -fcommon -ffunction-sections",
#if defined(__x86_64__)
    "gcc -O2 -fno-pic -mcmodel=large",
    "clang-19 -O2 -fno-pic -mcmodel=large",
    "clang-19 -O2 -fPIC -march=x86-64-v3",
#endif
};

static void test_objects_of_many_kinds_run(void **state) {
  (void)state;
  int run = 0;
  for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
    object o = compile_with(commands[i], everything);
    if (!o.bytes) continue; /* no such compiler here */
    qn_adapter_program *program;
    if (load_object(o.bytes, o.size, &program) != QN_OK) fail_msg("%s: %s", commands[i], cpu_error_text);
    memset(o.bytes, 0, o.size); /* borrowed for the call alone */
    free(o.bytes);
    run_everything(program);
    assert_int_equal(cpu->program_destroy(device, program), QN_OK);
    run++;
  }
  assert_true(run > 0);
}

/* ---- What is refused, and how ------------------------------------------------------------------- */

static void expect_source_refused(const char *command, const char *source, const char *word) {
  object o = compile_with(command, source);
  if (!o.bytes) return;
  qn_adapter_program *program;
  assert_int_equal(load_object(o.bytes, o.size, &program), QN_ERROR_DATA);
  if (!strstr(cpu_error_text, word)) fail_msg("'%s' does not say '%s'", cpu_error_text, word);
  free(o.bytes);
}

static void test_undefined_symbol_is_named(void **state) {
  (void)state;
  expect_source_refused("cc -O2 -fPIC", "extern int nowhere(int); int f(int x) { return nowhere(x); }", "nowhere");
  expect_source_refused("cc -O2 -fPIC", "extern int missing; int f(void) { return missing; }", "missing");
  expect_source_refused("cc -O2 -fPIC", "#include <math.h>\nfloat f(float x) { return sinf(x); }", "sinf");
}

static void test_thread_local_data_is_refused(void **state) {
  (void)state;
  expect_source_refused("cc -O2 -fPIC", "static __thread int t = 1; int f(void) { return t++; }", "thread-local");
  expect_source_refused("cc -O2 -fPIC", "extern __thread int t; int f(void) { return t; }", "thread-local");
}

static void test_constructors_are_refused(void **state) {
  (void)state;
  expect_source_refused("cc -O2 -fPIC", "volatile int x; __attribute__((constructor)) void f(void) { x++; }",
                        "constructor");
}

static void test_far_references_are_refused(void **state) {
  (void)state;
#if defined(__x86_64__)
  expect_source_refused("gcc -O2 -fno-pic", "int table[9]; int *f(int i) { return table + i; }", "range");
  expect_source_refused(
      "gcc -O2 -fPIC",
      "void f(void) { asm volatile(\"mov $0x1000000000, %rax; call faraway; .set faraway, 0x7000000000000000\"); }",
      "range");
#endif
}

static void test_too_large_objects_are_refused(void **state) {
  (void)state;
#if defined(__x86_64__)
  expect_source_refused("cc -O2 -fPIC -mcmodel=large", "static char b[3ul << 30]; char *f(void) { return b; }", "MiB");
#endif
}

static void test_wrong_kinds_of_files_are_refused(void **state) {
  (void)state;
  qn_adapter_program *program;
  object o = compile(everything);
  struct {
    size_t at;
    uint8_t value;
    const char *word;
  } changes[] = {{0, 'x', "not an ELF"}, {4, 1, "64-bit"},       {5, 2, "little end"},   {16, 3, "type 3"},
                 {18, 21, "machine 21"}, {58, 63, "wrong size"}, {60, 0, "no sections"}, {47, 0x7f, "outside of"}};
  for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
    uint8_t old[2] = {o.bytes[changes[i].at], o.bytes[changes[i].at + 1]};
    o.bytes[changes[i].at] = changes[i].value;
    if (changes[i].at == 60) o.bytes[61] = 0;
    assert_int_equal(load_object(o.bytes, o.size, &program), QN_ERROR_DATA);
    if (!strstr(cpu_error_text, changes[i].word)) fail_msg("'%s' does not say '%s'", cpu_error_text, changes[i].word);
    memcpy(o.bytes + changes[i].at, old, 2);
  }
  assert_int_equal(load_object(o.bytes, 0, &program), QN_ERROR_DATA);
  assert_int_equal(load_object("", 0, &program), QN_ERROR_DATA);
  qn_adapter_code ptx = {sizeof ptx, QN_CODE_PTX, "x", 1};
  assert_int_equal(cpu->program_create(device, &ptx, &program), QN_ERROR_UNSUPPORTED);
  assert_int_equal(load_object(o.bytes, o.size, &program), QN_OK);
  assert_int_equal(cpu->program_destroy(device, program), QN_OK);
  free(o.bytes);
}

/* ---- Hostile bytes ------------------------------------------------------------------------------ */

static void load_and_drop(const uint8_t *bytes, size_t size) {
  qn_adapter_program *program;
  /* A copy of the exact size, so that a sanitizer sees a read past the end. */
  uint8_t *copy = malloc(size ? size : 1);
  assert_non_null(copy);
  memcpy(copy, bytes, size);
  *cpu_error_text = 0;
  qn_status status = load_object(copy, size, &program);
  if (status == QN_OK)
    assert_int_equal(cpu->program_destroy(device, program), QN_OK);
  else
    assert_true(*cpu_error_text);
  free(copy);
}

static void test_truncated_objects_are_refused(void **state) {
  (void)state;
  object o = compile(everything);
  qn_adapter_program *program;
  for (size_t size = 0; size < o.size; size += 1 + size / 64) load_and_drop(o.bytes, size);
  for (size_t size = 1; size < 200; size++) /* the section table is last: each of these lacks a part of it */
    assert_int_equal(load_object(o.bytes, o.size - size, &program), QN_ERROR_DATA);
  free(o.bytes);
}

static uint64_t random_state;
static uint64_t next_random(void) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return random_state;
}

/* Numbers that lie: limits of fields, sizes just over the edge, and plain noise. */
static uint64_t evil_number(size_t size) {
  switch (next_random() % 8) {
    case 0:
      return 0;
    case 1:
      return UINT64_MAX;
    case 2:
      return UINT64_MAX - next_random() % 4096;
    case 3:
      return size + next_random() % 64 - 32;
    case 4:
      return UINT64_C(1) << next_random() % 64;
    case 5:
      return next_random() % 64;
    case 6:
      return INT64_MAX;
    default:
      return next_random();
  }
}

static void test_damaged_objects_never_crash(void **state) {
  (void)state;
  object o = compile(everything);
  uint8_t *bytes = malloc(o.size);
  assert_non_null(bytes);
  random_state = 0x9e3779b97f4a7c15;
  uint64_t table;
  memcpy(&table, o.bytes + 40, 8);
  for (int round = 0; round < 6000; round++) {
    memcpy(bytes, o.bytes, o.size);
    for (uint64_t n = 1 + next_random() % 4; n > 0; n--) {
      uint64_t value = evil_number(o.size);
      size_t width = (size_t)1 << next_random() % 4, at;
      switch (next_random() % 3) {
        case 0:
          at = next_random() % o.size;
          break; /* anywhere */
        case 1:
          at = table + next_random() % (o.size - table);
          break; /* the section table */
        default:
          at = (next_random() % (o.size / 8)) * 8;
          break; /* a field of 8 bytes */
      }
      if (at + width <= o.size) memcpy(bytes + at, &value, width);
    }
    load_and_drop(bytes, o.size);
  }
  free(bytes);
  free(o.bytes);
}

/* ---- Kernels and programs ----------------------------------------------------------------------- */

static void test_kernels_are_found_by_symbol(void **state) {
  (void)state;
  qn_adapter_program *program =
      load("static int helper(int x) { return x; }\nvoid one(void) {}\nvoid two(void) {}\nint data = 4;\n");
  qn_adapter_kernel_description d = {.struct_size = sizeof d, .name = "pretty", .symbol = "two"};
  qn_adapter_kernel_info info = {.struct_size = sizeof info};
  qn_adapter_kernel *k;
  assert_int_equal(cpu->kernel_create(device, program, &d, &k, &info), QN_OK);
  assert_true(info.native != 0);
  assert_int_equal(info.max_group_items, 4096);
  assert_int_equal(cpu->kernel_destroy(device, k), QN_OK);
  d.symbol = "three";
  assert_int_equal(cpu->kernel_create(device, program, &d, &k, &info), QN_ERROR_NOT_FOUND);
  assert_non_null(strstr(cpu_error_text, "three"));
  d.symbol = "data"; /* not code */
  assert_int_equal(cpu->kernel_create(device, program, &d, &k, &info), QN_ERROR_NOT_FOUND);
  assert_int_equal(cpu->program_destroy(device, program), QN_OK);
}

static void test_lying_descriptions_are_refused(void **state) {
  (void)state;
  qn_adapter_program *program = load("void one(void) {}\n");
  static const struct {
    qn_adapter_parameter parameter;
    uint64_t block;
  } wrong[] = {{{QN_ARGUMENT_VALUE, 16, 0, 0}, 8},
               {{QN_ARGUMENT_BUFFER, 0, 0, 1}, 8},
               {{QN_ARGUMENT_LOCAL, 0, 0, UINT32_MAX}, 8},
               {{QN_ARGUMENT_IMAGE, 8, 0, 0}, 8},
               {{QN_ARGUMENT_VALUE, 8, 3, 0}, 8},
               {{QN_ARGUMENT_VALUE, 8, 0, 0}, 100000},
               {{0, 0, 0, 0}, 8}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    qn_adapter_kernel_description d = {.struct_size = sizeof d,
                                       .parameter_count = 1,
                                       .name = "one",
                                       .symbol = "one",
                                       .parameters = &wrong[i].parameter,
                                       .argument_block_bytes = wrong[i].block};
    qn_adapter_kernel_info info = {.struct_size = sizeof info};
    qn_adapter_kernel *k;
    assert_true(cpu->kernel_create(device, program, &d, &k, &info) < 0);
  }
  assert_int_equal(cpu->program_destroy(device, program), QN_OK);
}

/* Permissions of the page that holds `address`, as in /proc/self/maps: "r-xp". */
static void permissions(uint64_t address, char *out) {
  FILE *maps = fopen("/proc/self/maps", "r");
  char line[512], found[8];
  unsigned long long low, high;
  assert_non_null(maps);
  strcpy(out, "none");
  while (fgets(line, sizeof line, maps))
    if (sscanf(line, "%llx-%llx %7s", &low, &high, found) == 3 && low <= address && address < high) strcpy(out, found);
  fclose(maps);
}

static void test_code_is_never_writable(void **state) {
  (void)state;
  qn_adapter_program *program = load(everything);
  qn_adapter_kernel_description d = {.struct_size = sizeof d, .name = "all", .symbol = "all"};
  qn_adapter_kernel_info info = {.struct_size = sizeof info};
  qn_adapter_kernel *k;
  char text[8];
  assert_int_equal(cpu->kernel_create(device, program, &d, &k, &info), QN_OK);
  permissions(info.native, text);
  assert_string_equal(text, "r-xp");
  assert_int_equal(cpu->kernel_destroy(device, k), QN_OK);
  assert_int_equal(cpu->program_destroy(device, program), QN_OK);
  permissions(info.native, text);
  assert_string_equal(text, "none");
}

static void test_perf_map_is_written_when_asked_for(void **state) {
  (void)state;
  char path[64], line[256];
  bool found = false;
  snprintf(path, sizeof path, "/tmp/perf-%ld.map", (long)getpid());
  unlink(path);
  qn_adapter_program *program = load(everything);
  assert_int_equal(access(path, F_OK), -1);
  assert_int_equal(cpu->program_destroy(device, program), QN_OK);
  setenv("QUERN_PERF", "1", 1);
  program = load(everything);
  unsetenv("QUERN_PERF");
  FILE *map = fopen(path, "r");
  assert_non_null(map);
  while (fgets(line, sizeof line, map)) found = found || strstr(line, " choose\n");
  fclose(map);
  unlink(path);
  assert_true(found);
  assert_int_equal(cpu->program_destroy(device, program), QN_OK);
}

static int setup(void **state) {
  (void)state;
  open_device(2);
  return 0;
}
static int teardown(void **state) {
  (void)state;
  close_device();
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_objects_of_many_kinds_run),          cmocka_unit_test(test_undefined_symbol_is_named),
      cmocka_unit_test(test_thread_local_data_is_refused),       cmocka_unit_test(test_constructors_are_refused),
      cmocka_unit_test(test_far_references_are_refused),         cmocka_unit_test(test_too_large_objects_are_refused),
      cmocka_unit_test(test_wrong_kinds_of_files_are_refused),   cmocka_unit_test(test_truncated_objects_are_refused),
      cmocka_unit_test(test_damaged_objects_never_crash),        cmocka_unit_test(test_kernels_are_found_by_symbol),
      cmocka_unit_test(test_lying_descriptions_are_refused),     cmocka_unit_test(test_code_is_never_writable),
      cmocka_unit_test(test_perf_map_is_written_when_asked_for),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
