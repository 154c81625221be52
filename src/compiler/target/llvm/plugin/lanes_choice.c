/* lanes_choice.c - kernels that lanes would slow down. */
#include "lanes.h"

/* Of a loop that lanes leave one by one: a load that each lane does at an address of its own costs as much as one item
 * after another does, and the lanes that have left do nothing. */
typedef struct loop_counts {
  lanes *l;
  unsigned gathers, loads, arithmetic;
} loop_counts;

static bool count_inst(void *user, ir_inst *inst) {
  loop_counts *counts = user;
  ir_class cls = ir_op_table[inst->op].cls;
  bool load = inst->op == IR_LOAD || inst->op == IR_VLOAD;
  if (load && !lanes_var(inst->args[0]) && !lanes_root(counts->l, inst->args[0])) {
    counts->loads++;
    counts->gathers += lanes_shape_of(counts->l, inst->args[0]).kind == SHAPE_VARYING;
  }
  counts->arithmetic += cls == IR_CLASS_UN || cls == IR_CLASS_BIN || cls == IR_CLASS_TRI || inst->op == IR_CALL;
  return true;
}

enum { LEAST_GATHERS = 2, ARITHMETIC_A_GATHER = 4 };

static bool is_gathering_loop(lanes *l, const ir_inst *loop) {
  loop_counts counts = {.l = l};
  for (uint32_t i = 0; i < loop->u.ctrl.block_count; i++) (void)ir_walk(loop->u.ctrl.blocks[i], count_inst, &counts);
  return counts.gathers >= LEAST_GATHERS && counts.gathers > counts.loads / 2 &&
         counts.arithmetic <= ARITHMETIC_A_GATHER * counts.gathers;
}

static bool find_gathering_loop(void *user, ir_inst *inst) {
  lanes *l = user;
  return inst->op != IR_LOOP || !lanes_info(l, inst)->divergent || !is_gathering_loop(l, inst);
}

static const ir_block *only_region(const ir_function *f) {
  const ir_inst *first = f->body->first;
  if (!f->has_regions) return f->body;
  return first && first->op == IR_REGION && !f->scratch_bytes_per_item ? first->u.ctrl.blocks[0] : NULL;
}

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

bool lanes_are_slow(emitter *e, ir_function *f) {
  lanes l = {.e = e, .width = e->lane_width};
  const ir_block *root = only_region(f);
  if (!root || !lanes_open(&l, f, root)) return false;
  return !ir_walk((ir_block *)root, find_gathering_loop, &l);
}
