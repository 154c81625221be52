/* plugin.h - the boundary between libquern.so and libquern-llvm.so: one exported function. Both sides are of one build;
 * the build id is compared, and another one is refused. The plug-in carries its own hidden copy of base and ir. */
#ifndef QUERN_COMPILER_TARGET_LLVM_PLUGIN_H
#define QUERN_COMPILER_TARGET_LLVM_PLUGIN_H

#include "compiler/target/target.h"

typedef struct qn_llvm_result {
  qn_bytes code;    /* freed by `release` */
  char error[4096]; /* "" or what is wrong */
  void (*release)(struct qn_llvm_result *result);
} qn_llvm_result;

typedef struct qn_llvm_table {
  uint32_t struct_size;
  uint32_t reserved;
  const char *build_id;
  const char *llvm_version;
  /* Thread-safe: a context a call. */
  qn_status (*emit)(ir_module *m, const qn_target_options *options, qn_llvm_result *result);
} qn_llvm_table;

typedef const qn_llvm_table *(*qn_llvm_entry_fn)(void);
#define QN_LLVM_ENTRY_NAME "qn_llvm_entry"

#endif
