/* lanes_op.c - operations on values of every shape. */
#include "lanes.h"

#define B (l->e->builder)

static void set_one(lanes *l, ir_inst *inst, LLVMValueRef value) {
  lane_info *info = lanes_info(l, inst);
  info->parts = lanes_parts(l, 1);
  if (info->parts) info->parts[0] = value;
}

static LLVMValueRef *new_parts(lanes *l, ir_inst *inst) {
  lane_info *info = lanes_info(l, inst);
  info->parts = lanes_parts(l, ir_lanes_of(inst->type));
  return info->parts;
}

/* What lanes that don't run compute must not matter: no promise of no overflow is kept. */
static uint32_t varying_flags(const ir_inst *inst) { return inst->flags & ~(uint32_t)IR_NSW; }

static void component_wise(lanes *l, ir_inst *inst) {
  LLVMValueRef *parts = new_parts(l, inst);
  LLVMTypeRef type = lanes_type(l, inst->type);
  for (unsigned c = 0; parts && c < ir_lanes_of(inst->type); c++) {
    LLVMValueRef args[3] = {NULL, NULL, NULL};
    for (uint32_t i = 0; i < inst->arg_count && i < 3; i++) args[i] = lanes_vector(l, inst->args[i], c);
    parts[c] = emit_op(l->e, inst->op, varying_flags(inst), type, args);
  }
}

/* ---- Strided results: arithmetic on lane 0 ------------------------------------------------------------------------
 */

static LLVMOpcode scalar_opcode(ir_op op) {
  switch (op) {
    case IR_ADD:
      return LLVMAdd;
    case IR_SUB:
      return LLVMSub;
    case IR_MUL:
      return LLVMMul;
    default:
      return LLVMShl;
  }
}

static LLVMValueRef strided_arithmetic(lanes *l, ir_inst *inst, bool wide) {
  LLVMValueRef x = lanes_base(l, inst->args[0], wide), y = lanes_base(l, inst->args[1], wide);
  return LLVMBuildBinOp(B, scalar_opcode(inst->op), x, y, "");
}

/* Lane 0's number, cut to the type and read again: the same number unless one lane runs alone with a large id. */
static LLVMValueRef reread(lanes *l, LLVMValueRef base, const ir_type *type, bool is_signed) {
  if (l->full) return base;
  LLVMValueRef cut = LLVMBuildIntCast2(B, base, emit_type(l->e, type), 0, "");
  return is_signed ? LLVMBuildSExt(B, cut, l->e->i64, "") : LLVMBuildZExt(B, cut, l->e->i64, "");
}

/* The full copy gives up when the lanes of `narrow`, extended, don't count on. */
static void check_extension(lanes *l, ir_inst *inst, LLVMValueRef narrow, int64_t stride) {
  int64_t span = stride * (int64_t)(l->width - 1);
  LLVMTypeRef wide = l->e->i64;
  LLVMOpcode extend = inst->op == IR_SEXT ? LLVMSExt : LLVMZExt;
  LLVMValueRef last = LLVMBuildAdd(B, narrow, LLVMConstInt(LLVMTypeOf(narrow), (uint64_t)span, 1), "");
  LLVMValueRef first_number = LLVMBuildCast(B, extend, narrow, wide, "");
  LLVMValueRef last_number = LLVMBuildCast(B, extend, last, wide, "");
  LLVMValueRef distance = LLVMBuildSub(B, last_number, first_number, "");
  LLVMBasicBlockRef on = new_block(l->e, "");
  LLVMBuildCondBr(B, LLVMBuildICmp(B, LLVMIntEQ, distance, LLVMConstInt(wide, (uint64_t)span, 1), ""), on, l->bail);
  at_block(l->e, on);
}

static LLVMValueRef strided_extension(lanes *l, ir_inst *inst) {
  ir_inst *arg = inst->args[0];
  shape s = lanes_shape_of(l, arg);
  if (lanes_info(l, inst)->assumed) {
    LLVMValueRef narrow = lanes_base(l, arg, false);
    check_extension(l, inst, narrow, s.stride);
    return LLVMBuildCast(B, inst->op == IR_SEXT ? LLVMSExt : LLVMZExt, narrow, l->e->i64, "");
  }
  LLVMValueRef base = lanes_uniform(l, arg);
  return inst->op == IR_SEXT ? base : reread(l, base, arg->type, false);
}

static LLVMValueRef strided_conversion(lanes *l, ir_inst *inst, bool wide) {
  if (inst->op != IR_TRUNC) return strided_extension(l, inst);
  LLVMValueRef base = lanes_uniform(l, inst->args[0]);
  if (wide) return reread(l, base, inst->type, true);
  return LLVMBuildIntCast2(B, base, emit_type(l->e, inst->type), 0, "");
}

/* The full copy gives up when a lane is beyond the limit. */
static LLVMValueRef strided_limit(lanes *l, ir_inst *inst, bool wide) {
  bool first = lanes_shape_of(l, inst->args[0]).kind == SHAPE_STRIDED, least = inst->op == IR_SMAX;
  ir_inst *arg = inst->args[first ? 0 : 1], *limit = inst->args[first ? 1 : 0];
  int64_t span = lanes_shape_of(l, arg).stride * (int64_t)(l->width - 1);
  int64_t distance = (span > 0) == least ? 0 : span;
  LLVMValueRef extreme = LLVMBuildAdd(B, lanes_base(l, arg, true), LLVMConstInt(l->e->i64, (uint64_t)distance, 1), "");
  LLVMIntPredicate within = least ? LLVMIntSGE : LLVMIntSLE;
  LLVMBasicBlockRef on = new_block(l->e, "");
  LLVMBuildCondBr(B, LLVMBuildICmp(B, within, extreme, lanes_base(l, limit, true), ""), on, l->bail);
  at_block(l->e, on);
  return lanes_base(l, arg, wide);
}

/* Pointers move by bytes; offsets into private variables are numbers. */
static LLVMValueRef moved(lanes *l, ir_inst *inst, LLVMValueRef base, LLVMValueRef index, uint64_t size) {
  bool is_offset = lanes_root(l, inst) != NULL;
  LLVMValueRef bytes = LLVMBuildMul(B, index, int_splat(LLVMTypeOf(index), size), "");
  return is_offset ? LLVMBuildAdd(B, base, bytes, "") : LLVMBuildInBoundsGEP2(B, l->e->i8, base, &bytes, 1, "");
}

static uint64_t step_of(const ir_inst *inst) {
  const ir_type *pointee = inst->args[0]->type->elem;
  if (inst->op == IR_INDEX) return pointee->elem->size;
  return pointee->kind == IR_VOID ? 1 : pointee->size;
}

/* Uniform or strided pointers. */
static LLVMValueRef scalar_address(lanes *l, ir_inst *inst) {
  LLVMValueRef base = lanes_uniform(l, inst->args[0]);
  if (inst->op == IR_PCAST) return base;
  if (inst->op == IR_FIELD) {
    uint64_t offset = inst->args[0]->type->elem->fields[inst->imm].offset;
    if (lanes_root(l, inst)) return LLVMBuildAdd(B, base, LLVMConstInt(l->e->i64, offset, 0), "");
    return emit_offset(l->e, base, offset);
  }
  LLVMValueRef index = lanes_base(l, inst->args[1], true);
  if (lanes_root(l, inst)) return moved(l, inst, base, index, step_of(inst));
  if (inst->op == IR_INDEX) return emit_elem(l->e, base, inst->args[0]->type->elem->elem, index);
  return emit_elem(l->e, base, inst->args[0]->type->elem, index);
}

static LLVMValueRef wide_index(lanes *l, ir_inst *index) {
  LLVMTypeRef type = LLVMVectorType(l->e->i64, l->width);
  shape s = lanes_shape_of(l, index);
  if (s.kind == SHAPE_VARYING) return LLVMBuildIntCast2(B, lanes_vector(l, index, 0), type, 1, "");
  LLVMValueRef base = lanes_spread(l, lanes_base(l, index, true));
  return s.kind == SHAPE_STRIDED && (s.sx || index->type->bits == 64)
             ? LLVMBuildAdd(B, base, lanes_steps(l, l->e->i64, s.stride), "")
             : LLVMBuildIntCast2(B, lanes_vector(l, index, 0), type, 1, "");
}

/* Pointers, or offsets into private variables, one a lane. */
static LLVMValueRef vector_address(lanes *l, ir_inst *inst) {
  bool is_offset = lanes_root(l, inst) != NULL;
  ir_inst *from = inst->args[0];
  if (inst->op == IR_PCAST) return lanes_vector(l, from, 0);
  LLVMValueRef index;
  uint64_t size = 1;
  if (inst->op == IR_FIELD) {
    index = int_splat(LLVMVectorType(l->e->i64, l->width), from->type->elem->fields[inst->imm].offset);
  } else {
    index = wide_index(l, inst->args[1]);
    size = step_of(inst);
  }
  if (is_offset) {
    LLVMValueRef base = lanes_shape_of(l, from).kind == SHAPE_UNIFORM ? lanes_spread(l, lanes_uniform(l, from))
                                                                      : lanes_vector(l, from, 0);
    return moved(l, inst, base, index, size);
  }
  /* One base for all lanes lets the machine's gathers add it. */
  LLVMValueRef base = lanes_shape_of(l, from).kind == SHAPE_UNIFORM ? lanes_uniform(l, from) : lanes_pointers(l, from);
  const ir_type *pointee = from->type->elem;
  bool simple = size == 1 || size == 2 || size == 4 || size == 8;
  if (inst->op == IR_FIELD || !simple) return moved(l, inst, base, index, size);
  const ir_type *elem = inst->op == IR_INDEX ? pointee->elem : pointee;
  LLVMTypeRef type = elem->kind == IR_VOID || elem->kind == IR_STRUCT || elem->kind == IR_ARRAY
                         ? LLVMIntTypeInContext(l->e->context, (unsigned)(8 * size))
                         : emit_memory_type(l->e, elem);
  return LLVMBuildInBoundsGEP2(B, type, base, &index, 1, "");
}

static bool is_address(ir_op op) { return op == IR_ELEM || op == IR_INDEX || op == IR_FIELD || op == IR_PCAST; }

static void strided(lanes *l, ir_inst *inst) {
  bool wide = shape_is_wide(inst->type, lanes_info(l, inst)->shape);
  LLVMValueRef value;
  if (is_address(inst->op)) {
    value = scalar_address(l, inst);
  } else if (inst->op == IR_SELECT) {
    LLVMValueRef x = lanes_base(l, inst->args[1], wide), y = lanes_base(l, inst->args[2], wide);
    value = LLVMBuildSelect(B, lanes_uniform(l, inst->args[0]), x, y, "");
  } else if (inst->op == IR_SMIN || inst->op == IR_SMAX) {
    value = strided_limit(l, inst, wide);
  } else if (ir_op_table[inst->op].cls == IR_CLASS_CONV) {
    value = strided_conversion(l, inst, wide);
  } else {
    value = strided_arithmetic(l, inst, wide);
  }
  set_one(l, inst, value);
}

/* ---- Varying results that are not component-wise
 * --------------------------------------------------------------------- */

static void make_vec(lanes *l, ir_inst *inst) {
  LLVMValueRef *parts = new_parts(l, inst);
  for (uint32_t c = 0; parts && c < ir_lanes_of(inst->type); c++)
    parts[c] = lanes_vector(l, inst->args[inst->op == IR_SPLAT ? 0 : c], 0);
}

static void make_shuffle(lanes *l, ir_inst *inst) {
  LLVMValueRef *parts = new_parts(l, inst);
  int32_t have = (int32_t)ir_lanes_of(inst->args[0]->type);
  for (uint32_t c = 0; parts && c < ir_lanes_of(inst->type); c++) {
    int32_t from = inst->u.mask[c] < 0 ? (int32_t)c % have : inst->u.mask[c];
    parts[c] = lanes_vector(l, inst->args[from < have ? 0 : 1], (unsigned)(from < have ? from : from - have));
  }
}

static bool constant_lane(const ir_inst *index, uint32_t lanes_of, uint32_t *out) {
  if (index->op != IR_CONST || index->imm >= lanes_of) return false;
  *out = (uint32_t)index->imm;
  return true;
}

static LLVMValueRef is_component(lanes *l, ir_inst *index, uint32_t component) {
  LLVMValueRef at = lanes_vector(l, index, 0);
  return LLVMBuildICmp(B, LLVMIntEQ, at, int_splat(LLVMTypeOf(at), component), "");
}

static void make_extract(lanes *l, ir_inst *inst) {
  uint32_t count = ir_lanes_of(inst->args[0]->type), at;
  if (constant_lane(inst->args[1], count, &at)) {
    set_one(l, inst, lanes_vector(l, inst->args[0], at));
    return;
  }
  LLVMValueRef value = lanes_vector(l, inst->args[0], 0);
  for (uint32_t c = 1; c < count; c++)
    value = LLVMBuildSelect(B, is_component(l, inst->args[1], c), lanes_vector(l, inst->args[0], c), value, "");
  set_one(l, inst, value);
}

static void make_insert(lanes *l, ir_inst *inst) {
  LLVMValueRef *parts = new_parts(l, inst), element = lanes_vector(l, inst->args[1], 0);
  uint32_t count = ir_lanes_of(inst->type), at;
  bool known = constant_lane(inst->args[2], count, &at);
  for (uint32_t c = 0; parts && c < count; c++) {
    parts[c] = lanes_vector(l, inst->args[0], c);
    if (known && c == at) parts[c] = element;
    if (!known) parts[c] = LLVMBuildSelect(B, is_component(l, inst->args[2], c), element, parts[c], "");
  }
}

static void make_select(lanes *l, ir_inst *inst) {
  LLVMValueRef *parts = new_parts(l, inst);
  ir_inst *condition = inst->args[0];
  bool one = condition->type->kind != IR_VECTOR;
  bool branch = one && lanes_shape_of(l, condition).kind == SHAPE_UNIFORM;
  for (uint32_t c = 0; parts && c < ir_lanes_of(inst->type); c++) {
    LLVMValueRef when = branch ? lanes_uniform(l, condition) : lanes_vector(l, condition, one ? 0 : c);
    parts[c] = LLVMBuildSelect(B, when, lanes_vector(l, inst->args[1], c), lanes_vector(l, inst->args[2], c), "");
  }
}

/* ---- Bit casts: components of another width are put together or taken apart
 * ------------------------------------------------ */

static LLVMValueRef as_ints(lanes *l, LLVMValueRef x) { return LLVMBuildBitCast(B, x, int_like(LLVMTypeOf(x)), ""); }

static LLVMValueRef joined(lanes *l, ir_inst *from, unsigned first, unsigned count, unsigned bits) {
  LLVMTypeRef type = int_with_bits(l->e, lanes_type(l, from->type), count * bits);
  LLVMValueRef value = LLVMConstNull(type);
  for (unsigned i = 0; i < count; i++) {
    LLVMValueRef part = LLVMBuildZExt(B, as_ints(l, lanes_vector(l, from, first + i)), type, "");
    value = LLVMBuildOr(B, value, LLVMBuildShl(B, part, int_splat(type, (uint64_t)i * bits), ""), "");
  }
  return value;
}

static void make_bitcast(lanes *l, ir_inst *inst) {
  LLVMValueRef *parts = new_parts(l, inst);
  ir_inst *from = inst->args[0];
  LLVMTypeRef type = lanes_type(l, inst->type);
  unsigned bits = elem_bits(type), had = elem_bits(lanes_type(l, from->type));
  for (unsigned c = 0; parts && c < ir_lanes_of(inst->type); c++) {
    LLVMValueRef value;
    if (bits == had) {
      value = lanes_vector(l, from, c);
    } else if (bits > had) {
      value = joined(l, from, c * (bits / had), bits / had, had);
    } else {
      unsigned ratio = had / bits;
      LLVMValueRef whole = as_ints(l, lanes_vector(l, from, c / ratio));
      LLVMValueRef low = LLVMBuildLShr(B, whole, int_splat(LLVMTypeOf(whole), (uint64_t)(c % ratio) * bits), "");
      value = LLVMBuildTrunc(B, low, int_with_bits(l->e, LLVMTypeOf(low), bits), "");
    }
    parts[c] = LLVMBuildBitCast(B, value, type, "");
  }
}

/* ---- Pointers and numbers
 * -------------------------------------------------------------------------------------------------- */

static void make_difference(lanes *l, ir_inst *inst) {
  LLVMTypeRef type = LLVMVectorType(l->e->i64, l->width);
  LLVMValueRef x = LLVMBuildPtrToInt(B, lanes_pointers(l, inst->args[0]), type, "");
  LLVMValueRef y = LLVMBuildPtrToInt(B, lanes_pointers(l, inst->args[1]), type, "");
  LLVMValueRef bytes = LLVMBuildSub(B, x, y, "");
  uint64_t size = inst->args[0]->type->elem->size;
  if (size > 1) bytes = LLVMBuildSDiv(B, bytes, int_splat(type, size), "");
  set_one(l, inst, LLVMBuildIntCast2(B, bytes, lanes_type(l, inst->type), 1, ""));
}

static LLVMValueRef pointer_operand(lanes *l, ir_inst *value) {
  return value->type->kind == IR_POINTER ? lanes_pointers(l, value) : lanes_vector(l, value, 0);
}

static void make_compare(lanes *l, ir_inst *inst) {
  if (inst->args[0]->type->kind != IR_POINTER) {
    component_wise(l, inst);
    return;
  }
  LLVMValueRef args[2] = {pointer_operand(l, inst->args[0]), pointer_operand(l, inst->args[1])};
  set_one(l, inst, emit_op(l->e, inst->op, 0, lanes_type(l, inst->type), args));
}

static void varying(lanes *l, ir_inst *inst) {
  switch (inst->op) {
    case IR_VEC:
    case IR_SPLAT:
      make_vec(l, inst);
      return;
    case IR_SHUFFLE:
      make_shuffle(l, inst);
      return;
    case IR_EXTRACT:
      make_extract(l, inst);
      return;
    case IR_INSERT:
      make_insert(l, inst);
      return;
    case IR_SELECT:
      make_select(l, inst);
      return;
    case IR_BITCAST:
      make_bitcast(l, inst);
      return;
    case IR_PDIFF:
      make_difference(l, inst);
      return;
    case IR_PTOI:
      set_one(l, inst, LLVMBuildPtrToInt(B, lanes_pointers(l, inst->args[0]), lanes_type(l, inst->type), ""));
      return;
    case IR_ITOP:
      set_one(l, inst, LLVMBuildIntToPtr(B, lanes_vector(l, inst->args[0], 0), lanes_type(l, inst->type), ""));
      return;
    default:
      break;
  }
  if (is_address(inst->op))
    set_one(l, inst, vector_address(l, inst));
  else if (ir_op_table[inst->op].cls == IR_CLASS_CMP)
    make_compare(l, inst);
  else
    component_wise(l, inst);
}

/* ---- Uniform results
 * -------------------------------------------------------------------------------------------------------- */

/* Uniform operands but for differences of strided ones, which are those of lane 0. */
static void uniform(lanes *l, ir_inst *inst) {
  LLVMValueRef args[4] = {NULL, NULL, NULL, NULL};
  if (is_address(inst->op)) {
    set_one(l, inst, scalar_address(l, inst));
    return;
  }
  for (uint32_t i = 0; i < inst->arg_count && i < 4; i++) args[i] = lanes_base(l, inst->args[i], false);
  set_one(l, inst, emit_plain(l->e, inst, args));
}

static void query(lanes *l, ir_inst *inst) { set_one(l, inst, emit_query(l->e, inst)); }

static void uniform_vec(lanes *l, ir_inst *inst) {
  LLVMValueRef value = LLVMGetPoison(emit_type(l->e, inst->type));
  for (uint32_t i = 0; i < inst->arg_count; i++)
    value = LLVMBuildInsertElement(B, value, lanes_uniform(l, inst->args[i]), LLVMConstInt(l->e->i32, i, 0), "");
  set_one(l, inst, value);
}

void lanes_inst(lanes *l, ir_inst *inst) {
  shape s = lanes_info(l, inst)->shape;
  switch (inst->op) {
    case IR_LOAD:
    case IR_VLOAD:
      lanes_load(l, inst);
      return;
    case IR_STORE:
    case IR_VSTORE:
      lanes_store(l, inst);
      return;
    case IR_COPY:
      lanes_copy(l, inst);
      return;
    case IR_ATOMIC:
      lanes_atomic(l, inst);
      return;
    case IR_CALL:
      lanes_call(l, inst);
      return;
    case IR_FRESH:
      return; /* what it says is in the variable's home */
    case IR_FENCE:
    case IR_BARRIER:
      (void)emit_plain(l->e, inst, NULL);
      return;
    default:
      break;
  }
  if (inst->op >= IR_GLOBAL_ID && inst->op <= IR_WORK_DIM)
    query(l, inst);
  else if (s.kind == SHAPE_UNIFORM && inst->op == IR_VEC)
    uniform_vec(l, inst);
  else if (s.kind == SHAPE_UNIFORM)
    uniform(l, inst);
  else if (s.kind == SHAPE_STRIDED)
    strided(l, inst);
  else
    varying(l, inst);
}
