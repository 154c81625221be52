/* code.h - inside the interpreter: a function tree flattened to steps, so that a work-item can stop at a barrier and go
 * on later with nothing but its registers and a step number.
 *
 * OpenCL C has no recursion, so every function of the call tree gets fixed places in a work-item's registers and
 * private memory, and a call is a jump that leaves the return step in a register. */
#ifndef QUERN_COMPILER_INTERP_CODE_H
#define QUERN_COMPILER_INTERP_CODE_H

#include "base/arena.h"
#include "compiler/interp/interp.h"
#include "compiler/interp/space.h"

/* Addresses are virtual, and each address space has its part of them, in this order. */
typedef enum code_space { CODE_GLOBAL, CODE_CONSTANT_SPACE, CODE_LOCAL, CODE_PRIVATE, CODE_SPACES } code_space;

typedef enum code_place {
  CODE_REGISTER, /* index into the item's registers */
  CODE_CONSTANT  /* index into the code's constants */
} code_place;

typedef struct code_operand {
  uint32_t place; /* code_place */
  uint32_t index; /* of the first lane */
} code_operand;

typedef enum code_kind {
  CODE_EVALUATE, /* inst */
  CODE_JUMP,
  CODE_JUMP_UNLESS, /* operand 0 is false */
  CODE_SWITCH,      /* cases, targets; the last target is the default's */
  CODE_CALL,        /* moves operands into the callee's parameters, jumps to `target` */
  CODE_RETURN,      /* moves operand 0 into `result`, jumps to the step in register `index` */
  CODE_BARRIER,
  CODE_TRAP,
  CODE_END /* of the work-item */
} code_kind;

typedef struct code_step {
  code_kind kind;
  uint32_t target;
  uint32_t result; /* register of the first lane */
  uint32_t index;
  uint32_t operand_count;
  code_operand *operands;
  const ir_inst *inst;
  const ir_function *function;
  uint32_t *targets; /* switch */
} code_step;

typedef struct code {
  qn_arena arena;
  const ir_function *kernel;
  code_step *steps;
  uint32_t step_count, step_capacity;
  uint32_t entry; /* the kernel's first step */
  uint64_t *constants;
  uint32_t constant_count, constant_capacity;
  uint32_t register_count;      /* of an item */
  space spaces[CODE_SPACES];    /* buffers and local arguments are the launch's to add */
  uint64_t private_bytes;       /* of an item */
  uint64_t local_bytes;         /* of a group */
  unsigned char *constant_data; /* program-scope constants */
  uint64_t constant_bytes;
  uint32_t *parameters; /* first register of each kernel parameter */
  uint32_t *byval;      /* the private object of each byval parameter's struct */
} code;

/* Errors: INTERNAL for IR that the interpreter is not given (regions, undefined functions), OUT_OF_HOST_MEMORY. */
QN_MUST_USE qn_status code_build(code *c, const ir_function *kernel);
void code_free(code *c);
/* An object in a space whose memory grows by it: `*bytes`. Errors: LIMIT, OUT_OF_HOST_MEMORY. */
QN_MUST_USE qn_status code_add_object(code *c, code_space where, const char *name, uint64_t size, uint64_t align,
                                      bool is_argument, uint64_t *bytes);

/* Values and memory: a scalar's bits and `bytes` in memory, little end first. */
uint32_t code_lanes(const ir_type *type);                             /* registers of a value */
uint32_t code_lane_bytes(const ir_type *type, uint32_t address_bits); /* in memory */
/* One pure operation; `args` point to lanes. Work-item queries and memory are the caller's. False: not such an
 * operation. */
bool interp_evaluate(const ir_inst *inst, const uint64_t *const *args, uint32_t address_bits, uint64_t *out);

#endif
