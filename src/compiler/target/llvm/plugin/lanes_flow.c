/* lanes_flow.c - how private variables are kept, where lanes part and meet, and with both, every value's shape. */
#include "lanes.h"

lane_info *lanes_info(lanes *l, const ir_inst *inst) {
  uint32_t at = inst->id - l->first;
  return at < l->count ? &l->infos[at] : &l->outside;
}

lane_var *lanes_var(const ir_inst *address) {
  if (address->op != IR_ADDRESS || address->u.var->space != IR_PRIVATE) return NULL;
  return address->u.var->storage == IR_STORE_GROUP ? NULL : address->u.var->aux;
}

static bool is_leaf(const ir_inst *value) { return ir_op_table[value->op].cls == IR_CLASS_LEAF; }

lane_var *lanes_root(lanes *l, const ir_inst *pointer) {
  lane_var *var = lanes_var(pointer);
  if (var) return var->layout == LAYOUT_WHOLE ? NULL : var;
  if (is_leaf(pointer) || !lanes_info(l, pointer)->known) return NULL;
  lane_var *root = lanes_info(l, pointer)->root;
  return root && root->layout != LAYOUT_WHOLE ? root : NULL;
}

shape lanes_shape_of(lanes *l, const ir_inst *value) {
  lane_var *var = lanes_var(value);
  if (var) return var->layout == LAYOUT_WHOLE ? shape_strided((int64_t)var->ir->type->size) : shape_uniform();
  if (value->op == IR_PARAM && l->params) return l->params[value->imm];
  if (is_leaf(value) || !lanes_info(l, value)->known) return shape_uniform(); /* of the group */
  shape s = lanes_info(l, value)->shape;
  return s.kind ? s : shape_uniform();
}

/* ---- Types ----------------------------------------------------------------------------------------------------- */

enum { MANY_LEAVES = 1000, MOST_COPIED_LEAVES = 64 };

uint64_t type_leaf_count(const ir_type *type) {
  uint64_t count = 0;
  switch (type->kind) {
    case IR_VECTOR:
      return type->count;
    case IR_ARRAY:
      count = type->length ? type_leaf_count(type->elem) : 0;
      return count && type->length > MANY_LEAVES / count ? MANY_LEAVES : count * type->length;
    case IR_STRUCT:
      if (type->is_union) return MANY_LEAVES;
      for (uint32_t i = 0; i < type->field_count && count < MANY_LEAVES; i++)
        count += type_leaf_count(type->fields[i].type);
      return count < MANY_LEAVES ? count : MANY_LEAVES;
    default:
      return 1;
  }
}

uint64_t type_leaves(const ir_type *type, uint64_t offset, type_leaf *out) {
  uint64_t count = 0, length = type->kind == IR_ARRAY ? type->length : type->count;
  switch (type->kind) {
    case IR_VECTOR:
    case IR_ARRAY:
      for (uint64_t i = 0; i < length; i++)
        count += type_leaves(type->elem, offset + i * type->elem->size, out + count);
      return count;
    case IR_STRUCT:
      for (uint32_t i = 0; i < type->field_count; i++)
        count += type_leaves(type->fields[i].type, offset + type->fields[i].offset, out + count);
      return count;
    default:
      out[0] = (type_leaf){type, offset};
      return 1;
  }
}

static bool has_union(const ir_type *type) {
  if (type->kind == IR_ARRAY) return has_union(type->elem);
  if (type->kind != IR_STRUCT) return false;
  if (type->is_union) return true;
  for (uint32_t i = 0; i < type->field_count; i++)
    if (has_union(type->fields[i].type)) return true;
  return false;
}

/* ---- Layouts and homes --------------------------------------------------------------------------------------------
 */

static const ir_block *outer_block(lanes *l, const ir_block *block) {
  return block == l->root || !block->owner ? NULL : block->owner->parent;
}

static unsigned depth_of(lanes *l, const ir_block *block) {
  unsigned depth = 0;
  for (; block; block = outer_block(l, block)) depth++;
  return depth;
}

static const ir_block *common_block(lanes *l, const ir_block *x, const ir_block *y) {
  unsigned dx = depth_of(l, x), dy = depth_of(l, y);
  for (; dx > dy; dx--) x = outer_block(l, x);
  for (; dy > dx; dy--) y = outer_block(l, y);
  while (x != y) {
    x = outer_block(l, x);
    y = outer_block(l, y);
  }
  return x;
}

static bool is_whole_access(const ir_inst *inst, uint32_t operand) {
  return operand == 0 && (inst->op == IR_LOAD || inst->op == IR_STORE || inst->op == IR_FRESH);
}

static bool is_leaf_access(const ir_inst *inst, uint32_t operand) {
  if (inst->op == IR_VLOAD || inst->op == IR_VSTORE || inst->op == IR_INDEX || inst->op == IR_ELEM ||
      inst->op == IR_FIELD)
    return operand == 0;
  return inst->op == IR_COPY && type_leaf_count(inst->args[operand]->type->elem) <= MOST_COPIED_LEAVES;
}

/* A volatile or narrower access needs memory as the source sees it. */
static bool needs_whole(const ir_var *var, const ir_inst *inst, uint32_t operand) {
  if (inst->op == IR_FRESH) return false;
  bool leaf = is_leaf_access(inst, operand) || is_whole_access(inst, operand);
  return (inst->flags & IR_VOLATILE) || !leaf || has_union(var->type);
}

static bool mark_whole(void *user, ir_inst *inst) {
  (void)user;
  for (uint32_t i = 0; i < inst->arg_count; i++) {
    const ir_inst *p = inst->args[i];
    while (p->op == IR_INDEX || p->op == IR_ELEM || p->op == IR_FIELD) p = p->args[0];
    if (p->op != IR_ADDRESS || p->u.var->storage != IR_STORE_CONTEXT) continue;
    p->u.var->is_whole = p->u.var->is_whole || needs_whole(p->u.var, inst, i);
  }
  return true;
}

void lanes_mark_whole(ir_function *f) { (void)ir_walk(f->body, mark_whole, NULL); }

static void note_use(lane_var *var, const ir_inst *inst, uint32_t operand, bool direct) {
  bool whole = is_whole_access(inst, operand) && direct;
  if (inst->op == IR_FRESH) return;
  if (needs_whole(var->ir, inst, operand))
    var->layout = LAYOUT_WHOLE;
  else if (!whole && var->layout == LAYOUT_REGISTER)
    var->layout = LAYOUT_LEAF;
}

static lane_var *get_var(lanes *l, ir_var *ir) {
  lane_var *v = ir->aux;
  if (v && v->serial == l->serial) return v;
  v = QN_ARENA_NEW(&l->e->arena, lane_var);
  if (!v) {
    emit_fail(l->e, QN_ERROR_OUT_OF_HOST_MEMORY, "out of memory for a variable");
    return NULL;
  }
  bool scalar = ir->type->kind != IR_ARRAY && ir->type->kind != IR_STRUCT;
  v->ir = ir;
  v->serial = l->serial;
  v->layout = ir->is_whole ? LAYOUT_WHOLE : scalar ? LAYOUT_REGISTER : LAYOUT_LEAF;
  if (ir->storage == IR_STORE_CONTEXT) v->shape = shape_varying();
  v->next = l->vars;
  l->vars = v;
  ir->aux = v;
  return v;
}

static bool classify_inst(void *user, ir_inst *inst) {
  lanes *l = user;
  lane_info *info = lanes_info(l, inst);
  *info = (lane_info){.known = true};
  for (uint32_t i = 0; i < inst->arg_count; i++) {
    const ir_inst *arg = inst->args[i];
    bool is_var = arg->op == IR_ADDRESS && arg->u.var->space == IR_PRIVATE && arg->u.var->storage != IR_STORE_GROUP;
    lane_var *var = is_var ? get_var(l, arg->u.var) : NULL;
    if (is_var && !var) return false;
    if (!is_leaf(arg)) lanes_info(l, arg)->used = true;
    if (!var && !is_leaf(arg) && lanes_info(l, arg)->known) var = lanes_info(l, arg)->root;
    if (!var) continue;
    if (!var->first) var->first = inst;
    var->home = var->home ? common_block(l, var->home, inst->parent) : inst->parent;
    note_use(var, inst, i, is_var);
    bool chains = inst->op == IR_INDEX || inst->op == IR_ELEM || inst->op == IR_FIELD;
    if (chains && i == 0) info->root = var;
  }
  return true;
}

/* In a loop, a variable begins anew with each run of its home only when the home begins it or writes it first. */
static void settle_home(lanes *l, lane_var *var) {
  const ir_inst *first = var->first;
  bool writes = first->op == IR_STORE && lanes_var(first->args[0]) == var && var->layout == LAYOUT_REGISTER;
  bool begins = first->parent == var->home && (writes || first->op == IR_FRESH);
  if (var->ir->storage == IR_STORE_CONTEXT) var->home = l->root;
  for (const ir_block *b = begins ? NULL : var->home; b; b = outer_block(l, b))
    if (b != l->root && b->owner && b->owner->op == IR_LOOP) var->home = b->owner->parent;
}

bool lanes_classify(lanes *l) {
  (void)ir_walk((ir_block *)l->root, classify_inst, l);
  for (lane_var *v = l->vars; v; v = v->next) settle_home(l, v);
  return l->e->status >= 0;
}

/* ---- Where lanes part
 * ------------------------------------------------------------------------------------------------ */

static bool parts_lanes(lanes *l, const ir_inst *construct, const ir_block *inside) {
  const lane_info *info = lanes_info(l, construct);
  if (construct->op == IR_LOOP && info->continues && inside == construct->u.ctrl.blocks[0]) return true;
  return info->divergent;
}

bool lanes_needs_blend(lanes *l, const ir_block *block, const ir_block *home) {
  for (; block != home && block && block != l->root; block = block->owner->parent)
    if (parts_lanes(l, block->owner, block)) return true;
  return false;
}

static void set_flag(lanes *l, bool *flag) {
  if (!*flag) l->changed = true;
  *flag = true;
}

static bool is_target(const ir_inst *leave, const ir_inst *construct) {
  if (leave->op == IR_RETURN) return false;
  return construct->op == IR_LOOP || (leave->op == IR_BREAK && construct->op == IR_SWITCH);
}

/* The block of the target in which the leave is; the whole code for a return. */
static const ir_block *target_block(lanes *l, const ir_inst *leave, bool *apart) {
  const ir_block *b = leave->parent;
  *apart = false;
  for (; b != l->root && !is_target(leave, b->owner); b = b->owner->parent) *apart |= parts_lanes(l, b->owner, b);
  return b;
}

bool lanes_leaves_apart(lanes *l, const ir_inst *leave) {
  bool apart;
  const ir_block *b = target_block(l, leave, &apart);
  if (leave->op == IR_RETURN) return apart;
  const lane_info *target = lanes_info(l, b->owner);
  return target->divergent || (leave->op == IR_CONTINUE && target->continues);
}

/* Lanes that leave apart make the target one that lanes leave apart, and so the loops and switches on the way. */
static void note_leave(lanes *l, const ir_inst *leave) {
  bool apart;
  const ir_block *to = target_block(l, leave, &apart);
  /* Those that went on to the next iteration before don't break. */
  if (leave->op == IR_BREAK) apart |= parts_lanes(l, to->owner, to);
  if (!apart) return;
  for (const ir_block *b = leave->parent; b != to; b = b->owner->parent)
    if (b->owner->op != IR_IF) set_flag(l, &lanes_info(l, b->owner)->divergent);
  if (leave->op == IR_RETURN) return;
  lane_info *target = lanes_info(l, to->owner);
  set_flag(l, leave->op == IR_CONTINUE ? &target->continues : &target->divergent);
}

/* ---- Shapes by iteration
 * ----------------------------------------------------------------------------------------------- */

static void set_shape(lanes *l, shape *at, shape s) {
  if (shape_same(*at, s)) return;
  *at = s;
  l->changed = true;
}

static void note_store(lanes *l, const ir_inst *inst) {
  lane_var *var = lanes_var(inst->args[0]);
  if (!var || var->layout != LAYOUT_REGISTER) return;
  shape s = lanes_shape_of(l, inst->args[1]);
  if (lanes_needs_blend(l, inst->parent, var->home)) s = shape_varying();
  set_shape(l, &var->shape, shape_join(var->shape, s));
}

static bool is_private(lanes *l, const ir_inst *pointer) {
  lane_var *root = lanes_root(l, pointer);
  return root && root->ir->storage == IR_STORE_PLAIN;
}

static bool note_effect(void *user, ir_inst *inst) {
  lanes *l = user;
  bool stores = inst->op == IR_STORE || inst->op == IR_VSTORE || inst->op == IR_COPY;
  bool other = inst->op == IR_ATOMIC || inst->op == IR_CALL || inst->op == IR_FENCE || (inst->flags & IR_VOLATILE);
  if (other || (stores && !is_private(l, inst->args[0]))) l->effects = true;
  return true;
}

/* What a loop writes was written when it runs again. */
static void note_loop_effects(lanes *l, const ir_inst *loop) {
  for (uint32_t i = 0; i < loop->u.ctrl.block_count; i++) (void)ir_walk(loop->u.ctrl.blocks[i], note_effect, l);
}

static void visit_block(lanes *l, const ir_block *block);

/* A comparison of ids with what the group has in common. */
static bool is_bounds_comparison(lanes *l, const ir_inst *c, bool *usual) {
  bool compares = c->op == IR_SLT || c->op == IR_SLE || c->op == IR_ULT || c->op == IR_ULE;
  bool equates = c->op == IR_EQ || c->op == IR_NE;
  if (!compares && !equates) return false;
  shape x = lanes_shape_of(l, c->args[0]), y = lanes_shape_of(l, c->args[1]);
  if (x.kind == SHAPE_VARYING || y.kind == SHAPE_VARYING || x.kind == y.kind) return false;
  /* The id is below a size, or above a constant, and differs from one value. */
  *usual = equates ? c->op == IR_NE : x.kind == SHAPE_STRIDED || ir_is_const(c->args[0]);
  return true;
}

enum { MOST_CHECK_DEPTH = 16 };

/* A bounds check, or several joined, and the answer that is guessed for it. */
static bool is_bounds_check(lanes *l, const ir_inst *c, unsigned depth, bool *usual) {
  bool sides[2] = {true, true};
  if (is_leaf(c) || !lanes_info(l, c)->known || depth > MOST_CHECK_DEPTH) return false;
  if (c->op == IR_NOT) {
    if (!is_bounds_check(l, c->args[0], depth + 1, usual)) return false;
    *usual = !*usual;
    return true;
  }
  if (c->op != IR_AND && c->op != IR_OR) return is_bounds_comparison(l, c, usual);
  for (int i = 0; i < 2; i++) {
    bool same = lanes_shape_of(l, c->args[i]).kind == SHAPE_UNIFORM;
    if (same)
      sides[i] = c->op == IR_AND;
    else if (!is_bounds_check(l, c->args[i], depth + 1, &sides[i]))
      return false;
  }
  *usual = c->op == IR_AND ? sides[0] && sides[1] : sides[0] || sides[1];
  return true;
}

static void visit_if(lanes *l, ir_inst *inst) {
  lane_info *info = lanes_info(l, inst);
  bool apart = lanes_shape_of(l, inst->args[0]).kind != SHAPE_UNIFORM;
  bool usual = false;
  bool assume = apart && l->full && l->top && !l->effects && is_bounds_check(l, inst->args[0], 0, &usual);
  if (info->assumed != assume) l->changed = true;
  info->assumed = assume;
  info->expected = usual;
  if (assume) {
    visit_block(l, inst->u.ctrl.blocks[usual ? 0 : 1]);
    return;
  }
  if (apart) set_flag(l, &info->divergent);
  bool top = l->top;
  l->top = top && !apart;
  visit_block(l, inst->u.ctrl.blocks[0]);
  visit_block(l, inst->u.ctrl.blocks[1]);
  l->top = top;
}

static void visit_control(lanes *l, ir_inst *inst) {
  bool top = l->top;
  switch (inst->op) {
    case IR_IF:
      visit_if(l, inst);
      return;
    case IR_BREAK:
    case IR_CONTINUE:
    case IR_RETURN:
      note_leave(l, inst);
      return;
    case IR_BREAK_IF:
      if (lanes_shape_of(l, inst->args[0]).kind != SHAPE_UNIFORM)
        set_flag(l, &lanes_info(l, inst->parent->owner)->divergent);
      return;
    default:
      break;
  }
  if (inst->op == IR_SWITCH && lanes_shape_of(l, inst->args[0]).kind != SHAPE_UNIFORM)
    set_flag(l, &lanes_info(l, inst)->divergent);
  l->top = false;
  if (inst->op == IR_LOOP) note_loop_effects(l, inst);
  for (uint32_t i = 0; i < inst->u.ctrl.block_count; i++) visit_block(l, inst->u.ctrl.blocks[i]);
  l->top = top;
}

static void visit_block(lanes *l, const ir_block *block) {
  for (ir_inst *inst = block->first; inst; inst = inst->next) {
    if (ir_op_table[inst->op].cls == IR_CLASS_CTRL) {
      visit_control(l, inst);
      continue;
    }
    (void)note_effect(l, inst);
    if (inst->op == IR_STORE) note_store(l, inst);
    if (inst->type->kind != IR_VOID) set_shape(l, &lanes_info(l, inst)->shape, lanes_transfer(l, inst));
  }
}

bool lanes_analyse(lanes *l) {
  if (!lanes_classify(l)) return false;
  do {
    l->changed = l->effects = false;
    l->top = true;
    l->id_limit = UINT64_MAX;
    visit_block(l, l->root);
  } while (l->changed);
  return true;
}
