/* compiler.h - from OpenCL C text to a verified module. What core and tools call. */
#ifndef QUERN_COMPILER_COMPILER_H
#define QUERN_COMPILER_COMPILER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "compiler/ir/ir.h"
#include "compiler/model.h"
#include "compiler/pp/pp.h"
#include "quern/quern.h"

typedef struct qn_compile_options {
  const char **include_dirs;
  uint32_t include_dir_count;
  const char **defines; /* as pp_options.defines */
  uint32_t define_count;
  const char **parameters; /* -P: "NAME=VALUE" */
  uint32_t parameter_count;
  const char *std;        /* "CL1.2"; NULL: that */
  bool fast_relaxed_math; /* implies the next four */
  bool finite_math_only;
  bool unsafe_math;
  bool no_signed_zeros;
  bool mad_enable;
  bool denorms_are_zero;
  bool single_precision_constant;
  bool fp32_correctly_rounded_divide_sqrt;
  bool opt_disable;
  bool warnings_as_errors, no_warnings;
  bool kernel_arg_info;
} qn_compile_options;

/* Splits an option string as a shell does (quotes, backslashes) and reads it; NULL is "". docs/compile-options.md lists
 * the options. Errors: INVALID_ARGUMENT, the option named, with the nearest that exists; OUT_OF_HOST_MEMORY. Strings
 * live in `arena`. */
QN_MUST_USE qn_status qn_compile_options_parse(qn_arena *arena, const char *text, qn_compile_options *out);

typedef struct qn_compile_request {
  qn_sv source;                      /* NUL behind it */
  const char *file_name;             /* NULL: "<source>" */
  const qn_compile_options *options; /* NULL: none */
  qn_model model;
  const pp_files *files; /* NULL: the disk */
  bool is_for_files; /* two kernels of one name are wrong usage (INVALID_ARGUMENT): there could be only one output */
} qn_compile_request;

/* Preprocesses, parses, checks, verifies. On QN_ERROR_COMPILE the thread's error text is the diagnostics, and on INVALID_ARGUMENT, when nothing but -P is wrong; on success
 * `log` (may be NULL) has the warnings. The module lives in `arena`; ir_module_free frees the rest of it. Errors also:
 * OUT_OF_HOST_MEMORY, UNSUPPORTED, INTERNAL. */
QN_MUST_USE qn_status qn_compile(qn_arena *arena, const qn_compile_request *request, ir_module **out_module,
                                 qn_bytes *log);
/* -E: the preprocessed text is appended to `out`. Errors and `log` as above. */
QN_MUST_USE qn_status qn_preprocess(qn_arena *arena, const qn_compile_request *request, qn_bytes *out, qn_bytes *log);

/* What a kernel's launch must know; from a module before pass_regions or after. */
QN_MUST_USE qn_status qn_reflect_argument(const ir_function *kernel, uint32_t index, qn_argument_info *out);
/* One more than the highest dimension of which its body asks for a global, local or group identifier; 0: of none. */
uint32_t qn_reflect_dimensions(const ir_function *f);

#endif
