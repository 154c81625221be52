/* lanes_call.c - functions called by lanes: one copy for each combination of the arguments' shapes that calls have.
 *
 * A copy takes the records, lane 0's local ids, the mask as bits of an integer, and then each argument: a uniform one
 * as it is, a strided one as lane 0's, a varying one a vector for each component. The result is always varying. */
#include <stdio.h>
#include <string.h>

#include "lanes_call.h"

#define B (l->e->builder)

struct lane_function {
  ir_function *ir;
  shape *params;
  LLVMValueRef function;
  lane_function *next;
};

enum { HIDDEN = 6, MASK_PARAM = 5 };

static lane_function *find_function(emitter *e, const ir_function *ir, const shape *params) {
  for (lane_function *f = e->lane_functions; f; f = f->next) {
    bool same = f->ir == ir;
    for (uint32_t i = 0; i < ir->param_count && same; i++) same = shape_same(f->params[i], params[i]);
    if (same) return f;
  }
  return NULL;
}

/* ---- Signatures ----------------------------------------------------------------------------------------------------
 */

static unsigned part_count(const ir_type *type, shape s) { return s.kind == SHAPE_VARYING ? ir_lanes_of(type) : 1; }

static LLVMTypeRef part_type(lanes *l, const ir_type *type, shape s) {
  return s.kind == SHAPE_VARYING ? lanes_type(l, type) : lanes_base_type(l, type, s);
}

static LLVMTypeRef result_type(lanes *l, const ir_type *type) {
  LLVMTypeRef parts[16];
  unsigned count = ir_lanes_of(type);
  if (type->kind == IR_VOID) return l->e->void_type;
  for (unsigned c = 0; c < count && c < 16; c++) parts[c] = lanes_type(l, type);
  return count == 1 ? parts[0] : LLVMStructTypeInContext(l->e->context, parts, count, 0);
}

static LLVMTypeRef mask_bits_type(lanes *l) { return LLVMIntTypeInContext(l->e->context, l->width); }

static LLVMTypeRef signature(lanes *l, const ir_function *f, const shape *params) {
  unsigned count = HIDDEN;
  LLVMTypeRef *types = QN_ARENA_ARRAY(&l->e->arena, LLVMTypeRef, HIDDEN + 16 * (size_t)f->param_count);
  if (!types) {
    emit_fail(l->e, QN_ERROR_OUT_OF_HOST_MEMORY, "out of memory for the parameters of '%s'", f->name);
    return LLVMFunctionType(l->e->void_type, NULL, 0, 0);
  }
  for (int i = 0; i < MASK_PARAM; i++) types[i] = i < 2 ? l->e->ptr : l->e->i64;
  types[MASK_PARAM] = mask_bits_type(l);
  for (uint32_t i = 0; i < f->param_count; i++)
    for (unsigned c = 0; c < part_count(f->params[i].type, params[i]); c++)
      types[count++] = part_type(l, f->params[i].type, params[i]);
  return LLVMFunctionType(result_type(l, f->result), types, count, 0);
}

static lane_function *get_function(lanes *l, ir_function *ir, shape *params) {
  static const char *const attributes[] = {"nounwind", "no-builtins", "null_pointer_is_valid", NULL};
  static const char *const hint[] = {"inlinehint", NULL};
  lane_function *f = find_function(l->e, ir, params);
  if (f) return f;
  f = QN_ARENA_NEW(&l->e->arena, lane_function);
  const char *name = qn_arena_printf(&l->e->arena, "quern.lanes.%s", ir->name);
  if (!f || !name) {
    emit_fail(l->e, QN_ERROR_OUT_OF_HOST_MEMORY, "out of memory for the function '%s'", ir->name);
    return NULL;
  }
  *f = (lane_function){ir, params, LLVMAddFunction(l->e->module, name, signature(l, ir, params)), l->e->lane_functions};
  LLVMSetLinkage(f->function, LLVMInternalLinkage);
  add_attributes(l->e, f->function, attributes);
  if (!ir->is_noinline) add_attributes(l->e, f->function, hint);
  l->e->lane_functions = f;
  l->e->has_helpers = true;
  return f;
}

/* ---- Calls
 * ------------------------------------------------------------------------------------------------------------- */

static LLVMValueRef argument_part(lanes *l, ir_inst *arg, shape s, unsigned c) {
  if (s.kind == SHAPE_VARYING) return arg->type->kind == IR_POINTER ? lanes_pointers(l, arg) : lanes_vector(l, arg, c);
  return lanes_uniform(l, arg);
}

static void take_result(lanes *l, ir_inst *inst, LLVMValueRef result) {
  unsigned count = ir_lanes_of(inst->type);
  LLVMValueRef *parts = lanes_parts(l, count);
  if (inst->type->kind == IR_VOID || !parts) return;
  for (unsigned c = 0; c < count; c++) parts[c] = count == 1 ? result : LLVMBuildExtractValue(B, result, c, "");
  lanes_info(l, inst)->parts = parts;
}

static void call_lanes(lanes *l, ir_inst *inst) {
  ir_function *callee = inst->u.callee;
  unsigned count = HIDDEN;
  shape *shapes = QN_ARENA_ARRAY(&l->e->arena, shape, (size_t)inst->arg_count + 1);
  LLVMValueRef *args = QN_ARENA_ARRAY(&l->e->arena, LLVMValueRef, HIDDEN + 16 * (size_t)inst->arg_count);
  if (!shapes || !args) {
    emit_fail(l->e, QN_ERROR_OUT_OF_HOST_MEMORY, "out of memory for a call of '%s'", callee->name);
    return;
  }
  for (uint32_t i = 0; i < inst->arg_count; i++) {
    shapes[i] = lanes_shape_of(l, inst->args[i]);
    shapes[i].bounded = false; /* by ids, of which the function knows nothing */
    shapes[i].scale = 0;
    shapes[i].add = 0;
  }
  lane_function *f = get_function(l, callee, shapes);
  if (!f) return;
  args[0] = l->e->f->launch;
  args[1] = l->e->f->group;
  for (int d = 0; d < 3; d++) args[2 + d] = l->e->f->items.local[d];
  args[MASK_PARAM] = LLVMBuildBitCast(B, lanes_mask(l), mask_bits_type(l), "");
  for (uint32_t i = 0; i < inst->arg_count; i++)
    for (unsigned c = 0; c < part_count(inst->args[i]->type, shapes[i]); c++)
      args[count++] = argument_part(l, inst->args[i], shapes[i], c);
  take_result(l, inst, LLVMBuildCall2(B, LLVMGlobalGetValueType(f->function), f->function, args, count, ""));
}

/* A function that is not to be inlined is called seldom: a library's rare case. When its result depends on its arguments
 * alone, its plain form is called for one running lane after another, which spares the long code of a form for lanes. */
static bool goes_lane_by_lane(const ir_inst *inst) {
  ir_function *callee = inst->u.callee;
  if (!callee->is_noinline || inst->type->kind == IR_VOID || ir_elem_of(inst->type)->kind == IR_POINTER) return false;
  for (uint32_t i = 0; i < inst->arg_count; i++)
    if (!ir_is_scalar(inst->args[i]->type)) return false;
  return lanes_is_common(callee);
}

static void call_each(lanes *l, ir_inst *inst) {
  unsigned count = ir_lanes_of(inst->type);
  LLVMTypeRef bits_type = l->e->i64, type = lanes_type(l, inst->type);
  LLVMValueRef *vectors = QN_ARENA_ARRAY(&l->e->arena, LLVMValueRef, (size_t)inst->arg_count + 1);
  LLVMValueRef *args = QN_ARENA_ARRAY(&l->e->arena, LLVMValueRef, (size_t)inst->arg_count + 1);
  LLVMValueRef *parts = lanes_parts(l, count), results[16] = {NULL}, inserted[16] = {NULL};
  if (!vectors || !args || !parts) {
    emit_fail(l->e, QN_ERROR_OUT_OF_HOST_MEMORY, "out of memory for a call of '%s'", inst->u.callee->name);
    return;
  }
  for (uint32_t i = 0; i < inst->arg_count; i++) vectors[i] = lanes_vector(l, inst->args[i], 0);
  LLVMValueRef all = LLVMBuildZExt(B, LLVMBuildBitCast(B, lanes_mask(l), mask_bits_type(l), ""), bits_type, "");
  LLVMValueRef zero = LLVMConstNull(bits_type), one = LLVMConstInt(bits_type, 1, 0);
  LLVMBasicBlockRef before = LLVMGetInsertBlock(B);
  LLVMValueRef function = LLVMGetBasicBlockParent(before);
  LLVMBasicBlockRef each = LLVMAppendBasicBlockInContext(l->e->context, function, "each");
  LLVMBasicBlockRef after = LLVMAppendBasicBlockInContext(l->e->context, function, "each.end");
  LLVMBuildCondBr(B, LLVMBuildICmp(B, LLVMIntNE, all, zero, ""), each, after);

  LLVMPositionBuilderAtEnd(B, each);
  LLVMValueRef left = LLVMBuildPhi(B, bits_type, "left");
  for (unsigned c = 0; c < count; c++) results[c] = LLVMBuildPhi(B, type, "");
  LLVMValueRef lane = emit_op(l->e, IR_CTZ, 0, bits_type, &left);
  for (uint32_t i = 0; i < inst->arg_count; i++) args[i] = LLVMBuildExtractElement(B, vectors[i], lane, "");
  LLVMValueRef result = emit_call(l->e, inst, args);
  for (unsigned c = 0; c < count; c++) {
    LLVMValueRef index = LLVMConstInt(l->e->i32, c, 0);
    LLVMValueRef part = count == 1 ? result : LLVMBuildExtractElement(B, result, index, "");
    inserted[c] = LLVMBuildInsertElement(B, results[c], part, lane, "");
  }
  LLVMValueRef rest = LLVMBuildAnd(B, left, LLVMBuildSub(B, left, one, ""), "");
  LLVMBasicBlockRef end = LLVMGetInsertBlock(B);
  LLVMBuildCondBr(B, LLVMBuildICmp(B, LLVMIntNE, rest, zero, ""), each, after);
  LLVMAddIncoming(left, (LLVMValueRef[]){all, rest}, (LLVMBasicBlockRef[]){before, end}, 2);

  LLVMPositionBuilderAtEnd(B, after);
  for (unsigned c = 0; c < count; c++) {
    LLVMValueRef nothing = LLVMGetPoison(type);
    LLVMAddIncoming(results[c], (LLVMValueRef[]){nothing, inserted[c]}, (LLVMBasicBlockRef[]){before, end}, 2);
    parts[c] = LLVMBuildPhi(B, type, "");
    LLVMAddIncoming(parts[c], (LLVMValueRef[]){nothing, inserted[c]}, (LLVMBasicBlockRef[]){before, end}, 2);
  }
  lanes_info(l, inst)->parts = parts;
}

void lanes_call(lanes *l, ir_inst *inst) {
  if (!inst->u.callee->body) {
    emit_fail(l->e, QN_ERROR_COMPILE, "in '%s': the function '%s' is declared and called, but not defined", l->f->name,
              inst->u.callee->name);
    return;
  }
  if (inst->type->kind == IR_VOID || lanes_info(l, inst)->shape.kind == SHAPE_VARYING) {
    if (goes_lane_by_lane(inst)) {
      call_each(l, inst);
    } else {
      call_lanes(l, inst);
    }
    return;
  }
  LLVMValueRef *args = QN_ARENA_ARRAY(&l->e->arena, LLVMValueRef, (size_t)inst->arg_count + 1);
  LLVMValueRef *parts = lanes_parts(l, 1);
  if (!args || !parts) return;
  for (uint32_t i = 0; i < inst->arg_count; i++) args[i] = lanes_uniform(l, inst->args[i]);
  parts[0] = emit_call(l->e, inst, args);
  lanes_info(l, inst)->parts = parts;
}

/* ---- Which functions give one result for all lanes
 * ------------------------------------------------------------------------ */

static bool note_own(void *user, ir_inst *inst) {
  bool *own = user;
  bool asks = inst->op == IR_GLOBAL_ID || inst->op == IR_LOCAL_ID || inst->op == IR_ATOMIC;
  if (asks || (inst->op == IR_CALL && !lanes_is_common(inst->u.callee))) *own = true;
  return !*own;
}

/* Noted, for a function that is called twice by one that is called twice would be walked many times. */
bool lanes_is_common(ir_function *f) {
  bool own = false;
  if (!f->body) return false;
  if (f->is_common) return f->is_common == 2;
  (void)ir_walk(f->body, note_own, &own);
  f->is_common = own ? 1 : 2;
  return !own;
}

/* ---- Definitions
 * -------------------------------------------------------------------------------------------------------------- */

static void open_params(lanes *l, const lane_function *f) {
  unsigned at = HIDDEN;
  l->param_parts = QN_ARENA_ARRAY(&l->e->arena, LLVMValueRef *, (size_t)f->ir->param_count + 1);
  for (uint32_t i = 0; l->param_parts && i < f->ir->param_count; i++) {
    unsigned count = part_count(f->ir->params[i].type, f->params[i]);
    l->param_parts[i] = lanes_parts(l, count);
    for (unsigned c = 0; l->param_parts[i] && c < count; c++) l->param_parts[i][c] = LLVMGetParam(f->function, at++);
  }
}

static void open_result(lanes *l) {
  unsigned count = l->f->result->kind == IR_VOID ? 0 : ir_lanes_of(l->f->result);
  for (unsigned c = 0; c < count; c++) {
    l->result[c] = lanes_alloca(l, lanes_type(l, l->f->result));
    LLVMBuildStore(B, LLVMGetPoison(lanes_type(l, l->f->result)), l->result[c]);
  }
}

static void return_result(lanes *l) {
  LLVMValueRef values[16];
  unsigned count = ir_lanes_of(l->f->result);
  if (l->f->result->kind == IR_VOID) {
    LLVMBuildRetVoid(B);
    return;
  }
  for (unsigned c = 0; c < count; c++)
    values[c] = LLVMBuildLoad2(B, LLVMGetAllocatedType(l->result[c]), l->result[c], "");
  if (count == 1)
    LLVMBuildRet(B, values[0]);
  else
    LLVMBuildAggregateRet(B, values, count);
}

static void define_function(emitter *e, unsigned width, lane_function *f) {
  function_state state = {.ir = f->ir, .function = f->function};
  lanes l = {.e = e, .width = width, .params = f->params};
  state.launch = LLVMGetParam(f->function, 0);
  state.group = LLVMGetParam(f->function, 1);
  for (unsigned d = 0; d < 3; d++) state.items.local[d] = LLVMGetParam(f->function, 2 + d);
  e->f = &state;
  state.entry = new_block(e, "entry");
  LLVMBasicBlockRef body = new_block(e, "body"), end = new_block(e, "end");
  at_block(e, state.entry);
  LLVMBuildBr(e->builder, body);
  at_block(e, body);
  if (prepare_function(e, f->ir)) make_haste(e, f->function);
  if (lanes_open(&l, f->ir, f->ir->body)) {
    open_params(&l, f);
    open_result(&l);
    LLVMTypeRef type = LLVMVectorType(e->i1, width);
    l.mask = LLVMBuildBitCast(e->builder, LLVMGetParam(f->function, MASK_PARAM), type, "");
    lanes_code(&l, end);
    at_block(e, end);
    return_result(&l);
  }
  e->f = NULL;
}

void lanes_define_functions(emitter *e) {
  lane_function *done = NULL;
  while (e->lane_functions != done && e->status >= 0) {
    lane_function *first = e->lane_functions;
    for (lane_function *f = first; f != done && e->status >= 0; f = f->next) define_function(e, e->lane_width, f);
    done = first;
  }
}
