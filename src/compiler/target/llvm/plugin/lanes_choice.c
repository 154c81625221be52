/* lanes_choice.c - whether a kernel is run in lanes: what both ways cost, estimated from the shapes of its values.
 *
 * What counts is where memory is read: 16 elements side by side cost what one
 * does, but gathered each costs more than a load and what is done with it. The costs were fitted to bench_choice and
 * bench_kernels on Zen 4 (docs/decisions/cpu-vectorisation.md). */
#include "lanes.h"

/* In halves of an operation. */
enum {
  UNIT = 64, /* so that a part of a vector's cost is a whole number */
  OP_COST = 2,
  INDEX_COST = 1, /* sums and extensions of integers: mostly a part of an access, or moved out of a loop */
  DIVISION_COST = 20,
  KNOWN_DIVISION_COST = 6,
  LOAD_COST = 2,
  GATHER_COST = 12,
  TAKEN_APART_COST = 10, /* gathered without an instruction for it */
  SCATTER_COST = 16,
  VECTOR_GATHER_COST = 6, /* whole vectors of the source's, one a lane, and one for each component */
  SHUFFLE_COST = 6,       /* a component of vectors side by side */
  MISSED_BRANCH_COST = 10,
  MASK_COST = 8,
  ITEM_COST = 6, /* of the loop over the items */
  LOOP_COST = 4, /* of a loop's test */
  CALL_COST = 40
};

enum {
  LOOP_TIMES = 8,       /* that a loop is taken to run */
  TOP_WEIGHT = 1 << 8,  /* of code that runs once an item; halved in branches */
  MOST_WEIGHT = 1 << 20 /* deeper loops count no more */
};

typedef struct cost_walk {
  lanes *l;
  uint64_t weight, single_weight; /* how often lanes run here, and one item */
  uint64_t lanes, single;         /* the sums */
} cost_walk;

/* ---- Sums ---- */

static void add_single(cost_walk *w, uint64_t ops) { w->single += ops * UNIT * w->single_weight; }
static void add_each(cost_walk *w, uint64_t ops) { w->lanes += ops * UNIT * w->weight; } /* for every lane */
static void add_strip(cost_walk *w, uint64_t ops) { w->lanes += ops * (UNIT / w->l->width) * w->weight; }

/* ---- Registers ---- */

static unsigned scalar_bits(const ir_type *type) {
  const ir_type *elem = ir_elem_of(type);
  return elem->kind == IR_POINTER ? 64 : elem->kind == IR_BOOL ? 8 : elem->bits;
}

/* Registers that a varying value takes. */
static unsigned registers(const lanes *l, const ir_type *type) {
  unsigned machine = l->e->facts.wide512 ? 512 : l->e->facts.wide256 ? 256 : 128;
  unsigned bits = scalar_bits(type) * l->width;
  return ir_lanes_of(type) * (bits > machine ? bits / machine : 1);
}

/* Operations on one item's value: vectors of the source's take 128 bits at a time. */
static unsigned pieces(const ir_type *type) {
  unsigned bits = scalar_bits(type) * ir_lanes_of(type);
  return bits > 128 ? bits / 128 : 1;
}

/* ---- Instructions ---- */

static unsigned ops_of(const ir_inst *inst) {
  switch (inst->op) {
    case IR_FDIV:
    case IR_FREM:
    case IR_SQRT:
      return DIVISION_COST;
    case IR_SDIV:
    case IR_UDIV:
    case IR_SREM:
    case IR_UREM:
      return ir_is_const(inst->args[1]) ? KNOWN_DIVISION_COST : DIVISION_COST;
    case IR_ADD:
    case IR_SUB:
    case IR_MUL:
    case IR_SHL:
    case IR_SEXT:
    case IR_ZEXT:
    case IR_TRUNC:
      return INDEX_COST;
    case IR_ELEM:
    case IR_INDEX:
    case IR_FIELD:
    case IR_PCAST:
      return 0; /* a part of the access */
    default:
      return OP_COST;
  }
}

/* What is the same for all items, or counts on with them, the optimiser moves out of loops both ways. */
static void add_operation(cost_walk *w, const ir_inst *inst) {
  bool apart = inst->op == IR_EXTRACT || inst->op == IR_INSERT || inst->op == IR_VEC || inst->op == IR_SHUFFLE;
  if (lanes_info(w->l, inst)->shape.kind != SHAPE_VARYING) return;
  unsigned ops = ops_of(inst);
  add_single(w, (uint64_t)ops * pieces(inst->type));
  if (ops == DIVISION_COST && inst->type->kind == IR_INT && inst->type->bits == 64)
    add_each(w, DIVISION_COST + TAKEN_APART_COST);
  else if (!apart) /* else components stand apart already */
    add_strip(w, (uint64_t)(ops > OP_COST ? ops : OP_COST) * registers(w->l, inst->type));
}

static bool is_register(const ir_inst *pointer) {
  const lane_var *var = lanes_var(pointer);
  return var && var->layout == LAYOUT_REGISTER && var->ir->storage == IR_STORE_PLAIN;
}

/* Of one access by each lane; `stores`: to there. */
static void add_access(cost_walk *w, const ir_inst *inst, const ir_type *type, bool stores) {
  lanes *l = w->l;
  const ir_inst *pointer = inst->args[0];
  shape s = lanes_shape_of(l, pointer);
  unsigned count = ir_lanes_of(type), size = (unsigned)ir_elem_of(type)->size, regs = registers(l, type);
  int64_t apart = s.stride < 0 ? -s.stride : s.stride;
  bool leaf = lanes_root(l, pointer) != NULL;
  if (is_register(pointer)) return;
  add_single(w, (uint64_t)LOAD_COST * pieces(type));
  if (inst->flags & IR_VOLATILE)
    add_each(w, TAKEN_APART_COST);
  else if (s.kind == SHAPE_UNIFORM)
    add_strip(w, (uint64_t)LOAD_COST * (leaf ? regs : 1));
  else if (s.kind == SHAPE_STRIDED && !leaf && apart == (int64_t)size)
    add_strip(w, (uint64_t)LOAD_COST * regs);
  else if (s.kind == SHAPE_STRIDED && !leaf && apart <= 4 * (int64_t)size && (count > 1 || (size >= 4 && !stores)))
    add_strip(w, (uint64_t)count * SHUFFLE_COST + (uint64_t)LOAD_COST * regs);
  else if (stores)
    add_each(w, (uint64_t)SCATTER_COST * count);
  else if (count > 1 && count * size > 8)
    add_each(w, (uint64_t)VECTOR_GATHER_COST + count);
  else
    add_each(w, size * count < 4 || !l->e->facts.wide512 ? TAKEN_APART_COST : GATHER_COST);
}

static void add_copy(cost_walk *w, const ir_inst *inst) {
  uint64_t size = inst->args[0]->type->elem->size, leaves = type_leaf_count(inst->args[0]->type->elem);
  add_single(w, LOAD_COST * (1 + size / 16));
  for (uint32_t i = 0; i < 2; i++) {
    shape s = lanes_shape_of(w->l, inst->args[i]);
    if (s.kind == SHAPE_UNIFORM)
      add_strip(w, LOAD_COST * leaves);
    else
      add_each(w, leaves * (i ? GATHER_COST : SCATTER_COST));
  }
}

static void add_inst(cost_walk *w, const ir_inst *inst) {
  switch (inst->op) {
    case IR_LOAD:
    case IR_VLOAD:
      add_access(w, inst, inst->type, false);
      return;
    case IR_STORE:
    case IR_VSTORE:
      add_access(w, inst, inst->args[1]->type, true);
      return;
    case IR_COPY:
      add_copy(w, inst);
      return;
    case IR_ATOMIC:
      add_single(w, CALL_COST);
      add_each(w, CALL_COST);
      return;
    case IR_CALL:
      add_single(w, CALL_COST);
      if (inst->u.callee->is_noinline)
        add_each(w, CALL_COST);
      else
        add_strip(w, CALL_COST);
      return;
    default:
      break;
  }
  ir_class cls = ir_op_table[inst->op].cls;
  if (cls >= IR_CLASS_UN && cls <= IR_CLASS_PURE) add_operation(w, inst);
}

/* ---- Control flow ---- */

static void add_block(cost_walk *w, const ir_block *block);

static uint64_t part_of(uint64_t weight, uint64_t parts) { return weight >= parts ? weight / parts : 1; }

/* One item takes one side; lanes that part take both. */
static void add_sides(cost_walk *w, const ir_inst *inst, bool apart, uint64_t parts) {
  cost_walk outer = *w;
  w->single_weight = part_of(outer.single_weight, parts);
  if (!apart) w->weight = part_of(outer.weight, parts);
  for (uint32_t i = 0; i < inst->u.ctrl.block_count; i++) add_block(w, inst->u.ctrl.blocks[i]);
  w->weight = outer.weight;
  w->single_weight = outer.single_weight;
}

static void add_branch(cost_walk *w, const ir_inst *inst) {
  const lane_info *info = lanes_info(w->l, inst);
  if (info->assumed) {
    add_block(w, inst->u.ctrl.blocks[info->expected ? 0 : 1]);
    return;
  }
  uint64_t parts = inst->op == IR_IF ? 2 : inst->u.ctrl.block_count;
  bool apart = lanes_shape_of(w->l, inst->args[0]).kind != SHAPE_UNIFORM;
  if (apart) add_single(w, MISSED_BRANCH_COST);
  if (apart) add_strip(w, MASK_COST * parts);
  add_sides(w, inst, apart, parts);
}

/* Where lanes leave one by one, some wait half of the time. */
static void add_loop(cost_walk *w, const ir_inst *inst) {
  cost_walk outer = *w;
  bool apart = lanes_info(w->l, inst)->divergent;
  if (apart) add_single(w, MISSED_BRANCH_COST);
  if (w->weight < MOST_WEIGHT) w->weight *= LOOP_TIMES, w->single_weight *= LOOP_TIMES;
  if (apart) w->weight += w->weight / 2;
  add_single(w, LOOP_COST);
  add_strip(w, apart ? MASK_COST : LOOP_COST);
  for (uint32_t i = 0; i < inst->u.ctrl.block_count; i++) add_block(w, inst->u.ctrl.blocks[i]);
  w->weight = outer.weight;
  w->single_weight = outer.single_weight;
}

static void add_block(cost_walk *w, const ir_block *block) {
  for (const ir_inst *inst = block->first; inst; inst = inst->next) {
    if (inst->op == IR_IF || inst->op == IR_SWITCH)
      add_branch(w, inst);
    else if (inst->op == IR_LOOP)
      add_loop(w, inst);
    else
      add_inst(w, inst);
  }
}

/* ---- Kernels ---- */

/* Private variables stand on a worker's stack, once for each lane, in the copy with masks and in the one without. */
enum { STACK_BYTES = 256 << 10, COPIES = 2 };

/* A switch whose lanes go different ways is a mask and a place to meet for each case, and so is a chain of ifs for each
 * link: the back end takes more than linear time for long ones. */
enum { MOST_CASES = 48, MOST_IFS = 300 };

static bool count_branches(void *user, ir_inst *inst) {
  uint32_t *ifs = user;
  *ifs += inst->op == IR_IF;
  return *ifs <= MOST_IFS && (inst->op != IR_SWITCH || inst->u.ctrl.block_count <= MOST_CASES);
}

bool lanes_are_large(const emitter *e, const ir_function *f) {
  uint64_t bytes = 0;
  for (const ir_var *v = f->vars; v; v = v->next)
    if (v->storage == IR_STORE_PLAIN) bytes += v->type->size;
  uint32_t ifs = 0;
  return bytes > STACK_BYTES / COPIES / e->lane_width || !ir_walk(f->body, count_branches, &ifs);
}

/* The copy for strips that are full, whose guesses hold, is what runs. */
static bool add_region(cost_walk *sum, emitter *e, ir_function *f, const ir_block *root) {
  lanes l = {.e = e, .width = e->lane_width, .full = true};
  cost_walk w = {.l = &l, .weight = sum->weight, .single_weight = sum->weight};
  if (!lanes_open(&l, f, root)) return false;
  add_single(&w, ITEM_COST);
  add_strip(&w, ITEM_COST);
  add_block(&w, root);
  sum->lanes += w.lanes;
  sum->single += w.single;
  return true;
}

/* What runs once a group costs the same both ways. */
static bool add_regions(cost_walk *sum, emitter *e, ir_function *f, const ir_block *block) {
  for (const ir_inst *inst = block->first; inst; inst = inst->next) {
    if (inst->op == IR_REGION) {
      if (!add_region(sum, e, f, inst->u.ctrl.blocks[0])) return false;
      continue;
    }
    uint64_t weight = sum->weight;
    if (inst->op == IR_LOOP && weight < MOST_WEIGHT) sum->weight *= LOOP_TIMES;
    if (inst->op == IR_IF || inst->op == IR_SWITCH) sum->weight = part_of(weight, 2);
    for (uint32_t i = 0; i < ir_block_count(inst); i++)
      if (!add_regions(sum, e, f, inst->u.ctrl.blocks[i])) return false;
    sum->weight = weight;
  }
  return true;
}

bool lanes_are_slow(emitter *e, ir_function *f) {
  cost_walk sum = {.weight = TOP_WEIGHT};
  bool good = f->has_regions ? add_regions(&sum, e, f, f->body) : add_region(&sum, e, f, f->body);
  return good && sum.lanes > sum.single;
}
