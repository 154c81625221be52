/* atomic.c - atomic operations by the functions of OpenCL 1.2: of 32 bits, and with extensions of 64. Those that it lacks
 * are made of those that it has: a load is an OR with 0, a store an exchange, floats go as their bits or by a loop. */
#include "compiler/target/opencl_c/emit.h"

typedef struct kind {
  const char *word; /* of the function; NULL: a function of our own */
  helper helper;
  bool is_extended;    /* of 64 bits: it is in cl_khr_int64_extended_atomics */
  const char *operand; /* instead of one in the IR */
} kind;

static const kind kinds[IR_RMW_COUNT] = {
    [IR_RMW_LOAD] = {"or", HELPER_COUNT, true, "0"},        [IR_RMW_STORE] = {"xchg", HELPER_COUNT, false, NULL},
    [IR_RMW_XCHG] = {"xchg", HELPER_COUNT, false, NULL},    [IR_RMW_CMPXCHG] = {"cmpxchg", HELPER_COUNT, false, NULL},
    [IR_RMW_ADD] = {"add", HELPER_COUNT, false, NULL},      [IR_RMW_SUB] = {"sub", HELPER_COUNT, false, NULL},
    [IR_RMW_AND] = {"and", HELPER_COUNT, true, NULL},       [IR_RMW_OR] = {"or", HELPER_COUNT, true, NULL},
    [IR_RMW_XOR] = {"xor", HELPER_COUNT, true, NULL},       [IR_RMW_SMIN] = {"min", HELPER_COUNT, true, NULL},
    [IR_RMW_SMAX] = {"max", HELPER_COUNT, true, NULL},      [IR_RMW_UMIN] = {"min", HELPER_COUNT, true, NULL},
    [IR_RMW_UMAX] = {"max", HELPER_COUNT, true, NULL},      [IR_RMW_FADD] = {NULL, HELPER_ATOMIC_ADD, false, NULL},
    [IR_RMW_FMIN] = {NULL, HELPER_ATOMIC_MIN, false, NULL}, [IR_RMW_FMAX] = {NULL, HELPER_ATOMIC_MAX, false, NULL},
};

/* The sign that the operation is about. */
static int8_t sign_for(const emitter *e, const ir_inst *inst) {
  ir_rmw rmw = inst->u.atomic.rmw;
  if (inst->args[0]->type->elem->kind == IR_FLOAT) return -1;
  if (rmw == IR_RMW_SMIN || rmw == IR_RMW_SMAX) return 1;
  if (rmw == IR_RMW_UMIN || rmw == IR_RMW_UMAX) return -1;
  return sign_of(text_is_signed(&e->signs, inst->args[0]));
}

static bool is_there(emitter *e, const ir_inst *inst, const kind *k) {
  const ir_type *pointer = inst->args[0]->type;
  if (pointer->space != IR_GLOBAL && pointer->space != IR_LOCAL) {
    emit_refuse(e, inst, "atomic operations on private memory");
    return false;
  }
  if (pointer->elem->bits < 64) return true;
  if (!e->m->model.has_int64_atomics) {
    emit_refuse(e, inst, "atomic operations of 64 bits on a device without cl_khr_int64_base_atomics");
    return false;
  }
  e->uses_int64_base_atomics |= !k->is_extended;
  e->uses_int64_extended_atomics |= k->is_extended;
  return true;
}

/* A float goes as its bits, but where a function takes it. */
static void put_value_bits(emitter *e, const ir_inst *value, int8_t sign) {
  bool is_float = value->type->kind == IR_FLOAT;
  if (is_float) putf(e, "as_%s(", number_name(e, ir_int(e->m, value->type->bits), false));
  put_operand(e, value, (want){.sign = is_float ? 0 : sign, .exact = true});
  if (is_float) put(e, ")");
}

static void put_atomic_pointer(emitter *e, const ir_inst *pointer, int8_t sign) {
  const ir_type *elem = pointer->type->elem;
  if (elem->kind != IR_FLOAT && !is_const_pointer(e, pointer)) {
    put_operand(e, pointer, (want){.sign = sign});
    return;
  }
  const ir_type *bits = ir_pointer(e->m, pointer->type->space, ir_int(e->m, elem->bits));
  putf(e, "(%s)", pointer_name(e, bits, sign > 0, false));
  put_operand(e, pointer, (want){.outer = TEXT_UNARY});
}

static void put_own(emitter *e, const ir_inst *inst, const kind *k) {
  const ir_type *pointer = inst->args[0]->type;
  putf(e, "%s(", helper_name(e, k->helper, pointer->elem, true, pointer->space));
  put_operand(e, inst->args[0], (want){0});
  put(e, ", ");
  put_operand(e, inst->args[1], (want){0});
  put(e, ")");
}

static void put_built_in(emitter *e, const ir_inst *inst, const kind *k) {
  const ir_type *elem = inst->args[0]->type->elem;
  int8_t sign = sign_for(e, inst);
  bool is_float = elem->kind == IR_FLOAT && inst->type->kind != IR_VOID;
  if (is_float) putf(e, "as_%s(", number_name(e, elem, true));
  putf(e, "%s_%s(", elem->bits == 64 ? "atom" : "atomic", k->word);
  put_atomic_pointer(e, inst->args[0], sign);
  for (uint32_t i = 1; i < inst->arg_count; i++) {
    put(e, ", ");
    put_value_bits(e, inst->args[i], sign);
  }
  if (k->operand) putf(e, ", (%s)%s", number_name(e, ir_int(e->m, elem->bits), sign > 0), k->operand);
  put(e, is_float ? "))" : ")");
}

void put_atomic(emitter *e, const ir_inst *inst) {
  const kind *k = &kinds[inst->u.atomic.rmw];
  if (!is_there(e, inst, k)) return;
  if (k->word)
    put_built_in(e, inst, k);
  else
    put_own(e, inst, k);
}
