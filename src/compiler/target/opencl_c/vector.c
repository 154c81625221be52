/* vector.c - making vectors and taking them apart, and choices. */
#include "compiler/target/opencl_c/emit.h"

static bool is_vector(const ir_type *type) { return type->kind == IR_VECTOR; }
static bool is_bool(const ir_type *type) { return ir_elem_of(type)->kind == IR_BOOL; }

/* "(float4)(" */
static shape open_literal(emitter *e, const ir_inst *inst) {
  bool is_signed = text_is_signed(&e->signs, inst);
  uint8_t mask = is_bool(inst->type) ? mask_of(e, inst) : 0;
  putf(e, "(%s)(", mask ? mask_name(e, inst->type->count, mask) : number_name(e, inst->type, is_signed));
  return (shape){TEXT_UNARY, mask ? true : is_signed, true, mask};
}

/* A lane of bools is -1 or 0. */
static void put_lane_value(emitter *e, const ir_inst *x) {
  bool is_truth = x->type->kind == IR_BOOL;
  put_operand(e, x, (want){.outer = is_truth ? TEXT_CHOICE : TEXT_ANY});
  if (is_truth) put(e, " ? -1 : 0");
}

static shape put_vec(emitter *e, const ir_inst *inst) {
  shape s = open_literal(e, inst);
  for (uint32_t i = 0; i < inst->arg_count; i++) {
    if (i) put(e, ", ");
    put_lane_value(e, inst->args[i]);
  }
  put(e, ")");
  return s;
}

/* ---- Lanes ---- */

void put_lanes(emitter *e, const int32_t *from, uint32_t count, uint32_t lanes) {
  static const char short_names[] = "xyzw", long_names[] = "0123456789abcdef";
  put(e, lanes <= 4 ? "." : ".s");
  for (uint32_t i = 0; i < count; i++)
    qn_bytes_append_char(e->out, (lanes <= 4 ? short_names : long_names)[from[i] & 15]);
}

/* A lane that isn't there is any: the last one does. */
static int32_t known_lane(const ir_inst *index, uint32_t lanes) {
  if (index->op != IR_CONST) return -1;
  return (int32_t)(index->imm < lanes ? index->imm : lanes - 1);
}

static shape put_extract(emitter *e, const ir_inst *inst) {
  const ir_inst *vector = inst->args[0];
  uint32_t lanes = vector->type->count;
  int32_t lane = known_lane(inst->args[1], lanes);
  shape s;
  if (lane >= 0) {
    s = put_operand(e, vector, (want){.outer = TEXT_POSTFIX, .mask = mask_of(e, vector)});
    put_lanes(e, &lane, 1, lanes);
  } else {
    uint8_t mask = mask_of(e, vector);
    const ir_type *type = mask ? ir_with_elem(e->m, vector->type, ir_int(e->m, mask)) : vector->type;
    bool is_signed = mask ? true : text_is_signed(&e->signs, vector);
    putf(e, "%s(", helper_name(e, HELPER_LANE, type, is_signed, IR_PRIVATE));
    s = put_operand(e, vector, (want){.sign = sign_of(is_signed), .mask = mask});
    put(e, ", ");
    put_operand(e, inst->args[1], (want){.sign = -1});
    put(e, ")");
  }
  if (!is_bool(inst->type)) return (shape){TEXT_POSTFIX, s.is_signed, true, 0};
  put(e, " != 0");
  return (shape){TEXT_COMPARE, true, true, 0};
}

void put_insert(emitter *e, const ir_inst *inst, const char *name) {
  uint32_t lanes = inst->type->count;
  int32_t lane = known_lane(inst->args[2], lanes);
  if (lane >= 0) {
    put(e, name);
    put_lanes(e, &lane, 1, lanes);
  } else {
    const ir_type *elem = is_bool(inst->type) ? ir_int(e->m, mask_of(e, inst)) : inst->type->elem;
    putf(e, "((%s *)&%s)[", number_name(e, elem, text_is_signed(&e->signs, inst)), name);
    bool is_power = (lanes & (lanes - 1)) == 0;
    if (!is_power) put(e, "min((uint)");
    put_operand(e, inst->args[2], (want){.outer = is_power ? TEXT_AND : TEXT_UNARY});
    putf(e, is_power ? " & %u]" : ", %uu)]", lanes - 1);
  }
  put(e, " = ");
  put_lane_value(e, inst->args[1]);
}

/* ---- Shuffles: runs of lanes from one operand, each a swizzle ---- */

typedef struct run {
  uint32_t operand, count;
  int32_t from[16];
} run;

static bool is_length(uint32_t n) { return n <= 4 || n == 8 || n == 16; }

/* Lanes from `start` on that one swizzle gives. A lane that may be any goes with those before it. */
static run next_run(const ir_inst *inst, uint32_t start) {
  const int32_t *mask = inst->u.mask;
  uint32_t lanes = inst->args[0]->type->count, total = inst->type->count;
  run r = {mask[start] >= (int32_t)lanes, 0, {0}};
  for (uint32_t i = start; i < total; i++) {
    uint32_t operand = mask[i] < 0 ? r.operand : mask[i] >= (int32_t)lanes;
    if (operand != r.operand) break;
    r.from[r.count++] = mask[i] < 0 ? (int32_t)(i % lanes) : mask[i] - (int32_t)(operand * lanes);
  }
  while (!is_length(r.count)) r.count--;
  return r;
}

static bool is_whole(const run *r, uint32_t lanes) {
  for (uint32_t i = 0; i < r->count; i++)
    if (r->from[i] != (int32_t)i) return false;
  return r->count == lanes;
}

uint32_t operand_copies(const ir_inst *inst, uint32_t operand) {
  uint32_t copies = 0;
  if (inst->op != IR_SHUFFLE) return 1;
  for (uint32_t at = 0; at < inst->type->count;) {
    run r = next_run(inst, at);
    copies += r.operand == operand;
    at += r.count;
  }
  return copies;
}

static shape put_run(emitter *e, const ir_inst *inst, const run *r, text_level outer) {
  const ir_inst *x = inst->args[r->operand];
  uint32_t lanes = x->type->count;
  bool whole = is_whole(r, lanes);
  want w = {.outer = whole ? outer : TEXT_POSTFIX,
            .sign = sign_of(text_is_signed(&e->signs, inst)),
            .mask = mask_of(e, inst)};
  shape s = put_operand(e, x, w);
  if (!whole) put_lanes(e, r->from, r->count, lanes);
  return (shape){whole ? s.level : TEXT_POSTFIX, s.is_signed, true, s.mask};
}

static shape put_shuffle(emitter *e, const ir_inst *inst) {
  run r = next_run(inst, 0);
  if (r.count == inst->type->count) return put_run(e, inst, &r, TEXT_ANY);
  shape s = open_literal(e, inst);
  for (uint32_t at = 0; at < inst->type->count; at += r.count) {
    r = next_run(inst, at);
    if (at) put(e, ", ");
    put_run(e, inst, &r, TEXT_ANY);
  }
  put(e, ")");
  return s;
}

shape put_vector_op(emitter *e, const ir_inst *inst) {
  switch (inst->op) {
    case IR_VEC:
    case IR_SPLAT:
      return put_vec(e, inst);
    case IR_EXTRACT:
      return put_extract(e, inst);
    case IR_SHUFFLE:
      return put_shuffle(e, inst);
    default:
      emit_refuse(e, inst, "'%s'", ir_op_table[inst->op].text);
      return (shape){TEXT_POSTFIX, true, true, 0};
  }
}

/* ---- Choices ---- */

/* select(b, a, c): a where c has its first bit. */
static shape put_lane_choice(emitter *e, const ir_inst *inst) {
  const ir_type *type = inst->type;
  uint8_t mask = mask_of(e, inst), bits = is_bool(type) ? mask : (uint8_t)type->elem->bits;
  want w = {.sign = is_bool(type) ? 0 : sign_of(text_is_signed(&e->signs, inst)), .exact = true, .mask = mask};
  put(e, "select(");
  put_operand(e, inst->args[2], w);
  put(e, ", ");
  put_operand(e, inst->args[1], w);
  put(e, ", ");
  put_operand(e, inst->args[0], (want){.mask = bits});
  put(e, ")");
  return (shape){TEXT_POSTFIX, w.sign >= 0, true, mask};
}

shape put_select(emitter *e, const ir_inst *inst) {
  if (is_vector(inst->args[0]->type)) return put_lane_choice(e, inst);
  bool has_sign = text_core(inst->type)->kind == IR_INT,
       is_narrow = inst->type->kind == IR_INT && inst->type->bits < 32;
  want w = {.outer = TEXT_CHOICE, .is_right = true, .mask = mask_of(e, inst)};
  w.sign = has_sign ? sign_of(text_is_signed(&e->signs, inst)) : 0;
  w.exact = has_sign && !is_narrow && ir_is_const(inst->args[1]) && ir_is_const(inst->args[2]);
  put_operand(e, inst->args[0], (want){.outer = TEXT_CHOICE});
  put(e, " ? ");
  put_operand(e, inst->args[1], w);
  put(e, " : ");
  put_operand(e, inst->args[2], w);
  return (shape){TEXT_CHOICE, w.sign >= 0, !is_narrow, w.mask};
}
