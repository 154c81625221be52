#include "llvm.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
/* cmocka asks for the three above. */
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "compiler/compiler.h"
#include "compiler/pass/pass.h"

qn_target_options test_llvm_options(const char *cpu) {
  return (qn_target_options){
      .emit = QN_EMIT_OBJECT, .arch = "x86-64", .cpu = cpu, .features = "", .always_lanes = true};
}

int test_llvm_runs(const char *cpu) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (strcmp(cpu, "x86-64") == 0) return 1;
  if (strcmp(cpu, "x86-64-v3") == 0) return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (strcmp(cpu, "x86-64-v4") == 0) return __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
#endif
  return 0;
}

static void parse(test_code *code, const char *text) {
  qn_model model = {.address_bits = 64, .has_double = true, .has_half = true, .has_int64_atomics = true};
  qn_arena_init(&code->arena, 0);
  code->module = ir_module_new(&code->arena, &model);
  assert_non_null(code->module);
  if (ir_parse(code->module, qn_sv_from(text), "test") < 0) fail_msg("%s", qn_error_text());
  if (pass_spell_rsqrt(code->module) < 0) fail_msg("%s", qn_error_text()); /* the target has none */
}

static void emit(test_code *code, const qn_target_options *options) {
  (void)setenv("QUERN_LLVM_LIBRARY", QUERN_BINARY_DIR "/libquern-llvm.so", 0);
  if (qn_target_llvm(code->module, options, &code->bytes) < 0) fail_msg("%s", qn_error_text());
  if (options->emit == QN_EMIT_OBJECT && test_llvm_runs(options->cpu))
    assert_true(test_object_load(&code->object, code->bytes.data, code->bytes.size));
}

void test_llvm_compile(test_code *code, const char *text, const qn_target_options *options) {
  *code = (test_code){0};
  parse(code, text);
  emit(code, options);
}

static bool failed(qn_status status) { return status < 0; }

void test_llvm_compile_source(test_code *code, const char *source, const qn_target_options *options) {
  *code = (test_code){0};
  qn_compile_options none = {0};
  qn_compile_request request = {.source = qn_sv_from(source), .options = &none};
  request.model = (qn_model){.address_bits = 64, .has_double = true, .has_half = true, .has_int64_atomics = true};
  qn_arena_init(&code->arena, 0);
  bool bad = failed(qn_compile(&code->arena, &request, &code->module, NULL)) || failed(pass_link(code->module)) ||
             failed(qn_prepare_cpu(code->module));
  if (bad) fail_msg("%s", qn_error_text());
  emit(code, options);
}

void test_llvm_free(test_code *code) {
  test_object_free(&code->object);
  qn_bytes_free(&code->bytes);
  ir_module_free(code->module);
  qn_arena_free(&code->arena);
}

ir_function *test_llvm_kernel(const test_code *code, const char *name) {
  ir_function *f = ir_function_find(code->module, qn_sv_from(name));
  assert_non_null(f);
  return f;
}

static void *aligned_zeros(size_t size) {
  size_t rounded = (size + 255) / 128 * 128;
  void *memory = aligned_alloc(128, rounded);
  assert_non_null(memory);
  memset(memory, 0, rounded);
  return memory;
}

TEST_CALLS_GENERATED_CODE void test_llvm_run(const test_code *code, const char *kernel, uint32_t dimensions,
                                             const uint64_t global[3], const uint64_t local[3], const void *block) {
  char symbol[128];
  const ir_function *f = test_llvm_kernel(code, kernel);
  (void)snprintf(symbol, sizeof symbol, QN_KERNEL_SYMBOL_PREFIX "%s", kernel);
  qn_cpu_entry_fn entry = (qn_cpu_entry_fn)(uintptr_t)test_object_symbol(&code->object, symbol);
  assert_non_null(entry);
  qn_cpu_launch launch = {.struct_size = sizeof launch, .dimensions = dimensions, .arguments = block};
  for (int d = 0; d < 3; d++) {
    launch.global[d] = global[d];
    launch.local[d] = local[d];
    launch.groups[d] = (global[d] + local[d] - 1) / local[d];
  }
  uint64_t items = (local[0] * local[1] * local[2] + 7) / 8 * 8;
  qn_cpu_group group = {.local_memory = aligned_zeros(f->static_local_bytes),
                        .scratch = aligned_zeros(f->scratch_bytes_per_group + f->scratch_bytes_per_item * items)};
  uint64_t *id = group.id;
  for (id[2] = 0; id[2] < launch.groups[2]; id[2]++)
    for (id[1] = 0; id[1] < launch.groups[1]; id[1]++)
      for (id[0] = 0; id[0] < launch.groups[0]; id[0]++) {
        for (int d = 0; d < 3; d++) {
          uint64_t left = global[d] - id[d] * local[d];
          group.local[d] = left < local[d] ? left : local[d];
        }
        entry(&launch, &group);
      }
  free(group.local_memory);
  free(group.scratch);
}
