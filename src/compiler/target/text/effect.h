/* effect.h - where a function writes memory, and what of it a load reads: whether a load may be written down later than it
 * stands. A private variable whose address goes nowhere is a memory of its own; the rest of an address space is one. */
#ifndef QUERN_COMPILER_TARGET_TEXT_EFFECT_H
#define QUERN_COMPILER_TARGET_TEXT_EFFECT_H

#include "compiler/target/text/unit.h"

typedef struct text_var_writes {
  uint32_t first, count; /* in text_effects.positions, rising */
  bool escapes;          /* its address is more than the start of a load's or store's path */
  bool is_plain;         /* only loaded and stored whole */
} text_var_writes;

typedef struct text_effects {
  const text_function *function;
  const ir_var **roots;  /* by number less first_inst: the private variable that a pointer leads into, or NULL */
  text_var_writes *vars; /* by number less the function's first */
  uint32_t *positions;   /* numbers of instructions that write variables */
  uint32_t *counts[3];   /* private, local, global: how many instructions before a number write there */
} text_effects;

/* In the module's arena. False: out of memory. */
bool text_effects_find(text_effects *effects, const text_function *function);

/* The private variable that a pointer leads into, if it doesn't escape; else NULL. */
const ir_var *text_own_var(const text_effects *e, const ir_inst *pointer);
const text_var_writes *text_var_facts(const text_effects *e, const ir_var *var);
/* Whether an instruction with a number above `from` and below `to` may write what a load at `pointer` reads. */
bool text_is_written(const text_effects *e, const ir_inst *pointer, uint32_t from, uint32_t to);

#endif
