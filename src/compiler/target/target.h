/* target.h - what every target gives: code from a verified module. */
#ifndef QUERN_COMPILER_TARGET_TARGET_H
#define QUERN_COMPILER_TARGET_TARGET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "compiler/ir/ir.h"

typedef enum qn_emit { QN_EMIT_OBJECT, QN_EMIT_ASSEMBLY, QN_EMIT_LLVM_IR } qn_emit;

typedef struct qn_target_options {
  qn_emit emit;
  const char *arch;     /* "x86-64", "aarch64" */
  const char *cpu;      /* LLVM's name; "" generic; "host": this machine and all its features */
  const char *features; /* LLVM's feature string; not looked at for "host" */
  bool scalar;          /* no vectorisation (benches, tests) */
  bool always_lanes;    /* vectorised whatever it is thought to cost (tests) */
  bool opt_disable;     /* -cl-opt-disable */
  bool least_limits;    /* all code is made in the ways that only large kernels' is (tests) */
} qn_target_options;

/* The entry of kernel NAME in CPU code is the symbol quern_kernel_NAME, which no other symbol begins with. */
#define QN_KERNEL_SYMBOL_PREFIX "quern_kernel_"

/* CPU code through libquern-llvm.so, which is loaded at the first call. `m` is prepared by qn_prepare_cpu (pass/pass.h)
 * and may be changed by the call. Errors: NOT_FOUND when the library is not there (the text says where it was looked
 * for), COMPILE, UNSUPPORTED, INTERNAL. Any thread, in parallel. */
QN_MUST_USE qn_status qn_target_llvm(ir_module *m, const qn_target_options *options, qn_bytes *out);
/* Which LLVM makes the code, for keys: version and archives, from the build. "" when it was built without. */
const char *qn_target_llvm_id(void);

#endif
