/* place.c - pointers, and the places that they lead to: paths through arrays and structs stay paths. */
#include <inttypes.h>

#include "compiler/target/opencl_c/emit.h"

const char *var_name(emitter *e, const ir_var *var) {
  return var->function ? e->var_names[var->id - e->function->first] : constant_name(e, var);
}

bool is_const_pointer(const emitter *e, const ir_inst *pointer) {
  const text_function *t = e->function;
  bool is_known = pointer->op == IR_PARAM || pointer->parent;
  return is_known && pointer->type->space != IR_CONSTANT && t->reads_only[pointer->id - t->first];
}

bool is_const_var(const emitter *e, const ir_var *var) {
  const text_function *t = e->function;
  return var->type->kind == IR_POINTER && var->type->space != IR_CONSTANT && t->reads_only[var->id - t->first];
}

static shape pointer_shape(const emitter *e, const ir_inst *pointer, text_level level) {
  return (shape){level, text_is_signed(&e->signs, pointer), true, 0};
}

/* A kernel's struct by value is the parameter itself. */
static bool is_value_parameter(const emitter *e, const ir_inst *x) {
  return x->op == IR_PARAM && e->function->f->is_kernel && e->function->f->params[x->imm].byval;
}

/* Whether a place has a form of its own, without a star. */
static bool is_path(const emitter *e, const ir_inst *pointer) {
  if (pointer->op == IR_ADDRESS || is_value_parameter(e, pointer)) return true;
  if (!text_is_inline(&e->plan, pointer)) return false;
  return pointer->op == IR_ELEM || pointer->op == IR_INDEX || pointer->op == IR_FIELD;
}

static bool is_first(const ir_inst *index) { return index->op == IR_CONST && !index->imm; }

/* Widening that subscripts do by themselves. */
static void put_index(emitter *e, const ir_inst *index, text_level outer) {
  bool widens = (index->op == IR_SEXT || index->op == IR_ZEXT) && text_is_inline(&e->plan, index) &&
                index->args[0]->type->kind == IR_INT;
  if (widens) {
    put_operand(e, index->args[0], (want){.outer = outer, .is_right = true, .sign = index->op == IR_SEXT ? 1 : -1});
    return;
  }
  /* Signed: where addresses are 64 bits wide, an unsigned int would be widened with zeros. */
  bool is_word = index->type->bits == e->m->model.address_bits;
  put_operand(e, index, (want){.outer = outer, .is_right = true, .sign = is_word ? 0 : 1});
}

/* ---- Lanes of vectors in memory ---- */

/* A lane of a private vector is a component; elsewhere others may own the rest, so that it is a place of its own. */
static bool is_component(const emitter *e, const ir_inst *inst) {
  return inst->args[0]->type->space == IR_PRIVATE && inst->args[1]->op == IR_CONST &&
         inst->args[1]->imm < inst->args[0]->type->elem->count && inst->args[0]->type->elem->elem->kind != IR_BOOL &&
         is_path(e, inst->args[0]);
}

static void put_lane_pointer(emitter *e, const ir_inst *inst) {
  putf(e, "(%s)", pointer_name(e, inst->type, text_is_signed(&e->signs, inst), is_const_pointer(e, inst)));
  put_operand(e, inst->args[0], (want){.outer = TEXT_UNARY});
}

static void put_lane_place(emitter *e, const ir_inst *inst) {
  if (is_component(e, inst)) {
    int32_t lane = (int32_t)inst->args[1]->imm;
    put_place(e, inst->args[0], TEXT_POSTFIX);
    put_lanes(e, &lane, 1, inst->args[0]->type->elem->count);
    return;
  }
  put(e, "(");
  put_lane_pointer(e, inst);
  put(e, ")[");
  put_index(e, inst->args[1], TEXT_ANY);
  put(e, "]");
}

/* ---- Places ---- */

static void put_element_place(emitter *e, const ir_inst *inst) {
  if (inst->op == IR_ELEM)
    put_operand(e, inst->args[0], (want){.outer = TEXT_POSTFIX});
  else
    put_place(e, inst->args[0], TEXT_POSTFIX);
  put(e, "[");
  put_index(e, inst->args[1], TEXT_ANY);
  put(e, "]");
}

static void put_member_place(emitter *e, const ir_inst *inst) {
  const char *name = field_name(e, inst->args[0]->type->elem, (uint32_t)inst->imm);
  if (is_path(e, inst->args[0])) {
    put_place(e, inst->args[0], TEXT_POSTFIX);
    putf(e, ".%s", name);
  } else {
    put_operand(e, inst->args[0], (want){.outer = TEXT_POSTFIX});
    putf(e, "->%s", name);
  }
}

shape put_place(emitter *e, const ir_inst *pointer, text_level outer) {
  bool is_lane = pointer->op == IR_INDEX && pointer->args[0]->type->elem->kind == IR_VECTOR;
  if (!is_path(e, pointer) && pointer->op == IR_PARAM && pointer->type->space != IR_PRIVATE) {
    putf(e, "%s[0]", e->param_names[pointer->imm]); /* a buffer, as sources have it */
    return pointer_shape(e, pointer, TEXT_POSTFIX);
  }
  if (!is_path(e, pointer)) {
    put(e, outer > TEXT_UNARY ? "(*" : "*");
    put_operand(e, pointer, (want){.outer = TEXT_UNARY});
    put(e, outer > TEXT_UNARY ? ")" : "");
    return pointer_shape(e, pointer, outer > TEXT_UNARY ? TEXT_POSTFIX : TEXT_UNARY);
  }
  if (pointer->op == IR_ADDRESS) {
    if (!put_word_place(e, pointer->u.var, false)) put(e, var_name(e, pointer->u.var));
  } else if (pointer->op == IR_PARAM) {
    put(e, e->param_names[pointer->imm]);
  } else if (is_lane) {
    put_lane_place(e, pointer);
  } else if (pointer->op == IR_FIELD) {
    put_member_place(e, pointer);
  } else {
    put_element_place(e, pointer);
  }
  return pointer_shape(e, pointer, TEXT_POSTFIX);
}

/* ---- Pointers ---- */

static shape put_address(emitter *e, const ir_inst *pointer) {
  if (pointer->op == IR_ADDRESS && put_word_place(e, pointer->u.var, true))
    return pointer_shape(e, pointer, TEXT_UNARY);
  put(e, "&");
  put_place(e, pointer, TEXT_POSTFIX);
  return pointer_shape(e, pointer, TEXT_UNARY);
}

static shape put_element_pointer(emitter *e, const ir_inst *inst) {
  const ir_inst *index = inst->args[1];
  put_operand(e, inst->args[0], (want){.outer = TEXT_ADD});
  int64_t value =
      index->op == IR_CONST ? (int64_t)(index->imm << (64 - index->type->bits)) >> (64 - index->type->bits) : 0;
  if (value < 0 && value > INT32_MIN) {
    putf(e, " - %" PRId64, -value);
  } else {
    put(e, " + ");
    put_index(e, index, TEXT_ADD);
  }
  return pointer_shape(e, inst, TEXT_ADD);
}

/* The first element of an array is what the array's name becomes. */
static shape put_index_pointer(emitter *e, const ir_inst *inst) {
  if (inst->args[0]->type->elem->kind == IR_VECTOR) {
    put_lane_pointer(e, inst);
    if (is_first(inst->args[1])) return pointer_shape(e, inst, TEXT_UNARY);
    put(e, " + ");
    put_index(e, inst->args[1], TEXT_ADD);
    return pointer_shape(e, inst, TEXT_ADD);
  }
  if (!is_first(inst->args[1])) return put_address(e, inst);
  put_place(e, inst->args[0], TEXT_POSTFIX);
  return pointer_shape(e, inst, TEXT_POSTFIX);
}

static shape put_pointer_cast(emitter *e, const ir_inst *inst) {
  shape s = pointer_shape(e, inst, TEXT_UNARY);
  putf(e, "(%s)", pointer_name(e, inst->type, s.is_signed, is_const_pointer(e, inst)));
  if (inst->op == IR_ITOP) putf(e, "(%s)", number_name(e, ir_size_type(e->m), false));
  put_operand(e, inst->args[0], (want){.outer = TEXT_UNARY, .sign = inst->op == IR_ITOP ? -1 : 0});
  return s;
}

shape put_pointer(emitter *e, const ir_inst *pointer) {
  if (pointer->op == IR_ADDRESS || is_value_parameter(e, pointer)) return put_address(e, pointer);
  switch (pointer->op) {
    case IR_PARAM:
      put(e, e->param_names[pointer->imm]);
      return pointer_shape(e, pointer, TEXT_POSTFIX);
    case IR_ELEM:
      return put_element_pointer(e, pointer);
    case IR_INDEX:
      return put_index_pointer(e, pointer);
    case IR_FIELD:
      return put_address(e, pointer);
    default:
      return put_pointer_cast(e, pointer);
  }
}
