/* verify.h - the parts of the verifier. */
#ifndef QUERN_COMPILER_IR_VERIFY_H
#define QUERN_COMPILER_IR_VERIFY_H

#include "base/status.h"
#include "compiler/ir/ir.h"

typedef struct ir_verifier {
  ir_module *m;
  ir_function *f;
} ir_verifier;

/* "function @f: '%3 = add ...': what" */
QN_MUST_USE qn_status ir_verify_fail(const ir_verifier *v, const ir_inst *inst, const char *what);
#define IR_RULE(v, inst, condition, what)                         \
  do {                                                            \
    if (!(condition)) return ir_verify_fail((v), (inst), (what)); \
  } while (0)

/* Types of operands and result, flags, what belongs to the operation (verify_op.c). */
QN_MUST_USE qn_status ir_verify_op(const ir_verifier *v, const ir_inst *inst);
/* A constant of the type that it says; addresses only in initialisers. */
QN_MUST_USE qn_status ir_verify_constant(const ir_verifier *v, const ir_inst *user, const ir_inst *c,
                                         bool in_initialiser);
/* A type with a size that can be had. */
bool ir_verify_is_object(const ir_type *type);
bool ir_verify_is_align(uint64_t align);

#endif
