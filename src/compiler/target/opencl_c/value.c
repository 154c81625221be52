/* value.c - operands: names, literals, or expressions; brackets and casts where the user of a value wants them. */
#include "compiler/target/opencl_c/emit.h"

/* ---- Lanes of bools ---- */

uint8_t mask_of(const emitter *e, const ir_inst *value) {
  if (value->parent) return e->masks[value->id - e->function->first_inst];
  return value->op == IR_PARAM ? 32 : 0; /* 0: a constant, which is written with any */
}

/* ---- What a name or leaf is ---- */

static shape name_shape(const emitter *e, const ir_inst *value) {
  return (shape){TEXT_POSTFIX, text_is_signed(&e->signs, value), true, mask_of(e, value)};
}

static shape put_value(emitter *e, const ir_inst *value, want w) {
  switch (value->op) {
    case IR_CONST:
    case IR_AGGREGATE:
    case IR_ZERO:
    case IR_UNDEF:
      return put_constant(e, value, w);
    case IR_PARAM:
      if (value->type->kind == IR_POINTER) return put_pointer(e, value);
      put(e, e->param_names[value->imm]);
      return name_shape(e, value);
    case IR_ADDRESS:
      return put_pointer(e, value);
    default:
      break;
  }
  const text_planned *planned = text_planned_of(&e->plan, value);
  if (planned->how == TEXT_INLINE)
    return w.sign && converts_to_any_sign(value) ? put_signed_conversion(e, value, w.sign > 0)
                                                 : put_expression(e, value);
  if (planned->how == TEXT_STORED) {
    const ir_var *var = text_stored_in(&e->plan, value);
    put(e, var_name(e, var));
    return (shape){TEXT_POSTFIX, text_var_is_signed(&e->signs, var), true, 0};
  }
  put(e, planned->name);
  return name_shape(e, value);
}

/* ---- What its user wants ---- */

void put_cast(emitter *e, size_t start, text_level level, const char *type_name) {
  if (level < TEXT_UNARY) text_wrap(e->out, start, "(", ")");
  size_t end = e->out->size;
  putf(e, "(%s)", type_name);
  text_move(e->out, end, start);
}

/* name(...) around what stands from `start` on. */
static void put_around(emitter *e, size_t start, const char *prefix, const char *name) {
  size_t end = e->out->size;
  putf(e, "%s%s(", prefix, name);
  text_move(e->out, end, start);
  put(e, ")");
}

/* The type with the sign that is wanted; of pointers, of what they lead to. */
static void cast(emitter *e, const ir_inst *value, size_t start, shape *s, bool is_signed) {
  const ir_type *type = value->type;
  bool is_vector = type->kind == IR_VECTOR;
  s->is_signed = is_signed;
  s->is_exact = true;
  if (is_vector) {
    put_around(e, start, "as_", number_name(e, type, is_signed));
  } else if (type->kind == IR_POINTER) {
    put_cast(e, start, s->level, pointer_name(e, type, is_signed, is_const_pointer(e, value)));
  } else {
    put_cast(e, start, s->level, number_name(e, type, is_signed));
  }
  s->level = is_vector ? TEXT_POSTFIX : TEXT_UNARY;
}

static void change_mask(emitter *e, const ir_inst *value, size_t start, shape *s, uint8_t bits) {
  put_around(e, start, "convert_", mask_name(e, value->type->count, bits));
  s->level = TEXT_POSTFIX;
  s->mask = bits;
}

/* A scalar where a vector of it is wanted: what makes a vector of all its lanes the same, or NULL. */
static const ir_inst *scalar_for(emitter *e, const ir_inst *value) {
  const ir_type *elem = ir_elem_of(value->type);
  if (value->type->kind != IR_VECTOR || elem->kind == IR_BOOL || elem->bits < 32) return NULL;
  if (text_is_inline(&e->plan, value) && value->op == IR_SPLAT) return value->args[0];
  return splat_of(e, value);
}

bool is_widened(emitter *e, const ir_inst *value) { return scalar_for(e, value) != NULL; }

/* Makes what was written from `start` on what is wanted. */
static shape adapt(emitter *e, const ir_inst *value, size_t start, shape s, want w) {
  bool has_sign = text_core(value->type)->kind == IR_INT;
  bool other_sign = has_sign && w.sign && s.is_signed != (w.sign > 0);
  if (other_sign || (w.exact && !s.is_exact)) cast(e, value, start, &s, w.sign ? w.sign > 0 : s.is_signed);
  if (w.mask && s.mask && s.mask != w.mask) change_mask(e, value, start, &s, w.mask);
  if (text_wants_brackets(s.level, w.outer, w.is_right)) {
    text_wrap(e->out, start, "(", ")");
    s.level = TEXT_POSTFIX;
  }
  return s;
}

shape put_operand(emitter *e, const ir_inst *value, want w) {
  size_t start = e->out->size;
  const ir_inst *scalar = w.widens ? scalar_for(e, value) : NULL;
  if (scalar) return put_operand(e, scalar, (want){w.outer, w.is_right, w.sign, true, 0, false});
  return adapt(e, value, start, put_value(e, value, w), w);
}

void put_definition(emitter *e, const ir_inst *inst, want w) {
  size_t start = e->out->size;
  if (inst->op == IR_INSERT)
    put_operand(e, inst->args[0], w);
  else if (inst->op == IR_ATOMIC)
    put_atomic(e, inst);
  else
    adapt(e, inst, start, put_expression(e, inst), w);
}

/* ---- Conditions ---- */

static const char *opposite(ir_op op) {
  static const char *const words[IR_OP_COUNT] = {[IR_EQ] = "!=",  [IR_NE] = "==", [IR_SLT] = ">=", [IR_SLE] = ">",
                                                 [IR_ULT] = ">=", [IR_ULE] = ">", [IR_FEQ] = "!=", [IR_FNE] = "=="};
  return words[op];
}

void put_condition(emitter *e, const ir_inst *value, bool holds) {
  if (holds) {
    put_operand(e, value, (want){0});
    return;
  }
  if (text_is_inline(&e->plan, value) && value->op == IR_NOT) {
    put_condition(e, value->args[0], true);
    return;
  }
  if (text_is_inline(&e->plan, value) && opposite(value->op)) {
    put_comparison(e, value, opposite(value->op));
    return;
  }
  put(e, "!");
  put_operand(e, value, (want){.outer = TEXT_UNARY});
}

/* ---- Expressions ---- */

static shape put_query(emitter *e, const ir_inst *inst) {
  static const struct {
    ir_op op;
    const char *function, *member; /* member of the launch's range */
  } queries[] = {
      {IR_GLOBAL_ID, "get_global_id", NULL},
      {IR_LOCAL_ID, "get_local_id", NULL},
      {IR_GROUP_ID, "get_group_id", "group_base"}, /* which an entry makes the group's id: put_range */
      {IR_GLOBAL_SIZE, "get_global_size", "global_size"},
      {IR_LOCAL_SIZE, "get_local_size", NULL},
      {IR_ENQUEUED_SIZE, "get_local_size", "enqueued_local"},
      {IR_NUM_GROUPS, "get_num_groups", "num_groups"},
      {IR_GLOBAL_OFFSET, "get_global_offset", "global_offset"},
      {IR_WORK_DIM, "get_work_dim", NULL},
  };
  size_t i = 0;
  while (queries[i].op != inst->op) i++;
  const char *member = e->range ? queries[i].member : NULL, *function = queries[i].function;
  const char *narrow = e->m->model.address_bits == 32 ? "(uint)" : "";
  const char *arrow = e->function->f->is_kernel ? "." : "->";
  unsigned d = (unsigned)inst->imm;
  shape s = {TEXT_POSTFIX, false, true, 0};
  if (inst->op == IR_WORK_DIM) {
    putf(e, "%s()", function);
  } else if (!member) {
    putf(e, "%s(%u)", function, d);
  } else {
    putf(e, "%s%s%s%s[%u]", narrow, e->range, arrow, member, d);
    s.level = *narrow ? TEXT_UNARY : TEXT_POSTFIX;
  }
  return s;
}

static shape put_pointer_number(emitter *e, const ir_inst *inst) {
  const ir_type *type = inst->type;
  bool is_signed = text_is_signed(&e->signs, inst);
  const ir_type *size = ir_size_type(e->m);
  if (type != size || is_signed) putf(e, "(%s)", number_name(e, type, is_signed));
  putf(e, "(%s)", number_name(e, size, false));
  put_operand(e, inst->args[0], (want){.outer = TEXT_UNARY});
  return (shape){TEXT_UNARY, is_signed, true, 0};
}

static shape put_distance(emitter *e, const ir_inst *inst) {
  put_operand(e, inst->args[0], (want){.outer = TEXT_ADD});
  put(e, " - ");
  put_operand(e, inst->args[1],
              (want){.outer = TEXT_ADD, .is_right = true, .sign = sign_of(text_is_signed(&e->signs, inst->args[0]))});
  return (shape){TEXT_ADD, true, true, 0};
}

static shape put_call_value(emitter *e, const ir_inst *inst) {
  put_call(e, inst);
  return (shape){TEXT_POSTFIX, text_result_is_signed(&e->signs, inst->u.callee), true, mask_of(e, inst)};
}

shape put_expression(emitter *e, const ir_inst *inst) {
  if (is_component_wise(inst->op)) return put_op(e, inst);
  if (text_is_query(inst->op)) return put_query(e, inst);
  switch (inst->op) {
    case IR_SELECT:
      return put_select(e, inst);
    case IR_ELEM:
    case IR_INDEX:
    case IR_FIELD:
    case IR_PCAST:
    case IR_ITOP:
      return put_pointer(e, inst);
    case IR_PTOI:
      return put_pointer_number(e, inst);
    case IR_PDIFF:
      return put_distance(e, inst);
    case IR_LOAD:
    case IR_VLOAD:
      return put_load(e, inst);
    case IR_CALL:
      return put_call_value(e, inst);
    default:
      return put_vector_op(e, inst);
  }
}
