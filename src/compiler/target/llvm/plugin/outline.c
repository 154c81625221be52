/* outline.c - regions as functions of their own, in kernels that have many.
 *
 * The optimiser and the code generator take more than linear time for one function with hundreds of loops in it: what is
 * known of one loop is asked of each other, and values that live through all of them are given registers again and again.
 * A region is called once a group, so a call costs nothing beside it. It gets the two records, and then each value,
 * group variable and local array from outside that it uses. */
#include "emit.h"

#define B (e->builder)

static bool count_region(void *user, ir_inst *inst) {
  uint32_t *count = user;
  *count += inst->op == IR_REGION;
  return true;
}

void outline_choose(const emitter *e, function_state *state) {
  uint32_t count = 0;
  (void)ir_walk(state->ir->body, count_region, &count);
  state->outlines = count > e->limits->regions_inside;
  state->terse = count > e->limits->regions_twice;
}

/* ---- What a region uses from outside ---- */

typedef struct capture {
  void **aux; /* of the value or variable; NULL there while it is being collected */
  LLVMValueRef outer;
  const ir_inst *param; /* the kernel's parameter that it is */
  const ir_var *var;    /* private to each item: the region's function has its own */
} capture;

typedef struct outline {
  emitter *e;
  const ir_inst *first; /* the region holds ids from this one's on */
  uint32_t count;
  capture *captures;
  uint32_t used, room;
  bool has_pointers; /* among what was computed for the group */
} outline;

static bool is_inside(const outline *o, const ir_inst *inst) { return inst->id - o->first->id < o->count; }

static bool grow(outline *o) {
  if (o->used < o->room) return true;
  uint32_t room = o->room ? 2 * o->room : 16;
  capture *captures = QN_ARENA_ARRAY(&o->e->arena, capture, room);
  if (!captures) {
    emit_fail(o->e, QN_ERROR_OUT_OF_HOST_MEMORY, "out of memory for a region of '%s'", o->e->f->ir->name);
    return false;
  }
  for (uint32_t i = 0; i < o->used; i++) captures[i] = o->captures[i];
  o->captures = captures;
  o->room = room;
  return true;
}

static bool take(outline *o, void **aux, const ir_inst *param, const ir_var *var) {
  if (!*aux) return true;
  if (!grow(o)) return false;
  o->captures[o->used++] = (capture){aux, *aux, param, var};
  *aux = NULL;
  return true;
}

static bool take_variable(outline *o, ir_var *var) {
  bool item = var->space == IR_PRIVATE && var->storage == IR_STORE_PLAIN;
  bool context = var->space == IR_PRIVATE && var->storage == IR_STORE_CONTEXT;
  if (var->space == IR_CONSTANT || context || (item && o->e->lane_width > 1)) return true;
  return take(o, &var->aux, NULL, item ? var : NULL);
}

static bool take_operands(void *user, ir_inst *inst) {
  outline *o = user;
  for (uint32_t i = 0; i < inst->arg_count; i++) {
    ir_inst *arg = inst->args[i];
    bool good = true;
    if (arg->op == IR_ADDRESS) {
      good = take_variable(o, arg->u.var);
    } else if (arg->op == IR_PARAM) {
      good = take(o, &arg->aux, arg, NULL);
    } else if (arg->parent && !is_inside(o, arg)) {
      o->has_pointers |= arg->type->kind == IR_POINTER;
      good = take(o, &arg->aux, NULL, NULL);
    }
    if (!good) return false;
  }
  return true;
}

static bool count_inst(void *user, ir_inst *inst) {
  (void)inst;
  ++*(uint32_t *)user;
  return true;
}

static void put_back(outline *o) {
  for (uint32_t i = 0; i < o->used; i++) *o->captures[i].aux = o->captures[i].outer;
}

/* ---- The function ---- */

/* A parameter that says `restrict` still does, unless it comes in a second time as part of another pointer. */
static bool is_alone(const outline *o, const capture *c) {
  if (!c->param || c->param->type->kind != IR_POINTER || o->has_pointers) return false;
  const ir_param *p = &o->e->f->ir->params[c->param->imm];
  return p->is_restrict || p->byval;
}

static LLVMValueRef make_function(outline *o, LLVMValueRef *args, unsigned *out_count) {
  emitter *e = o->e;
  LLVMTypeRef *types = QN_ARENA_ARRAY(&e->arena, LLVMTypeRef, (size_t)o->used + RECORD_PARAMS);
  const char *name = qn_arena_printf(&e->arena, "quern.region.%s", e->f->ir->name);
  unsigned count = RECORD_PARAMS;
  if (!types || !name) {
    emit_fail(e, QN_ERROR_OUT_OF_HOST_MEMORY, "out of memory for a region of '%s'", e->f->ir->name);
    return NULL;
  }
  args[0] = e->f->launch;
  args[1] = e->f->group;
  for (uint32_t i = 0; i < o->used; i++)
    if (!o->captures[i].var) args[count++] = o->captures[i].outer;
  for (unsigned i = 0; i < count; i++) types[i] = LLVMTypeOf(args[i]);
  *out_count = count;
  LLVMValueRef function = add_part_of_kernel(e, name, LLVMFunctionType(e->void_type, types, count, 0));
  if (e->f->terse) make_haste(e, function);
  return function;
}

/* Inside, what was captured is a parameter, or the function's own. */
static void enter(outline *o, function_state *state) {
  emitter *e = o->e;
  unsigned at = RECORD_PARAMS;
  for (uint32_t i = 0; i < o->used; i++) {
    const capture *c = &o->captures[i];
    if (c->var) {
      *c->aux = emit_private(e, c->var);
      continue;
    }
    if (is_alone(o, c)) set_param_attribute(e, state->function, at, "noalias", 0);
    *c->aux = LLVMGetParam(state->function, at++);
  }
}

static void emit_inside(outline *o, const ir_block *block, LLVMValueRef function) {
  emitter *e = o->e;
  function_state *outer = e->f, state = {.ir = outer->ir, .function = function, .terse = outer->terse};
  LLVMBasicBlockRef here = LLVMGetInsertBlock(B);
  state.launch = LLVMGetParam(function, 0);
  state.group = LLVMGetParam(function, 1);
  e->f = &state;
  LLVMBasicBlockRef body = open_body(e);
  enter(o, &state);
  emit_scratch(e, state.ir);
  at_block(e, body);
  emit_region(e, block);
  if (!state.dead) LLVMBuildRetVoid(B);
  e->f = outer;
  LLVMPositionBuilderAtEnd(B, here);
}

void outline_region(emitter *e, const ir_block *block) {
  outline o = {.e = e, .first = block->first};
  if (!block->first) return;
  (void)ir_walk((ir_block *)block, count_inst, &o.count);
  bool good = ir_walk((ir_block *)block, take_operands, &o);
  LLVMValueRef *args = QN_ARENA_ARRAY(&e->arena, LLVMValueRef, (size_t)o.used + RECORD_PARAMS), function = NULL;
  unsigned count = 0;
  if (good && args) function = make_function(&o, args, &count);
  if (function) emit_inside(&o, block, function);
  put_back(&o);
  if (function)
    LLVMBuildCall2(B, LLVMGlobalGetValueType(function), function, args, count, "");
  else
    emit_fail(e, QN_ERROR_OUT_OF_HOST_MEMORY, "out of memory for a region of '%s'", e->f->ir->name);
}
