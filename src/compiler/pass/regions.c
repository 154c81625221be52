/* regions.c - kernels become what one thread runs for a whole group: parts between barriers, each a loop over the
 * work-items. docs/decisions/regions.md. */
#include "compiler/pass/regions.h"

#include "base/status.h"

static bool is_no_barrier(void *user, ir_inst *inst) {
  (void)user;
  return inst->op != IR_BARRIER;
}

/* The whole body in one region. */
static qn_status wrap_body(ir_module *m, ir_function *f) {
  ir_block *outer = ir_block_new(m, NULL);
  ir_builder b = {.m = m, .f = f, .block = outer};
  ir_inst *region = ir_region(&b);
  if (m->failed) return walk_no_memory();
  region->u.ctrl.blocks[0] = f->body;
  f->body->owner = region;
  f->body = outer;
  return QN_OK;
}

/* ---- What is left over ---- */

static bool mark_var(void *user, ir_inst *inst) {
  (void)user;
  for (uint32_t i = 0; i < inst->arg_count; i++)
    if (inst->args[i]->op == IR_ADDRESS) inst->args[i]->u.var->aux = inst;
  if (inst->op == IR_REGION) inst->imm = 0;
  return true;
}

static void drop_unused_vars(ir_function *f) {
  for (ir_var *v = f->vars; v; v = v->next) v->aux = NULL;
  ir_walk(f->body, mark_var, NULL);
  walk_drop_vars(&f->vars, &f->last_var);
}

/* ---- Places in scratch: 16 bytes an item keep the arrays of n items, n a multiple of 8, at multiples of 128 ---- */

enum { ITEM_STEP = 16, GROUP_STEP = 128 };

static uint64_t round_up(uint64_t size, uint64_t step) { return (size + step - 1) / step * step; }

static void place(ir_function *f) {
  uint64_t item = 0, group = 0;
  for (ir_var *v = f->vars; v; v = v->next) {
    if (v->storage == IR_STORE_CONTEXT) {
      v->offset = item;
      item += round_up(v->type->size, ITEM_STEP);
    } else if (v->storage == IR_STORE_GROUP) {
      group = round_up(group, v->align > v->type->align ? v->align : v->type->align);
      v->offset = group;
      group += v->type->size;
    }
  }
  f->scratch_bytes_per_item = item;
  f->scratch_bytes_per_group = round_up(group, GROUP_STEP);
}

static qn_status split(ir_module *m, ir_function *f) {
  region_plan p = {.m = m, .f = f};
  qn_arena_init(&p.arena, 0);
  qn_status status = region_make_plan(&p);
  if (status == QN_OK) status = region_split(&p);
  if (status == QN_OK) status = region_keep_values(&p);
  qn_arena_free(&p.arena);
  if (status == QN_OK) drop_unused_vars(f);
  return status;
}

qn_status pass_regions(ir_module *m) {
  for (ir_function *f = m->functions; f; f = f->next) {
    if (!f->is_kernel || !f->body || f->has_regions) continue;
    bool one = ir_walk(f->body, is_no_barrier, NULL);
    QN_TRY(one ? wrap_body(m, f) : split(m, f));
    f->has_regions = true;
    place(f);
  }
  return QN_OK;
}
