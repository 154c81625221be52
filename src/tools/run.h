/* run.h - the parts of `quern run`: words of the command line, arguments, the range, execution, the report. */
#ifndef QUERN_TOOLS_RUN_H
#define QUERN_TOOLS_RUN_H

#include "array.h"
#include "tool.h"

#define RUN_MAX_ARGUMENTS 128
#define RUN_PRINT_DEFAULT 16

/* NAME=VALUE of an option. */
typedef struct run_pair {
  char *name;
  const char *word; /* as it was given */
  const char *value;
  bool used;
} run_pair;

typedef struct run_options {
  const char *file;
  const char *kernel; /* NULL: the only one */
  const char *device; /* NULL: the default; "all" */
  run_pair args[RUN_MAX_ARGUMENTS], outs[RUN_MAX_ARGUMENTS], prints[RUN_MAX_ARGUMENTS];
  uint32_t arg_count, out_count, print_count;
  uint64_t global[3], local[3];
  uint32_t global_dimensions, local_dimensions; /* 0: not given */
  char *build;                                  /* options for the compiler */
  uint64_t repeat;
  bool compare, time, json, convert, help;
} run_options;

/* -d all */
bool run_is_on_all(const run_options *o);
tool_status run_options_parse(int argc, char **argv, run_options *out);
void run_options_free(run_options *o);

typedef enum run_state { RUN_PENDING, RUN_RESOLVING, RUN_READY } run_state;

/* One argument of the kernel: what the kernel wants and what it gets. */
typedef struct run_argument {
  qn_argument_info info;
  const char *text; /* VALUE, NULL when it was left out */
  run_state state;
  bool is_array;
  array data;                     /* arrays: the contents before the launch */
  uint64_t elements;              /* arrays: of the pointee's type */
  uint64_t shape[ARRAY_MAX_AXES]; /* arrays: of elements, without the vector's axis */
  uint32_t axes;
  uint64_t local_bytes;     /* local pointers */
  unsigned char value[256]; /* values, in OpenCL's layout */
  const char *out_path;     /* --out */
  bool print;
  uint64_t print_count; /* UINT64_MAX: the default */
} run_argument;

typedef struct run_arguments {
  run_argument items[RUN_MAX_ARGUMENTS];
  uint32_t count;
} run_arguments;

/* Binds --arg, --out and --print to the kernel's parameters and makes the data: files are read here. */
tool_status run_arguments_resolve(qn_kernel kernel, const char *kernel_name, run_options *o, run_arguments *out);
void run_arguments_free(run_arguments *a);
bool run_argument_is_output(const run_argument *a);

/* The range: as given, or from one output's shape. */
tool_status run_range_choose(const run_options *o, const qn_kernel_info *kernel, const run_arguments *a, qn_range *out);

typedef struct run_result {
  qn_device_info device;
  char kernel[256];
  qn_range range;
  uint64_t compile_ns, transfer_ns;
  uint32_t cached;
  uint64_t repeat;
  double median_ns, min_ns, max_ns;
  array outputs[RUN_MAX_ARGUMENTS]; /* by argument; data NULL where it is no output */
} run_result;
void run_result_free(run_result *r);

/* Compiles for an open device, and launches. */
typedef struct run_session {
  qn_device device;
  qn_queue queue;
  qn_program program;
  qn_kernel kernel;
  qn_kernel_info info;
} run_session;
/* `*told`: diagnostics that were told for a device before, or NULL; the caller's to free. */
tool_status run_session_open(qn_runtime runtime, const char *selector, const run_options *o, const char *source,
                             uint64_t source_bytes, char **told, run_session *s, run_result *r);
void run_session_close(run_session *s);
tool_status run_execute(run_session *s, const run_options *o, const run_arguments *a, const qn_range *range,
                        run_result *r);

/* Compares the outputs of two results; prints the largest distance of each. Fails over `limit` units in the last place.
 */
tool_status run_compare(const run_arguments *a, const run_result *r, const run_result *reference, bool quiet);

tool_status run_report(const run_options *o, const run_arguments *a, const run_result *r);

/* A bar on a terminal for work that takes longer than half a second. */
typedef struct progress {
  bool on;
  uint64_t start_ns, shown_ns;
} progress;
progress progress_start(bool quiet);
void progress_show(progress *p, const char *what, uint64_t done, uint64_t all);
void progress_end(progress *p);
uint64_t tool_now_ns(void);

#endif
