/* memory.h - what each pointer of a function leads into. WGSL has no pointers that may be kept or computed with: a pointer
 * is an index, and the variable that it is an index into stands in the text. So values that may be the same pointer are one
 * class (union-find, whatever the order of control), and a class has roots: variables and parameters whose addresses get there.
 *
 *   one root           an index into it, in units of what all steps and accesses are multiples of
 *   several, private   they are laid into one variable
 *   several, others    addresses of bytes; each access asks which one is meant ("flat")
 */
#ifndef QUERN_COMPILER_TARGET_WGSL_MEMORY_H
#define QUERN_COMPILER_TARGET_WGSL_MEMORY_H

#include "compiler/target/text/unit.h"

/* What is done through the pointers of a class, here and in functions that get them. */
typedef struct wgsl_facts {
  uint32_t unit;       /* the largest power of two up to 16 that divides all steps and alignments of accesses */
  bool floats, others; /* 32-bit floats are loaded or stored; anything else is */
  bool pieces;         /* something else than whole vectors of four (or three) 32-bit lanes */
  bool writes, atomics;
  bool narrow;    /* part of a word is written */
  bool addresses; /* the pointer becomes a number */
} wgsl_facts;

typedef struct wgsl_class {
  uint32_t parent;
  uint32_t content;                /* class of the pointers that are kept in what it leads to; 0: none */
  uint32_t roots, root, last_root; /* how many, and nodes of the first and last; root + 1, 0: none */
  uint32_t next_root;              /* of a root: the next one of the class + 1 */
  const ir_inst *kept;             /* where a pointer is loaded or stored through it */
  wgsl_facts facts;
  struct wgsl_memory *memory; /* the emitter's */
} wgsl_class;

typedef struct wgsl_flow {
  const ir_var **constants; /* of the module, by number */
  const text_function *t;
  wgsl_class *nodes;
  const ir_var **variables; /* by number less the function's first; parameters have none */
  uint32_t values, vars, consts, used,
      limit;        /* nodes: of values, then of what pointer variables hold, then of constants */
  bool must_inline; /* its pointers can't be told apart by what each call passes */
} wgsl_flow;

/* Flows of all functions of a unit, in its order. False: out of memory. */
bool wgsl_flows_find(const text_unit *unit, wgsl_flow **out);

/* The node of the class of a pointer; UINT32_MAX: null or undefined, which are in none. */
uint32_t wgsl_class_of(const wgsl_flow *flow, const ir_inst *pointer);
uint32_t wgsl_class_find(const wgsl_flow *flow, uint32_t node);
/* What a root's node stands for: a variable or constant, or else a parameter. */
const ir_var *wgsl_root_var(const wgsl_flow *flow, uint32_t node);

#endif
