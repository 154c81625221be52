/* regions.h - the parts of the pass that splits kernels at barriers. docs/decisions/regions.md has the design; its words
 * are used here: a *group-level* construct is executed once a group, an *item-level* one stands in a region. */
#ifndef QUERN_COMPILER_PASS_REGIONS_H
#define QUERN_COMPILER_PASS_REGIONS_H

#include "compiler/pass/pass.h"
#include "compiler/pass/walk.h"

/* What is known of each instruction that the kernel had, by id; ids start at 1, new instructions have 0. */
enum {
  REGION_GROUP = 1 << 0,        /* a construct at group level */
  REGION_VALUE = 1 << 1,        /* computed once a group, at its place */
  REGION_NEEDED = 1 << 2,       /* a condition at group level depends on it */
  REGION_RAISES = 1 << 3,       /* holds, or is, a leave that parts items and that a group-level construct must see */
  REGION_BREAKS = 1 << 4,       /* a loop or switch that some of the items may leave */
  REGION_CONTINUES = 1 << 5,    /* a loop some of whose items may wait for its continue block */
  REGION_LEAVES = 1 << 6,       /* items may wait within for the end of something outside */
  REGION_PLAIN_RETURN = 1 << 7, /* a return after which the item has nothing to do: it may just end the region */
};

/* Where items wait; a value of the state variable. 0: the item runs. */
typedef struct region_codes {
  uint32_t breaks, continues, skips; /* of a construct: that left it, that go on to its next time, that skip a branch */
  uint32_t leaves;                   /* of a leave: where it leads */
} region_codes;

typedef struct region_plan {
  ir_module *m;
  ir_function *f;
  qn_arena arena;
  uint32_t count; /* instructions, ids below */
  uint8_t *flags;
  region_codes *codes;
  uint32_t next_code; /* 1 is "returned" */
  ir_var *state;      /* NULL: no item ever waits */
} region_plan;

enum { REGION_RETURNED = 1 };

static inline bool region_has(const region_plan *p, const ir_inst *inst, uint32_t flag) {
  return inst->id && (p->flags[inst->id] & flag);
}
/* Whether a block is executed once a group: all constructs around it are. */
bool region_is_group_block(const region_plan *p, const ir_block *block);
/* An operand that is there at group level: a constant, a parameter, a value computed there. */
bool region_is_group_operand(const region_plan *p, const ir_inst *x);
ir_var *region_private_var(const ir_inst *x);
/* The loop or switch that a break or continue leads to; NULL: the function. */
ir_inst *region_target(const ir_inst *leave);

/* What is group level and which variables are the group's; sets flags and storage (region_plan.c). */
QN_MUST_USE qn_status region_make_plan(region_plan *p);
/* Moves the body into regions and group-level constructs (region_split.c). */
QN_MUST_USE qn_status region_split(region_plan *p);
/* Values and variables that live across regions get their places (region_values.c). */
QN_MUST_USE qn_status region_keep_values(region_plan *p);

#endif
