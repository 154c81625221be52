/* pipeline.c - the target machine, the passes, and the emission of objects and text. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <llvm-c/Analysis.h>
#include <llvm-c/Error.h>
#include <llvm-c/Target.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include "base/os/environment.h"
#include "base/os/thread.h"
#include "emit.h"

/* ---- Targets -------------------------------------------------------------------------------------------------- */

typedef struct arch_row {
  const char *name, *triple;
  void (*start)(void);
  bool complete; /* all that target_facts names is in the base architecture */
} arch_row;

static void start_x86(void) {
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmPrinter();
}

static void start_aarch64(void) {
  LLVMInitializeAArch64TargetInfo();
  LLVMInitializeAArch64Target();
  LLVMInitializeAArch64TargetMC();
  LLVMInitializeAArch64AsmPrinter();
}

static const arch_row arches[] = {
    {"x86-64", "x86_64-unknown-linux-gnu", start_x86, false},
    {"aarch64", "aarch64-unknown-linux-gnu", start_aarch64, true},
};

/* Only what is asked for: each target's tables cost time. */
static void start(const arch_row *arch) {
  static bool started[sizeof arches / sizeof *arches];
  static qn_mutex lock;
  size_t index = (size_t)(arch - arches);
  qn_mutex_lock(&lock);
  if (!started[index]) arch->start();
  started[index] = true;
  qn_mutex_unlock(&lock);
}

static const arch_row *find_arch(emitter *e) {
  const char *name = e->options->arch ? e->options->arch : "";
  for (size_t i = 0; i < sizeof arches / sizeof *arches; i++)
    if (strcmp(name, arches[i].name) == 0) return &arches[i];
  emit_fail(e, QN_ERROR_UNSUPPORTED, "the LLVM target makes code for x86-64 and aarch64, not for '%s'", name);
  return NULL;
}

/* ---- Facts ------------------------------------------------------------------------------------------------------ */

/* Whether the last word on a feature in "+a,-b,+c" is plus. */
static bool has_feature(const char *features, const char *name) {
  bool has = false;
  size_t length = strlen(name);
  for (const char *at = features; *at;) {
    size_t size = strcspn(at, ",");
    if (size == length + 1 && memcmp(at + 1, name, length) == 0) has = *at == '+';
    at += size;
    if (*at) at++;
  }
  return has;
}

/* A message of LLVM's as a string of the emitter's. */
static const char *keep(emitter *e, char *message) {
  const char *copy = qn_arena_copy(&e->arena, qn_sv_from(message));
  LLVMDisposeMessage(message);
  if (!copy) emit_fail(e, QN_ERROR_OUT_OF_HOST_MEMORY, "out of memory for code generation");
  return copy;
}

/* "host" is the machine that this runs on, with all that it has. */
static bool find_processor(emitter *e) {
  bool host = e->options->cpu && strcmp(e->options->cpu, "host") == 0;
  e->cpu = host ? keep(e, LLVMGetHostCPUName()) : e->options->cpu ? e->options->cpu : "";
  e->features = host ? keep(e, LLVMGetHostCPUFeatures()) : e->options->features ? e->options->features : "";
  return e->status >= 0;
}

static void find_facts(emitter *e, const arch_row *arch) {
  const char *features = e->features, *cpu = e->cpu;
  bool v4 = strcmp(cpu, "x86-64-v4") == 0, v3 = v4 || strcmp(cpu, "x86-64-v3") == 0;
  bool v2 = v3 || strcmp(cpu, "x86-64-v2") == 0;
  e->facts.fma = arch->complete || v3 || has_feature(features, "fma");
  e->facts.half = arch->complete || v3 || has_feature(features, "f16c");
  e->facts.round = arch->complete || v2 || has_feature(features, "sse4.1");
  e->facts.wide256 = v3 || has_feature(features, "avx2");
  e->facts.wide512 = v4 || has_feature(features, "avx512vl");
}

/* ---- Opening ------------------------------------------------------------------------------------------------------
 */

static bool open_machine(emitter *e, const arch_row *arch) {
  LLVMTargetRef target = NULL;
  char *message = NULL;
  if (LLVMGetTargetFromTriple(arch->triple, &target, &message)) {
    emit_fail(e, QN_ERROR_UNSUPPORTED, "LLVM: %s", message ? message : arch->triple);
    LLVMDisposeMessage(message);
    return false;
  }
  LLVMTargetMachineOptionsRef options = LLVMCreateTargetMachineOptions();
  LLVMTargetMachineOptionsSetCPU(options, e->cpu);
  LLVMTargetMachineOptionsSetFeatures(options, e->features);
  LLVMTargetMachineOptionsSetCodeGenOptLevel(options,
                                             e->options->opt_disable ? LLVMCodeGenLevelNone : LLVMCodeGenLevelDefault);
  LLVMTargetMachineOptionsSetRelocMode(options, LLVMRelocPIC);
  LLVMTargetMachineOptionsSetCodeModel(options, LLVMCodeModelSmall);
  e->machine = LLVMCreateTargetMachineWithOptions(target, arch->triple, options);
  LLVMDisposeTargetMachineOptions(options);
  if (!e->machine) emit_fail(e, QN_ERROR_UNSUPPORTED, "LLVM has no code generator for %s", arch->triple);
  return e->machine != NULL;
}

static void open_module(emitter *e, const arch_row *arch) {
  e->module = LLVMModuleCreateWithNameInContext("quern", e->context);
  LLVMSetTarget(e->module, arch->triple);
  LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(e->machine);
  LLVMSetModuleDataLayout(e->module, layout);
  LLVMDisposeTargetData(layout);
  e->builder = LLVMCreateBuilderInContext(e->context);
}

/* As many items as a vector of the machine has f32. */
static unsigned lane_width(emitter *e) {
  if (e->options->scalar || e->options->opt_disable) return 1;
  if (e->facts.wide512) return 16;
  return e->facts.wide256 ? 8 : 4;
}

bool pipeline_open(emitter *e) {
  const arch_row *arch = find_arch(e);
  if (!arch || !find_processor(e)) return false;
  start(arch);
  find_facts(e, arch);
  e->lane_width = lane_width(e);
  if (!open_machine(e, arch)) return false;
  open_module(e, arch);
  return true;
}

void pipeline_close(emitter *e) {
  if (e->builder) LLVMDisposeBuilder(e->builder);
  if (e->module) LLVMDisposeModule(e->module);
  if (e->machine) LLVMDisposeTargetMachine(e->machine);
  if (e->context) LLVMContextDispose(e->context);
}

/* ---- Optimising -----------------------------------------------------------------------------------------------------
 */

/* In builds with assertions, and with QUERN_VERIFY=1. */
static bool verifies(void) {
#ifndef NDEBUG
  return true;
#else
  const char *value = qn_environment("QUERN_VERIFY");
  return value && value[0] != '0';
#endif
}

static bool verify(emitter *e) {
  char *message = NULL;
  bool good = !verifies() || !LLVMVerifyModule(e->module, LLVMReturnStatusAction, &message);
  if (!good) emit_fail(e, QN_ERROR_INTERNAL, "the LLVM target made a wrong module: %s", message);
  LLVMDisposeMessage(message);
  return good;
}

/* Vectors are the emitter's work, not the optimiser's: what is left is to bring variables into registers, to fold, and
 * to move what loops repeat. A short list costs a third of default<O3> and gives code as fast (docs/cpu-code.md). */
#define INSTCOMBINE "instcombine<no-verify-fixpoint>"
static const char first_passes[] = "function(sroa,early-cse,simplifycfg),cgscc(inline),globaldce";
static const char passes[] =
    "function(sroa,early-cse<memssa>," INSTCOMBINE
    ",simplifycfg,loop-mssa(loop-rotate,licm),loop(loop-unroll-full),sroa,early-cse<memssa>," INSTCOMBINE
    ",loop-mssa(licm),simplifycfg,adce)";

static bool run_passes(emitter *e, const char *list) {
  LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
  LLVMErrorRef error = LLVMRunPasses(e->module, list, e->machine, options);
  LLVMDisposePassBuilderOptions(options);
  if (!error) return true;
  char *message = LLVMGetErrorMessage(error);
  emit_fail(e, QN_ERROR_INTERNAL, "LLVM's passes: %s", message);
  LLVMDisposeErrorMessage(message);
  return false;
}

/* What LLVM proved to have no meaning, as a store through a null pointer, it makes a block without an end: execution would go
 * on with whatever code stands behind. It stops instead, and the process is told by a signal. */
static void end_the_endless(emitter *e) {
  static const char name[] = "llvm.trap";
  LLVMValueRef trap = NULL;
  for (LLVMValueRef f = LLVMGetFirstFunction(e->module); f != NULL; f = LLVMGetNextFunction(f)) {
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block != NULL; block = LLVMGetNextBasicBlock(block)) {
      LLVMValueRef last = LLVMGetBasicBlockTerminator(block);
      if (LLVMGetInstructionOpcode(last) != LLVMUnreachable) continue;
      if (trap == NULL)
        trap = LLVMGetIntrinsicDeclaration(e->module, LLVMLookupIntrinsicID(name, sizeof name - 1), NULL, 0);
      LLVMPositionBuilderBefore(e->builder, last);
      LLVMBuildCall2(e->builder, LLVMGlobalGetValueType(trap), trap, NULL, 0, "");
    }
  }
}

static bool optimise(emitter *e) {
  if (!verify(e)) return false;
  if (e->options->opt_disable) return run_passes(e, "default<O0>") && runtime_add_memory_functions(e);
  if (e->has_helpers && !run_passes(e, first_passes)) return false;
  if (!run_passes(e, passes)) return false;
  limit_code(e);
  return runtime_add_memory_functions(e) && verify(e);
}

bool pipeline_optimise(emitter *e) {
  if (!optimise(e)) return false;
  guard_arrays(e);
  end_the_endless(e);
  return true;
}

/* ---- Emitting
 * --------------------------------------------------------------------------------------------------------- */

static bool emit_text(emitter *e, qn_bytes *out) {
  char *text = LLVMPrintModuleToString(e->module);
  qn_bytes_append_str(out, text);
  LLVMDisposeMessage(text);
  return true;
}

typedef struct generation {
  emitter *e;
  LLVMCodeGenFileType kind;
  LLVMMemoryBufferRef buffer; /* NULL: it failed */
} generation;

static void generate(void *argument) {
  generation *g = argument;
  char *message = NULL;
  if (!LLVMTargetMachineEmitToMemoryBuffer(g->e->machine, g->e->module, g->kind, &message, &g->buffer)) return;
  emit_fail(g->e, QN_ERROR_INTERNAL, "LLVM's code generator: %s", message ? message : "");
  LLVMDisposeMessage(message);
}

static void generate_guarded(void *argument) {
  generation *g = argument;
  (void)emit_guarded(g->e, generate, g);
}

/* On a thread of its own, for its heap: the passes leave one behind that is full of holes, and in a large module each
 * small allocation then comes from memory that no cache holds. That cost a tenth of the time at 10,000 lines. */
static void generate_apart(generation *g) {
  qn_thread thread;
  if (qn_thread_start(&thread, "quern-llvm", generate_guarded, g) < 0)
    generate(g);
  else
    qn_thread_join(&thread);
}

bool pipeline_emit(emitter *e, qn_bytes *out) {
  if (e->options->emit == QN_EMIT_LLVM_IR) return emit_text(e, out);
  generation g = {e, e->options->emit == QN_EMIT_OBJECT ? LLVMObjectFile : LLVMAssemblyFile, NULL};
  generate_apart(&g);
  if (!g.buffer) return false;
  const char *bytes = LLVMGetBufferStart(g.buffer);
  size_t size = LLVMGetBufferSize(g.buffer);
  bool good = g.kind != LLVMObjectFile || object_check(e, bytes, size);
  if (good) qn_bytes_append(out, bytes, size);
  LLVMDisposeMemoryBuffer(g.buffer);
  return good;
}
