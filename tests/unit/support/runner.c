#include "runner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "compiler/compiler.h"
#include "compiler/pass/pass.h"
#include "compiler/target/target.h"
#include "quern/adapter.h"

runner_device runner_other(void) {
  const char *value = getenv("QUERN_RUNNER");
  if (!value || !*value) return RUNNER_INTERP;
  return strcmp(value, "opencl") == 0 ? RUNNER_DRIVER : RUNNER_TEXT;
}

bool runner_has_native(void) {
  if (runner_other()) return true;
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

/* ---- OpenCL C made of OpenCL C ---- */

static qn_status compile_again(runner *r) {
  static const qn_compile_options none;
  const char *text = qn_arena_copy(&r->arena, qn_bytes_view(&r->code));
  qn_compile_request request = {
      .source = qn_sv_make(text, r->code.size), .file_name = "made.cl", .options = &none, .model = r->module->model};
  ir_module *made = NULL;
  qn_status status = qn_compile(&r->arena, &request, &made, NULL);
  if (status < 0) return status;
  ir_module_free(r->module);
  r->module = made;
  return pass_link(made);
}

/* For who wants to see the texts: QUERN_RUNNER_TEXTS=directory. */
static void keep_text(const runner *r) {
  static unsigned count;
  const char *directory = getenv("QUERN_RUNNER_TEXTS");
  char path[1024];
  if (!directory) return;
  (void)snprintf(path, sizeof path, "%s/%06u.cl", directory, count++);
  FILE *file = fopen(path, "wb");
  if (!file) return;
  (void)fwrite(r->code.data, 1, r->code.size, file);
  (void)fclose(file);
}

static qn_status generate_text(runner *r) {
  bool on_driver = r->device == RUNNER_DRIVER;
  const char *why = NULL;
  if (on_driver && !driver_open(&why)) QN_FAIL(QN_ERROR_NOT_FOUND, "no OpenCL driver: %s", why);
  const qn_opencl_c_options options = {.adapter_entries = on_driver,
                                       .rounded_divide_sqrt = !on_driver || driver_rounds()};
  QN_TRY(qn_target_opencl_c(r->module, &options, &r->code, &r->text));
  keep_text(r);
  qn_status status = QN_OK;
  if (on_driver)
    r->driver = driver_build(r->code.data, r->text.build_options);
  else
    status = compile_again(r);
  if (on_driver && !r->driver) status = QN_ERROR_COMPILE;
  if (status < 0) qn_error_prefix("%s\n", r->code.data);
  return status;
}

/* The driver's own compiler, for telling its faults from ours. */
static qn_status take_source(runner *r, const char *source) {
  const char *why = NULL;
  if (!driver_open(&why)) QN_FAIL(QN_ERROR_NOT_FOUND, "no OpenCL driver: %s", why);
  r->driver = driver_build(source, "-cl-std=CL1.2");
  return r->driver ? QN_OK : QN_ERROR_COMPILE;
}

static const qn_opencl_c_kernel *text_kernel(const runner *r, const char *name) {
  for (uint32_t i = 0; i < r->text.kernel_count; i++)
    if (strcmp(r->text.kernels[i].name, name) == 0) return &r->text.kernels[i];
  return NULL;
}

/* ---- Opening ---- */

qn_status runner_open_on(runner *r, const char *source, const char *options, runner_device device) {
  *r = (runner){.device = device};
  qn_arena_init(&r->arena, 0);
  qn_status status = compile(r, source, options);
  if (status == QN_OK) {
    switch (device) {
      case RUNNER_INTERP:
        status = pass_link(r->module);
        break;
      case RUNNER_NATIVE:
        status = generate(r);
        break;
      case RUNNER_SOURCE:
        status = take_source(r, source);
        break;
      default:
        status = generate_text(r);
    }
  }
  if (status != QN_OK) runner_close(r);
  return status;
}

qn_status runner_open(runner *r, const char *source, const char *options, bool is_native) {
  runner_device native = runner_other() ? runner_other() : RUNNER_NATIVE;
  return runner_open_on(r, source, options, is_native ? native : RUNNER_INTERP);
}

void runner_close(runner *r) {
  driver_close(r->driver);
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

TEST_CALLS_GENERATED_CODE static qn_status run_native(runner *r, const ir_function *kernel, uint64_t items,
                                                      uint64_t local, const interp_argument *arguments,
                                                      uint32_t count) {
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

qn_status runner_launch(runner *r, const char *kernel, const interp_launch *launch) {
  const qn_opencl_c_kernel *in_text = text_kernel(r, kernel);
  const char *symbol = in_text ? in_text->symbol : kernel;
  if (r->driver)
    return driver_run(r->driver,
                      &(driver_launch){symbol, r->device == RUNNER_SOURCE, in_text && in_text->takes_range, *launch});
  const ir_function *f = ir_function_find(r->module, qn_sv_from(symbol));
  if (!f) QN_FAIL(QN_ERROR_NOT_FOUND, "no kernel %s", kernel);
  return interp_run(f, launch, NULL);
}

qn_status runner_run(runner *r, const char *kernel, uint64_t items, uint64_t local, const interp_argument *arguments,
                     uint32_t count) {
  interp_launch launch = {.dimensions = 1,
                          .global = {items, 1, 1},
                          .local = {local, 1, 1},
                          .arguments = arguments,
                          .argument_count = count};
  if (r->device != RUNNER_NATIVE) return runner_launch(r, kernel, &launch);
  const ir_function *f = ir_function_find(r->module, qn_sv_from(kernel));
  if (!f) QN_FAIL(QN_ERROR_NOT_FOUND, "no kernel %s", kernel);
  return run_native(r, f, items, local, arguments, count);
}
