/* unit.h - a module as emitters of text see it: everything that has a type has a number, functions stand behind those that
 * they call, and each knows whether it is pure. */
#ifndef QUERN_COMPILER_TARGET_TEXT_UNIT_H
#define QUERN_COMPILER_TARGET_TEXT_UNIT_H

#include "compiler/ir/ir.h"

/* `aux` of a function. Numbers are those of `id`: of instructions, parameters' leaves and variables. */
typedef struct text_function {
  ir_function *f;
  uint32_t first, count; /* numbers of its parameters, variables and instructions, in this order */
  uint32_t first_inst;
  uint32_t result;  /* the number that stands for its result */
  ir_inst **insts;  /* from first_inst on, in the order of the text */
  uint32_t *ends;   /* number of the last instruction within each, itself when it holds none */
  bool *reads_only; /* by number less `first`, of pointers: nothing is written through them */
  bool is_pure;     /* its result hangs on its arguments and the item's place alone, and it changes nothing outside */
  bool asks_range;  /* it, or what it calls, asks for something of the launch's range */
  const char *name; /* for emitters */
} text_function;

typedef struct text_unit {
  ir_module *m;
  text_function *functions; /* with a body, after those that they call */
  uint32_t function_count, kernel_count;
  uint32_t *fields;                      /* by id of a struct: number of its first field */
  uint32_t struct_limit, constant_count; /* ids of structs and numbers of constants are below */
  uint32_t count;                        /* of numbers */
} text_unit;

static inline uint32_t text_inst_count(const text_function *t) { return t->first + t->count - t->first_inst; }
static inline text_function *text_function_of(const ir_function *f) { return f->aux; }

/* Runs pass_access and takes what it finds. Everything is in the module's arena. Errors: OUT_OF_HOST_MEMORY; COMPILE when a function has no body; INTERNAL. */
QN_MUST_USE qn_status text_unit_make(ir_module *m, text_unit *out);

static inline bool text_is_query(ir_op op) { return op >= IR_GLOBAL_ID && op <= IR_WORK_DIM; }
/* Steps from a pointer to one into the same object. */
static inline bool text_is_step(ir_op op) {
  return op == IR_ELEM || op == IR_INDEX || op == IR_FIELD || op == IR_PCAST;
}

#endif
