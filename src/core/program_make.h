/* program_make.h - from a module to a program of a device, by way of everything that is cached: the key, the device's cache
 * in memory (C2), the store (C3), and at last the code generator. What program_build.c and program_load.c share. */
#ifndef QUERN_CORE_PROGRAM_MAKE_H
#define QUERN_CORE_PROGRAM_MAKE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "compiler/compiler.h"
#include "compiler/model.h"
#include "compiler/target/opencl_c/opencl_c.h"
#include "core/program.h"
#include "store/store.h"

/* Options that shape code beyond what the IR's text shows. */
#define CORE_OPTION_OPT_DISABLE (UINT64_C(1) << 1)
#define CORE_OPTION_DENORMS_ARE_ZERO (UINT64_C(1) << 2)
#define CORE_OPTION_ROUNDED_DIVIDE_SQRT (UINT64_C(1) << 7)
uint64_t core_option_bits(const qn_compile_options *options);

typedef struct core_make core_make;
struct core_make {
  core_device *device;
  core_program *program;
  qn_store *store;
  const char *label;            /* for the log */
  qn_arena arena;               /* the module, and all that it was made from */
  ir_module *module;            /* NULL: not made, because its key is known */
  qn_bytes text;                /* the module's canonical text */
  uint64_t option_bits;         /* core_option_bits */
  qn_opencl_c_program opencl_c; /* what else is told of code in OpenCL C */
  bool scalar;            /* QUERN_CPU_SCALAR=1: code without vectors, for benches and to tell a vectoriser's fault */
  qn_store_before before; /* what the look-up before parsing said */
  qn_key key;
  bool is_from_store;
  /* Makes the module, should the store know the key and have lost the code. */
  qn_status (*compile)(core_make *make);
};

/* Errors: those of qn_store_default. */
QN_MUST_USE qn_status core_make_begin(core_make *make, core_device *device, core_program *program, const char *label);
void core_make_end(core_make *make);

qn_model core_make_model(const core_make *make);
/* Adds what shapes the code of every program of this device. */
void core_make_add_device(const core_make *make, qn_key_maker *maker);
/* The key of the module, whose text is printed. */
QN_MUST_USE qn_status core_make_key(core_make *make);
/* The program's binary: from the device's cache, the store, or the module. */
QN_MUST_USE qn_status core_make_binary(core_make *make);
/* Loads code as the device's program. */
QN_MUST_USE qn_status core_make_load(core_make *make, const qn_adapter_code *code, core_binary *binary);
/* Counts and tells how the program was come by. */
void core_make_tell(core_make *make, bool is_in_memory);

#endif
