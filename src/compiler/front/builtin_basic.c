/* builtin_basic.c - work-item functions and barriers only, until the table of all built-in functions (builtin.c) lands
 * and takes this file's place. */
#include "compiler/front/builtin.h"

struct front_builtin {
  const char *name;
  ir_op op;
  bool has_dimension;
};

static const front_builtin table[] = {
    {"get_global_id", IR_GLOBAL_ID, true},
    {"get_local_id", IR_LOCAL_ID, true},
    {"get_group_id", IR_GROUP_ID, true},
    {"get_global_size", IR_GLOBAL_SIZE, true},
    {"get_local_size", IR_LOCAL_SIZE, true},
    {"get_num_groups", IR_NUM_GROUPS, true},
    {"get_global_offset", IR_GLOBAL_OFFSET, true},
    {"get_work_dim", IR_WORK_DIM, false},
    {"barrier", IR_BARRIER, false},
};
enum { TABLE_COUNT = sizeof(table) / sizeof(table[0]) };

const front_builtin *front_builtin_find(front *f, qn_sv name) {
  (void)f;
  for (int i = 0; i < TABLE_COUNT; i++) {
    if (qn_sv_is(name, table[i].name)) return &table[i];
  }
  return NULL;
}

void front_builtin_names(void (*fn)(void *user, qn_sv name), void *user) {
  for (int i = 0; i < TABLE_COUNT; i++) fn(user, qn_sv_from(table[i].name));
}

bool front_builtin_resolve(front *f, const front_builtin *builtin, qn_loc loc, const front_type *const *args,
                           uint32_t count, front_overload *out) {
  (void)args;
  bool takes_one = builtin->has_dimension || builtin->op == IR_BARRIER;
  if (count != takes_one) {
    front_error(f, loc, 1, "'%s' takes %d arguments, given are %u", builtin->name, takes_one, count);
    return false;
  }
  out->result = builtin->op == IR_BARRIER    ? front_void(f)
                : builtin->op == IR_WORK_DIM ? front_int(f, 32, false)
                                             : front_size_type(f);
  out->params[0] = front_int(f, 32, false);
  out->count = takes_one;
  out->is_cheap = out->is_pure = builtin->op != IR_BARRIER;
  out->is_barrier = builtin->op == IR_BARRIER;
  out->is_item_id = builtin->op == IR_GLOBAL_ID || builtin->op == IR_LOCAL_ID;
  out->entry = builtin;
  return true;
}

ir_inst *front_builtin_emit(front *f, const front_overload *overload, ir_inst *const *args) {
  const front_builtin *builtin = overload->entry;
  bool is_constant = overload->count == 0 || args[0]->op == IR_CONST;
  if (!is_constant) {
    front_error(f, f->b.loc, 1, "the argument of '%s' must be a constant", builtin->name);
    return NULL;
  }
  if (builtin->op == IR_BARRIER) return ir_barrier(&f->b, IR_BARRIER, (uint32_t)args[0]->imm & 3u);
  return ir_query(&f->b, builtin->op, overload->count == 0 ? 0 : (uint32_t)args[0]->imm);
}
