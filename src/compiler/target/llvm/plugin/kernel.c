/* kernel.c - a kernel's entry, the loops over the items of a group, and the queries of ids and sizes.
 *
 * A kernel becomes two functions: the entry that the adapter calls, which takes the arguments out of their block, and
 * the body with the arguments as parameters, where `restrict` can be said. */
#include <stddef.h>
#include <string.h>

#include "compiler/pass/pass.h"
#include "lanes.h"

#define B (e->builder)

/* Sizes of groups, and so local ids, are below this. */
static const uint64_t size_limit = 1ull << 32;

/* ---- Queries ------------------------------------------------------------------------------------------------ */

typedef struct query_row {
  bool of_group; /* a field of qn_cpu_group, else of qn_cpu_launch */
  uint64_t offset;
} query_row;

#define LAUNCH(field) {false, offsetof(qn_cpu_launch, field)}
#define GROUP(field) {true, offsetof(qn_cpu_group, field)}
enum { QUERY_FIRST = IR_GLOBAL_ID, QUERY_BASE = 15 };
static const query_row query_rows[] = {
    [IR_GROUP_ID - QUERY_FIRST] = GROUP(id),          [IR_GLOBAL_SIZE - QUERY_FIRST] = LAUNCH(global),
    [IR_LOCAL_SIZE - QUERY_FIRST] = GROUP(local),     [IR_ENQUEUED_SIZE - QUERY_FIRST] = LAUNCH(local),
    [IR_NUM_GROUPS - QUERY_FIRST] = LAUNCH(groups),   [IR_GLOBAL_OFFSET - QUERY_FIRST] = LAUNCH(offset),
    [IR_WORK_DIM - QUERY_FIRST] = LAUNCH(dimensions),
};

static void set_range(emitter *e, LLVMValueRef load, uint64_t low, uint64_t high) {
  LLVMTypeRef type = LLVMTypeOf(load);
  LLVMMetadataRef bounds[2] = {LLVMValueAsMetadata(LLVMConstInt(type, low, 0)),
                               LLVMValueAsMetadata(LLVMConstInt(type, high, 0))};
  LLVMMetadataRef node = LLVMMDNodeInContext2(e->context, bounds, 2);
  LLVMSetMetadata(load, LLVMGetMDKindIDInContext(e->context, "range", 5), LLVMMetadataAsValue(e->context, node));
}

static LLVMValueRef read_field(emitter *e, ir_op op, uint32_t d) {
  const query_row *row = &query_rows[op - QUERY_FIRST];
  LLVMValueRef record = row->of_group ? e->f->group : e->f->launch;
  LLVMValueRef at = emit_offset(e, record, row->offset + 8 * (uint64_t)d);
  LLVMValueRef load = LLVMBuildLoad2(B, op == IR_WORK_DIM ? e->i32 : e->i64, at, "");
  bool is_size = op == IR_LOCAL_SIZE || op == IR_ENQUEUED_SIZE;
  if (is_size) set_range(e, load, 1, size_limit);
  return load;
}

static LLVMValueRef make_group_value(emitter *e, ir_op op, uint32_t d) {
  bool is_size = op == IR_LOCAL_SIZE || op == IR_ENQUEUED_SIZE;
  const uint64_t *required = e->f->ir->required_local;
  if (is_size && required[0]) return LLVMConstInt(e->i64, required[d], 0);
  if (op != IR_GLOBAL_ID) return read_field(e, op, d);
  /* The first item's id. */
  LLVMValueRef base =
      LLVMBuildNUWMul(B, emit_group_value(e, IR_GROUP_ID, d), emit_group_value(e, IR_ENQUEUED_SIZE, d), "");
  if (LLVMIsAInstruction(base)) LLVMSetNSW(base, 1);
  LLVMValueRef sum = LLVMBuildNUWAdd(B, base, emit_group_value(e, IR_GLOBAL_OFFSET, d), "");
  if (LLVMIsAInstruction(sum)) LLVMSetNSW(sum, 1);
  return sum;
}

LLVMValueRef emit_group_value(emitter *e, ir_op op, uint32_t d) {
  LLVMValueRef *slot = &e->f->queries[d][op - QUERY_FIRST];
  if (*slot) return *slot;
  LLVMBasicBlockRef here = LLVMGetInsertBlock(B);
  at_entry(e);
  *slot = make_group_value(e, op, d);
  if (here != e->f->entry) LLVMPositionBuilderAtEnd(B, here);
  return *slot;
}

LLVMValueRef emit_query(emitter *e, const ir_inst *inst) {
  uint32_t d = (uint32_t)inst->imm;
  bool of_item = inst->op == IR_GLOBAL_ID || inst->op == IR_LOCAL_ID;
  if (!of_item) return emit_group_value(e, inst->op, inst->op == IR_WORK_DIM ? 0 : d);
  LLVMValueRef local = e->f->items.local[d];
  if (!local) {
    emit_fail(e, QN_ERROR_INTERNAL, "in '%s': an item's id is asked for outside of a region", e->f->ir->name);
    return LLVMGetPoison(e->i64);
  }
  if (inst->op == IR_LOCAL_ID) return local;
  LLVMValueRef id = LLVMBuildNUWAdd(B, emit_group_value(e, IR_GLOBAL_ID, d), local, "");
  if (LLVMIsAInstruction(id)) LLVMSetNSW(id, 1);
  return id;
}

/* ---- Regions ------------------------------------------------------------------------------------------------- */

/* A group has at least one item: the loops are tested at the end. A dimension that is always 1 has none. */
void emit_loop_open(emitter *e, uint32_t d, item_loop *loop) {
  *loop = (item_loop){.count = emit_group_value(e, IR_LOCAL_SIZE, d)};
  e->f->items.local[d] = LLVMConstInt(e->i64, 0, 0);
  if (LLVMIsAConstantInt(loop->count) && LLVMConstIntGetZExtValue(loop->count) == 1) return;
  LLVMBasicBlockRef before = LLVMGetInsertBlock(B);
  loop->head = new_block(e, "");
  LLVMBuildBr(B, loop->head);
  at_block(e, loop->head);
  loop->phi = LLVMBuildPhi(B, e->i64, "");
  LLVMValueRef zero = LLVMConstInt(e->i64, 0, 0);
  LLVMAddIncoming(loop->phi, &zero, &before, 1);
  e->f->items.local[d] = loop->phi;
}

void emit_loop_close(emitter *e, item_loop *loop) {
  if (!loop->phi) return;
  LLVMBasicBlockRef latch = LLVMGetInsertBlock(B), leave = new_block(e, "");
  LLVMValueRef next = LLVMBuildNUWAdd(B, loop->phi, LLVMConstInt(e->i64, 1, 0), "");
  LLVMSetNSW(next, 1);
  LLVMAddIncoming(loop->phi, &next, &latch, 1);
  LLVMValueRef more = LLVMBuildICmp(B, LLVMIntULT, next, loop->count, "");
  LLVMBuildCondBr(B, more, loop->head, leave);
  at_block(e, leave);
}

/* The item's index in the context arrays, and what these need of the group. */
static void item_index(emitter *e) {
  function_state *f = e->f;
  LLVMValueRef row = LLVMBuildMul(B, f->items.local[2], emit_group_value(e, IR_LOCAL_SIZE, 1), "");
  row = LLVMBuildAdd(B, row, f->items.local[1], "");
  row = LLVMBuildMul(B, row, emit_group_value(e, IR_LOCAL_SIZE, 0), "");
  f->items.linear = LLVMBuildNUWAdd(B, row, f->items.local[0], "");
}

/* What an item leaves in a variable is not for the next one. */
static bool forget_variables(void *user, ir_inst *inst) {
  for (uint32_t i = 0; i < inst->arg_count; i++) {
    const ir_inst *arg = inst->args[i];
    if (arg->op != IR_ADDRESS || arg->u.var->space != IR_PRIVATE || arg->u.var->storage != IR_STORE_PLAIN) continue;
    emit_fresh(user, arg->u.var->aux);
  }
  return true;
}

static void emit_items(emitter *e, const ir_block *block) {
  function_state *f = e->f;
  item_loop loops[3];
  for (uint32_t d = 3; d-- > 0;) emit_loop_open(e, d, &loops[d]);
  f->item_end = new_block(e, "");
  item_index(e);
  (void)ir_walk((ir_block *)block, forget_variables, e);
  emit_block(e, block);
  branch_to(e, f->item_end);
  at_block(e, f->item_end);
  for (uint32_t d = 0; d < 3; d++) emit_loop_close(e, &loops[d]);
  f->item_end = NULL;
  f->items = (item_ids){{NULL, NULL, NULL}, NULL};
}

void emit_region(emitter *e, const ir_block *block) {
  if (e->f->outlines)
    outline_region(e, block);
  else if (e->lane_width > 1)
    (void)lanes_region(e, block);
  else
    emit_items(e, block);
}

/* ---- Entries --------------------------------------------------------------------------------------------------- */

void set_param_attribute(emitter *e, LLVMValueRef function, unsigned param, const char *name, uint64_t value) {
  unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
  LLVMAddAttributeAtIndex(function, param + 1, LLVMCreateEnumAttribute(e->context, kind, value));
}

/* The launch's records are not the kernel's to write. */
static void set_record_attributes(emitter *e, LLVMValueRef function) {
  const uint64_t sizes[RECORD_PARAMS] = {sizeof(qn_cpu_launch), sizeof(qn_cpu_group)};
  for (unsigned i = 0; i < RECORD_PARAMS; i++) {
    set_param_attribute(e, function, i, "noalias", 0);
    set_param_attribute(e, function, i, "readonly", 0);
    set_param_attribute(e, function, i, "dereferenceable", sizes[i]);
  }
}

LLVMValueRef add_part_of_kernel(emitter *e, const char *name, LLVMTypeRef type) {
  static const char *const attributes[] = {"nounwind", "no-builtins", "null_pointer_is_valid", "noinline", NULL};
  LLVMValueRef function = LLVMAddFunction(e->module, name, type);
  LLVMSetLinkage(function, LLVMInternalLinkage);
  add_attributes(e, function, attributes);
  set_record_attributes(e, function);
  return function;
}

static LLVMValueRef body_function(emitter *e, const ir_function *f) {
  LLVMTypeRef *params = QN_ARENA_ARRAY(&e->arena, LLVMTypeRef, (size_t)f->param_count + RECORD_PARAMS);
  const char *name = qn_arena_printf(&e->arena, "quern.body.%s", f->name);
  if (!params || !name) {
    emit_fail(e, QN_ERROR_OUT_OF_HOST_MEMORY, "out of memory for the kernel '%s'", f->name);
    return NULL;
  }
  for (unsigned i = 0; i < RECORD_PARAMS; i++) params[i] = e->ptr;
  for (uint32_t i = 0; i < f->param_count; i++) params[RECORD_PARAMS + i] = emit_type(e, f->params[i].type);
  LLVMTypeRef type = LLVMFunctionType(e->void_type, params, f->param_count + RECORD_PARAMS, 0);
  LLVMValueRef function = add_part_of_kernel(e, name, type);
  for (uint32_t i = 0; i < f->param_count; i++) {
    bool alone = f->params[i].is_restrict || f->params[i].byval;
    if (f->params[i].type->kind == IR_POINTER && alone)
      set_param_attribute(e, function, RECORD_PARAMS + i, "noalias", 0);
  }
  return function;
}

/* A value stands in the block; a struct by value is its address there. */
static LLVMValueRef load_argument(emitter *e, const ir_function *f, uint32_t i, LLVMValueRef block) {
  const ir_type *type = f->params[i].type;
  LLVMValueRef at = emit_offset(e, block, qn_argument_offset(f, i));
  if (f->params[i].byval) return at;
  LLVMTypeRef memory = emit_memory_type(e, type);
  LLVMValueRef value = LLVMBuildLoad2(B, memory, at, "");
  LLVMSetAlignment(value, (unsigned)(type->align < 8 ? type->align : 8));
  if (type->kind == IR_BOOL) return LLVMBuildTrunc(B, value, e->i1, "");
  if (type->kind != IR_VECTOR || type->count != 3) return value;
  LLVMValueRef mask[3] = {LLVMConstInt(e->i32, 0, 0), LLVMConstInt(e->i32, 1, 0), LLVMConstInt(e->i32, 2, 0)};
  return LLVMBuildShuffleVector(B, value, LLVMGetPoison(memory), LLVMConstVector(mask, 3), "");
}

static void emit_entry(emitter *e, const ir_function *f, LLVMValueRef body) {
  static const char *const attributes[] = {"nounwind", "no-builtins", "null_pointer_is_valid", NULL};
  LLVMTypeRef params[RECORD_PARAMS] = {e->ptr, e->ptr};
  LLVMValueRef *args = QN_ARENA_ARRAY(&e->arena, LLVMValueRef, (size_t)f->param_count + RECORD_PARAMS);
  const char *name = qn_arena_printf(&e->arena, QN_KERNEL_SYMBOL_PREFIX "%s", f->name);
  if (!args || !name) {
    emit_fail(e, QN_ERROR_OUT_OF_HOST_MEMORY, "out of memory for the kernel '%s'", f->name);
    return;
  }
  LLVMValueRef entry = LLVMAddFunction(e->module, name, LLVMFunctionType(e->void_type, params, RECORD_PARAMS, 0));
  add_attributes(e, entry, attributes);
  set_record_attributes(e, entry);
  LLVMPositionBuilderAtEnd(B, LLVMAppendBasicBlockInContext(e->context, entry, ""));
  for (unsigned i = 0; i < RECORD_PARAMS; i++) args[i] = LLVMGetParam(entry, i);
  LLVMValueRef block = LLVMBuildLoad2(B, e->ptr, emit_offset(e, args[0], offsetof(qn_cpu_launch, arguments)), "");
  for (uint32_t i = 0; i < f->param_count; i++) args[RECORD_PARAMS + i] = load_argument(e, f, i, block);
  LLVMBuildCall2(B, LLVMGlobalGetValueType(body), body, args, f->param_count + RECORD_PARAMS, "");
  LLVMBuildRetVoid(B);
}

/* Context arrays: where they start, and for how many items there is room. */
void emit_scratch(emitter *e, const ir_function *f) {
  LLVMValueRef items = LLVMConstInt(e->i64, 1, 0), seven = LLVMConstInt(e->i64, 7, 0);
  if (!f->scratch_bytes_per_item) return;
  for (uint32_t d = 0; d < 3; d++) items = LLVMBuildNUWMul(B, items, emit_group_value(e, IR_LOCAL_SIZE, d), "");
  items = LLVMBuildAnd(B, LLVMBuildNUWAdd(B, items, seven, ""), LLVMConstNot(seven), "");
  e->f->padded_items = items;
  LLVMValueRef base = LLVMBuildLoad2(B, e->ptr, emit_offset(e, e->f->group, offsetof(qn_cpu_group, scratch)), "");
  e->f->scratch = emit_offset(e, base, f->scratch_bytes_per_group);
}

void emit_kernel(emitter *e, ir_function *f) {
  function_state state = {.ir = f, .function = body_function(e, f)};
  if (!state.function) return;
  state.launch = LLVMGetParam(state.function, 0);
  state.group = LLVMGetParam(state.function, 1);
  for (uint32_t i = 0; i < f->param_count; i++)
    f->params[i].value->aux = LLVMGetParam(state.function, RECORD_PARAMS + i);
  e->f = &state;
  unsigned width = e->lane_width;
  bool deep = prepare_function(e, f);
  outline_choose(e, &state);
  state.terse |= deep;
  if (state.terse) make_haste(e, state.function);
  if (width > 1 && (lanes_are_large(e, f) || (!e->options->always_lanes && !state.terse && lanes_are_slow(e, f))))
    e->lane_width = 1;
  if (e->lane_width > 1) lanes_mark_whole(f);
  emit_body(e, f);
  e->lane_width = width;
  e->f = NULL;
  emit_entry(e, f, state.function);
}
