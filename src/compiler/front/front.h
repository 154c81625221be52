/* front.h - the front end: preprocessor tokens in, a checked IR module out. docs/language.md says what is accepted.
 *
 * token -> parser (decl, stmt, expr: recursive descent, functions named after the grammar) -> typed trees (ast.h) ->
 * emission (emit*.c) a function at a time. Trees come first so that overloads, lvalues, constants and diagnostics are
 * decided before one instruction exists. */
#ifndef QUERN_COMPILER_FRONT_FRONT_H
#define QUERN_COMPILER_FRONT_FRONT_H

#include "base/arena.h"
#include "compiler/compiler.h"
#include "compiler/diag.h"
#include "compiler/ir/ir.h"
#include "compiler/pp/pp.h"

/* Reads all of `p` and adds its functions and constants to `module`, whose arena also holds the front end's own data
 * (the caller may free both together). Model: module->model. `options` may be NULL.
 * QN_ERROR_COMPILE: something is in `diags` (the caller makes the error text from it); the module must not be used.
 * QN_ERROR_OUT_OF_HOST_MEMORY. */
QN_MUST_USE qn_status front_parse(pp *p, qn_diags *diags, const qn_compile_options *options, ir_module *module);

#endif
