/* kernel.h - one kernel with its arguments, on both sides: built from the same source, given the same input, compared. */
#ifndef QUERN_BENCH_KERNEL_H
#define QUERN_BENCH_KERNEL_H

#include "bench.h"
#include "opencl.h"

#define BENCH_MAX_ARGUMENTS 12

/* What an argument is, and what a buffer holds at first. */
typedef enum bench_fill {
  BENCH_NONE, /* the list's end */
  BENCH_ZEROS,
  BENCH_RANDOM,  /* floats from 0 to 1 */
  BENCH_SIGNED,  /* floats from -1 to 1 */
  BENCH_BYTES,   /* random bytes */
  BENCH_INDICES, /* ints from 0 to `limit` - 1 */
  BENCH_ROWS,    /* ints: 0, limit, 2 * limit, ... : the row starts of a sparse matrix */
  BENCH_INT,     /* a value */
  BENCH_FLOAT,   /* a value */
  BENCH_LOCAL    /* local memory */
} bench_fill;

/* How results are compared: not at all for inputs. */
typedef enum bench_compare {
  BENCH_INPUT,
  BENCH_EXACT,
  BENCH_MOSTLY, /* ints that rounding may tip over: at most one in fifty differs */
  BENCH_FLOATS
} bench_compare;

typedef struct bench_argument {
  bench_fill fill;
  uint64_t bytes; /* of a buffer or of local memory */
  double value;   /* of a value; `limit` of indices and rows */
  bench_compare compare;
} bench_argument;
bool bench_is_buffer(const bench_argument *argument);

typedef struct bench_kernel {
  const char *name, *file, *kernel, *options;
  uint32_t dimensions;
  uint64_t global[3], local[3];
  bench_argument arguments[BENCH_MAX_ARGUMENTS];
  double tolerance;   /* for floats: of the larger of the value and 1 */
  double moved_bytes; /* by one launch, 0: not memory-bound */
  double operations;  /* floating-point, by one launch, 0: not told */
} bench_kernel;

/* Quern's side of a run. */
typedef struct bench_quern {
  qn_runtime runtime;
  qn_device device;
  qn_queue queue;
  char name[256];
} bench_quern;
void bench_quern_open(bench_quern *q); /* on the CPU */
void bench_quern_open_on(bench_quern *q, const char *selector);
void bench_quern_close(bench_quern *q);
qn_kernel bench_quern_build(bench_quern *q, const char *source, const char *file, const char *options,
                            const char *kernel);

/* A kernel made ready on both sides. */
typedef struct bench_run {
  const bench_kernel *k;
  bench_quern *quern;
  opencl *cl;
  qn_kernel quern_kernel;
  qn_buffer quern_buffers[BENCH_MAX_ARGUMENTS];
  qn_range range;
  qn_argument arguments[BENCH_MAX_ARGUMENTS];
  uint32_t argument_count;
  cl_kernel cl_kernel;
  cl_mem cl_buffers[BENCH_MAX_ARGUMENTS];
} bench_run;

/* `cl` may be NULL: one side alone. */
void bench_run_open(bench_run *run, const bench_kernel *k, bench_quern *quern, opencl *cl);
void bench_run_close(bench_run *run);
/* Launches and waits; nanoseconds. Contexts are bench_run. */
double bench_run_quern(void *run);
double bench_run_peer(void *run);
/* A buffer's contents, when what was launched is done; ends the program where they can't be had. */
void bench_run_read(bench_run *run, uint32_t argument, void *bytes);
/* Compares words of an argument. Ends the program where they differ. */
void bench_compare_words(const bench_kernel *k, uint32_t argument, const void *ours, const void *theirs);
/* Compares the buffers of both sides after the same number of launches. Ends the program where they differ. */
void bench_run_compare(bench_run *run);

#endif
