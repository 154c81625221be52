/* pass.h - passes over the IR, one file each. A pass leaves a module that ir_verify accepts; the test build verifies
 * after each. Errors: COMPILE with a diagnostic's text where the program is at fault, OUT_OF_HOST_MEMORY, INTERNAL. */
#ifndef QUERN_COMPILER_PASS_PASS_H
#define QUERN_COMPILER_PASS_PASS_H

#include "compiler/ir/ir.h"
#include "quern/quern.h"

/* Parses in the library functions that the module calls but does not define, and theirs (lib/lib.h). */
QN_MUST_USE qn_status pass_link(ir_module *m);
/* Folds, forwards copies, removes dead code, unreachable branches and unused functions; promotes nothing. */
QN_MUST_USE qn_status pass_simplify(ir_module *m);
/* Inlines calls into kernels: all of those whose callee holds a barrier, and those that are small. A kernel that is split
 * into regions already stays as it is: a callee's variables would have no place in it. */
QN_MUST_USE qn_status pass_inline(ir_module *m, bool all);
/* Inlines, into all functions, calls whose callee holds a barrier, and those that `choose` wants. */
QN_MUST_USE qn_status pass_inline_chosen(ir_module *m, bool (*choose)(void *user, const ir_function *callee),
                                         void *user);
/* Counted loops with few trips become copies of their body; *changed: some did. Simplify then folds what they count by. */
QN_MUST_USE qn_status pass_unroll(ir_module *m, bool *changed);
/* Of other innermost counted loops four trips become one, with what is left over in a loop behind. Once. */
QN_MUST_USE qn_status pass_unroll_partly(ir_module *m, bool *changed);
/* Private structs and arrays whose parts are named by numbers alone become variables a part. */
QN_MUST_USE qn_status pass_split_variables(ir_module *m);
/* Signed divisions, comparisons, extremes and shifts of scalars that can't be negative become unsigned ones. */
QN_MUST_USE qn_status pass_unsign(ir_module *m);
/* What both arms of an if compute or load first is done before it, once. */
QN_MUST_USE qn_status pass_hoist_common(ir_module *m);
/* Numbers that are added within an index come to its end: x + (y + 3) is (x + y) + 3. */
QN_MUST_USE qn_status pass_gather_numbers(ir_module *m);
/* Divisions by numbers become shifts and multiplications. For targets whose compiler divides as it is told. */
QN_MUST_USE qn_status pass_divide_by_numbers(ir_module *m);
/* Loops that count up by one below a limit do so from zero or more, by an unsigned comparison with a value that stands before
 * them. For targets whose text must show that a loop ends. Simplify then drops what isn't used any longer. */
QN_MUST_USE qn_status pass_bound_loops(ir_module *m);
/* Finds each kernel parameter's access (QN_ACCESS_...), through helpers as well. */
QN_MUST_USE qn_status pass_access(ir_module *m);
/* Offsets of static local memory; kernels' static_local_bytes. */
QN_MUST_USE qn_status pass_layout(ir_module *m);
/* Which values and variables are the same for all items of a group that get there: sets inst->aux / var->aux to
 * QN_UNIFORM or QN_VARYING. A load, store or fresh is of the variable's kind; if and switch are of their condition's; a
 * break, continue or return is QN_VARYING where items that walk together may part. Uses `id`, and `aux` of functions. */
enum { QN_VARYING = 1, QN_UNIFORM = 2 };
QN_MUST_USE qn_status pass_uniformity(ir_function *f);
static inline bool qn_is_uniform(const void *aux) { return (uintptr_t)aux == QN_UNIFORM; }
/* Spells division and sqrt of f32 out, unless they may be inexact (IR_FAST): by f64 where the model has it, else by
 * functions of the library, which pass_link must bring in after it. For targets where they are not correctly rounded. */
QN_MUST_USE qn_status pass_round_division(ir_module *m);
/* The same in the functions that pass_link brought in, which count on it. */
QN_MUST_USE qn_status pass_round_library_division(ir_module *m);
/* Makes rsqrt a division by a sqrt. For targets without one, or with one beyond 2 ULP. */
QN_MUST_USE qn_status pass_spell_rsqrt(ir_module *m);
/* The same in the functions that pass_link brought in, whose limits count on it. */
QN_MUST_USE qn_status pass_spell_library_rsqrt(ir_module *m);
/* Splits kernels into regions between barriers (docs/decisions/regions.md). */
QN_MUST_USE qn_status pass_regions(ir_module *m);

/* A kernel argument's place in a CPU entry's block: offset of parameter `index`, and the block's size. */
uint64_t qn_argument_offset(const ir_function *kernel, uint32_t index);
uint64_t qn_argument_block_bytes(const ir_function *kernel);

/* Asks the verifier after a pass of a target's own, where qn_prepare_... does: in builds with assertions, and with
 * QUERN_VERIFY=1. */
QN_MUST_USE qn_status pass_check(ir_module *m, const char *pass);
/* All that the CPU target asks for, in order. */
QN_MUST_USE qn_status qn_prepare_cpu(ir_module *m);
/* All that targets which are text for another compiler ask for: functions stay functions. `rounds`: their division and
 * sqrt of floats are correctly rounded; else pass_round_division is among it. */
QN_MUST_USE qn_status qn_prepare_text(ir_module *m, bool rounds);

#endif
