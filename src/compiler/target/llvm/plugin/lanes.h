/* lanes.h - work-items as lanes: one copy of a region's code runs `width` items side by side. See docs/cpu-code.md.
 *
 * Each value has a shape among the lanes. A uniform one is one scalar (or one vector of the source's); a strided one is
 * the scalar of lane 0, lane i being i strides further; a varying one is a vector of `width` elements for each of its
 * components. Control flow that is the same in all running lanes stays control flow; other is done with masks.
 *
 * A region is emitted twice. The full copy takes `width` items that all exist, and assumes that the bounds checks at
 * its top go the usual way for all of them; where one does not, it starts again in the masked copy, which takes any
 * number of items and any conditions. */
#ifndef QUERN_LLVM_LANES_H
#define QUERN_LLVM_LANES_H

#include "emit.h"

typedef enum shape_kind { SHAPE_NONE, SHAPE_UNIFORM, SHAPE_STRIDED, SHAPE_VARYING } shape_kind;

/* Integers of less than 64 bits: when the signed (`sx`) or unsigned (`zx`) reading of every running lane is base +
 * lane * stride as 64-bit numbers, the base is kept in 64 bits; no lane wraps. Otherwise the sum is meant modulo the
 * type's width.
 *
 * `bounded`: no lane's value is negative, or above scale * L + add, where all ids of the group are below L. The analysis
 * says how small L must be for what it took from that (id_limit). */
typedef struct shape {
  shape_kind kind;
  bool sx, zx, bounded;
  uint32_t scale;
  uint64_t add;
  int64_t stride; /* pointers: bytes */
} shape;

/* How a private variable's lanes are kept. */
typedef enum var_layout {
  LAYOUT_REGISTER, /* read and written whole: as its shape says */
  LAYOUT_LEAF,     /* read and written by scalars of its type: lanes of one scalar side by side */
  LAYOUT_WHOLE     /* its address goes elsewhere: whole copies, one a lane */
} var_layout;

typedef struct lane_var lane_var;
struct lane_var {
  ir_var *ir;
  uint32_t serial; /* of the analysis that it is of */
  var_layout layout;
  const ir_block *home;  /* all uses are inside; a lane outside of it doesn't care for the value */
  ir_inst *first;        /* use, in the text's order */
  shape shape;           /* LAYOUT_REGISTER */
  LLVMValueRef *storage; /* allocas: of each component; else one */
  lane_var *next;
};

typedef struct lane_info {
  shape shape;
  LLVMValueRef *parts; /* uniform, strided: one; varying: one a component */
  lane_var *root;      /* of a private pointer: the shape and value are those of the offset in bytes */
  bool used;           /* by another instruction */
  bool known;          /* is in the code that was analysed */
  bool divergent;      /* if, switch: lanes differ; loop: lanes leave it apart */
  bool continues;      /* loop: lanes end an iteration apart */
  bool assumed;        /* in the full copy. If: all lanes take one side; an extension: no lane wraps */
  bool expected;       /* which */
} lane_info;

/* A construct that lanes can leave apart. `gone`: those that will do no more in it (in this iteration of a loop). */
typedef struct lane_scope lane_scope;
struct lane_scope {
  const ir_inst *inst;            /* loop or switch; NULL: the whole code */
  LLVMValueRef gone;              /* alloca of a mask */
  LLVMValueRef active;            /* loop: alloca; lanes that have not left the loop */
  LLVMBasicBlockRef leave, again; /* of uniform constructs */
  bool masked;
  uint32_t touched; /* how many times `gone` was written in the text */
  lane_scope *outer;
};

typedef struct lanes {
  emitter *e;
  ir_function *f;
  unsigned width;
  bool full;
  const ir_block *root;
  lane_info *infos; /* by instruction's id, from the first of the code on */
  uint32_t first, count;
  uint32_t serial;   /* of this analysis */
  lane_info outside; /* of all others */
  lane_var *vars;
  const shape *params; /* of a function; NULL: a kernel's, all uniform */
  LLVMValueRef **param_parts;

  /* Analysis. */
  bool changed;
  bool top;          /* on the way that every lane goes */
  bool effects;      /* something may have been written before, or by an earlier time of the loop */
  uint64_t id_limit; /* what the analysis took from ids holds when all are below it; UINT64_MAX: it took nothing */

  /* Emission. */
  LLVMValueRef mask; /* NULL: all lanes run */
  lane_scope *scope;
  LLVMBasicBlockRef bail, end;
  LLVMValueRef result[16]; /* of a function: allocas */
  bool dead;
} lanes;

/* ---- Shapes (lanes_shape.c, lanes_flow.c) -------------------------------------------------------------- */

bool lanes_analyse(lanes *l);
shape lanes_shape_of(lanes *l, const ir_inst *value);
shape shape_uniform(void);
shape shape_varying(void);
shape shape_strided(int64_t stride);
bool shape_is_wide(const ir_type *type, shape s); /* the base has 64 bits although the type has less */
shape lanes_transfer(lanes *l, const ir_inst *inst);
bool shape_same(shape x, shape y);
shape shape_join(shape x, shape y);
lane_info *lanes_info(lanes *l, const ir_inst *inst);
lane_var *lanes_var(const ir_inst *address);             /* of a private variable's address; else NULL */
lane_var *lanes_root(lanes *l, const ir_inst *pointer);  /* of a pointer into such a variable; else NULL */
bool lanes_leaves_apart(lanes *l, const ir_inst *leave); /* break, continue, return: not all running lanes do */
bool lanes_needs_blend(lanes *l, const ir_block *block, const ir_block *home);
bool lanes_classify(lanes *l); /* layouts and homes of variables */
/* Before a kernel's first region: which variables that live from one region to another can't be kept by scalars. Each region is
 * analysed by itself, and all must agree. */
void lanes_mark_whole(ir_function *f);
/* Calls fn for every scalar in a type. */
typedef struct type_leaf {
  const ir_type *type; /* scalar or pointer */
  uint64_t offset;
} type_leaf;
uint64_t type_leaf_count(const ir_type *type); /* saturates at 1000; unions count as 1000 */
uint64_t type_leaves(const ir_type *type, uint64_t offset, type_leaf *out); /* returns the count */

/* ---- Values (lanes_value.c) ------------------------------------------------------------------------------ */

LLVMValueRef *lanes_parts(lanes *l, unsigned count);
LLVMTypeRef lanes_type(lanes *l, const ir_type *type); /* of a component of a varying value */
LLVMTypeRef lanes_base_type(lanes *l, const ir_type *type, shape s);
LLVMValueRef lanes_uniform(lanes *l, ir_inst *value);                    /* the one scalar or vector */
LLVMValueRef lanes_base(lanes *l, ir_inst *value, bool wide);            /* lane 0's scalar, in 64 bits when wide */
LLVMValueRef lanes_vector(lanes *l, ir_inst *value, unsigned component); /* one element a lane */
LLVMValueRef lanes_steps(lanes *l, LLVMTypeRef elem, int64_t stride);    /* 0, stride, 2 * stride, ... */
LLVMValueRef lanes_spread(lanes *l, LLVMValueRef scalar);
LLVMValueRef lanes_pointers(lanes *l, ir_inst *pointer); /* one a lane */

/* ---- Code -------------------------------------------------------------------------------------------------- */

void lanes_block(lanes *l, const ir_block *block);
void lanes_open_scope(lanes *l, lane_scope *scope, const ir_inst *inst, bool masked);
void lanes_control(lanes *l, ir_inst *inst);
void lanes_inst(lanes *l, ir_inst *inst);
void lanes_load(lanes *l, ir_inst *inst);
void lanes_store(lanes *l, ir_inst *inst);
void lanes_copy(lanes *l, ir_inst *inst);
void lanes_atomic(lanes *l, ir_inst *inst);
void lanes_call(lanes *l, ir_inst *inst);
bool lanes_open(lanes *l, ir_function *f, const ir_block *root);
void lanes_code(lanes *l, LLVMBasicBlockRef end);  /* variables and all code; ends with branches to `end` */
void lanes_forget(lanes *l, const ir_block *home); /* variables that begin anew with a block */

LLVMValueRef lanes_full_mask(lanes *l);
LLVMValueRef lanes_mask(lanes *l);                                           /* of now, never NULL */
LLVMValueRef lanes_and(lanes *l, LLVMValueRef mask, LLVMValueRef condition); /* mask may be NULL */
LLVMValueRef lanes_and_not(lanes *l, LLVMValueRef mask, LLVMValueRef condition);
LLVMValueRef lanes_any(lanes *l, LLVMValueRef mask);
LLVMValueRef lanes_alloca(lanes *l, LLVMTypeRef type);

/* Whether a kernel is better run one item after another, as far as an estimate of both ways' costs tells. */
bool lanes_are_slow(emitter *e, ir_function *f);
/* Whether the private variables of all lanes are too much for a stack, or a switch has too many cases for lanes. */
bool lanes_are_large(const emitter *e, const ir_function *f);
bool lanes_region(emitter *e, const ir_block *block);

#endif
