/* lanes_control.c - control flow: real where all running lanes agree, with masks where they don't.
 *
 * Code is emitted so that at least one lane runs in it, but for short blocks that are emitted without a branch
 * (is_cheap): nothing in those minds. */
#include "lanes.h"

#define B (l->e->builder)

static LLVMTypeRef mask_type(lanes *l) { return LLVMVectorType(l->e->i1, l->width); }
static LLVMValueRef read_mask(lanes *l, LLVMValueRef slot) { return LLVMBuildLoad2(B, mask_type(l), slot, ""); }

static void add_to_mask(lanes *l, LLVMValueRef slot, LLVMValueRef more) {
  LLVMBuildStore(B, LLVMBuildSelect(B, more, lanes_full_mask(l), read_mask(l, slot), ""), slot);
}

static void take_from_mask(lanes *l, LLVMValueRef slot, LLVMValueRef less) {
  LLVMBuildStore(B, LLVMBuildSelect(B, less, LLVMConstNull(mask_type(l)), read_mask(l, slot), ""), slot);
}

static void go_to(lanes *l, LLVMBasicBlockRef block) {
  if (!l->dead) LLVMBuildBr(B, block);
  l->dead = true;
}

static void start_at(lanes *l, LLVMBasicBlockRef block) {
  at_block(l->e, block);
  l->dead = false;
}

/* After a construct whose sides all leave, `join` is reached from nowhere. */
static void start_if_reached(lanes *l, LLVMBasicBlockRef join) {
  start_at(l, join);
  if (LLVMGetFirstUse(LLVMBasicBlockAsValue(join))) return;
  LLVMBuildUnreachable(B);
  l->dead = true;
}

static void branch_if(lanes *l, LLVMValueRef condition, LLVMBasicBlockRef yes, LLVMBasicBlockRef no) {
  LLVMBuildCondBr(B, condition, yes, no);
  l->dead = true;
}

/* ---- Scopes
 * ---------------------------------------------------------------------------------------------------------- */

void lanes_open_scope(lanes *l, lane_scope *scope, const ir_inst *inst, bool masked) {
  *scope = (lane_scope){.inst = inst, .masked = masked, .outer = l->scope};
  if (masked) scope->gone = lanes_alloca(l, mask_type(l));
  if (masked) LLVMBuildStore(B, LLVMConstNull(mask_type(l)), scope->gone);
  l->scope = scope;
}

/* The running lanes will do no more in the scope; `whole`: nor in later iterations. */
static void mark_gone(lanes *l, lane_scope *scope, bool whole) {
  LLVMValueRef mask = lanes_mask(l);
  if (!scope->masked) return;
  add_to_mask(l, scope->gone, mask);
  if (whole && scope->active) take_from_mask(l, scope->active, mask);
  scope->touched++;
}

/* What runs after a construct that lanes may have left: those that are not gone. When none is left the rest of the
 * block is jumped over. */
static void resume(lanes *l, uint32_t touched) {
  if (l->dead || l->scope->touched == touched) return;
  LLVMValueRef gone = read_mask(l, l->scope->gone);
  LLVMValueRef left = l->mask ? lanes_and_not(l, l->mask, gone) : LLVMBuildNot(B, gone, "");
  LLVMBasicBlockRef on = new_block(l->e, "");
  branch_if(l, lanes_any(l, left), on, l->end);
  start_at(l, on);
  l->mask = left;
}

/* ---- Blocks
 * ---------------------------------------------------------------------------------------------------------- */

enum { CHEAP_COST = 16, NEVER_CHEAP = 2 * CHEAP_COST };

static unsigned memory_cost(lanes *l, const ir_inst *inst) {
  lane_var *var = lanes_var(inst->args[0]);
  if (inst->flags & IR_VOLATILE) return NEVER_CHEAP;
  if (var && var->layout == LAYOUT_REGISTER && var->ir->storage == IR_STORE_PLAIN) return 1;
  return inst->op == IR_STORE && lanes_shape_of(l, inst->args[0]).kind == SHAPE_STRIDED ? 8 : NEVER_CHEAP;
}

static unsigned inst_cost(lanes *l, const ir_inst *inst) {
  ir_class cls = ir_op_table[inst->op].cls;
  switch (inst->op) {
    case IR_LOAD:
    case IR_STORE:
      return memory_cost(l, inst);
    case IR_SDIV:
    case IR_UDIV:
    case IR_SREM:
    case IR_UREM:
    case IR_FREM:
      return NEVER_CHEAP;
    case IR_FDIV:
    case IR_SQRT:
      return 6;
    case IR_BREAK:
    case IR_CONTINUE:
      return lanes_leaves_apart(l, inst) ? 3 : NEVER_CHEAP;
    case IR_RETURN:
      return lanes_leaves_apart(l, inst) && !inst->arg_count ? 3 : NEVER_CHEAP;
    default:
      break;
  }
  bool never = cls == IR_CLASS_MEM || cls == IR_CLASS_SYNC || cls == IR_CLASS_CTRL;
  return never ? NEVER_CHEAP : ir_lanes_of(inst->type);
}

/* Shorter than the branch that would skip it, and safe to run in no lane. */
static bool is_cheap(lanes *l, const ir_block *block) {
  unsigned cost = 0;
  for (const ir_inst *inst = block->first; inst && cost <= CHEAP_COST; inst = inst->next) cost += inst_cost(l, inst);
  return cost <= CHEAP_COST;
}

void lanes_block(lanes *l, const ir_block *block) {
  lanes_forget(l, block);
  for (ir_inst *inst = block->first; inst && !l->dead; inst = inst->next) {
    if (ir_op_table[inst->op].cls == IR_CLASS_CTRL)
      lanes_control(l, inst);
    else
      lanes_inst(l, inst);
  }
}

/* A block inside a construct, then to its end. */
static void inner_block(lanes *l, const ir_block *block, LLVMValueRef mask, LLVMBasicBlockRef end) {
  LLVMValueRef outer = l->mask;
  LLVMBasicBlockRef outer_end = l->end;
  l->mask = mask;
  l->end = end;
  lanes_block(l, block);
  go_to(l, end);
  l->mask = outer;
  l->end = outer_end;
}

/* For some lanes; skipped when there are none. */
static void masked_block(lanes *l, const ir_block *block, LLVMValueRef mask) {
  LLVMBasicBlockRef join = new_block(l->e, "");
  if (!is_cheap(l, block)) {
    LLVMBasicBlockRef run = new_block(l->e, "");
    branch_if(l, lanes_any(l, mask), run, join);
    start_at(l, run);
  }
  inner_block(l, block, mask, join);
  start_at(l, join);
}

/* ---- If
 * --------------------------------------------------------------------------------------------------------------- */

/* Whether all lanes answer a comparison of a strided value with a uniform one as expected, which the first or the last
 * lane knows; NULL: they must all be asked. */
static LLVMValueRef all_compare(lanes *l, ir_inst *c, bool expected) {
  shape x = lanes_shape_of(l, c->args[0]), y = lanes_shape_of(l, c->args[1]);
  bool is_signed = c->op == IR_SLT || c->op == IR_SLE, left = x.kind == SHAPE_STRIDED;
  shape s = left ? x : y;
  bool known = is_signed && (left ? y.kind : x.kind) == SHAPE_UNIFORM && s.kind == SHAPE_STRIDED &&
               (s.sx || (c->args[0]->type->bits == 64 && s.bounded));
  if (!known) return NULL;
  /* The largest must be less, or the smallest not: lanes rise with the stride. */
  bool last = (left == expected) == (s.stride > 0);
  int64_t distance = last ? s.stride * (int64_t)(l->width - 1) : 0;
  LLVMValueRef operands[2] = {lanes_base(l, c->args[0], true), lanes_base(l, c->args[1], true)};
  LLVMValueRef *strided = &operands[left ? 0 : 1];
  *strided = LLVMBuildAdd(B, *strided, LLVMConstInt(l->e->i64, (uint64_t)distance, 1), "");
  LLVMValueRef answer = LLVMBuildICmp(B, c->op == IR_SLT ? LLVMIntSLT : LLVMIntSLE, operands[0], operands[1], "");
  return expected ? answer : LLVMBuildNot(B, answer, "");
}

static LLVMValueRef all_answer(lanes *l, ir_inst *c, bool expected) {
  if (lanes_shape_of(l, c).kind == SHAPE_UNIFORM) {
    LLVMValueRef answer = lanes_uniform(l, c);
    return expected ? answer : LLVMBuildNot(B, answer, "");
  }
  if (c->op == IR_NOT) return all_answer(l, c->args[0], !expected);
  if ((c->op == IR_AND && expected) || (c->op == IR_OR && !expected)) {
    LLVMValueRef x = all_answer(l, c->args[0], expected), y = all_answer(l, c->args[1], expected);
    return x && y ? LLVMBuildAnd(B, x, y, "") : NULL;
  }
  return c->op == IR_SLT || c->op == IR_SLE ? all_compare(l, c, expected) : NULL;
}

/* All lanes go the usual way, or this copy gives up before anything was written. */
static void assumed_if(lanes *l, ir_inst *inst, const lane_info *info) {
  LLVMBasicBlockRef on = new_block(l->e, "");
  LLVMValueRef usual = all_answer(l, inst->args[0], info->expected);
  if (usual) {
    branch_if(l, usual, on, l->bail);
  } else {
    LLVMValueRef condition = lanes_vector(l, inst->args[0], 0);
    LLVMValueRef odd = info->expected ? LLVMBuildNot(B, condition, "") : condition;
    branch_if(l, lanes_any(l, odd), l->bail, on);
  }
  start_at(l, on);
  lanes_block(l, inst->u.ctrl.blocks[info->expected ? 0 : 1]);
}

static void uniform_if(lanes *l, ir_inst *inst) {
  LLVMBasicBlockRef sides[2] = {new_block(l->e, ""), new_block(l->e, "")}, join = new_block(l->e, "");
  branch_if(l, lanes_uniform(l, inst->args[0]), sides[0], sides[1]);
  for (uint32_t i = 0; i < 2; i++) {
    start_at(l, sides[i]);
    inner_block(l, inst->u.ctrl.blocks[i], l->mask, join);
  }
  start_if_reached(l, join);
}

static void divergent_if(lanes *l, ir_inst *inst) {
  LLVMValueRef condition = lanes_vector(l, inst->args[0], 0);
  const ir_block *yes = inst->u.ctrl.blocks[0], *no = inst->u.ctrl.blocks[1];
  if (yes->first) masked_block(l, yes, lanes_and(l, l->mask, condition));
  if (no->first) masked_block(l, no, lanes_and_not(l, l->mask, condition));
}

static void emit_if(lanes *l, ir_inst *inst) {
  const lane_info *info = lanes_info(l, inst);
  uint32_t touched = l->scope->touched;
  if (info->assumed)
    assumed_if(l, inst, info);
  else if (lanes_shape_of(l, inst->args[0]).kind == SHAPE_UNIFORM)
    uniform_if(l, inst);
  else
    divergent_if(l, inst);
  resume(l, touched);
}

/* ---- Switch
 * ------------------------------------------------------------------------------------------------------------ */

static void uniform_switch(lanes *l, ir_inst *inst, LLVMBasicBlockRef leave) {
  uint32_t cases = inst->u.ctrl.block_count - 1;
  LLVMValueRef value = lanes_uniform(l, inst->args[0]);
  LLVMBasicBlockRef *blocks = emit_case_blocks(l->e, inst);
  if (!blocks) return;
  emit_switch_branch(l->e, value, inst->u.ctrl.cases, blocks, cases, blocks[cases]);
  for (uint32_t i = 0; i <= cases; i++) {
    start_at(l, blocks[i]);
    inner_block(l, inst->u.ctrl.blocks[i], l->mask, leave);
  }
}

static void divergent_switch(lanes *l, ir_inst *inst, LLVMBasicBlockRef leave) {
  uint32_t cases = inst->u.ctrl.block_count - 1;
  LLVMValueRef value = lanes_vector(l, inst->args[0], 0), rest = lanes_mask(l);
  for (uint32_t i = 0; i < cases; i++) {
    LLVMValueRef label = int_splat(LLVMTypeOf(value), inst->u.ctrl.cases[i]);
    LLVMValueRef match = LLVMBuildICmp(B, LLVMIntEQ, value, label, "");
    LLVMValueRef mask = lanes_and(l, rest, match);
    rest = lanes_and_not(l, rest, match);
    if (inst->u.ctrl.blocks[i]->first) masked_block(l, inst->u.ctrl.blocks[i], mask);
  }
  if (inst->u.ctrl.blocks[cases]->first) masked_block(l, inst->u.ctrl.blocks[cases], rest);
  go_to(l, leave);
}

static void emit_switch(lanes *l, ir_inst *inst) {
  lane_scope scope;
  uint32_t touched = l->scope->touched;
  bool apart = lanes_shape_of(l, inst->args[0]).kind != SHAPE_UNIFORM;
  lanes_open_scope(l, &scope, inst, lanes_info(l, inst)->divergent);
  scope.leave = new_block(l->e, "");
  if (apart)
    divergent_switch(l, inst, scope.leave);
  else
    uniform_switch(l, inst, scope.leave);
  l->scope = scope.outer;
  start_if_reached(l, scope.leave);
  resume(l, touched);
}

/* ---- Loops
 * ---------------------------------------------------------------------------------------------------------------- */

static void emit_loop(lanes *l, ir_inst *inst) {
  const lane_info *info = lanes_info(l, inst);
  LLVMValueRef mask = l->mask;
  lane_scope scope;
  uint32_t touched = l->scope->touched;
  LLVMBasicBlockRef body = new_block(l->e, "");
  lanes_open_scope(l, &scope, inst, info->divergent || info->continues);
  scope.leave = new_block(l->e, "");
  scope.again = new_block(l->e, "");
  if (info->divergent) {
    scope.active = lanes_alloca(l, mask_type(l));
    LLVMBuildStore(B, lanes_mask(l), scope.active);
  }
  go_to(l, body);
  start_at(l, body);
  if (scope.masked) LLVMBuildStore(B, LLVMConstNull(mask_type(l)), scope.gone);
  inner_block(l, inst->u.ctrl.blocks[0], scope.active ? read_mask(l, scope.active) : mask, scope.again);
  start_if_reached(l, scope.again);
  if (!l->dead && scope.active) {
    LLVMBasicBlockRef on = new_block(l->e, "");
    mask = read_mask(l, scope.active);
    branch_if(l, lanes_any(l, mask), on, scope.leave);
    start_at(l, on);
  }
  if (!l->dead) inner_block(l, inst->u.ctrl.blocks[1], mask, body);
  l->scope = scope.outer;
  start_if_reached(l, scope.leave);
  resume(l, touched);
}

static void emit_break_if(lanes *l, ir_inst *inst) {
  lane_scope *scope = l->scope;
  LLVMBasicBlockRef on = new_block(l->e, "");
  if (!scope->active) {
    branch_if(l, lanes_uniform(l, inst->args[0]), scope->leave, on);
  } else {
    LLVMValueRef leaving = lanes_and(l, l->mask, lanes_vector(l, inst->args[0], 0));
    take_from_mask(l, scope->active, leaving);
    branch_if(l, lanes_any(l, read_mask(l, scope->active)), on, scope->leave);
  }
  start_at(l, on);
}

/* ---- Leaving
 * ----------------------------------------------------------------------------------------------------------------- */

static bool is_scope_of(const lane_scope *scope, ir_op leave) {
  if (!scope->inst || leave == IR_RETURN) return false;
  return scope->inst->op == IR_LOOP || leave == IR_BREAK;
}

static void store_result(lanes *l, ir_inst *value) {
  for (unsigned c = 0; c < ir_lanes_of(value->type); c++) {
    LLVMValueRef part = lanes_vector(l, value, c);
    if (l->mask) {
      LLVMValueRef old = LLVMBuildLoad2(B, LLVMTypeOf(part), l->result[c], "");
      part = LLVMBuildSelect(B, l->mask, part, old, "");
    }
    LLVMBuildStore(B, part, l->result[c]);
  }
}

/* Lanes that leave apart go on to the end of the block with the others; else the branch is a real one. */
static void emit_leave(lanes *l, ir_inst *inst) {
  lane_scope *scope = l->scope;
  if (inst->op == IR_RETURN && inst->arg_count) store_result(l, inst->args[0]);
  bool apart = lanes_leaves_apart(l, inst);
  for (; scope->outer && !is_scope_of(scope, inst->op); scope = scope->outer)
    if (apart) mark_gone(l, scope, true);
  if (apart) {
    mark_gone(l, scope, inst->op != IR_CONTINUE);
    go_to(l, l->end);
  } else {
    go_to(l, inst->op == IR_CONTINUE ? scope->again : scope->leave);
  }
}

static void emit_trap(lanes *l) {
  (void)emit_intrinsic(l->e, "llvm.trap", NULL, 0, NULL, 0);
  LLVMBuildUnreachable(B);
  l->dead = true;
}

void lanes_control(lanes *l, ir_inst *inst) {
  switch (inst->op) {
    case IR_IF:
      emit_if(l, inst);
      break;
    case IR_LOOP:
      emit_loop(l, inst);
      break;
    case IR_SWITCH:
      emit_switch(l, inst);
      break;
    case IR_BREAK_IF:
      emit_break_if(l, inst);
      break;
    case IR_BREAK:
    case IR_CONTINUE:
    case IR_RETURN:
      emit_leave(l, inst);
      break;
    case IR_TRAP:
      emit_trap(l);
      break;
    default:
      emit_fail(l->e, QN_ERROR_INTERNAL, "in '%s': a region stands in a region", l->f->name);
      break;
  }
}
