/* memory.c - loads, stores and copies. */
#include "compiler/target/opencl_c/emit.h"

/* ---- How a place is accessed ---- */

/* Whether the path goes through a packed struct, so that the driver's compiler knows how it is aligned. */
static bool tells_alignment(const emitter *e, const ir_inst *pointer) {
  while (text_is_inline(&e->plan, pointer) && (pointer->op == IR_FIELD || pointer->op == IR_INDEX)) {
    const ir_type *whole = pointer->args[0]->type->elem;
    if (whole->kind == IR_VECTOR) return false;
    if (whole->kind == IR_STRUCT && whole->is_packed) return true;
    pointer = pointer->args[0];
  }
  return false;
}

static bool is_misaligned(const emitter *e, const ir_inst *inst, const ir_inst *pointer) {
  return inst->imm && inst->imm < pointer->type->elem->align && !tells_alignment(e, pointer);
}

/* ((global volatile struct wrapper *)p)->value, or the same without a member where the struct itself is meant. */
static void put_wrapped(emitter *e, const ir_inst *inst, const ir_inst *pointer, bool is_packed, const char *member) {
  bool is_signed = text_is_signed(&e->signs, pointer);
  const char *wrapper = wrapper_name(e, pointer->type->elem, is_signed, is_packed);
  putf(e, "%s(%s%s%s *)", *member ? "(" : "*", space_word(e, pointer->type->space),
       inst->flags & IR_VOLATILE ? "volatile " : "", wrapper);
  put_operand(e, pointer, (want){.outer = TEXT_UNARY});
  if (*member) putf(e, ")->%s", member);
}

static shape put_accessed(emitter *e, const ir_inst *inst, const ir_inst *pointer) {
  bool is_signed = text_is_signed(&e->signs, pointer);
  if (is_misaligned(e, inst, pointer)) {
    put_wrapped(e, inst, pointer, true, "value");
    return (shape){TEXT_POSTFIX, is_signed, true, 0};
  }
  if (!(inst->flags & IR_VOLATILE)) return put_place(e, pointer, TEXT_UNARY);
  put(e, "*(");
  put_pointer_type(e, pointer->type, is_signed, "volatile");
  put(e, ")");
  put_operand(e, pointer, (want){.outer = TEXT_UNARY});
  return (shape){TEXT_UNARY, is_signed, true, 0};
}

static bool is_plain(const emitter *e, const ir_inst *pointer) {
  return pointer->op == IR_ADDRESS && pointer->u.var->space == IR_PRIVATE &&
         text_is_plain_var(&e->plan, pointer->u.var);
}

/* ---- Loads ---- */

/* "!= 0": bools in memory are bytes, lanes of them too. */
static shape put_truth(emitter *e, const ir_type *type) {
  if (type->kind == IR_VECTOR)
    putf(e, " != (uchar%u)(0)", type->count);
  else
    put(e, " != 0");
  return (shape){TEXT_COMPARE, true, true, type->kind == IR_VECTOR ? 8 : 0};
}

shape put_load(emitter *e, const ir_inst *inst) {
  const ir_inst *pointer = inst->args[0];
  bool is_bool = ir_elem_of(inst->type)->kind == IR_BOOL;
  shape s;
  if (inst->type->kind != IR_POINTER) (void)number_name(e, inst->type, true);
  if (inst->op == IR_VLOAD) {
    putf(e, "vload%u(0, ", inst->type->count);
    s = put_operand(e, pointer, (want){0});
    put(e, ")");
    s.level = TEXT_POSTFIX;
  } else {
    s = put_accessed(e, inst, pointer);
  }
  bool is_truth = is_bool && inst->type->kind != IR_VECTOR && is_plain(e, pointer);
  return is_bool && !is_truth ? put_truth(e, inst->type) : s;
}

/* ---- Stores ---- */

static void put_stored_bools(emitter *e, const ir_inst *value) {
  putf(e, "as_uchar%u(", value->type->count);
  put_operand(e, value, (want){.outer = TEXT_AND, .mask = 8});
  putf(e, " & (char%u)(1))", value->type->count);
}

/* Scalars are converted by themselves. */
static want want_for(const emitter *e, const ir_inst *store) {
  bool is_scalar = store->args[1]->type->kind == IR_INT;
  return (want){.sign = is_scalar ? 0 : sign_of(text_is_signed(&e->signs, store->args[0]))};
}

void put_stored(emitter *e, const ir_inst *store) {
  const ir_inst *value = store->args[1];
  if (value->type->kind == IR_VECTOR && value->type->elem->kind == IR_BOOL)
    put_stored_bools(e, value);
  else if (text_is_inline_in(&e->plan, store))
    put_definition(e, value, want_for(e, store));
  else
    put_operand(e, value, want_for(e, store));
}

/* Whether a value is what stands in the place of a store before it. */
static bool is_old_value(const emitter *e, const ir_inst *store, const ir_inst *value) {
  const ir_inst *place = store->args[0];
  if (place->op == IR_ADDRESS && text_stored_in(&e->plan, value) == place->u.var) return true;
  bool is_load = value->op == IR_LOAD && text_is_inline(&e->plan, value) && value->args[0] == place;
  return is_load && !((store->flags | value->flags) & IR_VOLATILE) && store->imm == value->imm;
}

/* The operator of `x += y`, where a store of x + y to x may be that; NULL: it may not. */
static const char *joint_operator(const emitter *e, const ir_inst *store) {
  static const char *const words[IR_OP_COUNT] = {
      [IR_ADD] = "+=", [IR_SUB] = "-=",  [IR_MUL] = "*=",  [IR_AND] = "&=",  [IR_OR] = "|=",
      [IR_XOR] = "^=", [IR_FADD] = "+=", [IR_FSUB] = "-=", [IR_FMUL] = "*=", [IR_FDIV] = "/="};
  const ir_inst *value = store->args[1];
  if (!text_is_inline_in(&e->plan, store) || !words[value->op] || !is_old_value(e, store, value->args[0])) return NULL;
  bool wraps = value->op <= IR_MUL && !(value->flags & IR_NSW);
  bool is_narrow = value->type->kind == IR_INT && value->type->bits < 32;
  if (is_narrow || ir_elem_of(value->type)->kind == IR_BOOL) return NULL;
  return wraps && text_is_signed(&e->signs, store->args[0]) ? NULL : words[value->op];
}

static bool is_step(const ir_inst *value) {
  const ir_inst *other = value->args[1];
  bool by_one = other->op == IR_CONST && other->type->kind == IR_INT && other->imm == 1;
  return by_one && (value->op == IR_ADD || value->op == IR_SUB);
}

/* (*p)++ */
static void put_step(emitter *e, const ir_inst *inst) {
  size_t start = e->out->size;
  shape s = put_accessed(e, inst, inst->args[0]);
  if (s.level < TEXT_POSTFIX) text_wrap(e->out, start, "(", ")");
  put(e, inst->args[1]->op == IR_ADD ? "++" : "--");
}

static void put_assignment(emitter *e, const ir_inst *inst) {
  const char *joint = joint_operator(e, inst);
  if (joint && is_step(inst->args[1])) {
    put_step(e, inst);
    return;
  }
  put_accessed(e, inst, inst->args[0]);
  putf(e, " %s ", joint ? joint : "=");
  if (joint)
    put_operand(e, inst->args[1]->args[1], want_for(e, inst));
  else
    put_stored(e, inst);
}

bool is_stored_insertion(const emitter *e, const ir_inst *store) {
  return store->op == IR_STORE && store->args[1]->op == IR_INSERT && text_is_inline_in(&e->plan, store);
}

bool is_insertion_into_itself(const emitter *e, const ir_inst *store) {
  return is_old_value(e, store, store->args[1]->args[0]);
}

/* v = w, v.x = y: where an expression is wanted. */
static void put_insertion_list(emitter *e, const ir_inst *store) {
  const char *name = var_name(e, store->args[0]->u.var);
  if (!is_insertion_into_itself(e, store)) {
    putf(e, "%s = ", name);
    put_stored(e, store);
    put(e, ", ");
  }
  put_insert(e, store->args[1], name);
}

static void put_packed_store(emitter *e, const ir_inst *inst) {
  putf(e, "vstore%u(", inst->args[1]->type->count);
  put_stored(e, inst);
  put(e, ", 0, ");
  put_operand(e, inst->args[0], (want){0});
  put(e, ")");
}

void put_store(emitter *e, const ir_inst *inst) {
  if (inst->op == IR_VSTORE)
    put_packed_store(e, inst);
  else if (is_stored_insertion(e, inst))
    put_insertion_list(e, inst);
  else
    put_assignment(e, inst);
}

/* ---- Copies ---- */

static bool copies_packed(const emitter *e, const ir_inst *inst) {
  return is_misaligned(e, inst, inst->args[0]) || is_misaligned(e, inst, inst->args[1]);
}

/* Arrays are no values: a struct around them is. */
static void put_copy_side(emitter *e, const ir_inst *inst, uint32_t side) {
  bool is_packed = copies_packed(e, inst), is_array = inst->args[0]->type->elem->kind == IR_ARRAY;
  if (is_packed || is_array)
    put_wrapped(e, inst, inst->args[side], is_packed, "");
  else if (inst->flags & IR_VOLATILE)
    put_accessed(e, inst, inst->args[side]);
  else
    put_place(e, inst->args[side], TEXT_UNARY);
}

void put_copy(emitter *e, const ir_inst *inst) {
  put_copy_side(e, inst, 0);
  put(e, " = ");
  put_copy_side(e, inst, 1);
}

void put_copied(emitter *e, const ir_inst *inst) {
  if (copies_packed(e, inst))
    put_wrapped(e, inst, inst->args[1], true, "value");
  else
    put_copy_side(e, inst, 1);
}
