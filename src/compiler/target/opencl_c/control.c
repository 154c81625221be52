/* control.c - statements: what has an effect, values that have a name, and control flow as C has it. */
#include "compiler/target/opencl_c/emit.h"
#include "compiler/target/text/statement.h"

static void open_brace(emitter *e) { text_open_brace(e->out, &e->indent); }
static void close_brace(emitter *e) { text_close_brace(e->out, &e->indent); }

static void put_line(emitter *e, const char *text) {
  put_line_start(e);
  putf(e, "%s\n", text);
}

/* ---- Declarations ---- */

static void put_variable(emitter *e, const ir_var *var) {
  const char *name = var_name(e, var);
  if (var->type->kind == IR_BOOL && text_is_plain_var(&e->plan, var)) {
    putf(e, "bool %s", name);
  } else if (is_const_var(e, var)) {
    put_value_type(e, var->type, text_var_is_signed(&e->signs, var), true, 0);
    put(e, name);
  } else
    put_memory_declaration(e, var->type, text_var_is_signed(&e->signs, var), name, var->align);
}

/* Those that a store declares are written with it. */
static void put_declarations(emitter *e, const ir_inst *inst) {
  for (const text_scope *scope = text_scopes_at(&e->scopes, inst); scope; scope = scope->next) {
    if (scope->by_store) continue;
    put_line_start(e);
    put_variable(e, scope->var);
    put(e, ";\n");
  }
}

/* The variable whose declaration a store is; NULL: none's. */
static const text_scope *declared_by(const emitter *e, const ir_inst *inst) {
  const text_scope *scope = text_scopes_at(&e->scopes, inst);
  while (scope && !scope->by_store) scope = scope->next;
  return scope;
}

/* "int i = 1": a store or copy that is a declaration. */
static void put_declaring(emitter *e, const ir_inst *inst, const ir_var *var) {
  put_variable(e, var);
  put(e, " = ");
  if (inst->op == IR_COPY)
    put_copied(e, inst);
  else
    put_stored(e, inst);
}

/* A vector is there before one of its lanes is changed. */
static void put_stored_insertion(emitter *e, const ir_inst *store, const text_scope *scope) {
  const ir_var *var = store->args[0]->u.var;
  if (scope) {
    put_declaring(e, store, var);
  } else if (!is_insertion_into_itself(e, store)) {
    putf(e, "%s = ", var_name(e, var));
    put_stored(e, store);
  }
  if (scope || !is_insertion_into_itself(e, store)) {
    put(e, ";\n");
    put_line_start(e);
  }
  put_insert(e, store->args[1], var_name(e, var));
}

static void put_write(emitter *e, const ir_inst *inst) {
  const text_scope *scope = declared_by(e, inst);
  if (is_stored_insertion(e, inst))
    put_stored_insertion(e, inst, scope);
  else if (scope)
    put_declaring(e, inst, scope->var);
  else if (inst->op == IR_COPY)
    put_copy(e, inst);
  else
    put_store(e, inst);
}

/* ---- Values with a name ---- */

static void put_named_type(emitter *e, const ir_inst *inst) {
  bool is_pointer = inst->type->kind == IR_POINTER;
  if (!is_pointer && inst->op != IR_INSERT) put(e, "const ");
  put_value_type(e, inst->type, text_is_signed(&e->signs, inst), is_pointer && is_const_pointer(e, inst),
                 mask_of(e, inst));
  if (!is_pointer) put(e, " ");
}

static void put_new_name(emitter *e, const ir_inst *inst) {
  const char *name = text_name_local(&e->names, inst->name ? inst->name : "t");
  put_line_start(e);
  put_named_type(e, inst);
  putf(e, "%s = ", name);
  want w = {.mask = mask_of(e, inst)};
  if (inst->type->kind != IR_INT) w.sign = sign_of(text_is_signed(&e->signs, inst));
  put_definition(e, inst, w);
  put(e, ";\n");
  text_planned_of(&e->plan, inst)->name = name;
}

static void put_insertion(emitter *e, const ir_inst *inst) {
  if (text_goes_on(&e->plan, inst))
    text_planned_of(&e->plan, inst)->name = text_planned_of(&e->plan, inst->args[0])->name;
  else
    put_new_name(e, inst);
  put_line_start(e);
  put_insert(e, inst, text_planned_of(&e->plan, inst)->name);
  put(e, ";\n");
}

/* ---- Synchronisation ---- */

static const char *fence_flags(uint64_t fences) {
  static const char *const words[] = {"CLK_LOCAL_MEM_FENCE", "CLK_LOCAL_MEM_FENCE", "CLK_GLOBAL_MEM_FENCE",
                                      "CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE"};
  return words[fences & 3];
}

static void put_fence(emitter *e, const char *function, uint64_t fences) {
  put_line_start(e);
  putf(e, "%s(%s);\n", function, fence_flags(fences));
}

/* The functions of OpenCL 1.2 order nothing but themselves: fences do what the order asks for. */
static void put_ordered_atomic(emitter *e, const ir_inst *inst) {
  ir_order order = inst->u.atomic.order;
  const uint64_t all = IR_FENCE_LOCAL | IR_FENCE_GLOBAL;
  if (order >= IR_RELEASE) put_fence(e, "mem_fence", all);
  if (text_planned_of(&e->plan, inst)->how == TEXT_NAMED) {
    put_new_name(e, inst);
  } else {
    put_line_start(e);
    put_atomic(e, inst);
    put(e, ";\n");
  }
  if (order != IR_RELAXED && order != IR_RELEASE) put_fence(e, "mem_fence", all);
}

/* ---- Conditions ---- */

static void put_test(emitter *e, const ir_inst *inst, bool holds) { put_condition(e, inst->args[0], holds); }

static void put_case(emitter *e, const ir_block *block) {
  put(e, ": ");
  open_brace(e);
  put_block(e, block);
  if (!ir_block_ends(block)) put_line(e, "break;");
  close_brace(e);
  put(e, "\n");
}

static void put_switch(emitter *e, const ir_inst *inst) {
  uint32_t cases = inst->u.ctrl.block_count - 1;
  int8_t sign = sign_of(text_is_signed(&e->signs, inst->args[0]));
  put(e, "switch (");
  put_operand(e, inst->args[0], (want){.sign = sign, .exact = true});
  put(e, ") ");
  open_brace(e);
  for (uint32_t i = 0; i < cases; i++) {
    put_line_start(e);
    put(e, "case ");
    put_constant(e, ir_const_int(e->m, inst->args[0]->type, inst->u.ctrl.cases[i]), (want){.sign = sign});
    put_case(e, inst->u.ctrl.blocks[i]);
  }
  if (!text_is_empty(&e->scopes, inst->u.ctrl.blocks[cases])) {
    put_line_start(e);
    put(e, "default");
    put_case(e, inst->u.ctrl.blocks[cases]);
  }
  close_brace(e);
}

/* ---- Loops ---- */

static void put_rest_of_block(emitter *e, const ir_block *block, const ir_inst *skipped);

static void put_step_list(emitter *e, const ir_block *step) {
  bool is_first = true;
  for (const ir_inst *inst = step->first; inst; inst = inst->next) {
    if (!text_is_written_down(&e->plan, inst)) continue;
    if (!is_first) put(e, ", ");
    put_store(e, inst);
    is_first = false;
  }
}

/* for (init; guard; step) or while (guard) */
static void put_head(emitter *e, const ir_inst *loop, const text_shape *form, const ir_inst *init) {
  bool is_for = init || form->step == TEXT_STEP_HEAD || !form->guard;
  put(e, is_for ? "for (" : "while (");
  if (init) put_write(e, init);
  if (is_for) put(e, form->guard ? "; " : ";");
  if (form->guard) put_condition(e, form->guard->args[0], form->guard_stays);
  if (is_for) put(e, ";");
  if (form->step == TEXT_STEP_HEAD) {
    put(e, " ");
    put_step_list(e, loop->u.ctrl.blocks[1]);
  }
  put(e, ") ");
  open_brace(e);
}

static void put_do(emitter *e, const ir_inst *loop) {
  const ir_inst *until = loop->u.ctrl.blocks[1]->last;
  put(e, "do ");
  open_brace(e);
  put_block(e, loop->u.ctrl.blocks[0]);
  close_brace(e);
  put(e, " while (");
  put_condition(e, until->args[0], false);
  put(e, ");");
}

/* The continue block, where `continue` leads too: at the body's start, each time but the first. */
static void put_flagged(emitter *e, const ir_inst *loop) {
  const char *again = text_name_local(&e->names, "again");
  putf(e, "bool %s = false;\n", again);
  put_line_start(e);
  put(e, "for (;;) ");
  open_brace(e);
  put_line_start(e);
  putf(e, "if (%s) ", again);
  open_brace(e);
  put_block(e, loop->u.ctrl.blocks[1]);
  close_brace(e);
  put(e, "\n");
  put_line_start(e);
  putf(e, "%s = true;\n", again);
  put_block(e, loop->u.ctrl.blocks[0]);
  close_brace(e);
}

static void put_loop(emitter *e, const ir_inst *loop, const ir_inst *init) {
  text_shape form = text_shape_of(&e->scopes, loop);
  if (form.step == TEXT_STEP_UNTIL) {
    put_do(e, loop);
    return;
  }
  if (form.step == TEXT_STEP_FLAG) {
    put_flagged(e, loop);
    return;
  }
  put_head(e, loop, &form, init);
  put_rest_of_block(e, loop->u.ctrl.blocks[0], form.guard);
  if (form.step == TEXT_STEP_END && !ir_block_ends(loop->u.ctrl.blocks[0])) put_block(e, loop->u.ctrl.blocks[1]);
  close_brace(e);
}

/* Whether a store declares the counter of the loop that comes next, which alone uses it. */
static const ir_inst *counted_loop(const emitter *e, const ir_inst *store) {
  const text_scope *scope = declared_by(e, store);
  const ir_inst *next = scope ? text_counted_loop(&e->scopes, scope, store) : NULL;
  return next && text_shape_of(&e->scopes, next).step == TEXT_STEP_HEAD ? next : NULL;
}

/* ---- Leaving ---- */

static void put_return(emitter *e, const ir_inst *inst) {
  const ir_function *f = e->function->f;
  put(e, "return");
  if (inst && inst->arg_count) {
    put(e, " ");
    put_operand(e, inst->args[0],
                (want){.sign = inst->args[0]->type->kind == IR_INT ? 0 : sign_of(text_result_is_signed(&e->signs, f)),
                       .mask = 32});
  } else if (f->result->kind != IR_VOID) {
    put(e, " ");
    put_constant(e, ir_zero(e->m, f->result), (want){.sign = sign_of(text_result_is_signed(&e->signs, f))});
  }
  put(e, ";");
}

static void put_break_if(emitter *e, const ir_inst *inst) {
  put(e, "if (");
  put_condition(e, inst->args[0], true);
  put(e, ") break;");
}

/* ---- All ---- */

static void put_effect(emitter *e, const ir_inst *inst) {
  put_line_start(e);
  switch (inst->op) {
    case IR_STORE:
    case IR_VSTORE:
    case IR_COPY:
      put_write(e, inst);
      break;
    case IR_CALL:
      put_call(e, inst);
      break;
    default:
      put_load(e, inst); /* a volatile one that nothing uses */
  }
  put(e, ";\n");
}

static void put_statement(emitter *e, const ir_inst *inst) {
  if (inst->op == IR_BARRIER || inst->op == IR_FENCE) {
    put_fence(e, inst->op == IR_BARRIER ? "barrier" : "mem_fence", inst->imm);
  } else if (inst->op == IR_ATOMIC) {
    put_ordered_atomic(e, inst);
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
                                       .refuse = emit_refuse};
  const text_body body = {e, &writers, &e->scopes, e->out, &e->indent};
  text_put_block(&body, block, skipped);
}

void put_block(emitter *e, const ir_block *block) { put_rest_of_block(e, block, NULL); }
