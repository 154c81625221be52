#include "core/ptx_code.h"

#include "base/status.h"
#include "compiler/target/ptx/ptx.h"
#include "core/program_make.h"

static qn_status out_of_memory(void) { QN_FAIL(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for PTX"); }

static qn_status describe(qn_arena *arena, const ir_module *m, const qn_ptx_program *program,
                          core_kernel_list *kernels) {
  QN_TRY(core_kernels_describe(arena, m, kernels));
  for (uint32_t i = 0; i < program->kernel_count && i < kernels->count; i++) {
    kernels->items[i].symbol = qn_arena_copy(arena, qn_sv_from(program->kernels[i].symbol));
    kernels->items[i].entry_flags = QN_ENTRY_RANGE;
    if (!kernels->items[i].symbol) return out_of_memory();
  }
  return QN_OK;
}

qn_status core_ptx_code(qn_arena *arena, ir_module *m, const char *target, uint64_t option_bits, qn_bytes *out,
                        core_kernel_list *out_kernels) {
  qn_ptx_program program;
  const qn_ptx_options options = {.sm = qn_ptx_target(qn_sv_from(target)),
                                  .rounded_divide_sqrt = (option_bits & CORE_OPTION_ROUNDED_DIVIDE_SQRT) != 0,
                                  .denorms_are_zero = (option_bits & CORE_OPTION_DENORMS_ARE_ZERO) != 0,
                                  .opt_disable = (option_bits & CORE_OPTION_OPT_DISABLE) != 0};
  if (!options.sm)
    QN_FAIL(QN_ERROR_UNSUPPORTED, "no PTX can be made for target '%s'; it must be one of " QN_PTX_TARGET_PREFIX "NN",
            target);
  QN_TRY(qn_target_ptx(m, &options, out, &program));
  if (out->failed) return out_of_memory();
  return out_kernels ? describe(arena, m, &program, out_kernels) : QN_OK;
}

bool core_ptx_runs(const char *device_target, qn_sv code_target) {
  uint32_t device = qn_ptx_target(qn_sv_from(device_target)), code = qn_ptx_target(code_target);
  return device && code && code <= device;
}
