/* wgsl.h - WGSL from a module, and what a host needs to launch its kernels. See docs/wgsl.md.
 *
 * One text holds all kernels, each an entry point. A kernel's memory:
 *
 *   @group(0) @binding(0)    var<uniform>: the argument block, when it has any bytes
 *   @group(0) @binding(N)    var<storage>: one for each global or constant pointer, N from 1 in the order of parameters
 *   overrides                group size, lengths of local arguments
 *
 * A pointer in the text is an index into what it leads into; what it leads into is known when the text is made. So a buffer's
 * offset is a number of bytes in the argument block, and one WebGPU buffer may hold several of a launch.
 *
 * WebGPU forbids two bindings that overlap when one is written. A launch whose arguments overlap binds their union once:
 * `qn_wgsl_program.merged` is a second text for it, in which all storage variables of a kernel are of one type and
 * may be written. There the host takes the declarations of all but one of those that overlap out (each is a line of its own that
 * begins with "@group(0) @binding(N) ") and replaces their names, which nothing else in the text contains, by that of the one that stays.
 */
#ifndef QUERN_COMPILER_TARGET_WGSL_H
#define QUERN_COMPILER_TARGET_WGSL_H

#include "base/bytes.h"
#include "compiler/ir/ir.h"

typedef enum qn_wgsl_argument_kind {
  QN_WGSL_VALUE,  /* offset, size: its bytes, with zeros up to a multiple of 4 */
  QN_WGSL_BUFFER, /* binding; offset: 4 bytes, where the buffer begins in what is bound, in bytes */
  QN_WGSL_LOCAL   /* override: how many units of `unit` bytes it is long, at least 1 */
} qn_wgsl_argument_kind;

/* A parameter, in the kernel's order. */
typedef struct qn_wgsl_argument {
  qn_wgsl_argument_kind kind;
  uint32_t offset, size; /* in the argument block */
  uint32_t binding;
  uint32_t access; /* QN_ACCESS_...: how the text declares the binding; READ: var<storage, read> */
  uint32_t align;  /* BUFFER: its offset is a multiple of this */
  uint32_t
      base_offset;  /* BUFFER: 4 bytes in the argument block for an address of its first byte, such that those of all
                           buffers rise with the binding, none overlap and none is below QN_WGSL_FIRST_ADDRESS; 0: not asked for */
  uint32_t unit;    /* LOCAL: bytes */
  const char *name; /* the variable's in the text, or LOCAL: the override's */
} qn_wgsl_argument;

/* Addresses below stand for constants and local memory in the text. */
#define QN_WGSL_FIRST_ADDRESS UINT32_C(0x10000000)
/* What a null pointer's buffer has as its offset and as its address. */
#define QN_WGSL_NULL UINT32_C(0xffffffff)

typedef struct qn_wgsl_kernel {
  const char *name;            /* in the source */
  const char *entry;           /* the entry point */
  const char *group[3];        /* overrides: the group's size; NULL where the source fixes it (reqd_work_group_size) */
  uint32_t fixed_group[3];     /* then this */
  uint32_t block_bytes;        /* of the argument block, a multiple of 16; 0: there is none, nor its binding */
  bool takes_range;            /* a qn_wgsl_launch_range (adapter.h) stands at the start of the argument block */
  uint32_t bindings;           /* how many storage bindings it has */
  uint64_t static_local_bytes; /* workgroup memory beside local arguments */
  qn_wgsl_argument *arguments;
  uint32_t argument_count;
} qn_wgsl_kernel;

typedef struct qn_wgsl_program {
  bool uses_half;  /* the device must have shader-f16 */
  bool uses_fused; /* the text has the override QN_WGSL_FUSED */
  qn_wgsl_kernel *kernels;
  uint32_t kernel_count; /* kernels with a body, in the module's order */
} qn_wgsl_program;

/* bool: the device's fma has one rounding, which WGSL does not promise. When it is false (the default) it is spelt out. */
#define QN_WGSL_FUSED "quern_fused"

typedef struct qn_wgsl_options {
  bool merged; /* see above */
  /* Division and sqrt of float are correctly rounded, by integers (-cl-fp32-correctly-rounded-divide-sqrt); else they are
   * within OpenCL's 2.5 and 3 ULP. */
  bool rounded_divide_sqrt;
} qn_wgsl_options;

/* Appends the text, the same bytes for the same module and options. `m` is as qn_compile gives it, of 32 address bits and
 * without double; the call prepares it and changes it. `out` is in the module's arena. Errors: COMPILE for what WGSL can't
 * express, with a diagnostic at the place in the source; OUT_OF_HOST_MEMORY; INTERNAL. Any thread, in parallel for
 * different modules. */
QN_MUST_USE qn_status qn_target_wgsl(ir_module *m, const qn_wgsl_options *options, qn_bytes *text,
                                     qn_wgsl_program *out);

/* The record of what a host must know, as bytes for artifacts, and back. `read` takes any bytes; strings are copied to
 * `arena`. Errors: DATA, OUT_OF_HOST_MEMORY. */
void qn_wgsl_pack(const qn_wgsl_program *program, qn_bytes *out);
QN_MUST_USE qn_status qn_wgsl_unpack(qn_sv bytes, qn_arena *arena, qn_wgsl_program *out);

#endif
