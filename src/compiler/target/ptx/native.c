/* native.c - functions of the library that the machine has an instruction for, near enough: calls of them become it, and their bodies
 * go. Its powers of two are better than the library's native ones. Its logarithm is bad near 1, and its sine and cosine near their
 * zeros and for large angles: half_ functions, which are the native ones, may not be, so those are taken under
 * -cl-fast-relaxed-math alone, which allows it. */
#include <string.h>

#include "compiler/target/ptx/emit.h"

enum { LANES = 2 };

static const struct native {
  const char *name;
  bool fast_only;
  const char *ops[LANES]; /* a lane of the result each */
} natives[] = {
    {"native_exp2.f32", false, {"ex2.approx.ftz"}}, {"machine_exp2.f32", false, {"ex2.approx.ftz"}},
    {"native_log2.f32", true, {"lg2.approx.ftz"}},  {"native_sin.f32", true, {"sin.approx.ftz"}},
    {"native_cos.f32", true, {"cos.approx.ftz"}},   {"native_sincos.f32", true, {"sin.approx.ftz", "cos.approx.ftz"}},
};

static const struct native *find(const ir_module *m, const ir_function *f) {
  for (size_t i = 0; i < sizeof natives / sizeof *natives; i++)
    if (strcmp(f->name, natives[i].name) == 0) return natives[i].fast_only && !m->fast_math ? NULL : &natives[i];
  return NULL;
}

bool ptx_is_native(const ir_module *m, const ir_function *f) { return find(m, f) != NULL; }

/* Functions of the library of which it has others that are made of such an instruction, and within OpenCL's limits (native.clh). */
static const char *const by_machine[][2] = {{"exp.f32", "exp_by_machine.f32"}, {"exp2.f32", "exp2_by_machine.f32"}};

static const char *better_name(const ir_function *f) {
  for (size_t i = 0; i < sizeof by_machine / sizeof *by_machine; i++)
    if (!f->body && strcmp(f->name, by_machine[i][0]) == 0) return by_machine[i][1];
  return NULL;
}

static bool call_better(void *user, ir_inst *inst) {
  ir_module *m = user;
  const char *name = inst->op == IR_CALL ? better_name(inst->u.callee) : NULL;
  ir_function *better = name ? ir_function_get(m, qn_sv_from(name)) : NULL;
  if (!better) return true;
  const ir_type *type = inst->type;
  if (!better->params) ir_function_signature(better, type, &type, NULL, 1);
  inst->u.callee = better;
  return true;
}

void ptx_choose_functions(ir_module *m) {
  for (ir_function *f = m->functions; f; f = f->next)
    if (f->body) (void)ir_walk(f->body, call_better, m);
}

/* A body that reaches nothing; it is not written. */
static void empty_body(ir_module *m, ir_function *f) {
  f->body = ir_block_new(m, NULL);
  f->vars = f->last_var = NULL;
  ir_builder b = {.m = m, .f = f, .block = f->body, .loc = f->loc};
  ir_return(&b, ir_undef(m, f->result));
}

void ptx_take_natives(ir_module *m) {
  for (ir_function *f = m->functions; f && !m->failed; f = f->next)
    if (f->body && ptx_is_native(m, f)) empty_body(m, f);
}

void ptx_put_native(emitter *e, const ir_inst *call) {
  const struct native *native = find(e->m, call->u.callee);
  ptx_ref x = ptx_operand(e, call->args[0], 0);
  for (uint32_t i = 0; native && i < LANES && native->ops[i]; i++)
    ptx_set(e, call, i, ptx_made1(e, native->ops[i], ".f32", PTX_32, x));
}
