/* op.h - rows of the table of component-wise operations, and those of its makers that stand in convert.c. */
#ifndef QUERN_COMPILER_TARGET_OPENCL_C_OP_H
#define QUERN_COMPILER_TARGET_OPENCL_C_OP_H

#include "compiler/target/opencl_c/emit.h"

typedef struct op_row op_row;
typedef shape (*op_maker)(emitter *e, const ir_inst *inst, const op_row *row);
struct op_row {
  op_maker make;
  const char *text; /* operator or function */
  text_level level;
  int8_t sign; /* that the operation is about: 1, -1; 0: either */
};

shape put_integer_conversion(emitter *e, const ir_inst *inst, const op_row *row);
shape put_float_to_integer(emitter *e, const ir_inst *inst, const op_row *row);
shape put_to_float(emitter *e, const ir_inst *inst, const op_row *row);
shape put_bitcast(emitter *e, const ir_inst *inst, const op_row *row);

#endif
