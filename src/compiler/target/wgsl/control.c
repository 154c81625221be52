/* control.c - statements: what has an effect, values that have a name, and control flow as WGSL has it. */
#include <inttypes.h>

#include "compiler/target/text/statement.h"
#include "compiler/target/wgsl/emit.h"

static void open_brace(emitter *e) { text_open_brace(e->out, &e->indent); }
static void close_brace(emitter *e) { text_close_brace(e->out, &e->indent); }

static void put_line(emitter *e, const char *text) {
  wgsl_put_line_start(e);
  putf(e, "%s\n", text);
}

/* ---- Declarations ---- */

static bool is_plain_scope(const emitter *e, const text_scope *scope) {
  return text_is_plain_var(&e->plan, scope->var);
}

/* Those that a store declares are written with it; those that share a memory stand at the function's start. */
static void put_declarations(emitter *e, const ir_inst *inst) {
  for (const text_scope *scope = text_scopes_at(&e->scopes, inst); scope; scope = scope->next) {
    const ir_var *var = scope->var;
    if (is_plain_scope(e, scope)) {
      if (scope->by_store) continue;
      put_line(e, wgsl_text_of(e, "var %s: %s;", wgsl_var_name(e, var), wgsl_value_type(e, var->type)));
      continue;
    }
    const wgsl_memory *m = e->flow->nodes[wgsl_class_of(e->flow, var->address)].memory;
    bool is_own = e->var_names[var->id - e->function->first] != NULL;
    if (m && is_own) put_line(e, wgsl_text_of(e, "var %s: %s;", m->name, wgsl_array_type(e, m)));
  }
}

/* The variable whose declaration a store is; NULL: none's. */
static const text_scope *declared_by(const emitter *e, const ir_inst *inst) {
  const text_scope *scope = text_scopes_at(&e->scopes, inst);
  while (scope && !(scope->by_store && is_plain_scope(e, scope))) scope = scope->next;
  return scope;
}

static void put_write(emitter *e, const ir_inst *inst) {
  if (declared_by(e, inst)) put(e, "var ");
  wgsl_put_store(e, inst);
}

/* ---- Values with a name ---- */

static void put_new_name(emitter *e, const ir_inst *inst) {
  const char *name = text_name_local(&e->names, inst->name ? inst->name : "t");
  wgsl_put_line_start(e);
  putf(e, "%s %s = ", inst->op == IR_INSERT ? "var" : "let", name);
  if (inst->op == IR_INSERT)
    wgsl_put_operand(e, inst->args[0], TEXT_ANY, false);
  else if (inst->op == IR_ATOMIC)
    wgsl_put_atomic(e, inst);
  else
    wgsl_put_expression(e, inst);
  put(e, ";\n");
  text_planned_of(&e->plan, inst)->name = name;
}

static void put_insertion(emitter *e, const ir_inst *inst) {
  if (text_goes_on(&e->plan, inst))
    text_planned_of(&e->plan, inst)->name = text_planned_of(&e->plan, inst->args[0])->name;
  else
    put_new_name(e, inst);
  wgsl_put_line_start(e);
  wgsl_put_insert(e, inst, text_planned_of(&e->plan, inst)->name);
  put(e, ";\n");
}

/* ---- Conditions ---- */

static const char *opposite(const ir_inst *value) {
  static const char *const words[IR_OP_COUNT] = {[IR_EQ] = "!=", [IR_NE] = "==", [IR_ULT] = ">=", [IR_ULE] = ">"};
  const ir_type *type = value->arg_count ? value->args[0]->type : value->type;
  return is_wide(type) ? NULL : words[value->op];
}

static void put_condition(emitter *e, const ir_inst *value, bool holds) {
  if (holds) {
    wgsl_put_operand(e, value, TEXT_ANY, false);
  } else if (text_is_inline(&e->plan, value) && value->op == IR_NOT) {
    wgsl_put_operand(e, value->args[0], TEXT_ANY, false);
  } else if (text_is_inline(&e->plan, value) && opposite(value)) {
    wgsl_put_operand(e, value->args[0], TEXT_COMPARE, false);
    putf(e, " %s ", opposite(value));
    wgsl_put_operand(e, value->args[1], TEXT_COMPARE, true);
  } else {
    put(e, "!");
    wgsl_put_operand(e, value, TEXT_UNARY, false);
  }
}

/* What an instruction tests: as it is, or as the group's first item has it. */
static void put_test(emitter *e, const ir_inst *inst, bool holds) {
  if (!(inst->flags & WGSL_SAME)) {
    put_condition(e, inst->args[0], holds);
    return;
  }
  putf(e, "%s(select(0u, 1u, ", wgsl_helper(e, "quern_same", 1));
  put_condition(e, inst->args[0], holds);
  put(e, "), local_index) != 0u");
}

/* ---- Switches ---- */

/* Of 64 bits: the number of the case, counted from 1. */
static void put_wide_selector(emitter *e, const ir_inst *inst) {
  uint32_t cases = inst->u.ctrl.block_count - 1;
  const char *value = wgsl_operand_text(e, inst->args[0], TEXT_COMPARE), *text = "0u";
  for (uint32_t i = 0; i < cases; i++) {
    uint64_t number = inst->u.ctrl.cases[i];
    text = wgsl_text_of(e, "select(%s, %uu, all(%s == vec2<u32>(0x%" PRIx32 "u, 0x%" PRIx32 "u)))", text, i + 1, value,
                        (uint32_t)number, (uint32_t)(number >> 32));
  }
  put(e, text);
}

static void put_selector(emitter *e, const ir_inst *inst) {
  bool is_same = inst->flags & WGSL_SAME;
  if (is_same) putf(e, "%s(", wgsl_helper(e, "quern_same", 1));
  if (is_wide(inst->args[0]->type))
    put_wide_selector(e, inst);
  else
    wgsl_put_operand(e, inst->args[0], TEXT_ANY, false);
  if (is_same) put(e, ", local_index)");
}

static void put_case(emitter *e, const ir_block *block) {
  put(e, ": ");
  open_brace(e);
  wgsl_put_block(e, block);
  close_brace(e);
  put(e, "\n");
}

static void put_switch(emitter *e, const ir_inst *inst) {
  uint32_t cases = inst->u.ctrl.block_count - 1;
  const ir_type *type = inst->args[0]->type;
  put(e, "switch (");
  put_selector(e, inst);
  put(e, ") ");
  open_brace(e);
  for (uint32_t i = 0; i < cases; i++) {
    wgsl_put_line_start(e);
    put(e, "case ");
    wgsl_put_u32(e, is_wide(type) ? i + 1 : inst->u.ctrl.cases[i] & (UINT64_MAX >> (64 - type->bits)));
    put_case(e, inst->u.ctrl.blocks[i]);
  }
  wgsl_put_line_start(e);
  put(e, "default");
  put_case(e, inst->u.ctrl.blocks[cases]);
  close_brace(e);
}

/* ---- Loops ---- */

static void put_rest_of_block(emitter *e, const ir_block *block, const ir_inst *skipped);

/* Whether something leaves the loop whose block this is. `inner`: in a loop or switch in it. */
static bool is_left(const ir_block *block, bool in_loop, bool in_switch) {
  for (const ir_inst *inst = block->first; inst; inst = inst->next) {
    if (inst->op == IR_RETURN || inst->op == IR_TRAP) return true;
    if (inst->op == IR_BREAK && !in_loop && !in_switch) return true;
    if (inst->op == IR_BREAK_IF && !in_loop) return true;
    for (uint32_t i = 0; i < ir_block_count(inst); i++)
      if (is_left(inst->u.ctrl.blocks[i], in_loop || inst->op == IR_LOOP, in_switch || inst->op == IR_SWITCH))
        return true;
  }
  return false;
}

static const ir_inst *only_store(const emitter *e, const ir_block *step) {
  const ir_inst *found = NULL;
  for (const ir_inst *inst = step->first; inst; inst = inst->next) {
    if (!text_is_written_down(&e->plan, inst)) continue;
    if (found || inst->op != IR_STORE || !wgsl_is_plain(e, inst->args[0])) return NULL;
    found = inst;
  }
  return found;
}

/* The store that a `for` steps by. */
static const ir_inst *step_of(const emitter *e, const ir_inst *loop, const text_shape *form) {
  return form->step == TEXT_STEP_HEAD && form->guard ? only_store(e, loop->u.ctrl.blocks[1]) : NULL;
}

static void put_guarded(emitter *e, const ir_inst *loop, const text_shape *form, const ir_inst *init,
                        const ir_inst *step) {
  put(e, init || step ? "for (" : "while (");
  if (init) put_write(e, init);
  if (init || step) put(e, "; ");
  put_test(e, form->guard, form->guard_stays);
  if (init || step) put(e, "; ");
  if (step) wgsl_put_store(e, step);
  put(e, ") ");
  open_brace(e);
  put_rest_of_block(e, loop->u.ctrl.blocks[0], form->guard);
  close_brace(e);
}

static void put_continuing(emitter *e, const ir_inst *loop, bool ends) {
  const ir_block *step = loop->u.ctrl.blocks[1];
  if (text_is_empty(&e->scopes, step) && ends) return;
  wgsl_put_line_start(e);
  put(e, "continuing ");
  open_brace(e);
  wgsl_put_block(e, step);
  if (!ends) put_line(e, "break if false;");
  close_brace(e);
  put(e, "\n");
}

static void put_loop(emitter *e, const ir_inst *loop, const ir_inst *init) {
  text_shape form = text_shape_of(&e->scopes, loop);
  const ir_inst *step = step_of(e, loop, &form);
  if (form.guard && (form.step == TEXT_STEP_NONE || step)) {
    put_guarded(e, loop, &form, init, step);
    return;
  }
  bool ends = is_left(loop->u.ctrl.blocks[0], false, false) || is_left(loop->u.ctrl.blocks[1], false, false);
  put(e, "loop ");
  open_brace(e);
  wgsl_put_block(e, loop->u.ctrl.blocks[0]);
  put_continuing(e, loop, ends);
  close_brace(e);
}

/* Whether a store declares the counter of the loop that comes next, which alone uses it. */
static const ir_inst *counted_loop(const emitter *e, const ir_inst *store) {
  const text_scope *scope = declared_by(e, store);
  const ir_inst *next = scope ? text_counted_loop(&e->scopes, scope, store) : NULL;
  if (!next) return NULL;
  text_shape form = text_shape_of(&e->scopes, next);
  return step_of(e, next, &form) ? next : NULL;
}

/* ---- Leaving ---- */

static void put_return(emitter *e, const ir_inst *inst) {
  const ir_function *f = e->function->f;
  put(e, "return");
  if (inst && inst->arg_count) {
    put(e, " ");
    wgsl_put_operand(e, inst->args[0], TEXT_ANY, false);
  } else if (f->result->kind != IR_VOID) {
    putf(e, " %s()", wgsl_value_type(e, f->result));
  }
  put(e, ";");
}

static void put_break_if(emitter *e, const ir_inst *inst) {
  put(e, "break if ");
  put_test(e, inst, true);
  put(e, ";");
}

/* ---- All ---- */

static void put_effect(emitter *e, const ir_inst *inst) {
  wgsl_put_line_start(e);
  switch (inst->op) {
    case IR_STORE:
    case IR_VSTORE:
      put_write(e, inst);
      break;
    case IR_COPY:
      wgsl_put_copy(e, inst);
      break;
    case IR_CALL:
      wgsl_put_call(e, inst);
      break;
    case IR_ATOMIC:
      if (inst->u.atomic.rmw != IR_RMW_STORE) put(e, "_ = ");
      wgsl_put_atomic(e, inst);
      break;
    default:
      put(e, "_ = "); /* a volatile load that nothing uses */
      wgsl_put_load(e, inst);
  }
  put(e, ";\n");
}

static void put_barrier(emitter *e, uint64_t fences) {
  if (fences & IR_FENCE_GLOBAL) put_line(e, "storageBarrier();");
  if (fences != IR_FENCE_GLOBAL) put_line(e, "workgroupBarrier();");
}

static void put_statement(emitter *e, const ir_inst *inst) {
  if (inst->op == IR_BARRIER) {
    put_barrier(e, inst->imm);
  } else if (inst->op == IR_FENCE) {
    /* WGSL orders nothing outside of barriers. */
  } else if (inst->op == IR_INSERT) {
    put_insertion(e, inst);
  } else if (text_planned_of(&e->plan, inst)->how == TEXT_NAMED) {
    put_new_name(e, inst);
  } else {
    put_effect(e, inst);
  }
}

static void put_rest_of_block(emitter *e, const ir_block *block, const ir_inst *skipped) {
  static const text_writers writers = {.declare = put_declarations,
                                       .effect = put_statement,
                                       .test = put_test,
                                       .choose = put_switch,
                                       .loop = put_loop,
                                       .leave_if = put_break_if,
                                       .leave = put_return,
                                       .counted = counted_loop,
                                       .refuse = wgsl_emit_refuse};
  const text_body body = {e, &writers, &e->scopes, e->out, &e->indent};
  text_put_block(&body, block, skipped);
}

void wgsl_put_block(emitter *e, const ir_block *block) { put_rest_of_block(e, block, NULL); }
