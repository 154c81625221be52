#include "compiler/front/builtin.h"
#include "compiler/front/convert.h"
#include "compiler/front/emit.h"

/* ---- What may be evaluated without need ----------------------------------------------------------------------------
 */

/* So that && || and ?: become plain operations: no effects, no memory that may be out of bounds, nothing slow. */
static bool is_cheap(const front_expr *e, int *budget) {
  if (e == NULL) return true;
  if (--*budget < 0) return false;
  switch (e->kind) {
    case EXPR_CONST:
      return true;
    case EXPR_OBJECT:
      if (e->u.object->constant != NULL && !e->u.object->is_assigned) return true;
      return (e->u.object->kind == OBJECT_PRIVATE || e->u.object->kind == OBJECT_PARAM) &&
             !(e->type->quals & FRONT_VOLATILE) && !front_is_aggregate(e->type);
    case EXPR_BINARY:
      return e->op != OP_DIV && e->op != OP_MOD && is_cheap(e->a, budget) && is_cheap(e->b, budget);
    case EXPR_UNARY:
    case EXPR_CONVERT:
    case EXPR_SWIZZLE:
    case EXPR_COMPARE:
    case EXPR_LOGICAL:
    case EXPR_CONDITIONAL:
    case EXPR_CHOOSE:
      return is_cheap(e->a, budget) && is_cheap(e->b, budget) && is_cheap(e->c, budget);
    case EXPR_BUILTIN:
      for (uint32_t i = 0; i < e->u.call.count; i++) {
        if (!is_cheap(e->u.call.args[i], budget)) return false;
      }
      return e->u.call.overload->is_cheap;
    case EXPR_VECTOR:
      for (uint32_t i = 0; i < e->u.call.count; i++) {
        if (!is_cheap(e->u.call.args[i], budget)) return false;
      }
      return true;
    default:
      return false;
  }
}

static bool may_evaluate(const front_expr *e) {
  int budget = 24;
  return is_cheap(e, &budget);
}

/* ---- Truth
 * ------------------------------------------------------------------------------------------------------------- */

static ir_inst *truth_constant(front *f, bool value) { return ir_const_int(f->m, ir_bool(f->m), value); }

/* a && b or a || b where b may not be evaluated without need. */
static ir_inst *short_circuit(front *f, front_expr *e) {
  ir_inst *a = front_emit_truth(f, e->a);
  if (a->op == IR_CONST) {
    bool decides = (a->imm != 0) == (e->op == OP_OROR);
    return decides ? a : front_emit_truth(f, e->b);
  }
  ir_var *var = ir_var_private(f->b.f, "truth", ir_bool(f->m));
  (void)ir_store(&f->b, var->address, a);
  ir_inst *branch = ir_if(&f->b, a);
  if (f->m->failed) return a;
  ir_block *outside = ir_into(&f->b, branch->u.ctrl.blocks[e->op == OP_OROR]);
  (void)ir_store(&f->b, var->address, front_emit_truth(f, e->b));
  ir_into(&f->b, outside);
  return ir_load(&f->b, var->address);
}

static ir_inst *logical_truth(front *f, front_expr *e) {
  if (!f->is_folding && !may_evaluate(e->b)) return short_circuit(f, e);
  ir_inst *a = front_emit_truth(f, e->a);
  ir_inst *b = front_emit_truth(f, e->b);
  f->b.loc = e->loc;
  if (a->op == IR_CONST) return (a->imm != 0) == (e->op == OP_OROR) ? a : b;
  return ir_bin(&f->b, e->op == OP_ANDAND ? IR_AND : IR_OR, a, b);
}

static ir_inst *compare_truth(front *f, front_expr *e) {
  ir_inst *a = front_emit_value(f, e->a);
  ir_inst *b = front_emit_value(f, e->b);
  f->b.loc = e->loc;
  return front_emit_compare(f, e->op, e->a->type, a, b);
}

/* Whether a tree is a truth that the IR has as a bool, though C says int. */
static bool is_truth(const front_expr *e) {
  return e->kind == EXPR_COMPARE || e->kind == EXPR_LOGICAL || (e->kind == EXPR_UNARY && e->op == OP_NOT);
}

ir_inst *front_emit_truth(front *f, front_expr *e) {
  while (e->kind == EXPR_CONVERT && e->type->kind == FRONT_BOOL) e = e->a;
  switch (e->kind) {
    case EXPR_COMPARE:
      return compare_truth(f, e);
    case EXPR_LOGICAL:
      return logical_truth(f, e);
    case EXPR_UNARY:
      if (e->op == OP_NOT) return ir_un(&f->b, IR_NOT, front_emit_truth(f, e->a));
      break;
    default:
      break;
  }
  if (e->kind == EXPR_STRING) return truth_constant(f, true);
  return front_emit_nonzero(f, front_emit_value(f, e), e->type);
}

/* The lanes of a vector as bools: those that aren't zero. */
static ir_inst *lanes_truth(front *f, front_expr *e) {
  if (!is_truth(e)) return front_emit_nonzero(f, front_emit_value(f, e), e->type);
  if (e->kind == EXPR_COMPARE) return compare_truth(f, e);
  ir_inst *a = lanes_truth(f, e->a);
  if (e->kind == EXPR_UNARY) return ir_un(&f->b, IR_NOT, a);
  ir_inst *b = lanes_truth(f, e->b);
  return ir_bin(&f->b, e->op == OP_ANDAND ? IR_AND : IR_OR, a, b);
}

/* A truth as C has it: 1 in an int, -1 in the lanes of a vector. */
static ir_inst *truth_value(front *f, front_expr *e) {
  const ir_type *type = front_ir(f, e->type);
  if (front_is_vector(e->type)) return ir_conv(&f->b, IR_SEXT, lanes_truth(f, e), type);
  return ir_conv(&f->b, IR_ZEXT, front_emit_truth(f, e), type);
}

/* ---- Operators
 * ------------------------------------------------------------------------------------------------------------ */

static ir_inst *unary_value(front *f, front_expr *e) {
  ir_inst *a = front_emit_value(f, e->a);
  f->b.loc = e->loc;
  f->b.fp_flags = f->fp_flags;
  switch (e->op) {
    case OP_NEG:
      if (front_is_floating(e->type)) return ir_un(&f->b, IR_FNEG, a);
      return front_emit_arithmetic(f, e, OP_SUB, e->type, ir_zero(f->m, a->type), a);
    case OP_BITNOT:
      return ir_un(&f->b, IR_NOT, a);
    default:
      return a;
  }
}

/* A chain like a + b + c + ... is walked down its left side without recursion. */
static ir_inst *binary_value(front *f, front_expr *e) {
  uint32_t depth = 0;
  for (front_expr *at = e; at->kind == EXPR_BINARY; at = at->a) depth++;
  front_expr *one = e, **chain = depth == 1 ? &one : QN_ARENA_ARRAY(f->arena, front_expr *, depth);
  if (chain == NULL) {
    f->failed = f->m->failed = true;
    return ir_undef(f->m, front_ir(f, e->type));
  }
  for (uint32_t i = 0; i < depth; i++, e = e->a) chain[i] = e;
  ir_inst *value = front_emit_value(f, e);
  while (depth-- > 0) {
    front_expr *at = chain[depth];
    value = front_emit_arithmetic(f, at, at->op, at->type, value, front_emit_value(f, at->b));
  }
  return value;
}

static ir_inst *conditional_value(front *f, front_expr *e) {
  ir_inst *condition = front_emit_truth(f, e->a);
  if (condition->op == IR_CONST) return front_emit_value(f, condition->imm != 0 ? e->b : e->c);
  bool is_void = e->type->kind == FRONT_VOID;
  if (!is_void && (f->is_folding || (may_evaluate(e->b) && may_evaluate(e->c)))) {
    ir_inst *b = front_emit_value(f, e->b);
    ir_inst *c = front_emit_value(f, e->c);
    f->b.loc = e->loc;
    return ir_select(&f->b, condition, b, c);
  }
  ir_var *var = is_void ? NULL : front_temporary(f, "choice", e->type);
  ir_inst *branch = ir_if(&f->b, condition);
  if (f->m->failed) return condition;
  for (int i = 0; i < 2; i++) {
    ir_block *outside = ir_into(&f->b, branch->u.ctrl.blocks[i]);
    ir_inst *value = front_emit_value(f, i == 0 ? e->b : e->c);
    if (var != NULL) (void)ir_store(&f->b, var->address, value);
    ir_into(&f->b, outside);
  }
  return var == NULL ? NULL : ir_load(&f->b, var->address);
}

/* Lane by lane on the condition's sign bit. */
static ir_inst *choose_value(front *f, front_expr *e) {
  ir_inst *condition;
  if (is_truth(e->a)) {
    condition = lanes_truth(f, e->a);
  } else {
    ir_inst *value = front_emit_value(f, e->a);
    condition = ir_bin(&f->b, IR_SLT, value, ir_zero(f->m, value->type));
  }
  ir_inst *b = front_emit_value(f, e->b);
  ir_inst *c = front_emit_value(f, e->c);
  f->b.loc = e->loc;
  return ir_select(&f->b, condition, b, c);
}

static ir_inst *vector_value(front *f, front_expr *e) {
  const ir_type *type = front_ir(f, e->type);
  ir_inst *lanes[16];
  uint32_t count = 0;
  for (uint32_t i = 0; i < e->u.call.count; i++) {
    const front_expr *arg = e->u.call.args[i];
    ir_inst *value = front_emit_value(f, e->u.call.args[i]);
    uint32_t width = front_lanes(arg->type);
    if (width == type->count) return value; /* one vector is the whole */
    for (uint32_t lane = 0; lane < width && count < 16; lane++) {
      lanes[count++] = width == 1 ? value : ir_extract_at(&f->b, value, lane);
    }
  }
  f->b.loc = e->loc;
  return ir_vec(&f->b, type, lanes);
}

/* ---- Assignments
 * -------------------------------------------------------------------------------------------------------------- */

static ir_inst *assign_value(front *f, front_expr *e) {
  if (e->type->kind == FRONT_RECORD) {
    front_place source = front_emit_place(f, e->b);
    front_place target = front_emit_place(f, e->a);
    f->b.loc = e->loc;
    front_copy(f, &target, &source);
    return NULL;
  }
  ir_inst *value = front_emit_value(f, e->b);
  front_place target = front_emit_place(f, e->a);
  f->b.loc = e->loc;
  front_store(f, &target, value);
  return value;
}

static ir_inst *compound_value(front *f, front_expr *e) {
  const front_type *calc = e->u.calc, *type = e->a->type;
  ir_inst *right = front_emit_value(f, e->b);
  if (front_is_pointer(calc)) right = front_emit_index(f, right, e->b->type);
  front_place place = front_emit_place(f, e->a);
  f->b.loc = e->loc;
  ir_inst *old = front_load(f, &place);
  ir_inst *value;
  if (front_is_pointer(calc)) {
    value = front_emit_pointer_add(f, e->op, old, right);
  } else {
    ir_inst *left = front_emit_conversion(f, old, type, calc);
    value = front_emit_conversion(f, front_emit_arithmetic(f, e, e->op, calc, left, right), calc, type);
  }
  front_store(f, &place, value);
  return value;
}

static ir_inst *one_of(front *f, const front_type *type) {
  const ir_type *elem = front_ir(f, front_elem(type));
  ir_inst *one = elem->kind == IR_FLOAT ? ir_const_float(f->m, elem, 1.0) : ir_const_int(f->m, elem, 1);
  return ir_const_splat(f->m, front_ir(f, type), one);
}

static ir_inst *step_value(front *f, front_expr *e) {
  const front_type *type = e->a->type;
  front_place place = front_emit_place(f, e->a);
  f->b.loc = e->loc;
  ir_inst *old = front_load(f, &place);
  ir_inst *value;
  if (front_is_pointer(type)) {
    value = front_emit_pointer_add(f, e->op, old, ir_const_int(f->m, ir_size_type(f->m), 1));
  } else {
    bool is_small = type->kind == FRONT_BOOL || (type->kind == FRONT_INT && type->bits < 32);
    const front_type *calc = is_small ? front_int(f, 32, true) : type->plain;
    ir_inst *left = front_emit_conversion(f, old, type, calc);
    value = front_emit_conversion(f, front_emit_arithmetic(f, e, e->op, calc, left, one_of(f, calc)), calc, type);
  }
  front_store(f, &place, value);
  return e->is_postfix ? old : value;
}

/* ---- Calls
 * -------------------------------------------------------------------------------------------------------------------
 */

/* A record for a byval parameter: a copy that the callee owns. */
static ir_inst *record_argument(front *f, front_expr *arg) {
  front_place source = front_emit_place(f, arg);
  if (arg->kind == EXPR_CALL) return source.pointer; /* it is a copy already */
  ir_var *var = front_temporary(f, "argument", arg->type);
  front_place target = {.kind = PLACE_MEMORY, .pointer = var->address};
  front_copy(f, &target, &source);
  return var->address;
}

/* The result; of a record: the pointer to it. */
static ir_inst *call_value(front *f, front_expr *e) {
  ir_function *callee = front_ir_function(f, e->u.call.callee);
  bool gives_record = e->type->kind == FRONT_RECORD;
  uint32_t count = e->u.call.count;
  ir_inst **args = QN_ARENA_ARRAY(f->arena, ir_inst *, count + 1);
  if (args == NULL || callee == NULL) {
    f->failed = f->m->failed = true;
    return ir_undef(f->m, ir_int(f->m, 32));
  }
  uint32_t used = 0;
  if (gives_record) args[used++] = front_temporary(f, "result", e->type)->address;
  for (uint32_t i = 0; i < count; i++) {
    front_expr *arg = e->u.call.args[i];
    args[used++] = arg->type->kind == FRONT_RECORD ? record_argument(f, arg) : front_emit_value(f, arg);
  }
  f->b.loc = e->loc;
  ir_inst *result = ir_call(&f->b, callee, args, used);
  return gives_record ? args[0] : e->type->kind == FRONT_VOID ? NULL : result;
}

static ir_inst *builtin_value(front *f, front_expr *e) {
  const front_overload *overload = e->u.call.overload;
  ir_inst *args[FRONT_OVERLOAD_PARAMS];
  for (uint32_t i = 0; i < e->u.call.count; i++) args[i] = front_emit_value(f, e->u.call.args[i]);
  f->b.loc = e->loc;
  f->b.fp_flags = f->fp_flags | (e->is_contract ? (uint32_t)IR_CONTRACT : 0);
  ir_inst *result = front_builtin_emit(f, overload, args);
  if (overload->result->kind == FRONT_VOID) return NULL;
  return result != NULL ? result : ir_undef(f->m, front_ir(f, e->type));
}

/* ---- All
 * --------------------------------------------------------------------------------------------------------------------------
 */

static ir_inst *pointer_difference(front *f, front_expr *e) {
  ir_inst *a = front_emit_value(f, e->a);
  ir_inst *b = front_emit_value(f, e->b);
  f->b.loc = e->loc;
  if (f->m->failed) return a;
  if (a->type->elem->kind == IR_VOID) {
    const ir_type *bytes = ir_pointer(f->m, a->type->space, ir_int(f->m, 8));
    a = ir_conv(&f->b, IR_PCAST, a, bytes);
    b = ir_conv(&f->b, IR_PCAST, b, bytes);
  }
  return ir_bin(&f->b, IR_PDIFF, a, b);
}

static ir_inst *convert_value(front *f, front_expr *e) {
  if (e->type->kind == FRONT_VOID) {
    front_emit_effect(f, e->a);
    return NULL;
  }
  if (e->type->kind == FRONT_BOOL) return front_emit_truth(f, e->a);
  if (e->type->kind == FRONT_POINTER && front_is_null_constant(e->a)) return ir_zero(f->m, front_ir(f, e->type));
  ir_inst *a = front_emit_value(f, e->a);
  f->b.loc = e->loc;
  return front_emit_conversion(f, a, e->a->type, e->type);
}

/* The pointer to an array's first element, or the address of an element by index through the array. */
static ir_inst *decay_value(front *f, front_expr *array, ir_inst *index) {
  front_place place = front_emit_place(f, array);
  return ir_index(&f->b, place.pointer, index);
}

static ir_inst *pointer_add_value(front *f, front_expr *e) {
  ir_inst *index = front_emit_index(f, front_emit_value(f, e->b), e->b->type);
  if (e->a->kind == EXPR_DECAY && e->op == OP_ADD) return decay_value(f, e->a->a, index);
  ir_inst *pointer = front_emit_value(f, e->a);
  f->b.loc = e->loc;
  return front_emit_pointer_add(f, e->op, pointer, index);
}

static ir_inst *load_value(front *f, front_expr *e) {
  front_place place = front_emit_place(f, e);
  if (front_is_aggregate(e->type)) return place.pointer;
  f->b.loc = e->loc;
  return front_load(f, &place);
}

ir_inst *front_emit_value(front *f, front_expr *e) {
  switch (e->kind) {
    case EXPR_CONST:
      return e->u.constant;
    case EXPR_DECAY:
      return decay_value(f, e->a, ir_const_int(f->m, ir_size_type(f->m), 0));
    case EXPR_ADDRESS:
      return front_emit_place(f, e->a).pointer;
    case EXPR_CONVERT:
      return convert_value(f, e);
    case EXPR_COMPARE:
    case EXPR_LOGICAL:
      return truth_value(f, e);
    case EXPR_UNARY:
      return e->op == OP_NOT ? truth_value(f, e) : unary_value(f, e);
    case EXPR_BINARY:
      return binary_value(f, e);
    case EXPR_CONDITIONAL:
      if (e->type->kind == FRONT_RECORD) return front_emit_place(f, e).pointer;
      return conditional_value(f, e);
    case EXPR_CHOOSE:
      return choose_value(f, e);
    case EXPR_ASSIGN:
      return assign_value(f, e);
    case EXPR_COMPOUND:
      return compound_value(f, e);
    case EXPR_STEP:
      return step_value(f, e);
    case EXPR_POINTER_ADD:
      return pointer_add_value(f, e);
    case EXPR_POINTER_DIFF:
      return pointer_difference(f, e);
    case EXPR_COMMA:
      front_emit_effect(f, e->a);
      return front_emit_value(f, e->b);
    case EXPR_CALL:
      return call_value(f, e);
    case EXPR_BUILTIN:
      return builtin_value(f, e);
    case EXPR_VECTOR:
      return vector_value(f, e);
    case EXPR_ERROR:
      return ir_undef(f->m, ir_int(f->m, 32)); /* not met: nothing is emitted after an error */
    default:
      return load_value(f, e);
  }
}

void front_emit_effect(front *f, front_expr *e) {
  switch (e->kind) {
    case EXPR_OBJECT: /* (void)x and other mentions of a variable */
      if (!(e->type->quals & FRONT_VOLATILE)) return;
      break;
    case EXPR_CONVERT:
      front_emit_effect(f, e->a);
      return;
    default:
      break;
  }
  (void)front_emit_value(f, e);
}
