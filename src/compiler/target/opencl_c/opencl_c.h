/* opencl_c.h - OpenCL C 1.2 from a module: text that means on every OpenCL driver what the module means here. See
 * docs/opencl-c.md.
 *
 * Structured control flow stays control flow, values that are used once become expressions, names come from the source
 * where it has some. No input of an operation is undefined in the text that is not undefined in the IR: sums that wrap
 * are unsigned, shifts are masked, division by zero gives what ir.h says. Built-in functions that the source calls come
 * with the text (pass_link), so that results agree; of them and of the program's helpers only those that a kernel
 * reaches. */
#ifndef QUERN_COMPILER_TARGET_OPENCL_C_H
#define QUERN_COMPILER_TARGET_OPENCL_C_H

#include "base/bytes.h"
#include "compiler/ir/ir.h"

/* What the module was compiled for (m->model: address bits, double, half, 64-bit atomics) says the rest. */
typedef struct qn_opencl_c_options {
  /* Entries as adapter.h says under "Entries of OpenCL C code": with hidden parameters behind the source's own. Else
   * kernels have the source's parameters alone, for people and other programs. */
  bool adapter_entries;
  /* The driver's compiler takes -cl-fp32-correctly-rounded-divide-sqrt, and build_options asks for it. Else float
   * division and sqrt are spelt out by helper functions, so that they are correctly rounded all the same. */
  bool rounded_divide_sqrt;
  bool opt_disable; /* -cl-opt-disable */
} qn_opencl_c_options;

typedef struct qn_opencl_c_kernel {
  const char *name;   /* in the source */
  const char *symbol; /* the kernel in the text: the name, unless that is a word of OpenCL C */
  bool takes_range;   /* QN_ENTRY_RANGE of adapter.h; never without adapter_entries */
} qn_opencl_c_kernel;

typedef struct qn_opencl_c_program {
  const char *build_options; /* for clBuildProgram */
  qn_opencl_c_kernel *kernels;
  uint32_t kernel_count; /* kernels with a body, in the module's order; parameters in the kernel's order */
} qn_opencl_c_program;

/* Appends the text, the same bytes for the same module and options. `m` is as qn_compile gives it; the call
 * prepares it (qn_prepare_text) and changes it. `out` is in the module's arena. Errors: COMPILE for what OpenCL C 1.2 or the model can't express, with a
 * diagnostic at the place in the source; OUT_OF_HOST_MEMORY; INTERNAL. Any thread, in parallel for different modules. */
QN_MUST_USE qn_status qn_target_opencl_c(ir_module *m, const qn_opencl_c_options *options, qn_bytes *text,
                                         qn_opencl_c_program *out);

/* The word of qn_adapter_device_info.target_features that stands for rounded_divide_sqrt. */
#define QN_OPENCL_C_ROUNDED_DIVIDE_SQRT "+fp32-correctly-rounded-divide-sqrt"

#endif
