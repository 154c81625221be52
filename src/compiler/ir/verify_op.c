#include "compiler/ir/text.h"
#include "compiler/ir/verify.h"

bool ir_verify_is_object(const ir_type *type) {
  return type->kind != IR_VOID && type->is_complete && type->size > 0 && type->size < IR_SIZE_LIMIT;
}

bool ir_verify_is_align(uint64_t align) { return align <= IR_ALIGN_LIMIT && !(align & (align - 1)); }

static bool is_int(const ir_type *t) { return t->kind == IR_INT; }
static bool is_bool(const ir_type *t) { return t->kind == IR_BOOL; }
static bool is_float(const ir_type *t) { return t->kind == IR_FLOAT; }
static bool is_pointer(const ir_type *t) { return t->kind == IR_POINTER; }
static bool is_vector(const ir_type *t) { return t->kind == IR_VECTOR; }
/* What instructions give and take. */
static bool is_value(const ir_type *t) { return ir_is_scalar(t) || is_vector(t) || is_pointer(t); }

static const ir_type *arg_type(const ir_inst *inst, uint32_t i) { return inst->args[i]->type; }
static const ir_type *pointee(const ir_inst *inst, uint32_t i) { return arg_type(inst, i)->elem; }

/* ---- Constants ---- */

static uint64_t part_count(const ir_type *type) {
  if (type->kind == IR_VECTOR) return type->count;
  if (type->kind == IR_ARRAY) return type->length;
  return type->is_union ? 1 : type->field_count;
}

static bool part_fits(const ir_type *type, uint32_t index, const ir_type *part) {
  if (type->kind != IR_STRUCT) return part == type->elem;
  if (type->is_union) return ir_union_field(type, part) < type->field_count;
  return part == type->fields[index].type;
}

static qn_status verify_aggregate(const ir_verifier *v, const ir_inst *user, const ir_inst *c, bool in_initialiser) {
  const ir_type *t = c->type;
  IR_RULE(v, user, is_vector(t) || t->kind == IR_ARRAY || t->kind == IR_STRUCT,
          "a constant with parts of a type without");
  bool fits = t->kind == IR_ARRAY ? c->arg_count <= t->length : c->arg_count == part_count(t);
  IR_RULE(v, user, fits, "a constant has another number of parts than its type");
  for (uint32_t i = 0; i < c->arg_count; i++) {
    IR_RULE(v, user, part_fits(t, i, c->args[i]->type), "a constant's part has another type");
    QN_TRY(ir_verify_constant(v, user, c->args[i], in_initialiser));
  }
  return QN_OK;
}

qn_status ir_verify_constant(const ir_verifier *v, const ir_inst *user, const ir_inst *c, bool in_initialiser) {
  switch (c->op) {
    case IR_CONST:
      IR_RULE(v, user, ir_is_scalar(c->type), "a plain constant is a scalar");
      return QN_OK;
    case IR_ZERO:
      IR_RULE(v, user, ir_verify_is_object(c->type), "zero of a type without size");
      return QN_OK;
    case IR_UNDEF:
      IR_RULE(v, user, ir_verify_is_object(c->type), "undef of a type without size");
      return QN_OK;
    case IR_AGGREGATE:
      return verify_aggregate(v, user, c, in_initialiser);
    case IR_ADDRESS:
      IR_RULE(v, user, in_initialiser && c->u.var->space == IR_CONSTANT,
              "an address with an offset stands in initialisers");
      IR_RULE(v, user, is_pointer(c->type) && c->type->space == IR_CONSTANT, "an address has another type");
      return QN_OK;
    default:
      return ir_verify_fail(v, user, "a constant expected");
  }
}

/* ---- Component-wise operations ---- */

enum { B = 1, I = 2, F = 4, P = 8 };

static uint32_t kind_bit(const ir_type *t) {
  switch (ir_elem_of(t)->kind) {
    case IR_BOOL:
      return B;
    case IR_INT:
      return I;
    case IR_FLOAT:
      return F;
    case IR_POINTER:
      return P;
    default:
      return 0;
  }
}

/* Which kinds of operands a component-wise operation takes. */
static uint32_t kinds_of(ir_op op) {
  if (op >= IR_AND && op <= IR_NOT) return B | I;
  if (op == IR_EQ || op == IR_NE) return B | I | P;
  if (op == IR_ULT || op == IR_ULE) return I | P;
  if (op == IR_SLT || op == IR_SLE) return I;
  return op >= IR_FADD ? F : I;
}

static qn_status verify_componentwise(const ir_verifier *v, const ir_inst *inst) {
  bool compares = ir_op_table[inst->op].cls == IR_CLASS_CMP;
  const ir_type *t = arg_type(inst, 0);
  IR_RULE(v, inst, kind_bit(t) & kinds_of(inst->op), "not an operand type of this operation");
  for (uint32_t i = 1; i < inst->arg_count; i++) {
    bool same =
        is_pointer(t) ? is_pointer(arg_type(inst, i)) && arg_type(inst, i)->space == t->space : arg_type(inst, i) == t;
    IR_RULE(v, inst, same, "the operands differ in type");
  }
  IR_RULE(v, inst, inst->type == (compares ? ir_bool_like(v->m, t) : t), "the result has another type");
  return QN_OK;
}

/* ---- Conversions ---- */

static bool is_three(const ir_type *t) { return is_vector(t) && t->count == 3; }

static bool bitcast_fits(const ir_type *from, const ir_type *to) {
  const ir_type *a = ir_elem_of(from), *b = ir_elem_of(to);
  bool numbers = (is_int(a) || is_float(a)) && (is_int(b) || is_float(b));
  return numbers && is_three(from) == is_three(to) && a->bits * ir_lanes_of(from) == b->bits * ir_lanes_of(to);
}

static bool conversion_fits(ir_op op, const ir_type *from, const ir_type *to) {
  switch (op) {
    case IR_TRUNC:
      return is_int(from) && is_int(to) && from->bits > to->bits;
    case IR_ZEXT:
    case IR_SEXT:
      return is_int(to) && (is_bool(from) || (is_int(from) && from->bits < to->bits));
    case IR_FTOS:
    case IR_FTOU:
      return is_float(from) && is_int(to);
    case IR_STOF:
      return is_int(from) && is_float(to);
    case IR_UTOF:
      return (is_int(from) || is_bool(from)) && is_float(to);
    case IR_FNARROW:
      return is_float(from) && is_float(to) && from->bits > to->bits;
    default:
      return is_float(from) && is_float(to) && from->bits < to->bits;
  }
}

static qn_status verify_conversion(const ir_verifier *v, const ir_inst *inst) {
  const ir_type *from = arg_type(inst, 0), *to = inst->type;
  if (inst->op == IR_BITCAST) {
    IR_RULE(v, inst, bitcast_fits(from, to), "a bitcast is between numbers of one size");
    return QN_OK;
  }
  IR_RULE(v, inst, is_vector(from) == is_vector(to) && ir_lanes_of(from) == ir_lanes_of(to),
          "the number of lanes changes");
  IR_RULE(v, inst, conversion_fits(inst->op, ir_elem_of(from), ir_elem_of(to)), "not types of this conversion");
  return QN_OK;
}

/* ---- Other pure values ---- */

static qn_status verify_select(const ir_verifier *v, const ir_inst *inst) {
  const ir_type *c = arg_type(inst, 0), *t = inst->type;
  bool lanes = is_vector(c) && is_bool(c->elem) && is_vector(t) && c->count == t->count;
  IR_RULE(v, inst, is_bool(c) || lanes, "the condition is a bool or has a bool for each lane");
  IR_RULE(v, inst, is_value(t) && arg_type(inst, 1) == t && arg_type(inst, 2) == t, "the choices have another type");
  return QN_OK;
}

static qn_status verify_shuffle(const ir_verifier *v, const ir_inst *inst) {
  const ir_type *t = arg_type(inst, 0);
  IR_RULE(v, inst, is_vector(t) && arg_type(inst, 1) == t, "two vectors of one type expected");
  IR_RULE(v, inst, is_vector(inst->type) && inst->type->elem == t->elem, "the result has another element type");
  IR_RULE(v, inst, inst->u.mask != NULL, "no mask");
  for (uint32_t i = 0; i < inst->type->count; i++)
    IR_RULE(v, inst, inst->u.mask[i] >= -1 && inst->u.mask[i] < (int32_t)(2 * t->count), "a lane that isn't there");
  return QN_OK;
}

static qn_status verify_vector_op(const ir_verifier *v, const ir_inst *inst) {
  bool makes = inst->op == IR_VEC || inst->op == IR_SPLAT;
  const ir_type *t = makes ? inst->type : arg_type(inst, 0);
  IR_RULE(v, inst, is_vector(t), "a vector expected");
  if (inst->op == IR_VEC) IR_RULE(v, inst, inst->arg_count == t->count, "as many scalars as lanes expected");
  for (uint32_t i = 0; makes && i < inst->arg_count; i++)
    IR_RULE(v, inst, arg_type(inst, i) == t->elem, "a scalar has another type than the lanes");
  if (makes) return QN_OK;
  bool inserts = inst->op == IR_INSERT;
  IR_RULE(v, inst, is_int(arg_type(inst, inserts ? 2 : 1)), "the index is an integer");
  IR_RULE(v, inst, inst->type == (inserts ? t : t->elem), "the result has another type");
  if (inserts) IR_RULE(v, inst, arg_type(inst, 1) == t->elem, "the scalar has another type than the lanes");
  return QN_OK;
}

static bool pcast_fits(const ir_type *from, const ir_type *to) {
  if (from->space == to->space) return true;
  ir_space named = from->space == IR_GENERIC ? to->space : from->space;
  return (from->space == IR_GENERIC || to->space == IR_GENERIC) && named != IR_CONSTANT;
}

static const ir_type *field_type(const ir_inst *inst) {
  const ir_type *t = pointee(inst, 0);
  return t->kind == IR_STRUCT && inst->imm < t->field_count ? t->fields[inst->imm].type : NULL;
}

static qn_status verify_address_op(const ir_verifier *v, const ir_inst *inst) {
  const ir_type *p = arg_type(inst, 0), *t = inst->type;
  if (inst->op == IR_ITOP) {
    IR_RULE(v, inst, is_int(p) && is_pointer(t), "an integer becomes a pointer");
    return QN_OK;
  }
  IR_RULE(v, inst, is_pointer(p), "a pointer expected");
  if (inst->op == IR_ELEM || inst->op == IR_INDEX)
    IR_RULE(v, inst, is_int(arg_type(inst, 1)), "the index is an integer");
  switch (inst->op) {
    case IR_ELEM:
      IR_RULE(v, inst, ir_verify_is_object(p->elem), "elements without size");
      IR_RULE(v, inst, t == p, "the result has another type");
      break;
    case IR_INDEX:
      IR_RULE(v, inst, p->elem->kind == IR_ARRAY || is_vector(p->elem), "a pointer to an array or vector expected");
      IR_RULE(v, inst, t == ir_pointer(v->m, p->space, p->elem->elem), "the result has another type");
      break;
    case IR_FIELD:
      IR_RULE(v, inst, field_type(inst), "a pointer to a struct with this field expected");
      IR_RULE(v, inst, t == ir_pointer(v->m, p->space, field_type(inst)), "the result has another type");
      break;
    case IR_PCAST:
      IR_RULE(v, inst, is_pointer(t) && pcast_fits(p, t), "not spaces of a cast");
      break;
    case IR_PTOI:
      IR_RULE(v, inst, is_int(t), "a pointer becomes an integer");
      break;
    default:
      IR_RULE(v, inst, arg_type(inst, 1) == p && ir_verify_is_object(p->elem), "two pointers of one type expected");
      IR_RULE(v, inst, t == ir_size_type(v->m), "the result has another type");
  }
  return QN_OK;
}

static qn_status verify_query(const ir_verifier *v, const ir_inst *inst) {
  bool dimension = inst->op != IR_WORK_DIM;
  IR_RULE(v, inst, inst->imm < (dimension ? 3u : 1u), "a dimension is 0, 1 or 2");
  IR_RULE(v, inst, inst->type == (dimension ? ir_size_type(v->m) : ir_int(v->m, 32)), "the result has another type");
  return QN_OK;
}

static qn_status verify_pure(const ir_verifier *v, const ir_inst *inst) {
  if (inst->op == IR_SELECT) return verify_select(v, inst);
  if (inst->op == IR_SHUFFLE) return verify_shuffle(v, inst);
  if (inst->op <= IR_INSERT) return verify_vector_op(v, inst);
  return inst->op <= IR_PDIFF ? verify_address_op(v, inst) : verify_query(v, inst);
}

/* ---- Memory and synchronisation ---- */

static qn_status verify_call(const ir_verifier *v, const ir_inst *inst) {
  const ir_function *callee = inst->u.callee;
  IR_RULE(v, inst, callee && callee->params, "the function has no signature");
  IR_RULE(v, inst, !callee->is_kernel, "a kernel is not called");
  IR_RULE(v, inst, inst->arg_count == callee->param_count, "another number of arguments than parameters");
  for (uint32_t i = 0; i < inst->arg_count; i++)
    IR_RULE(v, inst, arg_type(inst, i) == callee->params[i].type, "an argument has another type than the parameter");
  IR_RULE(v, inst, inst->type == callee->result, "the result has another type");
  return QN_OK;
}

static qn_status verify_fresh(const ir_verifier *v, const ir_inst *inst) {
  bool is_private = inst->args[0]->op == IR_ADDRESS && arg_type(inst, 0)->space == IR_PRIVATE;
  IR_RULE(v, inst, is_private && inst->type->kind == IR_VOID, "a private variable expected");
  return QN_OK;
}

static qn_status verify_memory(const ir_verifier *v, const ir_inst *inst) {
  if (inst->op == IR_CALL) return verify_call(v, inst);
  if (inst->op == IR_FRESH) return verify_fresh(v, inst);
  bool reads = inst->op == IR_LOAD || inst->op == IR_VLOAD;
  const ir_type *p = arg_type(inst, 0);
  IR_RULE(v, inst, is_pointer(p) && ir_verify_is_object(p->elem), "a pointer to something with a size expected");
  IR_RULE(v, inst, reads || p->space != IR_CONSTANT, "constant memory is not written");
  IR_RULE(v, inst, ir_verify_is_align(inst->imm), "not an alignment");
  const ir_type *value = reads ? inst->type : arg_type(inst, 1);
  if (!reads) IR_RULE(v, inst, inst->type->kind == IR_VOID, "there is no result");
  switch (inst->op) {
    case IR_LOAD:
    case IR_STORE:
      IR_RULE(v, inst, is_value(value) && value == p->elem, "the value has another type");
      break;
    case IR_VLOAD:
    case IR_VSTORE:
      IR_RULE(v, inst, is_vector(value) && value->elem == p->elem, "the vector has other elements");
      break;
    default:
      IR_RULE(v, inst, is_pointer(value) && value->elem == p->elem, "two pointers to one type expected");
  }
  return QN_OK;
}

static uint32_t rmw_arguments(ir_rmw rmw) { return rmw == IR_RMW_LOAD ? 1 : rmw == IR_RMW_CMPXCHG ? 3 : 2; }

static bool rmw_fits(ir_rmw rmw, const ir_type *t) {
  if (rmw >= IR_RMW_FADD) return is_float(t);
  return is_int(t) || (is_float(t) && rmw <= IR_RMW_CMPXCHG);
}

static qn_status verify_atomic(const ir_verifier *v, const ir_inst *inst) {
  ir_rmw rmw = inst->u.atomic.rmw;
  bool known = rmw < IR_RMW_COUNT && (uint32_t)inst->u.atomic.order < IR_ORDER_COUNT &&
               (uint32_t)inst->u.atomic.scope < IR_SCOPE_COUNT;
  IR_RULE(v, inst, known, "not a kind, order or scope");
  IR_RULE(v, inst, inst->arg_count == rmw_arguments(rmw), "another number of operands");
  const ir_type *p = arg_type(inst, 0);
  IR_RULE(v, inst, is_pointer(p) && p->space != IR_CONSTANT, "a pointer to memory that is written expected");
  IR_RULE(v, inst, rmw_fits(rmw, p->elem) && p->elem->bits >= 32, "not a type of this atomic operation");
  for (uint32_t i = 1; i < inst->arg_count; i++)
    IR_RULE(v, inst, arg_type(inst, i) == p->elem, "a value of another type");
  IR_RULE(v, inst, inst->type == (rmw == IR_RMW_STORE ? ir_void(v->m) : p->elem), "the result has another type");
  return QN_OK;
}

/* ---- All ---- */

static qn_status verify_control(const ir_verifier *v, const ir_inst *inst) {
  IR_RULE(v, inst, inst->type->kind == IR_VOID, "there is no result");
  switch (inst->op) {
    case IR_IF:
    case IR_BREAK_IF:
      IR_RULE(v, inst, is_bool(arg_type(inst, 0)), "the condition is a bool");
      break;
    case IR_SWITCH:
      IR_RULE(v, inst, is_int(arg_type(inst, 0)), "a switch takes an integer");
      break;
    case IR_RETURN:
      IR_RULE(v, inst, inst->arg_count == (v->f->result->kind != IR_VOID),
              "return with a value where the function has a result");
      if (inst->arg_count)
        IR_RULE(v, inst, arg_type(inst, 0) == v->f->result, "the value has another type than the function");
      break;
    default:
      break;
  }
  return QN_OK;
}

static uint32_t allowed_flags(const ir_inst *inst) {
  ir_op op = inst->op;
  if (op == IR_ADD || op == IR_SUB || op == IR_MUL) return IR_NSW;
  if (op == IR_FADD || op == IR_FSUB || op == IR_FMUL) return IR_CONTRACT | IR_FAST;
  if (op == IR_FTOS || op == IR_FTOU) return IR_SAT;
  if (op >= IR_LOAD && op <= IR_COPY) return IR_VOLATILE;
  bool computes = (op >= IR_FADD && op <= IR_COPYSIGN) || (op >= IR_FEQ && op <= IR_FLE);
  return computes || (op == IR_SELECT && is_float(ir_elem_of(inst->type))) ? IR_FAST : 0;
}

qn_status ir_verify_op(const ir_verifier *v, const ir_inst *inst) {
  int operands = ir_op_table[inst->op].operands;
  IR_RULE(v, inst, operands < 0 || inst->arg_count == (uint32_t)operands, "another number of operands");
  IR_RULE(v, inst, !(inst->flags & ~allowed_flags(inst)), "a flag that this operation has not");
  switch (ir_op_table[inst->op].cls) {
    case IR_CLASS_UN:
    case IR_CLASS_BIN:
    case IR_CLASS_TRI:
    case IR_CLASS_CMP:
      return verify_componentwise(v, inst);
    case IR_CLASS_CONV:
      return verify_conversion(v, inst);
    case IR_CLASS_PURE:
      return verify_pure(v, inst);
    case IR_CLASS_MEM:
      return verify_memory(v, inst);
    case IR_CLASS_SYNC:
      if (inst->op == IR_ATOMIC) return verify_atomic(v, inst);
      IR_RULE(v, inst, inst->imm <= (IR_FENCE_LOCAL | IR_FENCE_GLOBAL), "not fences");
      return QN_OK;
    case IR_CLASS_CTRL:
      return verify_control(v, inst);
    default:
      return ir_verify_fail(v, inst, "this stands in no block");
  }
}
