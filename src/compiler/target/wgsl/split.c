/* split.c - see split.h. One walk: an instruction that makes or takes something wide is written again, piece by piece, in
 * front of itself, and goes. `aux` of an instruction that is gone: its pieces. */
#include "compiler/target/wgsl/split.h"

#include "compiler/pass/walk.h"

typedef struct splitter {
  ir_builder b;
  ir_module *m;
} splitter;

uint32_t wgsl_piece_lanes(const ir_module *m, const ir_type *type) {
  if (type->kind != IR_VECTOR) return 0;
  if (type->elem->kind == IR_INT && type->elem->bits == 64) return 1;
  if (type->elem->kind == IR_FLOAT && type->elem->bits == 16 && !m->model.has_half) return 1;
  return type->count > 4 ? 4 : 0;
}

static uint32_t lanes_of_piece(const splitter *s, const ir_type *type) {
  uint32_t lanes = wgsl_piece_lanes(s->m, type);
  return lanes ? lanes : ir_lanes_of(type);
}

static const ir_type *shape(splitter *s, const ir_type *elem, uint32_t lanes) {
  return lanes == 1 ? elem : ir_vector(s->m, elem, lanes);
}

static const ir_type *piece_type(splitter *s, const ir_type *type) {
  return shape(s, ir_elem_of(type), lanes_of_piece(s, type));
}

static uint32_t piece_count(const splitter *s, const ir_type *type) {
  return ir_lanes_of(type) / lanes_of_piece(s, type);
}

/* ---- Parts of operands ---- */

static ir_inst *wgsl_constant_lane(splitter *s, ir_inst *leaf, uint32_t lane) {
  const ir_type *elem = leaf->type->elem;
  if (leaf->op == IR_UNDEF) return ir_undef(s->m, elem);
  if (leaf->op == IR_AGGREGATE) return lane < leaf->arg_count ? leaf->args[lane] : ir_const_bits(s->m, elem, 0);
  return ir_const_bits(s->m, elem, 0);
}

static ir_inst *lane_of(splitter *s, ir_inst *x, uint32_t lane) {
  if (x->type->kind != IR_VECTOR) return x;
  if (!x->parent && x->op != IR_PARAM) return wgsl_constant_lane(s, x, lane);
  uint32_t lanes = wgsl_piece_lanes(s->m, x->type);
  if (!lanes) return ir_extract_at(&s->b, x, lane);
  ir_inst *piece = ((ir_inst **)x->aux)[lane / lanes];
  return lanes == 1 ? piece : ir_extract_at(&s->b, piece, lane % lanes);
}

/* `lanes` of them from `first` on, as one value. */
static ir_inst *lanes_of(splitter *s, ir_inst *x, uint32_t first, uint32_t lanes) {
  ir_inst *parts[16];
  if (x->type->kind != IR_VECTOR || lanes == 1) return lane_of(s, x, first);
  if (wgsl_piece_lanes(s->m, x->type) == lanes && x->parent) return ((ir_inst **)x->aux)[first / lanes];
  if (x->type->count == lanes) return x;
  const ir_type *type = ir_vector(s->m, x->type->elem, lanes);
  if (x->op == IR_UNDEF) return ir_undef(s->m, type);
  for (uint32_t i = 0; i < lanes; i++) parts[i] = lane_of(s, x, first + i);
  return ir_vec(&s->b, type, parts);
}

/* ---- Instructions in pieces ---- */

static ir_inst *again(splitter *s, const ir_inst *inst, const ir_type *type, ir_inst *const *args) {
  ir_inst *folded = ir_fold(s->m, inst->op, inst->flags, type, args, inst->arg_count);
  if (folded) return folded;
  ir_inst *copy = ir_emit(&s->b, inst->op, type, args, inst->arg_count);
  copy->flags = inst->flags;
  copy->imm = inst->imm;
  copy->loc = inst->loc;
  return copy;
}

static uint32_t finest(const splitter *s, const ir_inst *inst) {
  uint32_t least = lanes_of_piece(s, inst->type);
  for (uint32_t i = 0; i < inst->arg_count; i++) {
    if (inst->args[i]->type->kind != IR_VECTOR) continue;
    uint32_t lanes = lanes_of_piece(s, inst->args[i]->type);
    if (lanes < least) least = lanes;
  }
  return least;
}

/* Component-wise, and select: `lanes` of each operand at a time. */
static ir_inst *step(splitter *s, const ir_inst *inst, uint32_t first, uint32_t lanes) {
  ir_inst *args[3];
  for (uint32_t i = 0; i < inst->arg_count; i++) args[i] = lanes_of(s, inst->args[i], first, lanes);
  return again(s, inst, shape(s, ir_elem_of(inst->type), lanes), args);
}

static ir_inst *component_piece(splitter *s, const ir_inst *inst, uint32_t piece) {
  uint32_t lanes = lanes_of_piece(s, inst->type), fine = finest(s, inst);
  ir_inst *parts[16];
  if (fine == lanes) return step(s, inst, piece * lanes, lanes);
  for (uint32_t i = 0; i < lanes; i++) parts[i] = step(s, inst, piece * lanes + i, 1);
  return ir_vec(&s->b, piece_type(s, inst->type), parts);
}

/* ---- Bitcasts between shapes ---- */

/* The bits of a lane as an integer of its width. */
static ir_inst *lane_bits(splitter *s, ir_inst *x, uint32_t lane) {
  ir_inst *value = lane_of(s, x, lane);
  const ir_type *bits = ir_int(s->m, value->type->bits);
  return value->type == bits ? value : ir_conv(&s->b, IR_BITCAST, value, bits);
}

/* A lane of the result, out of one or several of the operand. */
static ir_inst *cast_lane(splitter *s, const ir_inst *inst, uint32_t lane) {
  const ir_type *to = ir_elem_of(inst->type), *from = ir_elem_of(inst->args[0]->type);
  const ir_type *bits = ir_int(s->m, to->bits);
  ir_inst *value;
  if (from->bits > to->bits) {
    uint32_t ratio = from->bits / to->bits;
    value = lane_bits(s, inst->args[0], lane / ratio);
    value = ir_bin(&s->b, IR_LSHR, value, ir_const_int(s->m, value->type, (uint64_t)(lane % ratio) * to->bits));
    value = ir_conv(&s->b, IR_TRUNC, value, bits);
  } else {
    uint32_t ratio = to->bits / from->bits;
    value = lane_bits(s, inst->args[0], lane * ratio);
    if (ratio > 1) value = ir_conv(&s->b, IR_ZEXT, value, bits);
    for (uint32_t i = 1; i < ratio; i++) {
      ir_inst *part = ir_conv(&s->b, IR_ZEXT, lane_bits(s, inst->args[0], lane * ratio + i), bits);
      part = ir_bin(&s->b, IR_SHL, part, ir_const_int(s->m, bits, (uint64_t)i * from->bits));
      value = ir_bin(&s->b, IR_OR, value, part);
    }
  }
  return to == bits ? value : ir_conv(&s->b, IR_BITCAST, value, to);
}

static ir_inst *shuffled_lane(splitter *s, const ir_inst *inst, uint32_t lane) {
  int32_t from = inst->u.mask[lane];
  int32_t count = (int32_t)ir_lanes_of(inst->args[0]->type);
  if (from < 0) return ir_undef(s->m, inst->type->elem);
  return from < count ? lane_of(s, inst->args[0], (uint32_t)from) : lane_of(s, inst->args[1], (uint32_t)(from - count));
}

/* By a number that isn't known: out of range is any lane. */
static ir_inst *any_lane(splitter *s, ir_inst *vector, ir_inst *index) {
  ir_inst *value = lane_of(s, vector, 0);
  for (uint32_t i = 1; i < vector->type->count; i++) {
    ir_inst *is_it = ir_bin(&s->b, IR_EQ, index, ir_const_int(s->m, index->type, i));
    value = ir_select(&s->b, is_it, lane_of(s, vector, i), value);
  }
  return value;
}

static ir_inst *inserted_lane(splitter *s, const ir_inst *inst, uint32_t lane) {
  ir_inst *index = inst->args[2], *old = lane_of(s, inst->args[0], lane);
  if (index->op == IR_CONST) return index->imm == lane ? inst->args[1] : old;
  return ir_select(&s->b, ir_bin(&s->b, IR_EQ, index, ir_const_int(s->m, index->type, lane)), inst->args[1], old);
}

/* One lane of what an instruction that isn't component-wise makes. */
static ir_inst *made_lane(splitter *s, const ir_inst *inst, uint32_t lane) {
  switch (inst->op) {
    case IR_BITCAST:
      return cast_lane(s, inst, lane);
    case IR_VEC:
      return inst->args[lane];
    case IR_SPLAT:
      return inst->args[0];
    case IR_SHUFFLE:
      return shuffled_lane(s, inst, lane);
    case IR_EXTRACT:
      if (inst->args[1]->op != IR_CONST) return any_lane(s, inst->args[0], inst->args[1]);
      return lane_of(s, inst->args[0],
                     (uint32_t)(inst->args[1]->imm < inst->args[0]->type->count ? inst->args[1]->imm : 0));
    default:
      return inserted_lane(s, inst, lane);
  }
}

static ir_inst *made_piece(splitter *s, const ir_inst *inst, uint32_t piece) {
  uint32_t lanes = lanes_of_piece(s, inst->type);
  ir_inst *parts[16];
  for (uint32_t i = 0; i < lanes; i++) parts[i] = made_lane(s, inst, piece * lanes + i);
  return lanes == 1 ? parts[0] : ir_vec(&s->b, piece_type(s, inst->type), parts);
}

/* ---- Memory ---- */

static ir_var **pieces_of_var(const ir_inst *address) {
  return address->op == IR_ADDRESS && address->u.var->space == IR_PRIVATE ? address->u.var->aux : NULL;
}

/* Where a piece begins, and what is known of its alignment. */
static ir_inst *piece_pointer(splitter *s, const ir_inst *inst, const ir_type *type, uint32_t piece) {
  ir_inst *p = inst->args[0];
  uint32_t lanes = lanes_of_piece(s, type);
  bool by_elements = inst->op == IR_VLOAD || inst->op == IR_VSTORE;
  const ir_type *to = by_elements ? p->type : ir_pointer(s->m, p->type->space, piece_type(s, type));
  if (to != p->type) p = ir_conv(&s->b, IR_PCAST, p, to);
  uint64_t index = by_elements ? (uint64_t)piece * lanes : piece;
  return index ? ir_elem(&s->b, p, ir_const_int(s->m, ir_int(s->m, 32), index)) : p;
}

static uint64_t piece_align(splitter *s, const ir_inst *inst, const ir_type *type) {
  uint64_t natural = piece_type(s, type)->align;
  return inst->imm && inst->imm < natural ? inst->imm : 0;
}

/* Of one lane: loads and stores of scalars. */
static ir_op memory_op(const splitter *s, const ir_inst *inst, const ir_type *type) {
  bool is_single = lanes_of_piece(s, type) == 1;
  if (inst->op == IR_VLOAD) return is_single ? IR_LOAD : IR_VLOAD;
  if (inst->op == IR_VSTORE) return is_single ? IR_STORE : IR_VSTORE;
  return inst->op;
}

static ir_inst *loaded_piece(splitter *s, const ir_inst *inst, uint32_t piece) {
  ir_var **own = pieces_of_var(inst->args[0]);
  if (own) return ir_load(&s->b, own[piece]->address);
  ir_inst *p = piece_pointer(s, inst, inst->type, piece);
  ir_inst *load = ir_emit(&s->b, memory_op(s, inst, inst->type), piece_type(s, inst->type), &p, 1);
  load->flags = inst->flags;
  load->imm = piece_align(s, inst, inst->type);
  return load;
}

static void store_pieces(splitter *s, const ir_inst *inst) {
  ir_inst *value = inst->args[1];
  ir_var **own = pieces_of_var(inst->args[0]);
  uint32_t lanes = lanes_of_piece(s, value->type);
  for (uint32_t i = 0; i < piece_count(s, value->type); i++) {
    ir_inst *part = lanes_of(s, value, i * lanes, lanes);
    if (own) {
      ir_store(&s->b, own[i]->address, part);
      continue;
    }
    ir_inst *args[2] = {piece_pointer(s, inst, value->type, i), part};
    ir_inst *store = ir_emit(&s->b, memory_op(s, inst, value->type), ir_void(s->m), args, 2);
    store->flags = inst->flags;
    store->imm = piece_align(s, inst, value->type);
  }
}

/* ---- Variables ---- */

static bool note_use(void *user, ir_inst *inst) {
  (void)user;
  for (uint32_t i = 0; i < inst->arg_count; i++) {
    const ir_inst *x = inst->args[i];
    if (x->op != IR_ADDRESS || x->u.var->space != IR_PRIVATE) continue;
    bool whole = i == 0 && (inst->op == IR_LOAD || inst->op == IR_STORE || inst->op == IR_FRESH);
    if (!whole || (inst->flags & IR_VOLATILE)) x->u.var->aux = NULL;
  }
  inst->aux = NULL;
  return true;
}

/* Those that are only loaded and stored whole become as many as there are pieces. */
static void split_variables(splitter *s, ir_function *f) {
  for (ir_var *v = f->vars; v; v = v->next) v->aux = wgsl_piece_lanes(s->m, v->type) ? v : NULL;
  ir_walk(f->body, note_use, NULL);
  for (ir_var *v = f->vars; v && !s->m->failed; v = v->next) {
    if (!v->aux) continue;
    uint32_t count = piece_count(s, v->type);
    ir_var **pieces = QN_ARENA_ARRAY(s->m->arena, ir_var *, count);
    v->aux = pieces;
    s->m->failed |= !pieces;
    for (uint32_t i = 0; pieces && i < count; i++) {
      pieces[i] = ir_var_private(f, v->name, piece_type(s, v->type));
      pieces[i]->aux = NULL;
    }
  }
}

/* ---- All ---- */

static bool is_64_bits(const ir_type *type) {
  uint32_t bits = ir_elem_of(type)->bits;
  return bits * ir_lanes_of(type) == 64 && bits >= 32;
}

static bool is_half(const ir_type *type) { return ir_elem_of(type)->kind == IR_FLOAT && ir_elem_of(type)->bits == 16; }

/* WGSL has bitcasts between 32 bits alone, and 64-bit integers are two of those. */
static bool is_odd_cast(const ir_inst *inst) {
  if (inst->op != IR_BITCAST) return false;
  const ir_type *from = inst->args[0]->type, *to = inst->type;
  if (is_64_bits(from) && is_64_bits(to)) return false;
  bool has_halves = (is_half(from) || is_half(to)) && ir_lanes_of(to) > 1;
  return has_halves || ir_elem_of(from)->bits != ir_elem_of(to)->bits;
}

static bool is_wide(const splitter *s, const ir_inst *inst) {
  if (is_odd_cast(inst)) return true;
  if (wgsl_piece_lanes(s->m, inst->type)) return true;
  for (uint32_t i = 0; i < inst->arg_count; i++)
    if (wgsl_piece_lanes(s->m, inst->args[i]->type)) return true;
  return inst->op == IR_FRESH && pieces_of_var(inst->args[0]);
}

static ir_inst *piece(splitter *s, const ir_inst *inst, uint32_t i) {
  switch (inst->op) {
    case IR_LOAD:
    case IR_VLOAD:
      return loaded_piece(s, inst, i);
    case IR_BITCAST:
    case IR_VEC:
    case IR_SPLAT:
    case IR_SHUFFLE:
    case IR_EXTRACT:
    case IR_INSERT:
      return made_piece(s, inst, i);
    default:
      return component_piece(s, inst, i);
  }
}

/* What stays whole though an operand is wide is replaced by one value. */
static void replace(splitter *s, ir_inst *inst) {
  uint32_t count = piece_count(s, inst->type);
  ir_inst **pieces = QN_ARENA_ARRAY(s->m->arena, ir_inst *, count);
  if (!pieces) {
    s->m->failed = true;
    return;
  }
  for (uint32_t i = 0; i < count; i++) pieces[i] = piece(s, inst, i);
  inst->aux = pieces;
}

static void split_inst(splitter *s, ir_inst *inst) {
  s->b.block = inst->parent;
  s->b.before = inst;
  s->b.loc = inst->loc;
  if (inst->op == IR_STORE || inst->op == IR_VSTORE) {
    store_pieces(s, inst);
  } else if (inst->op == IR_FRESH) {
    ir_var **own = pieces_of_var(inst->args[0]);
    for (uint32_t i = 0; i < piece_count(s, inst->args[0]->u.var->type); i++) ir_fresh(&s->b, own[i]);
  } else {
    replace(s, inst);
    return; /* stays until its users are done */
  }
  ir_inst_remove(inst);
}

static ir_inst *whole(const splitter *s, ir_inst *x) {
  while (x->parent && x->aux && !wgsl_piece_lanes(s->m, x->type)) x = ((ir_inst **)x->aux)[0];
  return x;
}

/* What was there before the walk; what is put in front is whole already. */
static void split_function(splitter *s, ir_function *f) {
  s->b.f = f;
  split_variables(s, f);
  for (ir_inst *inst = f->body->first, *next; inst && !s->m->failed; inst = next) {
    next = ir_next_inst(inst);
    for (uint32_t i = 0; i < inst->arg_count; i++) inst->args[i] = whole(s, inst->args[i]);
    if (is_wide(s, inst)) split_inst(s, inst);
  }
  for (ir_inst *inst = f->body->first, *next; inst && !s->m->failed; inst = next) {
    next = ir_next_inst(inst);
    if (inst->aux && !ir_block_count(inst)) ir_inst_remove(inst);
  }
  ir_var **link = &f->vars;
  f->last_var = NULL;
  while (*link) {
    if ((*link)->aux) {
      *link = (*link)->next;
    } else {
      f->last_var = *link;
      link = &(*link)->next;
    }
  }
}

qn_status wgsl_split(ir_module *m) {
  splitter s = {.b = {.m = m}, .m = m};
  for (ir_function *f = m->functions; f && !m->failed; f = f->next)
    if (f->body) split_function(&s, f);
  return m->failed ? walk_no_memory() : QN_OK;
}
