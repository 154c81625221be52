#include "runner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "compiler/compiler.h"
#include "compiler/pass/pass.h"
#include "compiler/target/target.h"
#include "quern/adapter.h"

bool runner_has_native(void) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return false;
#endif
}

static qn_status compile(runner *r, const char *source, const char *option_text) {
  qn_compile_options options = {0};
  if (option_text) QN_TRY(qn_compile_options_parse(&r->arena, option_text, &options));
  qn_compile_request request = {
      .source = qn_sv_from(source),
      .options = option_text ? &options : NULL,
      .model = {.address_bits = 64, .has_double = true, .has_int64_atomics = true},
  };
  qn_bytes log = {0};
  qn_status status = qn_compile(&r->arena, &request, &r->module, &log);
  qn_bytes_free(&log);
  return status;
}

static qn_status generate(runner *r) {
  (void)setenv("QUERN_LLVM_LIBRARY", QUERN_BINARY_DIR "/libquern-llvm.so", 0);
  qn_target_options options = {.emit = QN_EMIT_OBJECT, .arch = "x86-64", .cpu = "x86-64-v3", .features = ""};
  QN_TRY(qn_prepare_cpu(r->module));
  QN_TRY(qn_target_llvm(r->module, &options, &r->code));
  if (test_object_load(&r->object, r->code.data, r->code.size)) return QN_OK;
  QN_FAIL(QN_ERROR_INTERNAL, "the object can't be loaded");
}

qn_status runner_open(runner *r, const char *source, const char *options, bool is_native) {
  *r = (runner){.is_native = is_native};
  qn_arena_init(&r->arena, 0);
  qn_status status = compile(r, source, options);
  if (status == QN_OK) status = is_native ? generate(r) : pass_link(r->module);
  if (status != QN_OK) runner_close(r);
  return status;
}

void runner_close(runner *r) {
  test_object_free(&r->object);
  qn_bytes_free(&r->code);
  if (r->module) ir_module_free(r->module);
  qn_arena_free(&r->arena);
  *r = (runner){0};
}

/* The arguments as a native entry takes them. */
static void *argument_block(const ir_function *kernel, const interp_argument *arguments, uint32_t count) {
  char *block = calloc(1, qn_argument_block_bytes(kernel) + 1);
  for (uint32_t i = 0; block && i < count; i++) {
    char *at = block + qn_argument_offset(kernel, i);
    if (arguments[i].kind == QN_ARGUMENT_BUFFER) {
      memcpy(at, &arguments[i].memory, sizeof(void *));
    } else {
      memcpy(at, arguments[i].bytes, arguments[i].size_bytes);
    }
  }
  return block;
}

static void *scratch(uint64_t size) { return aligned_alloc(128, (size + 255) / 128 * 128); }

static qn_status run_native(runner *r, const ir_function *kernel, uint64_t items, uint64_t local,
                            const interp_argument *arguments, uint32_t count) {
  char symbol[128];
  (void)snprintf(symbol, sizeof symbol, QN_KERNEL_SYMBOL_PREFIX "%s", kernel->name);
  qn_cpu_entry_fn entry = (qn_cpu_entry_fn)(uintptr_t)test_object_symbol(&r->object, symbol);
  if (!entry) QN_FAIL(QN_ERROR_INTERNAL, "the object has no %s", symbol);
  qn_cpu_launch launch = {.struct_size = sizeof launch,
                          .dimensions = 1,
                          .global = {items, 1, 1},
                          .local = {local, 1, 1},
                          .groups = {items / local, 1, 1}};
  void *block = argument_block(kernel, arguments, count);
  qn_cpu_group group = {.local = {local, 1, 1}};
  void *local_memory = scratch(kernel->static_local_bytes);
  void *scratch_memory = scratch(kernel->scratch_bytes_per_group + kernel->scratch_bytes_per_item * (local + 7));
  qn_status status = QN_OK;
  if (!block || !local_memory || !scratch_memory) {
    status = qn_error_set(QN_ERROR_OUT_OF_HOST_MEMORY, "out of memory");
  } else {
    launch.arguments = block;
    group.local_memory = local_memory;
    group.scratch = scratch_memory;
    for (group.id[0] = 0; group.id[0] < launch.groups[0]; group.id[0]++) entry(&launch, &group);
  }
  free(block);
  free(local_memory);
  free(scratch_memory);
  return status;
}

qn_status runner_run(runner *r, const char *kernel, uint64_t items, uint64_t local, const interp_argument *arguments,
                     uint32_t count) {
  const ir_function *f = ir_function_find(r->module, qn_sv_from(kernel));
  if (!f) QN_FAIL(QN_ERROR_NOT_FOUND, "no kernel %s", kernel);
  if (r->is_native) return run_native(r, f, items, local, arguments, count);
  interp_launch launch = {.dimensions = 1,
                          .global = {items, 1, 1},
                          .local = {local, 1, 1},
                          .arguments = arguments,
                          .argument_count = count};
  return interp_run(f, &launch, NULL);
}
