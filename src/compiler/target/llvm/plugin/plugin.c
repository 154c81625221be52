/* plugin.c - the one exported function, and the emission of a whole module. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <llvm-c/ErrorHandling.h>
#include <llvm/Config/llvm-config.h>

#include "base/os/thread.h"
#include "base/stage.h"
#include "build_id.h"
#include "lanes_call.h"

void emit_fail(emitter *e, qn_status status, const char *format, ...) {
  va_list args;
  if (e->status < 0) return;
  e->status = status;
  va_start(args, format);
  (void)vsnprintf(e->error, sizeof e->error, format, args);
  va_end(args);
}

/* ---- LLVM's own errors --------------------------------------------------------------------------------------- */

/* LLVM ends the process after a fatal error unless the handler leaves it. What it held is lost then, but the process
 * and its threads live. */
static QN_THREAD_LOCAL struct {
  jmp_buf *escape;
  emitter *e;
} fatal;

static void on_fatal_error(const char *reason) {
  if (!fatal.escape) return;
  emit_fail(fatal.e, QN_ERROR_INTERNAL, "LLVM: %s", reason);
  longjmp(*fatal.escape, 1);
}

static void on_diagnostic(LLVMDiagnosticInfoRef info, void *user) {
  emitter *e = user;
  if (LLVMGetDiagInfoSeverity(info) != LLVMDSError) return;
  char *text = LLVMGetDiagInfoDescription(info);
  emit_fail(e, QN_ERROR_COMPILE, "LLVM: %s", text);
  LLVMDisposeMessage(text);
}

/* ---- Limits --------------------------------------------------------------------------------------------------- */

/* A call of a region costs nothing beside the region, but what the group computes once is nearer without. LLVM's analysis
 * of loops takes exponential time in the depth of nested counters; blocks are so long that a branch costs nothing beside
 * them. Which code gets slower, and how much: docs/performance.md. */
static const emit_limits usual_limits = {
    .regions_inside = 12, .regions_twice = 128, .loops_around = 12, .block_size = 256, .function_size = 8192};
static const emit_limits least_limits = {
    .regions_inside = 0, .regions_twice = 4, .loops_around = 1, .block_size = 8, .function_size = 256};

/* ---- Modules --------------------------------------------------------------------------------------------------- */

static void common_types(emitter *e) {
  e->void_type = LLVMVoidTypeInContext(e->context);
  e->i1 = LLVMInt1TypeInContext(e->context);
  e->i8 = LLVMInt8TypeInContext(e->context);
  e->i32 = LLVMInt32TypeInContext(e->context);
  e->i64 = LLVMInt64TypeInContext(e->context);
  e->f32 = LLVMFloatTypeInContext(e->context);
  e->f64 = LLVMDoubleTypeInContext(e->context);
  e->ptr = LLVMPointerTypeInContext(e->context, 0);
}

/* Helpers are emitted when code calls them. */
static void emit_called(emitter *e) {
  bool more = true;
  while (more && e->status >= 0) {
    more = false;
    for (ir_function *f = e->m->functions; f && e->status >= 0; f = f->next) {
      LLVMValueRef function = f->aux;
      if (!function || f->is_kernel || LLVMGetFirstBasicBlock(function)) continue;
      emit_function(e, f);
      more = true;
    }
  }
}

static bool emit_all(emitter *e) {
  if (e->m->model.address_bits != 64) {
    emit_fail(e, QN_ERROR_UNSUPPORTED, "CPU code has 64-bit addresses; the module was compiled for %u bits",
              e->m->model.address_bits);
    return false;
  }
  common_types(e);
  emit_constants(e);
  for (ir_function *f = e->m->functions; f; f = f->next) f->aux = NULL;
  for (ir_function *f = e->m->functions; f && e->status >= 0; f = f->next)
    if (f->is_kernel && f->body) emit_kernel(e, f);
  lanes_define_functions(e);
  emit_called(e);
  return e->status >= 0;
}

static void run(emitter *e, qn_bytes *out) {
  static const struct {
    const char *name;
    bool (*run)(emitter *e);
  } stages[] = {{"LLVM: target", pipeline_open}, {"LLVM: emission", emit_all}, {"LLVM: passes", pipeline_optimise}};
  for (size_t i = 0; i < sizeof stages / sizeof *stages; i++) {
    uint64_t start = qn_stage_start();
    if (!stages[i].run(e)) return;
    qn_stage_end(stages[i].name, start);
  }
  uint64_t start = qn_stage_start();
  (void)pipeline_emit(e, out);
  qn_stage_end("LLVM: code", start);
}

bool emit_guarded(emitter *e, void (*function)(void *argument), void *argument) {
  jmp_buf escape;
  fatal.e = e;
  fatal.escape = &escape;
  bool lives = setjmp(escape) == 0;
  if (lives) function(argument);
  fatal.escape = NULL;
  if (!lives) e->is_lost = true;
  return lives;
}

typedef struct emission {
  emitter *e;
  qn_bytes *out;
} emission;

static void run_emission(void *argument) {
  const emission *work = argument;
  run(work->e, work->out);
}

static void release(qn_llvm_result *result) { qn_bytes_free(&result->code); }

static qn_status emit(ir_module *m, const qn_target_options *options, qn_llvm_result *result) {
  emitter *e = calloc(1, sizeof *e);
  *result = (qn_llvm_result){.release = release};
  if (!e) {
    (void)snprintf(result->error, sizeof result->error, "out of memory for code generation");
    return QN_ERROR_OUT_OF_HOST_MEMORY;
  }
  e->m = m;
  e->options = options;
  e->limits = options->least_limits ? &least_limits : &usual_limits;
  qn_arena_init(&e->arena, 0);
  e->context = LLVMContextCreate();
  LLVMContextSetDiagnosticHandler(e->context, on_diagnostic, e);
  (void)emit_guarded(e, run_emission, &(emission){e, &result->code});
  if (!e->is_lost) pipeline_close(e);
  if (e->status >= 0 && result->code.failed) emit_fail(e, QN_ERROR_OUT_OF_HOST_MEMORY, "out of memory for the code");
  qn_status status = e->status;
  if (status < 0) (void)snprintf(result->error, sizeof result->error, "%s", e->error);
  qn_arena_free(&e->arena);
  free(e);
  return status;
}

/* ---- The boundary ------------------------------------------------------------------------------------------------ */

static qn_once once;
static void first_use(void) { LLVMInstallFatalErrorHandler(on_fatal_error); }

__attribute__((visibility("default"))) const qn_llvm_table *qn_llvm_entry(void);

const qn_llvm_table *qn_llvm_entry(void) {
  static const qn_llvm_table table = {
      .struct_size = sizeof(qn_llvm_table), .build_id = QN_BUILD_ID, .llvm_version = LLVM_VERSION_STRING, .emit = emit};
  qn_once_run(&once, first_use);
  return &table;
}
