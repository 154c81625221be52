/* emit.h - what the files of the LLVM target share: the emitter (one a call), the state of the function being emitted,
 * and helpers that work on scalars and vectors alike. See docs/cpu-code.md.
 *
 * Errors: the first one is kept in the emitter (emit_fail) and the emission goes on with poison, so that the callers
 * of the many small makers need no checks; emit_module looks at the end. */
#ifndef QUERN_LLVM_EMIT_H
#define QUERN_LLVM_EMIT_H

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>

#include "base/arena.h"
#include "compiler/ir/ir.h"
#include "compiler/target/llvm/plugin.h"
#include "quern/adapter.h"

/* What the target does in one instruction; what it does not is spelt out (expand.c). */
typedef struct target_facts {
  bool fma;     /* fused multiply-add of f32 and f64 */
  bool half;    /* conversions between f16 and f32 */
  bool round;   /* floor, ceil, trunc, rint */
  bool wide256; /* 256-bit vectors of integers too */
  bool wide512; /* 512-bit vectors */
} target_facts;

/* Beyond these, compile time counts more than the code's speed: what LLVM does takes more than linear time. */
typedef struct emit_limits {
  unsigned regions_inside; /* of a kernel; in one that has more they are functions (outline.c) */
  unsigned regions_twice;  /* in one that has more there is one copy of the code for lanes (lanes.c), not improved */
  unsigned loops_around;   /* what is written in more loops than these stays in memory (function.c) */
  unsigned block_size;     /* instructions; longer blocks are cut (limits.c) */
  unsigned function_size;  /* instructions; longer functions are not improved by the code generator (limits.c) */
} emit_limits;

typedef struct function_state function_state;
typedef struct lane_function lane_function;

typedef struct emitter {
  ir_module *m;
  const qn_target_options *options;
  const char *cpu, *features; /* of the options; what "host" is */
  target_facts facts;
  const emit_limits *limits;
  LLVMContextRef context;
  LLVMModuleRef module;
  LLVMBuilderRef builder;
  LLVMTargetMachineRef machine;
  bool has_helpers; /* functions beside kernels */
  LLVMTypeRef void_type, i1, i8, i32, i64, f32, f64, ptr;
  function_state *f;   /* being emitted */
  unsigned lane_width; /* items side by side; 1: items one after another */
  lane_function *lane_functions;
  uint32_t analyses; /* of code for lanes, so far */
  qn_arena arena;
  qn_status status;
  bool is_lost; /* LLVM failed for good: its objects are not touched again */
  char error[4096];
} emitter;

/* Ids of the item being emitted: indices within the group, i64. In code that runs once a group they are NULL. */
typedef struct item_ids {
  LLVMValueRef local[3];
  LLVMValueRef linear; /* index in the group's context arrays */
} item_ids;

/* Where break and continue go. */
typedef struct target_blocks {
  LLVMBasicBlockRef leave, again; /* again: NULL in a switch */
  struct target_blocks *outer;
} target_blocks;

struct function_state {
  const ir_function *ir;
  LLVMValueRef function;
  LLVMBasicBlockRef entry;     /* variables and group-level values; ends with a branch to the body */
  LLVMValueRef launch, group;  /* records; NULL in functions that ask for nothing */
  LLVMValueRef queries[3][16]; /* group-level values by dimension and operation, made at first use */
  LLVMValueRef scratch, padded_items;
  item_ids items;
  target_blocks *targets;
  LLVMBasicBlockRef item_end; /* where `return` goes in a region; NULL: a real return */
  bool outlines;              /* regions are functions of their own */
  bool terse;                 /* less code counts more than its speed */
  bool dead;                  /* the place of emission can not be reached */
};

/* ---- Errors --------------------------------------------------------------------------------------- */

void emit_fail(emitter *e, qn_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Calls a function that calls LLVM. False: LLVM met a fatal error, which is told in the emitter; is_lost is set. */
bool emit_guarded(emitter *e, void (*function)(void *argument), void *argument);

/* ---- Types (type.c) ------------------------------------------------------------------------------- */

LLVMTypeRef emit_type(emitter *e, const ir_type *type);        /* of a value: bool is i1 */
LLVMTypeRef emit_memory_type(emitter *e, const ir_type *type); /* in memory: bool is i8, 3-vectors have 4 elements,
                                                                  aggregates are bytes */
LLVMTypeRef half_type(emitter *e); /* of f16: bits in an integer where the machine has no halves */
/* Scalars and vectors alike. */
LLVMTypeRef elem_type(LLVMTypeRef type);
unsigned elem_bits(LLVMTypeRef type);
unsigned lane_count(LLVMTypeRef type); /* scalar: 1 */
LLVMTypeRef with_elem(LLVMTypeRef type, LLVMTypeRef elem);
LLVMTypeRef int_like(LLVMTypeRef type); /* integers of the elements' width */
LLVMTypeRef int_with_bits(emitter *e, LLVMTypeRef type, unsigned bits);
LLVMValueRef int_splat(LLVMTypeRef type, uint64_t value);
LLVMValueRef float_splat(LLVMTypeRef type, double value);
LLVMValueRef splat(emitter *e, LLVMValueRef scalar, unsigned lanes);

/* ---- Constants and leaves (constant.c) -------------------------------------------------------------- */

LLVMValueRef emit_constant(emitter *e, const ir_inst *leaf);
void emit_constants(emitter *e); /* program-scope variables */

/* ---- Operations ------------------------------------------------------------------------------------- */

/* A component-wise operation (classes UN, BIN, TRI, CMP, CONV but bitcast) on values of any number of lanes. `result`
 * is the LLVM type of the result. */
LLVMValueRef emit_op(emitter *e, ir_op op, uint32_t flags, LLVMTypeRef result, LLVMValueRef *args);
LLVMValueRef emit_intrinsic(emitter *e, const char *name, LLVMTypeRef *types, unsigned type_count, LLVMValueRef *args,
                            unsigned arg_count);
LLVMValueRef emit_intrinsic1(emitter *e, const char *name, LLVMTypeRef type, LLVMValueRef *args, unsigned arg_count);
void set_fast_flags(LLVMValueRef value, uint32_t flags);

/* expand.c: what the target has no instruction for. */
LLVMValueRef expand_fma(emitter *e, LLVMValueRef *args);
LLVMValueRef expand_round(emitter *e, ir_op op, LLVMValueRef x);
LLVMValueRef expand_frem(emitter *e, LLVMValueRef *args);
/* Integer division of vectors, of which no machine has one. The divisor isn't 0, and the quotient not too large. */
bool expand_wants_divide(LLVMTypeRef type);
LLVMValueRef expand_divide(emitter *e, bool is_signed, bool quotient, LLVMValueRef x, LLVMValueRef y);
LLVMValueRef expand_widen_half(emitter *e, LLVMValueRef x);                /* f16 -> f32 */
LLVMValueRef expand_narrow_half(emitter *e, LLVMValueRef x);               /* f32 -> f16 */
LLVMValueRef expand_double_to_odd_float(emitter *e, LLVMValueRef x);       /* for a second rounding */
LLVMValueRef expand_integer_to_half(emitter *e, ir_op op, LLVMValueRef x); /* any integer -> f16 */

/* ---- Memory (memory.c) ------------------------------------------------------------------------------ */

LLVMValueRef emit_load(emitter *e, const ir_inst *inst, LLVMValueRef pointer);
void emit_store(emitter *e, const ir_inst *inst, LLVMValueRef pointer, LLVMValueRef value);
void emit_copy(emitter *e, const ir_inst *inst, LLVMValueRef target, LLVMValueRef source);
void emit_fresh(emitter *e, LLVMValueRef variable); /* what an alloca holds is not wanted any more */
LLVMValueRef emit_atomic(emitter *e, const ir_inst *inst, LLVMValueRef *args);
LLVMValueRef emit_offset(emitter *e, LLVMValueRef pointer, uint64_t bytes);
LLVMValueRef emit_elem(emitter *e, LLVMValueRef pointer, const ir_type *elem, LLVMValueRef index);

/* ---- Functions -------------------------------------------------------------------------------------- */

bool emit_module(emitter *e);
/* Numbers the instructions; what earlier passes noted at variables is gone, and `id` of those that deep loops write is
 * set: they stay in memory. Whether there are any. */
bool prepare_function(const emitter *e, ir_function *f);
bool stays_in_memory(const ir_inst *pointer); /* of such a variable */
void emit_function(emitter *e, ir_function *f);
void emit_kernel(emitter *e, ir_function *f);
void emit_block(emitter *e, const ir_block *block);
void emit_scratch(emitter *e, const ir_function *kernel); /* where context variables are */
void emit_body(emitter *e, ir_function *f);
/* The entry block takes variables and what is computed once; the body follows in another, which is returned. The builder
 * is in the entry block. */
LLVMBasicBlockRef open_body(emitter *e);
LLVMValueRef emit_private(emitter *e, const ir_var *var); /* a variable on the stack */
/* The body of a kernel, or a region of one: its first parameters are the records. */
enum { RECORD_PARAMS = 2 };
LLVMValueRef add_part_of_kernel(emitter *e, const char *name, LLVMTypeRef type);
void set_param_attribute(emitter *e, LLVMValueRef function, unsigned param, const char *name, uint64_t value);
void outline_choose(const emitter *e, function_state *state); /* of a kernel: sets `outlines` and `terse` */
void outline_region(emitter *e, const ir_block *block);
/* A loop over the items of one dimension; sets items.local[d]. */
typedef struct item_loop {
  LLVMBasicBlockRef head;
  LLVMValueRef phi, count;
} item_loop;
void emit_loop_open(emitter *e, uint32_t d, item_loop *loop);
void emit_loop_close(emitter *e, item_loop *loop);
void emit_region(emitter *e, const ir_block *block); /* once for each item of the group */
LLVMValueRef emit_value(emitter *e, ir_inst *value); /* an operand */
/* An instruction that is neither control flow nor a call, with its operands ready. */
LLVMValueRef emit_plain(emitter *e, const ir_inst *inst, LLVMValueRef *args);
LLVMValueRef emit_call(emitter *e, const ir_inst *inst, LLVMValueRef *args);
/* A query whose answer is the group's; of IR_GLOBAL_ID: the first item's. Made once, at the function's entry. */
LLVMValueRef emit_group_value(emitter *e, ir_op op, uint32_t dimension);
LLVMValueRef emit_query(emitter *e, const ir_inst *inst);
LLVMValueRef emit_variable(emitter *e, ir_var *var);
LLVMBasicBlockRef new_block(emitter *e, const char *name);
void at_block(emitter *e, LLVMBasicBlockRef block);
void at_entry(emitter *e);                           /* before the end of the entry block */
void branch_to(emitter *e, LLVMBasicBlockRef block); /* and nothing is reached after it */
/* A new block for each of a switch, that of default last; NULL: out of memory, which is told (switch.c). */
LLVMBasicBlockRef *emit_case_blocks(emitter *e, const ir_inst *inst);
/* A branch to blocks[i] when `value` is cases[i], else to `other`; it ends the present block (switch.c). */
void emit_switch_branch(emitter *e, LLVMValueRef value, const uint64_t *cases, const LLVMBasicBlockRef *blocks,
                        uint32_t count, LLVMBasicBlockRef other);
/* Attributes of every function that is emitted. */
void add_attributes(emitter *e, LLVMValueRef function, const char *const *names);

/* ---- Whole modules ---------------------------------------------------------------------------------- */

bool pipeline_open(emitter *e);
bool pipeline_optimise(emitter *e);
bool pipeline_emit(emitter *e, qn_bytes *out);
void pipeline_close(emitter *e);
/* After the optimiser: what would take the code generator more than linear time (limits.c). */
void limit_code(emitter *e);
/* guard.c: after the passes. */
void guard_arrays(emitter *e);
/* The attribute of functions whose code is not to be improved: it would take too long. */
#define HASTE "quern-haste"
void make_haste(emitter *e, LLVMValueRef function);
/* After the optimiser: definitions of the memory functions that the code generator will call. */
bool runtime_add_memory_functions(emitter *e);
/* A function of runtime.c by name, built at its first use. */
LLVMValueRef runtime_function(emitter *e, const char *name, LLVMTypeRef type);
bool object_check(emitter *e, const char *bytes, size_t size);

#endif
