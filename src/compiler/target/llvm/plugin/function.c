/* function.c - functions: bodies, control flow, operands. */
#include <string.h>

#include "emit.h"

#define B (e->builder)

LLVMBasicBlockRef new_block(emitter *e, const char *name) {
  return LLVMAppendBasicBlockInContext(e->context, e->f->function, name);
}

void at_block(emitter *e, LLVMBasicBlockRef block) {
  LLVMPositionBuilderAtEnd(B, block);
  e->f->dead = false;
}

void at_entry(emitter *e) { LLVMPositionBuilderBefore(B, LLVMGetBasicBlockTerminator(e->f->entry)); }

void branch_to(emitter *e, LLVMBasicBlockRef block) {
  if (!e->f->dead) LLVMBuildBr(B, block);
  e->f->dead = true;
}

void add_attributes(emitter *e, LLVMValueRef function, const char *const *names) {
  for (; *names; names++) {
    unsigned kind = LLVMGetEnumAttributeKindForName(*names, strlen(*names));
    LLVMAttributeRef attribute = kind ? LLVMCreateEnumAttribute(e->context, kind, 0)
                                      : LLVMCreateStringAttribute(e->context, *names, (unsigned)strlen(*names), "", 0);
    LLVMAddAttributeAtIndex(function, LLVMAttributeFunctionIndex, attribute);
  }
}

/* ---- Operands -------------------------------------------------------------------------------------------- */

LLVMValueRef emit_value(emitter *e, ir_inst *value) {
  switch (value->op) {
    case IR_CONST:
    case IR_AGGREGATE:
    case IR_ZERO:
    case IR_UNDEF:
      return emit_constant(e, value);
    case IR_ADDRESS:
      return emit_offset(e, emit_variable(e, value->u.var), value->imm);
    default:
      break;
  }
  if (value->aux) return value->aux;
  emit_fail(e, QN_ERROR_INTERNAL, "in '%s': a value of '%s' is used before it is defined", e->f->ir->name,
            ir_op_table[value->op].text);
  return LLVMGetPoison(emit_type(e, value->type));
}

static LLVMValueRef group_memory(emitter *e, uint64_t record_offset, uint64_t offset) {
  LLVMValueRef base = LLVMBuildLoad2(B, e->ptr, emit_offset(e, e->f->group, record_offset), "");
  return emit_offset(e, base, offset);
}

/* Context variables stand in the group's scratch one array a variable, so that items side by side have theirs side by
 * side. The arrays have room for the items rounded up to 8. */
static LLVMValueRef context_variable(emitter *e, const ir_var *var) {
  function_state *f = e->f;
  LLVMValueRef start = LLVMBuildMul(B, f->padded_items, LLVMConstInt(e->i64, var->offset, 0), "");
  LLVMValueRef at = LLVMBuildMul(B, f->items.linear, LLVMConstInt(e->i64, var->type->size, 0), "");
  LLVMValueRef base = LLVMBuildInBoundsGEP2(B, e->i8, f->scratch, &start, 1, "");
  return LLVMBuildInBoundsGEP2(B, e->i8, base, &at, 1, "");
}

LLVMValueRef emit_variable(emitter *e, ir_var *var) {
  if (var->space == IR_PRIVATE && var->storage == IR_STORE_CONTEXT) {
    if (e->f->items.linear) return context_variable(e, var);
    emit_fail(e, QN_ERROR_INTERNAL, "in '%s': '%s' of an item is used outside of a region", e->f->ir->name, var->name);
    return LLVMGetPoison(e->ptr);
  }
  if (var->aux) return var->aux;
  emit_fail(e, QN_ERROR_INTERNAL, "in '%s': the variable '%s' is not of this function", e->f->ir->name, var->name);
  return LLVMGetPoison(e->ptr);
}

/* ---- Calls ------------------------------------------------------------------------------------------------ */

/* Functions that ask for ids get the records and the item's local ids before their own parameters. */
enum { HIDDEN_PARAMS = 5 };

static LLVMTypeRef function_type(emitter *e, const ir_function *f) {
  LLVMTypeRef *params = QN_ARENA_ARRAY(&e->arena, LLVMTypeRef, (size_t)f->param_count + HIDDEN_PARAMS);
  if (!params) {
    emit_fail(e, QN_ERROR_OUT_OF_HOST_MEMORY, "out of memory for the parameters of '%s'", f->name);
    return LLVMFunctionType(e->void_type, NULL, 0, 0);
  }
  for (int i = 0; i < HIDDEN_PARAMS; i++) params[i] = i < 2 ? e->ptr : e->i64;
  for (uint32_t i = 0; i < f->param_count; i++) params[HIDDEN_PARAMS + i] = emit_type(e, f->params[i].type);
  return LLVMFunctionType(emit_type(e, f->result), params, f->param_count + HIDDEN_PARAMS, 0);
}

static LLVMValueRef declared(emitter *e, ir_function *f) {
  static const char *const common[] = {"nounwind", "no-builtins", "null_pointer_is_valid", NULL};
  static const char *const eager[] = {"inlinehint", NULL};
  static const char *const never[] = {"noinline", NULL};
  if (f->aux) return f->aux;
  const char *name = qn_arena_printf(&e->arena, "quern.fn.%s", f->name);
  LLVMValueRef function = LLVMAddFunction(e->module, name ? name : "", function_type(e, f));
  LLVMSetLinkage(function, LLVMInternalLinkage);
  add_attributes(e, function, common);
  add_attributes(e, function, f->is_noinline ? never : eager);
  f->aux = function;
  e->has_helpers = true;
  return function;
}

static LLVMValueRef or_zero(LLVMValueRef value, LLVMTypeRef type) { return value ? value : LLVMConstNull(type); }

LLVMValueRef emit_call(emitter *e, const ir_inst *inst, LLVMValueRef *args) {
  ir_function *callee = inst->u.callee;
  LLVMValueRef *all = QN_ARENA_ARRAY(&e->arena, LLVMValueRef, (size_t)inst->arg_count + HIDDEN_PARAMS);
  if (!all || !callee->body) {
    if (!all) emit_fail(e, QN_ERROR_OUT_OF_HOST_MEMORY, "out of memory for a call");
    emit_fail(e, QN_ERROR_COMPILE, "in '%s': the function '%s' is declared and called, but not defined", e->f->ir->name,
              callee->name);
    return LLVMGetPoison(emit_type(e, inst->type));
  }
  LLVMValueRef function = declared(e, callee);
  all[0] = or_zero(e->f->launch, e->ptr);
  all[1] = or_zero(e->f->group, e->ptr);
  for (int d = 0; d < 3; d++) all[2 + d] = or_zero(e->f->items.local[d], e->i64);
  for (uint32_t i = 0; i < inst->arg_count; i++) all[HIDDEN_PARAMS + i] = args[i];
  return LLVMBuildCall2(B, LLVMGlobalGetValueType(function), function, all, inst->arg_count + HIDDEN_PARAMS, "");
}

/* ---- Control flow ------------------------------------------------------------------------------------------- */

static void emit_if(emitter *e, const ir_inst *inst) {
  LLVMBasicBlockRef yes = new_block(e, ""), no = new_block(e, ""), join = new_block(e, "");
  LLVMBuildCondBr(B, emit_value(e, inst->args[0]), yes, no);
  bool reached = false;
  for (uint32_t i = 0; i < 2; i++) {
    at_block(e, i == 0 ? yes : no);
    if (i < inst->u.ctrl.block_count) emit_block(e, inst->u.ctrl.blocks[i]);
    reached |= !e->f->dead;
    branch_to(e, join);
  }
  at_block(e, join);
  if (!reached) {
    LLVMBuildUnreachable(B);
    e->f->dead = true;
  }
}

static void emit_loop(emitter *e, const ir_inst *inst) {
  LLVMBasicBlockRef body = new_block(e, ""), again = new_block(e, ""), leave = new_block(e, "");
  target_blocks targets = {leave, again, e->f->targets};
  branch_to(e, body);
  at_block(e, body);
  e->f->targets = &targets;
  emit_block(e, inst->u.ctrl.blocks[0]);
  branch_to(e, again);
  at_block(e, again);
  if (inst->u.ctrl.block_count > 1) emit_block(e, inst->u.ctrl.blocks[1]);
  branch_to(e, body);
  e->f->targets = targets.outer;
  at_block(e, leave);
}

static void emit_switch(emitter *e, const ir_inst *inst) {
  uint32_t cases = inst->u.ctrl.block_count - 1;
  LLVMValueRef value = emit_value(e, inst->args[0]);
  LLVMBasicBlockRef leave = new_block(e, ""), *blocks = emit_case_blocks(e, inst);
  if (!blocks) return;
  emit_switch_branch(e, value, inst->u.ctrl.cases, blocks, cases, blocks[cases]);
  target_blocks targets = {leave, NULL, e->f->targets};
  e->f->targets = &targets;
  for (uint32_t i = 0; i <= cases; i++) {
    at_block(e, blocks[i]);
    emit_block(e, inst->u.ctrl.blocks[i]);
    branch_to(e, leave);
  }
  e->f->targets = targets.outer;
  at_block(e, leave);
}

static void emit_break_if(emitter *e, const ir_inst *inst) {
  LLVMBasicBlockRef on = new_block(e, "");
  LLVMBuildCondBr(B, emit_value(e, inst->args[0]), e->f->targets->leave, on);
  at_block(e, on);
}

static void emit_continue(emitter *e) {
  target_blocks *at = e->f->targets;
  while (at && !at->again) at = at->outer;
  if (at) branch_to(e, at->again);
}

static void emit_return(emitter *e, const ir_inst *inst) {
  if (e->f->item_end)
    LLVMBuildBr(B, e->f->item_end);
  else if (inst->arg_count)
    LLVMBuildRet(B, emit_value(e, inst->args[0]));
  else
    LLVMBuildRetVoid(B);
  e->f->dead = true;
}

static void emit_trap(emitter *e) {
  emit_intrinsic(e, "llvm.trap", NULL, 0, NULL, 0);
  LLVMBuildUnreachable(B);
  e->f->dead = true;
}

/* ---- Single values --------------------------------------------------------------------------------------------- */

static LLVMValueRef lane_index(emitter *e, const ir_inst *inst, LLVMValueRef index) {
  uint32_t lanes = inst->args[0]->type->count;
  LLVMTypeRef type = LLVMTypeOf(index);
  if (LLVMIsAConstantInt(index) && LLVMConstIntGetZExtValue(index) < lanes) return index;
  /* Out of range: any lane. */
  LLVMValueRef args[2] = {index, LLVMConstInt(type, lanes - 1, 0)};
  if ((lanes & (lanes - 1)) == 0) return LLVMBuildAnd(B, args[0], args[1], "");
  return emit_intrinsic1(e, "llvm.umin", type, args, 2);
}

static LLVMValueRef emit_vec(emitter *e, const ir_inst *inst) {
  LLVMValueRef value = LLVMGetPoison(emit_type(e, inst->type));
  for (uint32_t i = 0; i < inst->arg_count; i++)
    value = LLVMBuildInsertElement(B, value, emit_value(e, inst->args[i]), LLVMConstInt(e->i32, i, 0), "");
  return value;
}

/* A lane that may be any is the one of the same place, so that widening and narrowing stay no-ops. */
static LLVMValueRef emit_shuffle(emitter *e, const ir_inst *inst, LLVMValueRef *args) {
  LLVMValueRef mask[16];
  uint32_t lanes = ir_lanes_of(inst->type), have = ir_lanes_of(inst->args[0]->type);
  for (uint32_t i = 0; i < lanes && i < 16; i++) {
    int32_t from = inst->u.mask[i];
    mask[i] = LLVMConstInt(e->i32, from < 0 ? i % have : (uint32_t)from, 0);
  }
  return LLVMBuildShuffleVector(B, args[0], args[1], LLVMConstVector(mask, lanes), "");
}

static LLVMValueRef emit_difference(emitter *e, const ir_inst *inst, LLVMValueRef *args) {
  const ir_type *elem = inst->args[0]->type->elem;
  LLVMValueRef x = LLVMBuildPtrToInt(B, args[0], e->i64, ""), y = LLVMBuildPtrToInt(B, args[1], e->i64, "");
  LLVMValueRef bytes = LLVMBuildSub(B, x, y, "");
  if (elem->size > 1) bytes = LLVMBuildSDiv(B, bytes, LLVMConstInt(e->i64, elem->size, 0), "");
  return LLVMBuildIntCast2(B, bytes, emit_type(e, inst->type), 1, "");
}

/* Operations that are neither component-wise nor control flow; operands are ready. */
static LLVMValueRef emit_other(emitter *e, const ir_inst *inst, LLVMValueRef *args) {
  LLVMTypeRef type = emit_type(e, inst->type);
  switch (inst->op) {
    case IR_BITCAST:
      return LLVMBuildBitCast(B, args[0], type, "");
    case IR_SELECT:
      return LLVMBuildSelect(B, args[0], args[1], args[2], "");
    case IR_SPLAT:
      return splat(e, args[0], inst->type->count);
    case IR_EXTRACT:
      return LLVMBuildExtractElement(B, args[0], lane_index(e, inst, args[1]), "");
    case IR_INSERT:
      return LLVMBuildInsertElement(B, args[0], args[1], lane_index(e, inst, args[2]), "");
    case IR_SHUFFLE:
      return emit_shuffle(e, inst, args);
    case IR_ELEM:
      return emit_elem(e, args[0], inst->args[0]->type->elem, args[1]);
    case IR_INDEX:
      return emit_elem(e, args[0], inst->args[0]->type->elem->elem, args[1]);
    case IR_FIELD:
      return emit_offset(e, args[0], inst->args[0]->type->elem->fields[inst->imm].offset);
    case IR_PCAST:
      return args[0];
    case IR_PTOI:
      return LLVMBuildPtrToInt(B, args[0], type, "");
    case IR_ITOP:
      return LLVMBuildIntToPtr(B, args[0], type, "");
    case IR_PDIFF:
      return emit_difference(e, inst, args);
    case IR_LOAD:
    case IR_VLOAD:
      return emit_load(e, inst, args[0]);
    case IR_STORE:
    case IR_VSTORE:
      emit_store(e, inst, args[0], args[1]);
      return NULL;
    case IR_COPY:
      emit_copy(e, inst, args[0], args[1]);
      return NULL;
    case IR_FRESH:
      return NULL;
    case IR_ATOMIC:
      return emit_atomic(e, inst, args);
    /* A barrier between regions orders the compiler only: one thread runs the group. */
    case IR_BARRIER:
      LLVMBuildFence(B, LLVMAtomicOrderingSequentiallyConsistent, 1, "");
      return NULL;
    case IR_FENCE:
      LLVMBuildFence(B, LLVMAtomicOrderingAcquireRelease, 0, "");
      return NULL;
    default:
      break;
  }
  emit_fail(e, QN_ERROR_INTERNAL, "in '%s': operation '%s' is not known to the LLVM target", e->f->ir->name,
            ir_op_table[inst->op].text);
  return LLVMGetPoison(type);
}

static bool is_component_wise(const ir_inst *inst) {
  ir_class cls = ir_op_table[inst->op].cls;
  if (inst->op == IR_BITCAST) return false;
  return cls == IR_CLASS_UN || cls == IR_CLASS_BIN || cls == IR_CLASS_TRI || cls == IR_CLASS_CMP ||
         cls == IR_CLASS_CONV;
}

static void emit_control(emitter *e, const ir_inst *inst) {
  switch (inst->op) {
    case IR_IF:
      emit_if(e, inst);
      break;
    case IR_LOOP:
      emit_loop(e, inst);
      break;
    case IR_SWITCH:
      emit_switch(e, inst);
      break;
    case IR_BREAK:
      branch_to(e, e->f->targets->leave);
      break;
    case IR_CONTINUE:
      emit_continue(e);
      break;
    case IR_BREAK_IF:
      emit_break_if(e, inst);
      break;
    case IR_RETURN:
      emit_return(e, inst);
      break;
    case IR_TRAP:
      emit_trap(e);
      break;
    default:
      emit_region(e, inst->u.ctrl.blocks[0]);
      break;
  }
}

LLVMValueRef emit_plain(emitter *e, const ir_inst *inst, LLVMValueRef *args) {
  if (is_component_wise(inst)) return emit_op(e, inst->op, inst->flags, emit_type(e, inst->type), args);
  return emit_other(e, inst, args);
}

static void emit_inst(emitter *e, ir_inst *inst) {
  LLVMValueRef few[4] = {NULL, NULL, NULL, NULL}, *args = few;
  if (ir_op_table[inst->op].cls == IR_CLASS_CTRL) {
    emit_control(e, inst);
    return;
  }
  if (inst->op >= IR_GLOBAL_ID && inst->op <= IR_WORK_DIM) {
    inst->aux = emit_query(e, inst);
    return;
  }
  if (inst->op == IR_VEC) {
    inst->aux = emit_vec(e, inst);
    return;
  }
  if (inst->arg_count > 4) args = QN_ARENA_ARRAY(&e->arena, LLVMValueRef, inst->arg_count);
  if (!args) {
    emit_fail(e, QN_ERROR_OUT_OF_HOST_MEMORY, "out of memory for an instruction");
    return;
  }
  for (uint32_t i = 0; i < inst->arg_count; i++) args[i] = emit_value(e, inst->args[i]);
  inst->aux = inst->op == IR_CALL ? emit_call(e, inst, args) : emit_plain(e, inst, args);
}

void emit_block(emitter *e, const ir_block *block) {
  for (ir_inst *inst = block->first; inst && !e->f->dead; inst = inst->next) emit_inst(e, inst);
}

/* ---- Helper functions ----------------------------------------------------------------------------------------------
 */

static uint32_t loops_around(const ir_block *block) {
  uint32_t count = 0;
  for (; block->owner; block = block->owner->parent) count += block->owner->op == IR_LOOP;
  return count;
}

static ir_var *private_variable(const ir_inst *pointer) {
  return pointer->op == IR_ADDRESS && pointer->u.var->space == IR_PRIVATE ? pointer->u.var : NULL;
}

bool stays_in_memory(const ir_inst *pointer) {
  const ir_var *var = private_variable(pointer);
  return var && var->id;
}

typedef struct deep_search {
  unsigned most;
  bool any;
} deep_search;

/* LLVM's analysis of loops follows a counter that starts at the outer loop's, and that at its outer one's: a nest of 48
 * took half a minute. What is read from memory it doesn't follow. */
static bool note_deep_store(void *user, ir_inst *inst) {
  deep_search *search = user;
  ir_var *var = inst->op == IR_STORE ? private_variable(inst->args[0]) : NULL;
  if (!var || var->id || loops_around(inst->parent) <= search->most) return true;
  var->id = 1;
  search->any = true;
  return true;
}

bool prepare_function(const emitter *e, ir_function *f) {
  deep_search search = {.most = e->limits->loops_around};
  (void)ir_number(f);
  for (ir_var *var = f->vars; var; var = var->next) {
    var->aux = NULL;
    var->id = 0;
  }
  (void)ir_walk(f->body, note_deep_store, &search);
  return search.any;
}

void make_haste(emitter *e, LLVMValueRef function) {
  static const char *const hasty[] = {HASTE, NULL};
  add_attributes(e, function, hasty);
}

LLVMValueRef emit_private(emitter *e, const ir_var *var) {
  uint64_t align = var->align ? var->align : var->type->align;
  LLVMValueRef slot = LLVMBuildAlloca(B, emit_memory_type(e, var->type), var->name);
  LLVMSetAlignment(slot, (unsigned)(align ? align : 1));
  return slot;
}

static void emit_variables(emitter *e, ir_function *f) {
  for (ir_var *var = f->vars; var; var = var->next) {
    var->aux = NULL;
    bool in_lanes = e->lane_width > 1 && f->is_kernel && var->storage == IR_STORE_PLAIN;
    if (var->storage != IR_STORE_CONTEXT && !in_lanes) var->aux = emit_private(e, var);
  }
  for (ir_var *var = f->locals; var; var = var->next)
    var->aux = group_memory(e, offsetof(qn_cpu_group, local_memory), var->offset);
}

static void finish(emitter *e, const ir_function *f) {
  if (e->f->dead) return;
  if (f->result->kind == IR_VOID)
    LLVMBuildRetVoid(B);
  else
    LLVMBuildRet(B, LLVMConstNull(emit_type(e, f->result))); /* C: the value must not be used */
}

LLVMBasicBlockRef open_body(emitter *e) {
  e->f->entry = new_block(e, "entry");
  LLVMBasicBlockRef body = new_block(e, "body");
  at_block(e, e->f->entry);
  LLVMBuildBr(B, body);
  at_entry(e);
  return body;
}

void emit_body(emitter *e, ir_function *f) {
  LLVMBasicBlockRef body = open_body(e);
  emit_variables(e, f);
  if (f->is_kernel) emit_scratch(e, f);
  at_block(e, body);
  if (f->is_kernel && !f->has_regions)
    emit_region(e, f->body);
  else
    emit_block(e, f->body);
  finish(e, f);
}

void emit_function(emitter *e, ir_function *f) {
  function_state state = {.ir = f, .function = declared(e, f)};
  if (prepare_function(e, f)) make_haste(e, state.function);
  state.launch = LLVMGetParam(state.function, 0);
  state.group = LLVMGetParam(state.function, 1);
  for (unsigned d = 0; d < 3; d++) state.items.local[d] = LLVMGetParam(state.function, 2 + d);
  for (uint32_t i = 0; i < f->param_count; i++)
    f->params[i].value->aux = LLVMGetParam(state.function, HIDDEN_PARAMS + i);
  e->f = &state;
  emit_body(e, f);
  e->f = NULL;
}
