/* lanes.c - a region as loops over strips of lanes, in two copies of the code. */
#include "lanes.h"

#include "lanes_call.h"

#define B (e->builder)

/* ---- Code of one copy ---------------------------------------------------------------------------------------------
 */

static bool count_inst(void *user, ir_inst *inst) {
  (void)inst;
  ++*(uint32_t *)user;
  return true;
}

bool lanes_open(lanes *l, ir_function *f, const ir_block *root) {
  l->f = f;
  l->root = root;
  l->serial = ++l->e->analyses;
  l->first = root->first ? root->first->id : 0;
  l->count = 0;
  (void)ir_walk((ir_block *)root, count_inst, &l->count);
  l->infos = QN_ARENA_ARRAY(&l->e->arena, lane_info, (size_t)l->count + 1);
  if (l->infos) return lanes_analyse(l);
  emit_fail(l->e, QN_ERROR_OUT_OF_HOST_MEMORY, "out of memory for the analysis of '%s'", f->name);
  return false;
}

static void make_register(lanes *l, lane_var *var) {
  bool varying = var->shape.kind == SHAPE_VARYING;
  unsigned count = varying ? ir_lanes_of(var->ir->type) : 1;
  var->storage = lanes_parts(l, count);
  LLVMTypeRef type = varying ? lanes_type(l, var->ir->type) : lanes_base_type(l, var->ir->type, var->shape);
  for (unsigned c = 0; var->storage && c < count; c++) var->storage[c] = lanes_alloca(l, type);
}

/* Of leaves: room for every scalar, `width` times; of whole copies, the same. */
static void make_memory(lanes *l, lane_var *var) {
  const ir_type *type = var->ir->type;
  var->storage = lanes_parts(l, 1);
  if (!var->storage) return;
  uint64_t align = var->ir->align ? var->ir->align : type->align;
  var->storage[0] = lanes_alloca(l, LLVMArrayType2(l->e->i8, type->size * l->width));
  LLVMSetAlignment(var->storage[0], (unsigned)(align > 64 ? align : 64));
}

/* Whole copies of a context variable stand in scratch, one an item. */
static void place_context(lanes *l, lane_var *var) {
  function_state *f = l->e->f;
  LLVMBuilderRef b = l->e->builder;
  var->storage = lanes_parts(l, 1);
  if (!var->storage) return;
  LLVMValueRef start = LLVMBuildMul(b, f->padded_items, LLVMConstInt(l->e->i64, var->ir->offset, 0), "");
  LLVMValueRef item = LLVMBuildMul(b, f->items.linear, LLVMConstInt(l->e->i64, var->ir->type->size, 0), "");
  LLVMValueRef at = LLVMBuildAdd(b, start, item, "");
  var->storage[0] = LLVMBuildInBoundsGEP2(b, l->e->i8, f->scratch, &at, 1, "");
}

static void make_variables(lanes *l) {
  for (lane_var *var = l->vars; var; var = var->next) {
    bool context = var->ir->storage == IR_STORE_CONTEXT;
    if (context && var->layout == LAYOUT_WHOLE)
      place_context(l, var);
    else if (!context && var->layout == LAYOUT_REGISTER)
      make_register(l, var);
    else if (!context)
      make_memory(l, var);
  }
}

/* What a variable has from before is not wanted: so that no lane waits for another's, or for its own of before. */
void lanes_forget(lanes *l, const ir_block *home) {
  for (lane_var *var = l->vars; var; var = var->next) {
    if (var->home != home || var->layout != LAYOUT_REGISTER || var->ir->storage == IR_STORE_CONTEXT) continue;
    unsigned count = var->shape.kind == SHAPE_VARYING ? ir_lanes_of(var->ir->type) : 1;
    for (unsigned c = 0; c < count; c++)
      LLVMBuildStore(l->e->builder, LLVMGetPoison(LLVMGetAllocatedType(var->storage[c])), var->storage[c]);
  }
}

void lanes_code(lanes *l, LLVMBasicBlockRef end) {
  lane_scope scope;
  make_variables(l);
  lanes_open_scope(l, &scope, NULL, true);
  scope.leave = end;
  l->end = end;
  lanes_block(l, l->root);
  if (!l->dead) LLVMBuildBr(l->e->builder, end);
  l->scope = NULL;
}

/* ---- Strips
 * ------------------------------------------------------------------------------------------------------------ */

/* The loop over a row of items. */
typedef struct strips {
  LLVMValueRef count; /* items in the row */
  LLVMValueRef limit; /* how many of them the full copy takes */
  LLVMValueRef step;  /* of the masked copy */
  LLVMValueRef row;   /* linear index of the row's first item */
  LLVMBasicBlockRef before, full, masked, done;
  LLVMValueRef full_at, masked_at; /* phis: the strip's first item */
} strips;

static LLVMValueRef c64(emitter *e, uint64_t v) { return LLVMConstInt(e->i64, v, 0); }

/* What was taken from the ids' bounds holds in a group whose ids are below the limit. In another, lanes run one at a
 * time. */
static LLVMValueRef ids_are_small(emitter *e, LLVMValueRef count, uint64_t limit) {
  LLVMValueRef end = LLVMBuildAdd(B, emit_group_value(e, IR_GLOBAL_ID, 0), count, "");
  return LLVMBuildICmp(B, LLVMIntULE, end, c64(e, limit), "");
}

static void open_strips(emitter *e, strips *s, unsigned width, uint64_t id_limit) {
  bool needs_small_ids = id_limit != UINT64_MAX;
  LLVMBasicBlockRef here = LLVMGetInsertBlock(B);
  s->count = emit_group_value(e, IR_LOCAL_SIZE, 0);
  LLVMValueRef size = emit_group_value(e, IR_LOCAL_SIZE, 0);
  if (needs_small_ids) (void)emit_group_value(e, IR_GLOBAL_ID, 0);
  at_entry(e);
  s->limit = LLVMBuildAnd(B, size, c64(e, ~(uint64_t)(width - 1)), "");
  s->step = c64(e, width);
  if (needs_small_ids) {
    LLVMValueRef small = ids_are_small(e, size, id_limit);
    s->limit = LLVMBuildSelect(B, small, s->limit, c64(e, 0), "");
    s->step = LLVMBuildSelect(B, small, s->step, c64(e, 1), "");
  }
  LLVMPositionBuilderAtEnd(B, here);
}

static void enter_strip(emitter *e, const strips *s, LLVMValueRef at) {
  e->f->items.local[0] = at;
  e->f->items.linear = LLVMBuildNUWAdd(B, s->row, at, "");
}

static void add_incoming(LLVMValueRef phi, LLVMValueRef value, LLVMBasicBlockRef from) {
  LLVMAddIncoming(phi, &value, &from, 1);
}

static LLVMValueRef open_loop(emitter *e, LLVMBasicBlockRef block) {
  at_block(e, block);
  return LLVMBuildPhi(B, e->i64, "");
}

/* A loop's end: on to the next strip while there is one. */
static void close_loop(emitter *e, LLVMBasicBlockRef head, LLVMValueRef at, LLVMValueRef step, LLVMValueRef limit,
                       LLVMBasicBlockRef after) {
  LLVMValueRef next = LLVMBuildNUWAdd(B, at, step, "");
  LLVMSetNSW(next, 1);
  LLVMBuildCondBr(B, LLVMBuildICmp(B, LLVMIntULT, next, limit, ""), head, after);
  add_incoming(at, next, LLVMGetInsertBlock(B));
}

static bool full_copy(emitter *e, lanes *l, strips *s) {
  LLVMBasicBlockRef end = new_block(e, ""), after = new_block(e, ""), bail = new_block(e, "");
  s->full_at = open_loop(e, s->full);
  add_incoming(s->full_at, c64(e, 0), s->before);
  enter_strip(e, s, s->full_at);
  l->bail = bail;
  lanes_code(l, end);
  at_block(e, end);
  close_loop(e, s->full, s->full_at, c64(e, l->width), s->limit, after);
  at_block(e, after);
  LLVMBuildCondBr(B, LLVMBuildICmp(B, LLVMIntULT, s->limit, s->count, ""), s->masked, s->done);
  add_incoming(s->masked_at, s->limit, after);
  at_block(e, bail);
  LLVMBuildBr(B, s->masked);
  add_incoming(s->masked_at, s->full_at, bail);
  return e->status >= 0;
}

static bool masked_copy(emitter *e, lanes *l, strips *s) {
  LLVMBasicBlockRef end = new_block(e, "");
  at_block(e, s->masked);
  enter_strip(e, s, s->masked_at);
  LLVMValueRef left = LLVMBuildSub(B, s->count, s->masked_at, ""), args[2] = {left, s->step};
  LLVMValueRef running = emit_intrinsic1(e, "llvm.umin", e->i64, args, 2);
  running = lanes_spread(l, LLVMBuildTrunc(B, running, e->i32, ""));
  l->mask = LLVMBuildICmp(B, LLVMIntULT, lanes_steps(l, e->i32, 1), running, "");
  lanes_code(l, end);
  at_block(e, end);
  close_loop(e, s->masked, s->masked_at, s->step, s->count, s->done);
  return e->status >= 0;
}

/* One copy for all items, in kernels of so many regions that a second takes too long to compile. */
static bool emit_masked_row(emitter *e, const ir_block *block, strips *s) {
  lanes masked = {.e = e, .width = e->lane_width};
  if (!lanes_open(&masked, (ir_function *)e->f->ir, block)) return false;
  open_strips(e, s, e->lane_width, masked.id_limit);
  s->before = LLVMGetInsertBlock(B);
  s->masked = new_block(e, "masked");
  s->done = new_block(e, "");
  LLVMBuildBr(B, s->masked);
  s->masked_at = open_loop(e, s->masked);
  add_incoming(s->masked_at, c64(e, 0), s->before);
  if (!masked_copy(e, &masked, s)) return false;
  at_block(e, s->done);
  return true;
}

static bool emit_both_rows(emitter *e, const ir_block *block, strips *s) {
  lanes full = {.e = e, .width = e->lane_width, .full = true}, masked = {.e = e, .width = e->lane_width};
  ir_function *f = (ir_function *)e->f->ir;
  /* Variables belong to the copy that was analysed last: the full copy is emitted after its own analysis. */
  if (!lanes_open(&masked, f, block) || !lanes_open(&full, f, block)) return false;
  open_strips(e, s, e->lane_width, full.id_limit < masked.id_limit ? full.id_limit : masked.id_limit);
  s->before = LLVMGetInsertBlock(B);
  s->full = new_block(e, "full");
  s->masked = new_block(e, "masked");
  s->done = new_block(e, "");
  s->masked_at = open_loop(e, s->masked);
  LLVMPositionBuilderAtEnd(B, s->before);
  LLVMBuildCondBr(B, LLVMBuildICmp(B, LLVMIntNE, s->limit, c64(e, 0), ""), s->full, s->masked);
  add_incoming(s->masked_at, c64(e, 0), s->before);
  if (!full_copy(e, &full, s)) return false;
  masked.vars = NULL;
  if (!lanes_open(&masked, f, block) || !masked_copy(e, &masked, s)) return false;
  at_block(e, s->done);
  return true;
}

static bool emit_row(emitter *e, const ir_block *block) {
  strips s = {.before = NULL};
  LLVMValueRef row = LLVMBuildMul(B, e->f->items.local[2], emit_group_value(e, IR_LOCAL_SIZE, 1), "");
  row = LLVMBuildAdd(B, row, e->f->items.local[1], "");
  s.row = LLVMBuildMul(B, row, emit_group_value(e, IR_LOCAL_SIZE, 0), "");
  return e->f->terse ? emit_masked_row(e, block, &s) : emit_both_rows(e, block, &s);
}

bool lanes_region(emitter *e, const ir_block *block) {
  item_loop loops[3];
  for (uint32_t d = 3; d-- > 1;) emit_loop_open(e, d, &loops[d]);
  bool good = emit_row(e, block);
  for (uint32_t d = 1; d < 3; d++) emit_loop_close(e, &loops[d]);
  e->f->items = (item_ids){{NULL, NULL, NULL}, NULL};
  return good;
}
