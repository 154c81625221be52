/* lanes_shape.c - what shape an operation's result has, from those of its operands. */
#include "lanes.h"

#include "lanes_call.h"

shape shape_uniform(void) { return (shape){.kind = SHAPE_UNIFORM}; }
shape shape_varying(void) { return (shape){.kind = SHAPE_VARYING}; }

shape shape_strided(int64_t stride) {
  return stride ? (shape){.kind = SHAPE_STRIDED, .stride = stride} : shape_uniform();
}

/* Bounds that differ are given up: in a loop they would rise step by step. */
shape shape_join(shape x, shape y) {
  if (!x.kind) return y;
  if (!y.kind) return x;
  if (x.kind != y.kind || x.stride != y.stride) return shape_varying();
  if (x.bounded != y.bounded || x.scale != y.scale || x.add != y.add) x.bounded = false, x.scale = 0, x.add = 0;
  x.sx = x.sx && y.sx;
  x.zx = x.zx && y.zx;
  return x;
}

static bool is_narrow_int(const ir_type *type) { return type->kind == IR_INT && type->bits < 64; }

bool shape_is_wide(const ir_type *type, shape s) {
  return s.kind == SHAPE_STRIDED && is_narrow_int(type) && (s.sx || s.zx);
}

bool shape_same(shape x, shape y) {
  return x.kind == y.kind && x.stride == y.stride && x.sx == y.sx && x.zx == y.zx && x.bounded == y.bounded &&
         x.scale == y.scale && x.add == y.add;
}

/* Strides that are no longer small numbers are not worth a thought, and must not overflow. */
static shape near(shape s) {
  bool far = s.stride > (1 << 30) || s.stride < -(1 << 30);
  return s.kind == SHAPE_STRIDED && far ? shape_varying() : s;
}

static uint64_t width_mask(const ir_type *type) { return type->bits >= 64 ? ~0ull : (1ull << type->bits) - 1; }

/* ---- Bounds by the ids ---- */

/* Groups whose ids are so large are rare: what must be smaller is not assumed. */
static const uint64_t least_id_limit = 1 << 20;
enum { MOST_SCALE = 1 << 10, MOST_ADD = 1 << 28 };

/* Makes scale * L + add at most `most`, by a small enough L. */
static bool demand(lanes *l, shape s, uint64_t most) {
  if (!s.bounded || s.add > most) return false;
  uint64_t limit = s.scale ? (most - s.add) / s.scale : UINT64_MAX;
  if (limit < least_id_limit) return false;
  if (limit < l->id_limit) l->id_limit = limit;
  return true;
}

/* Functions don't know what their callers' groups are. */
static shape id_shape(const lanes *l) {
  shape s = shape_strided(1);
  s.bounded = l->params == NULL;
  s.scale = 1;
  return s;
}

static bool small_const(const ir_inst *value, uint64_t *out) {
  if (value->op != IR_CONST) return false;
  *out = value->imm;
  return *out <= MOST_ADD;
}

static shape bound_of(lanes *l, const ir_inst *value) {
  shape s = lanes_shape_of(l, value);
  uint64_t c;
  if (small_const(value, &c)) return (shape){.bounded = true, .add = c};
  return s.kind == SHAPE_STRIDED ? s : (shape){.bounded = false};
}

static void set_bound(shape *s, bool bounded, uint64_t scale, uint64_t add) {
  s->bounded = bounded && scale <= MOST_SCALE && add <= MOST_ADD;
  s->scale = s->bounded ? (uint32_t)scale : 0;
  s->add = s->bounded ? add : 0;
}

/* ---- Sums and products ---- */

/* Exact when the source says that it doesn't wrap, or when the bounds do. */
static shape exact_flags(lanes *l, const ir_inst *inst, shape s, bool signed_parts) {
  if (s.kind != SHAPE_STRIDED || !is_narrow_int(inst->type)) return s;
  s.sx = signed_parts && (inst->flags & IR_NSW);
  s.zx = !s.sx && demand(l, s, width_mask(inst->type));
  return s;
}

/* Whether the signed reading is kept as a 64-bit number; a uniform operand is extended. */
static bool reads_signed(shape s) { return s.kind == SHAPE_UNIFORM || s.sx; }

static shape sum_shape(lanes *l, const ir_inst *inst) {
  shape x = lanes_shape_of(l, inst->args[0]), y = lanes_shape_of(l, inst->args[1]);
  shape a = bound_of(l, inst->args[0]), b = bound_of(l, inst->args[1]);
  shape s = near(shape_strided(inst->op == IR_ADD ? x.stride + y.stride : x.stride - y.stride));
  if (s.kind == SHAPE_STRIDED)
    set_bound(&s, inst->op == IR_ADD && a.bounded && b.bounded, (uint64_t)a.scale + b.scale, a.add + b.add);
  return exact_flags(l, inst, s, reads_signed(x) && reads_signed(y));
}

static shape scaled_shape(lanes *l, const ir_inst *inst, shape s, uint64_t factor) {
  shape scaled = near(shape_strided(s.stride * (int64_t)factor));
  if (scaled.kind == SHAPE_STRIDED) set_bound(&scaled, s.bounded, s.scale * factor, s.add * factor);
  return exact_flags(l, inst, scaled, inst->op == IR_MUL && s.sx);
}

static shape product_shape(lanes *l, const ir_inst *inst) {
  shape x = lanes_shape_of(l, inst->args[0]), y = lanes_shape_of(l, inst->args[1]);
  bool first = x.kind == SHAPE_STRIDED;
  uint64_t c;
  if (x.kind == y.kind || !small_const(inst->args[first ? 1 : 0], &c) || c == 0 || c > 1 << 20) return shape_varying();
  return scaled_shape(l, inst, first ? x : y, c);
}

static shape shift_shape(lanes *l, const ir_inst *inst) {
  shape s = lanes_shape_of(l, inst->args[0]);
  uint64_t c;
  if (s.kind != SHAPE_STRIDED || !small_const(inst->args[1], &c) || c > 20) return shape_varying();
  return scaled_shape(l, inst, s, 1ull << c);
}

/* ---- Conversions ---- */

/* Where nothing was written yet the full copy may look whether a lane wraps, and give up. */
static bool may_assume(lanes *l, const ir_inst *inst) {
  bool assume = l->full && !l->effects;
  if (assume) lanes_info(l, inst)->assumed = true;
  return assume;
}

static shape extend_shape(lanes *l, const ir_inst *inst) {
  shape s = lanes_shape_of(l, inst->args[0]);
  bool exact = inst->op == IR_SEXT ? s.sx : s.zx;
  lanes_info(l, inst)->assumed = false;
  if (s.kind != SHAPE_STRIDED || (!exact && !may_assume(l, inst))) return shape_varying();
  shape wide = s;
  bool narrow = is_narrow_int(inst->type);
  wide.sx = narrow;
  wide.zx = narrow && inst->op == IR_ZEXT;
  if (inst->op == IR_SEXT && !s.zx) set_bound(&wide, false, 0, 0);
  return wide;
}

/* A strided value that is kept within a limit, as clamp does at a picture's border, is seldom outside: the full copy
 * gives up where a lane is. The lower limit is a constant then, and the upper one is not. */
static shape limited_shape(lanes *l, const ir_inst *inst) {
  bool first = lanes_shape_of(l, inst->args[0]).kind == SHAPE_STRIDED;
  shape s = lanes_shape_of(l, inst->args[first ? 0 : 1]), limit = lanes_shape_of(l, inst->args[first ? 1 : 0]);
  bool usual = ir_is_const(inst->args[first ? 1 : 0]) == (inst->op == IR_SMAX);
  bool exact = s.sx || (inst->type->bits == 64 && s.bounded);
  lanes_info(l, inst)->assumed = false;
  if (s.kind != SHAPE_STRIDED || limit.kind != SHAPE_UNIFORM || !usual || !exact || !may_assume(l, inst))
    return shape_varying();
  return s;
}

static shape cut_shape(lanes *l, const ir_inst *inst) {
  shape s = lanes_shape_of(l, inst->args[0]);
  if (s.kind != SHAPE_STRIDED) return s;
  shape cut = s;
  cut.sx = cut.zx = demand(l, s, width_mask(inst->type) >> 1);
  if (!cut.sx) set_bound(&cut, false, 0, 0);
  return cut;
}

/* The distance that an index moves a pointer; indices are signed. */
static shape moved_shape(lanes *l, const ir_inst *inst, uint64_t size) {
  shape p = lanes_shape_of(l, inst->args[0]), i = lanes_shape_of(l, inst->args[1]);
  bool counts = i.kind == SHAPE_UNIFORM || inst->args[1]->type->bits == 64 || i.sx;
  if (p.kind == SHAPE_VARYING || i.kind == SHAPE_VARYING || !counts || size > 1 << 20) return shape_varying();
  if (p.kind == SHAPE_UNIFORM && i.kind == SHAPE_UNIFORM) return shape_uniform();
  return near(shape_strided(p.stride + i.stride * (int64_t)size));
}

static shape select_shape(lanes *l, const ir_inst *inst) {
  shape c = lanes_shape_of(l, inst->args[0]);
  shape x = lanes_shape_of(l, inst->args[1]), y = lanes_shape_of(l, inst->args[2]);
  if (c.kind != SHAPE_UNIFORM || x.kind == SHAPE_VARYING) return shape_varying();
  return shape_join(x, y);
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
      return inst->imm == 0 ? id_shape(l) : shape_uniform();
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
    case IR_SMIN:
    case IR_SMAX:
      return inst->type->kind == IR_INT ? limited_shape(l, inst) : shape_varying();
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
