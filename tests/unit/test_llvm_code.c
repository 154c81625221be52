/* What the emitted code looks like: packed arithmetic in the loops of kernels that should have it, objects for other
 * machines, texts, the same bytes from every thread, and errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
/* cmocka asks for the three above. */
#include <cmocka.h>
#include <ctype.h>
#include <elf.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "support/llvm.h"

static const char saxpy[] =
    "kernel void k(global float *y, global const float *x, float a, int n) {\n"
    "  int i = get_global_id(0);\n"
    "  if (i < n) y[i] = a * x[i] + y[i];\n"
    "}\n";

static const char stencil[] =
    "kernel void k(global float *out, global const float *in, int w, int h) {\n"
    "  int x = get_global_id(0) + 1, y = get_global_id(1) + 1;\n"
    "  if (x < w - 1 && y < h - 1)\n"
    "    out[y * w + x] = 0.2f * (in[y * w + x] + in[y * w + x - 1] + in[y * w + x + 1] + in[(y - 1) * w + x] +\n"
    "                             in[(y + 1) * w + x]);\n"
    "}\n";

static const char black_scholes[] =
    "float normal(float d) {\n"
    "  float k = 1.0f / (1.0f + 0.2316419f * fabs(d));\n"
    "  float tail = 0.39894228f * exp(-0.5f * d * d) *\n"
    "    (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));\n"
    "  return d > 0 ? 1.0f - tail : tail;\n"
    "}\n"
    "kernel void k(global float *call, global const float *price, global const float *strike, global const float "
    "*years,\n"
    "              float rate, float v) {\n"
    "  size_t i = get_global_id(0);\n"
    "  float s = price[i], x = strike[i], t = years[i], root = sqrt(t);\n"
    "  float d = (log(s / x) + (rate + 0.5f * v * v) * t) / (v * root);\n"
    "  call[i] = s * normal(d) - x * exp(-rate * t) * normal(d - v * root);\n"
    "}\n";

static const char matmul[] =
    "kernel void k(global float *c, global const float *a, global const float *b, int n) {\n"
    "  int col = get_global_id(0), row = get_global_id(1);\n"
    "  float sum = 0;\n"
    "  for (int i = 0; i < n; i++) sum += a[row * n + i] * b[i * n + col];\n"
    "  c[row * n + col] = sum;\n"
    "}\n";

static const char unsigned_index[] =
    "kernel void k(global uint *out, global const uint *in, uint width) {\n"
    "  uint x = get_global_id(0), y = get_global_id(1);\n"
    "  out[y * width + x + 1] = in[(y + 1) * width + x] * 3;\n"
    "}\n";

static const char sparse[] =
    "kernel void k(global float *y, global const float *a, global const int *cols, global const int *rows,\n"
    "              global const float *x) {\n"
    "  int row = get_global_id(0);\n"
    "  float sum = 0;\n"
    "  for (int i = rows[row]; i < rows[row + 1]; i++) sum += a[i] * x[cols[i]];\n"
    "  y[row] = sum;\n"
    "}\n";

/* One of a kind of rows far apart, and structs: most of the work is reading at 16 places. */
static const char far_rows[] =
    "kernel void k(global float *y, global const float *x, int n) {\n"
    "  int i = get_global_id(0);\n"
    "  float sum = 0;\n"
    "  for (int k = 0; k < n; k++) sum += x[i * n + k];\n"
    "  y[i] = sum;\n"
    "}\n";

static const char structs[] =
    "typedef struct { float x, y, z, vx, vy, vz, mass, charge; } body;\n"
    "kernel void k(global float *out, global const body *in) {\n"
    "  int i = get_global_id(0);\n"
    "  body b = in[i];\n"
    "  out[i] = b.mass * (b.vx * b.vx + b.vy * b.vy + b.vz * b.vz) + b.charge * (b.x + b.y + b.z);\n"
    "}\n";

/* The same reads with work that pays for them. */
static const char busy_rows[] =
    "kernel void k(global float *y, global const float *x, int n) {\n"
    "  int i = get_global_id(0);\n"
    "  float sum = 0;\n"
    "  for (int k = 0; k < n; k++) { float v = x[i * n + k]; for (int j = 0; j < 9; j++) v = v * v + 0.5f; sum += v; "
    "}\n"
    "  y[i] = sum;\n"
    "}\n";

static const char clamped[] =
    "kernel void k(global uchar4 *out, global const uchar4 *in, int width) {\n"
    "  int x = get_global_id(0), y = get_global_id(1);\n"
    "  float4 sum = (float4)(0.0f);\n"
    "  for (int i = -4; i <= 4; i++) sum += 0.11f * convert_float4(in[y * width + clamp(x + i, 0, width - 1)]);\n"
    "  out[y * width + x] = convert_uchar4_sat_rte(sum);\n"
    "}\n";

/* ---- Assembly ---- */

/* Whether an instruction of a line is arithmetic on packed f32, or on one. */
static bool is_arithmetic(const char *line, const char *type) {
  static const char *const stems[] = {"add",      "mul",      "sub",       "fmadd132",
                                      "fmadd213", "fmadd231", "fnmadd213", "fnmadd231"};
  char name[64];
  while (isspace((unsigned char)*line)) line++;
  if (*line == 'v') line++;
  for (size_t i = 0; i < sizeof stems / sizeof *stems; i++) {
    int n = snprintf(name, sizeof name, "%s%s", stems[i], type);
    if (strncmp(line, name, (size_t)n) == 0 && isspace((unsigned char)line[n])) return true;
  }
  return false;
}

typedef struct loop_facts {
  int packed, single, gathers, integer;
} loop_facts;

/* The target of a jump, or NULL. */
static const char *jump_target(const char *line, size_t *length) {
  while (isspace((unsigned char)*line)) line++;
  if (*line != 'j') return NULL;
  const char *at = strchr(line, '.');
  const char *end = strchr(line, '\n');
  if (!at || at > end) return NULL;
  *length = strcspn(at, " \t\n");
  return at;
}

static void note_line(const char *line, loop_facts *facts) {
  facts->packed += is_arithmetic(line, "ps");
  facts->single += is_arithmetic(line, "ss");
  facts->gathers += strstr(line, "gather") && strstr(line, "gather") < strchr(line, '\n');
  facts->integer += strncmp(line, "\tvpmulld\t", 9) == 0 || strncmp(line, "\tvpaddd\t", 8) == 0;
}

/* Adds up what stands between a label and the last jump back to it, for the first loop that has any arithmetic: loops
 * come inner ones first. */
static loop_facts first_loop(const char *text) {
  loop_facts facts = {0};
  for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
    size_t length = 0;
    const char *target = jump_target(line, &length);
    char label[64];
    if (!target || length + 3 > sizeof label) continue;
    (void)snprintf(label, sizeof label, "\n%.*s:", (int)length, target);
    const char *start = strstr(text, label);
    if (!start || start > line) continue;
    for (const char *at = start + 1; at < line; at = strchr(at, '\n') + 1) note_line(at, &facts);
    if (facts.packed || facts.single || facts.integer) return facts;
  }
  return facts;
}

static loop_facts facts_of(const char *source, const char *cpu, bool scalar) {
  qn_target_options options = test_llvm_options(cpu);
  test_code code;
  options.emit = QN_EMIT_ASSEMBLY;
  options.scalar = scalar;
  options.always_lanes = false;
  test_llvm_compile_source(&code, source, &options);
  const char *body = strstr(code.bytes.data, "quern.body.k:");
  assert_non_null(body);
  loop_facts facts = first_loop(body);
  test_llvm_free(&code);
  return facts;
}

static void expect_packed(const char *source) {
  static const char *const cpus[] = {"x86-64", "x86-64-v3", "x86-64-v4"};
  for (size_t i = 0; i < 3; i++) {
    loop_facts facts = facts_of(source, cpus[i], false);
    assert_true(facts.packed > 0);
    assert_int_equal(facts.single, 0);
    assert_int_equal(facts.gathers, 0);
  }
  loop_facts one = facts_of(source, "x86-64-v3", true);
  assert_true(one.single > 0);
  assert_int_equal(one.packed, 0);
}

static void a_saxpy_has_packed_arithmetic_in_its_loop(void **state) { (void)state, expect_packed(saxpy); }
static void a_stencil_has_packed_arithmetic_in_its_loop(void **state) { (void)state, expect_packed(stencil); }
static void black_scholes_has_packed_arithmetic_in_its_loop(void **state) { (void)state, expect_packed(black_scholes); }
static void a_matrix_product_has_packed_arithmetic_in_its_loop(void **state) { (void)state, expect_packed(matmul); }

static void unsigned_indices_side_by_side_are_not_gathered(void **state) {
  (void)state;
  loop_facts facts = facts_of(unsigned_index, "x86-64-v4", false);
  assert_true(facts.integer > 0);
  assert_int_equal(facts.gathers, 0);
}

static void gathers_in_a_loop_of_different_lengths_stay_one_by_one(void **state) {
  (void)state;
  loop_facts facts = facts_of(sparse, "x86-64-v4", false);
  assert_true(facts.single > 0);
  assert_int_equal(facts.packed, 0);
  assert_int_equal(facts.gathers, 0);
}

static void expect_one_by_one(const char *source) {
  loop_facts facts = facts_of(source, "x86-64-v4", false);
  assert_true(facts.single > 0);
  assert_int_equal(facts.packed, 0);
  assert_int_equal(facts.gathers, 0);
}

static void reading_at_far_places_is_not_worth_lanes_unless_work_pays_for_it(void **state) {
  (void)state;
  expect_one_by_one(far_rows);
  expect_one_by_one(structs);
  loop_facts facts = facts_of(busy_rows, "x86-64-v4", false);
  assert_true(facts.packed > 0);
  assert_int_equal(facts.single, 0);
}

/* The copy without masks comes first. */
static void pixels_at_clamped_places_are_read_side_by_side(void **state) {
  (void)state;
  loop_facts facts = facts_of(clamped, "x86-64-v4", false);
  assert_true(facts.packed > 0);
  assert_int_equal(facts.gathers, 0);
}

/* ---- Volatile ---- */

static int count_in(const char *text, const char *what) {
  int count = 0;
  for (text = strstr(text, what); text; text = strstr(text + 1, what)) count++;
  return count;
}

/* One access for each item: in loops over the lanes, of scalars, in the copy without masks and in the one with. */
static void volatile_accesses_are_made_for_each_item(void **state) {
  static const char *const cpus[] = {"x86-64", "x86-64-v3", "x86-64-v4"};
  static const char source[] =
      "kernel void k(volatile global int *y, const volatile global int *x, const volatile global float4 *v) {\n"
      "  int i = get_global_id(0);\n"
      "  y[i] = x[i] + 1; y[0] = x[5]; if (x[i] > 3) { float4 f = v[i]; y[2 * i] = (int)f.x; } }\n";
  (void)state;
  for (size_t i = 0; i < 3; i++) {
    test_code code;
    qn_target_options options = test_llvm_options(cpus[i]);
    options.emit = QN_EMIT_LLVM_IR;
    test_llvm_compile_source(&code, source, &options);
    /* More where a loop over the lanes is unrolled. */
    assert_true(count_in(code.bytes.data, "load volatile i32,") >= 2 * 3);
    assert_true(count_in(code.bytes.data, "store volatile i32 ") >= 2 * 3);
    assert_true(count_in(code.bytes.data, "load volatile <4 x float>,") >= 2);
    static const char *const others[] = {"load i32,", "store i32 ", "load <", "store <", "llvm.masked."};
    for (size_t k = 0; k < sizeof others / sizeof *others; k++)
      assert_int_equal(count_in(code.bytes.data, others[k]), 0);
    test_llvm_free(&code);
  }
}

/* ---- Kinds of output ---- */

static void texts_are_what_they_say(void **state) {
  test_code code;
  qn_target_options options = test_llvm_options("x86-64-v3");
  (void)state;
  options.emit = QN_EMIT_LLVM_IR;
  test_llvm_compile_source(&code, saxpy, &options);
  assert_non_null(strstr(code.bytes.data, "define void @" QN_KERNEL_SYMBOL_PREFIX "k("));
  test_llvm_free(&code);
  options.emit = QN_EMIT_ASSEMBLY;
  test_llvm_compile_source(&code, saxpy, &options);
  assert_non_null(strstr(code.bytes.data, QN_KERNEL_SYMBOL_PREFIX "k:"));
  test_llvm_free(&code);
}

static void aarch64_objects_are_made_anywhere(void **state) {
  static const char *const sources[] = {saxpy, stencil, black_scholes, matmul};
  (void)state;
  for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
    test_code code;
    qn_target_options options = {.emit = QN_EMIT_OBJECT, .arch = "aarch64", .cpu = "", .features = ""};
    test_llvm_compile_source(&code, sources[i], &options);
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)(const void *)code.bytes.data;
    assert_int_equal(header->e_machine, EM_AARCH64);
    assert_int_equal(header->e_type, ET_REL);
    code.object.bytes = code.bytes.data;
    assert_true(test_object_symbol_size(&code.object, QN_KERNEL_SYMBOL_PREFIX "k") > 0);
    test_llvm_free(&code);
  }
}

static void without_optimisation_code_still_runs(void **state) {
  test_code code;
  qn_target_options options = test_llvm_options("x86-64");
  float x[64], y[64];
  struct {
    float *y, *x, a;
    int n;
  } block = {y, x, 2, 60};
  (void)state;
  for (int i = 0; i < 64; i++) x[i] = y[i] = (float)i;
  options.opt_disable = true;
  test_llvm_compile_source(&code, saxpy, &options);
  test_llvm_run(&code, "k", 1, (uint64_t[]){64, 1, 1}, (uint64_t[]){16, 1, 1}, &block);
  for (int i = 0; i < 64; i++) assert_true(y[i] == (i < 60 ? 3.0f : 1.0f) * (float)i);
  test_llvm_free(&code);
}

/* ---- The same from everywhere ---- */

enum { THREADS = 4 };

typedef struct emission {
  qn_bytes bytes;
  qn_status status;
} emission;

static void *emit_in_thread(void *argument) {
  emission *out = argument;
  qn_target_options options = test_llvm_options("x86-64-v3");
  test_code code;
  test_llvm_compile_source(&code, black_scholes, &options);
  qn_bytes_append(&out->bytes, code.bytes.data, code.bytes.size);
  test_llvm_free(&code);
  return NULL;
}

static void every_thread_gets_the_same_bytes(void **state) {
  pthread_t threads[THREADS];
  emission results[THREADS] = {{{0}, 0}};
  (void)state;
  for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, emit_in_thread, &results[i]), 0);
  for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
  for (int i = 0; i < THREADS; i++) {
    assert_true(results[i].bytes.size > 0);
    assert_int_equal(results[i].bytes.size, results[0].bytes.size);
    assert_memory_equal(results[i].bytes.data, results[0].bytes.data, results[0].bytes.size);
  }
  for (int i = 0; i < THREADS; i++) qn_bytes_free(&results[i].bytes);
}

/* ---- Errors ---- */

static void expect_error(const char *text, const char *arch, uint32_t bits, qn_status status, const char *words) {
  qn_model model = {.address_bits = bits};
  qn_target_options options = {.emit = QN_EMIT_OBJECT, .arch = arch, .cpu = "", .features = ""};
  qn_arena arena;
  qn_bytes out = {0};
  qn_arena_init(&arena, 0);
  ir_module *m = ir_module_new(&arena, &model);
  if (ir_parse(m, qn_sv_from(text), "test") < 0) fail_msg("%s", qn_error_text());
  assert_int_equal(qn_target_llvm(m, &options, &out), status);
  if (!strstr(qn_error_text(), words)) fail_msg("'%s' is not in: %s", words, qn_error_text());
  assert_int_equal(out.size, 0);
  qn_bytes_free(&out);
  ir_module_free(m);
  qn_arena_free(&arena);
}

static void an_unknown_machine_is_an_error_that_names_the_known_ones(void **state) {
  (void)state;
  expect_error("quern 1 bits 64\n", "vax", 64, QN_ERROR_UNSUPPORTED, "x86-64 and aarch64, not for 'vax'");
}

static void addresses_of_32_bits_are_refused(void **state) {
  (void)state;
  expect_error("quern 1 bits 32\n", "x86-64", 32, QN_ERROR_UNSUPPORTED, "32 bits");
}

static void a_function_that_is_not_defined_is_named(void **state) {
  static const char text[] =
      "quern 1 bits 64\n"
      "func @missing(%x : f32) : f32\n"
      "kernel @k(%p : ptr global f32) {\n  %0 = load %p : f32\n  %1 = call @missing(%0) : f32\n  store %p, %1\n  "
      "return\n}\n";
  (void)state;
  expect_error(text, "x86-64", 64, QN_ERROR_COMPILE, "'missing'");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_saxpy_has_packed_arithmetic_in_its_loop),
      cmocka_unit_test(a_stencil_has_packed_arithmetic_in_its_loop),
      cmocka_unit_test(black_scholes_has_packed_arithmetic_in_its_loop),
      cmocka_unit_test(a_matrix_product_has_packed_arithmetic_in_its_loop),
      cmocka_unit_test(unsigned_indices_side_by_side_are_not_gathered),
      cmocka_unit_test(gathers_in_a_loop_of_different_lengths_stay_one_by_one),
      cmocka_unit_test(reading_at_far_places_is_not_worth_lanes_unless_work_pays_for_it),
      cmocka_unit_test(pixels_at_clamped_places_are_read_side_by_side),
      cmocka_unit_test(volatile_accesses_are_made_for_each_item),
      cmocka_unit_test(texts_are_what_they_say),
      cmocka_unit_test(aarch64_objects_are_made_anywhere),
      cmocka_unit_test(without_optimisation_code_still_runs),
      cmocka_unit_test(every_thread_gets_the_same_bytes),
      cmocka_unit_test(an_unknown_machine_is_an_error_that_names_the_known_ones),
      cmocka_unit_test(addresses_of_32_bits_are_refused),
      cmocka_unit_test(a_function_that_is_not_defined_is_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
