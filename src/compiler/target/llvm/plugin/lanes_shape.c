/* lanes_shape.c - what shape an operation's result has, from those of its operands. */
#include "lanes.h"

#include "lanes_call.h"

shape shape_uniform(void) { return (shape){.kind = SHAPE_UNIFORM}; }
shape shape_varying(void) { return (shape){.kind = SHAPE_VARYING}; }

shape shape_strided(int64_t stride) {
  return stride ? (shape){.kind = SHAPE_STRIDED, .stride = stride} : shape_uniform();
}

static bool is_narrow_int(const ir_type *type) { return type->kind == IR_INT && type->bits < 64; }

bool shape_is_wide(const ir_type *type, shape s) {
  return s.kind == SHAPE_STRIDED && is_narrow_int(type) && (s.sx || s.zx);
}

/* Ids in one group's row are below 2^31, or the lanes run one at a time (lanes.c). */
static const uint64_t small_id = (1ull << 31) - 1;

static shape id_shape(void) {
  shape s = shape_strided(1);
  s.max = small_id;
  return s;
}

/* Strides that are no longer small numbers are not worth a thought, and must not overflow. */
static shape bounded(shape s) {
  bool far = s.stride > (1 << 30) || s.stride < -(1 << 30);
  return s.kind == SHAPE_STRIDED && far ? shape_varying() : s;
}

static uint64_t width_mask(const ir_type *type) { return type->bits >= 64 ? ~0ull : (1ull << type->bits) - 1; }

/* The flags of a sum or product: exact when the source says that it doesn't wrap, or when the bounds say so. */
static shape exact_flags(const ir_inst *inst, shape s, bool sx, uint64_t max) {
  const ir_type *type = inst->type;
  if (s.kind != SHAPE_STRIDED) return s;
  s.max = max;
  if (!is_narrow_int(type)) return s;
  s.zx = max != 0 && max <= width_mask(type);
  s.sx = (sx && (inst->flags & IR_NSW)) || (max != 0 && max <= width_mask(type) >> 1);
  if (!s.zx) s.max = 0;
  return s;
}

static bool is_small_const(const ir_inst *value, uint64_t *out) {
  if (value->op != IR_CONST) return false;
  *out = value->imm;
  return *out <= small_id;
}

static uint64_t upper_bound(const ir_inst *value, shape s) {
  uint64_t c;
  if (is_small_const(value, &c)) return c;
  return s.kind == SHAPE_STRIDED ? s.max : 0;
}

/* Whether the signed reading is kept as a 64-bit number; a uniform operand is extended. */
static bool reads_signed(shape s) { return s.kind == SHAPE_UNIFORM || s.sx; }

static shape sum_shape(lanes *l, const ir_inst *inst) {
  shape x = lanes_shape_of(l, inst->args[0]), y = lanes_shape_of(l, inst->args[1]);
  shape s = shape_strided(inst->op == IR_ADD ? x.stride + y.stride : x.stride - y.stride);
  uint64_t bound_x = upper_bound(inst->args[0], x), bound_y = upper_bound(inst->args[1], y);
  bool bounded_sum = inst->op == IR_ADD && bound_x && bound_y;
  return exact_flags(inst, bounded(s), reads_signed(x) && reads_signed(y), bounded_sum ? bound_x + bound_y : 0);
}

static shape product_shape(lanes *l, const ir_inst *inst) {
  shape x = lanes_shape_of(l, inst->args[0]), y = lanes_shape_of(l, inst->args[1]);
  const ir_inst *factor = x.kind == SHAPE_STRIDED ? inst->args[1] : inst->args[0];
  shape s = x.kind == SHAPE_STRIDED ? x : y;
  uint64_t c;
  if (x.kind == y.kind || !is_small_const(factor, &c) || c == 0 || c > 1 << 20) return shape_varying();
  uint64_t max = s.max;
  bool sx = s.sx;
  s = bounded(shape_strided(s.stride * (int64_t)c));
  return exact_flags(inst, s, sx, max * c);
}

static shape shift_shape(lanes *l, const ir_inst *inst) {
  shape s = lanes_shape_of(l, inst->args[0]);
  uint64_t c;
  if (s.kind != SHAPE_STRIDED || !is_small_const(inst->args[1], &c) || c > 20) return shape_varying();
  uint64_t max = s.max << c;
  s = bounded(shape_strided((int64_t)((uint64_t)s.stride << c)));
  return exact_flags(inst, s, false, max);
}

static shape extend_shape(lanes *l, const ir_inst *inst) {
  shape s = lanes_shape_of(l, inst->args[0]);
  bool exact = inst->op == IR_SEXT ? s.sx : s.zx;
  if (s.kind != SHAPE_STRIDED || !exact) return shape_varying();
  shape wide = shape_strided(s.stride);
  wide.max = s.zx ? s.max : 0;
  if (is_narrow_int(inst->type)) wide.sx = true, wide.zx = s.zx;
  return wide;
}

static shape cut_shape(lanes *l, const ir_inst *inst) {
  shape s = lanes_shape_of(l, inst->args[0]);
  if (s.kind != SHAPE_STRIDED) return s;
  shape cut = shape_strided(s.stride);
  if (!s.max || s.max > width_mask(inst->type) >> 1) return cut;
  cut.sx = cut.zx = true;
  cut.max = s.max;
  l->needs_small_ids = true;
  return cut;
}

/* The distance that an index moves a pointer; indices are signed. */
static shape moved_shape(lanes *l, const ir_inst *inst, uint64_t size) {
  shape p = lanes_shape_of(l, inst->args[0]), i = lanes_shape_of(l, inst->args[1]);
  bool counts = i.kind == SHAPE_UNIFORM || inst->args[1]->type->bits == 64 || i.sx;
  if (p.kind == SHAPE_VARYING || i.kind == SHAPE_VARYING || !counts || size > 1 << 20) return shape_varying();
  if (p.kind == SHAPE_UNIFORM && i.kind == SHAPE_UNIFORM) return shape_uniform();
  return bounded(shape_strided(p.stride + i.stride * (int64_t)size));
}

static bool same_stride(shape x, shape y) { return x.kind == y.kind && x.stride == y.stride; }

static shape select_shape(lanes *l, const ir_inst *inst) {
  shape c = lanes_shape_of(l, inst->args[0]);
  shape x = lanes_shape_of(l, inst->args[1]), y = lanes_shape_of(l, inst->args[2]);
  if (c.kind != SHAPE_UNIFORM || !same_stride(x, y) || x.kind == SHAPE_VARYING) return shape_varying();
  x.sx = x.sx && y.sx;
  x.zx = x.zx && y.zx;
  x.max = x.max && y.max ? (x.max > y.max ? x.max : y.max) : 0;
  return x;
}

static shape load_shape(lanes *l, const ir_inst *inst) {
  lane_var *root = lanes_root(l, inst->args[0]);
  if (root && root->layout == LAYOUT_REGISTER) return root->shape.kind ? root->shape : shape_uniform();
  if (root) return shape_varying();
  shape p = lanes_shape_of(l, inst->args[0]);
  return p.kind == SHAPE_UNIFORM && !(inst->flags & IR_VOLATILE) ? shape_uniform() : shape_varying();
}

static bool all_uniform(lanes *l, const ir_inst *inst) {
  for (uint32_t i = 0; i < inst->arg_count; i++)
    if (lanes_shape_of(l, inst->args[i]).kind != SHAPE_UNIFORM) return false;
  return true;
}

shape lanes_transfer(lanes *l, const ir_inst *inst) {
  const ir_type *pointee = inst->arg_count ? inst->args[0]->type->elem : NULL;
  switch (inst->op) {
    case IR_GLOBAL_ID:
    case IR_LOCAL_ID:
      return inst->imm == 0 ? id_shape() : shape_uniform();
    case IR_LOAD:
    case IR_VLOAD:
      return load_shape(l, inst);
    case IR_ATOMIC:
      return shape_varying();
    case IR_CALL:
      return all_uniform(l, inst) && lanes_is_common(inst->u.callee) ? shape_uniform() : shape_varying();
    default:
      break;
  }
  if (all_uniform(l, inst)) return shape_uniform();
  switch (inst->op) {
    case IR_ADD:
    case IR_SUB:
    case IR_MUL:
    case IR_SHL:
      if (inst->type->kind != IR_INT) return shape_varying();
      for (uint32_t i = 0; i < 2; i++)
        if (lanes_shape_of(l, inst->args[i]).kind == SHAPE_VARYING) return shape_varying();
      if (inst->op == IR_MUL) return product_shape(l, inst);
      return inst->op == IR_SHL ? shift_shape(l, inst) : sum_shape(l, inst);
    case IR_TRUNC:
      return inst->type->kind == IR_INT ? cut_shape(l, inst) : shape_varying();
    case IR_SEXT:
    case IR_ZEXT:
      return inst->type->kind == IR_INT ? extend_shape(l, inst) : shape_varying();
    case IR_ELEM:
      return moved_shape(l, inst, pointee->kind == IR_VOID ? 1 : pointee->size);
    case IR_INDEX:
      return moved_shape(l, inst, pointee->elem->size);
    case IR_FIELD:
    case IR_PCAST:
      return lanes_shape_of(l, inst->args[0]);
    case IR_SELECT:
      return select_shape(l, inst);
    default:
      return shape_varying();
  }
}
