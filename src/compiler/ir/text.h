/* text.h - words that printer and parser share. */
#ifndef QUERN_COMPILER_IR_TEXT_H
#define QUERN_COMPILER_IR_TEXT_H

#include "compiler/ir/ir.h"

enum { IR_FLAG_COUNT = 5, IR_SPACE_COUNT = 5, IR_ORDER_COUNT = 5, IR_SCOPE_COUNT = 5, IR_ELEMENT_COUNT = 12 };
extern const char *const ir_flag_names[IR_FLAG_COUNT]; /* bit i */
extern const char *const ir_space_names[IR_SPACE_COUNT];
extern const char *const ir_order_names[IR_ORDER_COUNT];
extern const char *const ir_scope_names[IR_SCOPE_COUNT];
extern const char *const ir_rmw_names[IR_RMW_COUNT];
extern const char *const ir_element_names[IR_ELEMENT_COUNT]; /* QN_TYPE_... */
extern const char *const ir_access_names[4];                 /* QN_ACCESS_... bits */

/* The field of a union that a constant part of `type` stands for: the first of that type; field_count: none. */
uint32_t ir_union_field(const ir_type *type, const ir_type *part);

/* Ids as the text has them: of instructions with a result, in order. */
void ir_number_values(ir_function *f);

#endif
