/* report.h - how an emitter ends that can't go on: its language can't express something, or memory ran out. */
#ifndef QUERN_COMPILER_TARGET_TEXT_REPORT_H
#define QUERN_COMPILER_TARGET_TEXT_REPORT_H

#include <stdarg.h>

#include "compiler/diag.h"
#include "compiler/target/text/names.h"
#include "compiler/target/text/unit.h"

/* "LANGUAGE can't express ..., in 'f'", at the instruction, or where that has no place, at the function. Both may be NULL. */
void text_refuse(qn_diags *diags, const char *language, const text_function *function, const ir_inst *inst,
                 const char *format, va_list args) __attribute__((format(printf, 5, 0)));

/* Whether memory ran out for what every emitter has. */
bool text_ran_out(const ir_module *m, const text_names *names, const qn_diags *diags);

#endif
