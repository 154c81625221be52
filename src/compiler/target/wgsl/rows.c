/* rows.c - local arrays of arrays that stay what they are: `a[i][j]` instead of `a[i * 16 + j]`. Implementations keep an index within
 * its array; of a constant one they needn't, and see which words stand side by side. */
#include "compiler/target/wgsl/emit.h"

/* `pointer` is one step into `base`. */
static bool is_step(const ir_inst *pointer, const ir_inst *base) {
  return pointer->op == IR_INDEX && pointer->args[0] == base;
}

typedef bool (*check)(const emitter *e, const ir_inst *user, const ir_inst *pointer);

/* Whether every mention of a pointer passes. */
static bool all_mentions(const emitter *e, const ir_inst *pointer, check passes) {
  for (uint32_t i = 0; i < text_inst_count(e->function); i++) {
    const ir_inst *inst = e->function->insts[i];
    for (uint32_t k = 0; k < inst->arg_count; k++)
      if (inst->args[k] == pointer && !passes(e, inst, pointer)) return false;
  }
  return true;
}

/* A word is loaded or stored, whole. */
static bool accesses_word(const emitter *e, const ir_inst *user, const ir_inst *pointer) {
  const ir_type *type = pointer->type->elem;
  (void)e;
  if (user->op == IR_LOAD) return user->type == type;
  return user->op == IR_STORE && user->args[0] == pointer && user->args[1] != pointer && user->args[1]->type == type;
}

/* Pointers with a name of their own are indices. */
static bool steps_to_word(const emitter *e, const ir_inst *user, const ir_inst *pointer) {
  return is_step(user, pointer) && text_planned_of(&e->plan, user)->how <= TEXT_INLINE &&
         all_mentions(e, user, accesses_word);
}

static bool steps_to_row(const emitter *e, const ir_inst *user, const ir_inst *pointer) {
  return is_step(user, pointer) && text_planned_of(&e->plan, user)->how <= TEXT_INLINE &&
         all_mentions(e, user, steps_to_word);
}

uint32_t wgsl_columns_of(const emitter *e, const ir_var *var) {
  const ir_type *row = var->type->kind == IR_ARRAY ? var->type->elem : NULL;
  bool has_rows = row && row->kind == IR_ARRAY && row->length > 0 &&
                  (row->elem->kind == IR_INT || row->elem->kind == IR_FLOAT) && row->elem->size == 4;
  if (!has_rows || !all_mentions(e, var->address, steps_to_row)) return 0;
  return (uint32_t)row->length;
}

/* WGSL refuses a constant that is out of range; the source's would be undefined. */
static void put_within(emitter *e, const ir_inst *index, uint64_t count) {
  if (index->op == IR_CONST && index->imm >= count)
    put(e, "0u");
  else
    wgsl_put_index(e, index, TEXT_ANY);
}

const char *wgsl_subscript(emitter *e, const wgsl_memory *m, const ir_inst *pointer) {
  if (!m->columns) return wgsl_operand_text(e, pointer, TEXT_ANY);
  const ir_inst *row = pointer->args[0];
  qn_bytes text = {0}, *out = e->out;
  e->out = &text;
  put_within(e, row->args[1], row->args[0]->type->elem->length);
  put(e, "][");
  put_within(e, pointer->args[1], m->columns);
  e->out = out;
  const char *copy = wgsl_text_of(e, "%.*s", (int)text.size, text.data ? text.data : "");
  e->failed |= text.failed;
  qn_bytes_free(&text);
  return copy;
}
