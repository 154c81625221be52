/* ptx.h - PTX from a module, for NVIDIA's assembler, which is in the driver and in ptxas. See docs/decisions/ptx.md.
 *
 * One text holds all kernels, each an entry as adapter.h says under "Entries of PTX code". Nothing of it needs LLVM: what the
 * assembler does well itself (registers, scheduling, common subexpressions) is left to it. */
#ifndef QUERN_COMPILER_TARGET_PTX_H
#define QUERN_COMPILER_TARGET_PTX_H

#include "base/bytes.h"
#include "compiler/ir/ir.h"

typedef struct qn_ptx_options {
  uint32_t sm; /* compute capability: 70 for sm_70. See qn_ptx_target */
  /* Division and sqrt of float are correctly rounded (-cl-fp32-correctly-rounded-divide-sqrt); else they are within
   * OpenCL's 2.5 and 3 ULP. */
  bool rounded_divide_sqrt;
  bool denorms_are_zero; /* -cl-denorms-are-zero: subnormal floats are zeros */
  bool opt_disable;      /* -cl-opt-disable: no loop is unrolled */
} qn_ptx_options;

typedef struct qn_ptx_kernel {
  const char *name;   /* in the source */
  const char *symbol; /* the entry */
} qn_ptx_kernel;

typedef struct qn_ptx_program {
  qn_ptx_kernel *kernels;
  uint32_t kernel_count; /* kernels with a body, in the module's order */
} qn_ptx_program;

/* What names of targets begin with: "cuda-sm_90". */
#define QN_PTX_TARGET_PREFIX "cuda-sm_"

/* The number in a target's name; 0: it is none that code can be made for (70 and above). */
uint32_t qn_ptx_target(qn_sv name);

/* Appends the text, the same bytes for the same module and options. `m` is as qn_compile gives it, of 64 address bits; the
 * call prepares it and changes it. `out` is in the module's arena. Errors: COMPILE for what PTX can't express, with a
 * diagnostic at the place in the source; OUT_OF_HOST_MEMORY; INTERNAL. Any thread, in parallel for different modules. */
QN_MUST_USE qn_status qn_target_ptx(ir_module *m, const qn_ptx_options *options, qn_bytes *text, qn_ptx_program *out);

#endif
