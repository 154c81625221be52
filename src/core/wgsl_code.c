/* wgsl_code.c - record, text, and the text for launches whose arguments overlap; each with its length before it. */
#include "core/wgsl_code.h"

#include "base/pack.h"
#include "base/status.h"
#include "compiler/pass/pass.h"
#include "compiler/target/wgsl/wgsl.h"
#include "core/program_make.h"

static qn_status out_of_memory(void) { QN_FAIL(QN_ERROR_OUT_OF_HOST_MEMORY, "no memory for WGSL"); }

/* The target changes what it is given. */
static qn_status make_merged(qn_arena *arena, const ir_module *like, qn_sv ir_text, const qn_wgsl_options *options,
                             const char *label, qn_bytes *out) {
  qn_wgsl_program program;
  ir_module *m = ir_module_new(arena, &like->model);
  if (!m) return out_of_memory();
  qn_status status = ir_parse(m, ir_text, label);
  qn_wgsl_options merged = *options;
  merged.merged = true;
  if (status >= 0) status = qn_target_wgsl(m, &merged, out, &program);
  ir_module_free(m);
  return status;
}

static qn_status name_entries(qn_arena *arena, const qn_wgsl_program *program, core_kernel_list *kernels) {
  for (uint32_t i = 0; i < program->kernel_count && i < kernels->count; i++) {
    kernels->items[i].symbol = qn_arena_copy(arena, qn_sv_from(program->kernels[i].entry));
    kernels->items[i].entry_flags = program->kernels[i].takes_range ? QN_ENTRY_RANGE : 0;
    if (!kernels->items[i].symbol) return out_of_memory();
  }
  return QN_OK;
}

static qn_status make_parts(qn_arena *arena, ir_module *m, qn_sv ir_text, const qn_wgsl_options *options,
                            const char *label, qn_bytes parts[3], core_kernel_list *out_kernels) {
  qn_wgsl_program program;
  QN_TRY(pass_layout(m));
  QN_TRY(core_kernels_describe(arena, m, out_kernels));
  QN_TRY(qn_target_wgsl(m, options, &parts[1], &program));
  qn_wgsl_pack(&program, &parts[0]);
  QN_TRY(name_entries(arena, &program, out_kernels));
  return make_merged(arena, m, ir_text, options, label, &parts[2]);
}

qn_status core_wgsl_code(qn_arena *arena, ir_module *m, qn_sv ir_text, uint64_t option_bits, const char *label,
                         qn_bytes *out, core_kernel_list *out_kernels) {
  const qn_wgsl_options options = {.rounded_divide_sqrt = (option_bits & CORE_OPTION_ROUNDED_DIVIDE_SQRT) != 0};
  qn_bytes parts[3] = {{0}};
  qn_status status = make_parts(arena, m, ir_text, &options, label, parts, out_kernels);
  for (int i = 0; i < 3; i++) {
    if (status >= 0) qn_pack_text(out, qn_bytes_view(&parts[i]));
    out->failed |= parts[i].failed;
    qn_bytes_free(&parts[i]);
  }
  if (status >= 0 && out->failed) return out_of_memory();
  return status;
}
