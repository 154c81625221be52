/* sign.h - the sign that a text gives to each integer: the IR's integers have none, its operations do. Values that meet
 * where the sign doesn't matter (sums, copies, comparisons for equality, memory behind one pointer) are one class, and the
 * operations that do mind have a vote. Two classes of which each has a result whose sign is sure stay apart; kernels'
 * parameters keep the sign of the source. Wherever a value of the other sign
 * is wanted, the emitter casts: this only makes that rare. */
#ifndef QUERN_COMPILER_TARGET_TEXT_SIGN_H
#define QUERN_COMPILER_TARGET_TEXT_SIGN_H

#include "compiler/target/text/unit.h"

typedef struct text_signs {
  const text_unit *unit;
  struct text_sign *classes; /* by number */
} text_signs;

/* In the module's arena. False: out of memory. */
bool text_signs_find(text_signs *signs, const text_unit *unit);

/* The sign of the integer at the core of a value's type: of the value, of its lanes, of what a pointer leads to. Types
 * without one are signed. */
bool text_is_signed(const text_signs *signs, const ir_inst *value);
bool text_var_is_signed(const text_signs *signs, const ir_var *var);
bool text_field_is_signed(const text_signs *signs, const ir_type *type, uint32_t field);
bool text_result_is_signed(const text_signs *signs, const ir_function *f);

/* The type at the core: what lanes, elements and pointers lead to. */
const ir_type *text_core(const ir_type *type);

#endif
