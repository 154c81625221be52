/* divide.c - pass divide_by_numbers: divisions by a number become shifts, or a multiplication whose upper half is taken. For targets whose
 * compiler leaves that to who writes the text: ptxas makes 20 instructions of a division by 2, and a call of one of 64 bits.
 *
 * Unsigned, by d: q = (x * m >> bits) >> s with m = floor(2^(bits + s) / d) + 1 is right for all x when m d - 2^(bits + s) <= 2^s, for
 * those below 2^(bits - 1) when it is at most 2^(s + 1) (Granlund, Montgomery: Division by invariant integers using multiplication, 1994).
 * Where m has a bit too many, its upper bit is added by hand. Signed: m and s as in the same paper, section 5. */
#include "base/status.h"
#include "compiler/pass/pass.h"
#include "compiler/pass/positive.h"
#include "compiler/pass/walk.h"

typedef struct divider {
  ir_builder b;
  const ir_type *type;
  uint32_t bits;
  uint64_t by; /* the divisor; of a signed division its size */
} divider;

static ir_inst *number(const divider *d, uint64_t value) {
  ir_inst *scalar = ir_const_int(d->b.m, ir_elem_of(d->type), value);
  return d->type->kind == IR_VECTOR ? ir_const_splat(d->b.m, d->type, scalar) : scalar;
}

static ir_inst *op(divider *d, ir_op code, ir_inst *x, ir_inst *y) { return ir_bin(&d->b, code, x, y); }
static ir_inst *shift(divider *d, ir_op code, ir_inst *x, uint32_t by) {
  return by ? op(d, code, x, number(d, by)) : x;
}

static bool is_power(uint64_t x) { return (x & (x - 1)) == 0; }
static uint32_t log_of(uint64_t power) { return (uint32_t)__builtin_ctzll(power); }

/* ---- Unsigned ------------------------------------------------------------------------------------ */

/* 2^power / d, bit by bit: `high` holds what is beyond 64 bits. */
typedef struct quotient_of_power {
  uint64_t high, low, rest;
} quotient_of_power;

static quotient_of_power divide_power(uint32_t power, uint64_t d) {
  quotient_of_power q = {0, 0, 0};
  for (uint32_t i = 0; i <= power; i++) {
    bool is_past = q.rest >> 63;
    q.rest = q.rest << 1 | (i == 0);
    bool bit = is_past || q.rest >= d;
    if (bit) q.rest -= d;
    q.high = q.high << 1 | q.low >> 63;
    q.low = q.low << 1 | bit;
  }
  return q;
}

/* Whether one multiplication will do. m d - 2^(bits + s) is what the rest lacks of d. */
static bool find_factor(const divider *d, bool is_positive_dividend, uint64_t *factor, uint32_t *by) {
  for (uint32_t s = 0; s < d->bits; s++) {
    quotient_of_power q = divide_power(d->bits + s, d->by);
    uint32_t allowed = s + is_positive_dividend;
    if (q.high || q.low >= UINT64_MAX >> (64 - d->bits)) return false;
    if (allowed < 64 && d->by - q.rest > UINT64_C(1) << allowed) continue;
    *factor = q.low + 1;
    *by = s;
    return true;
  }
  return false;
}

static ir_inst *divide_unsigned(divider *d, ir_inst *x, bool is_positive_dividend) {
  uint64_t factor;
  uint32_t by;
  if (is_power(d->by)) return shift(d, IR_LSHR, x, log_of(d->by));
  if (find_factor(d, is_positive_dividend, &factor, &by))
    return shift(d, IR_LSHR, op(d, IR_UMULHI, x, number(d, factor)), by);
  /* m is 2^bits + factor: (x + t) >> s, whose sum may have a bit too many. */
  uint32_t s = 64 - (uint32_t)__builtin_clzll(d->by - 1);
  factor = divide_power(d->bits + s, d->by).low + 1;
  ir_inst *t = op(d, IR_UMULHI, x, number(d, factor));
  ir_inst *half = shift(d, IR_LSHR, op(d, IR_SUB, x, t), 1);
  return shift(d, IR_LSHR, op(d, IR_ADD, half, t), s - 1);
}

/* ---- Signed -------------------------------------------------------------------------------------- */

static ir_inst *negate(divider *d, ir_inst *x) { return op(d, IR_SUB, number(d, 0), x); }

/* Toward zero: negative ones have d - 1 added before. */
static ir_inst *divide_signed_by_power(divider *d, ir_inst *x) {
  uint32_t k = log_of(d->by);
  if (k == 0) return x;
  ir_inst *sign = shift(d, IR_ASHR, x, k - 1);
  return shift(d, IR_ASHR, op(d, IR_ADD, x, shift(d, IR_LSHR, sign, d->bits - k)), k);
}

/* The least p with 2^p > limit (d - 2^p % d), where limit is the largest dividend whose remainder is d - 1. Both quotients of 2^p are
 * kept, from which that is seen without a product. */
static uint64_t signed_factor(const divider *d, uint32_t *out_shift) {
  uint64_t half = UINT64_C(1) << (d->bits - 1), limit = half - 1 - half % d->by;
  uint64_t q1 = half / limit, r1 = half % limit, q2 = half / d->by, r2 = half % d->by, lacks;
  uint32_t p = d->bits - 1;
  do {
    p++;
    q1 = 2 * q1 + (2 * r1 >= limit);
    r1 = 2 * r1 - (2 * r1 >= limit ? limit : 0);
    q2 = 2 * q2 + (2 * r2 >= d->by);
    r2 = 2 * r2 - (2 * r2 >= d->by ? d->by : 0);
    lacks = d->by - r2;
  } while (q1 < lacks || (q1 == lacks && r1 == 0));
  *out_shift = p - d->bits;
  return q2 + 1;
}

static ir_inst *divide_signed_by_factor(divider *d, ir_inst *x) {
  uint32_t by;
  uint64_t m = signed_factor(d, &by);
  ir_inst *q = op(d, IR_SMULHI, x, number(d, m));
  if (m >> (d->bits - 1) & 1) q = op(d, IR_ADD, q, x); /* it was taken for a negative one */
  q = shift(d, IR_ASHR, q, by);
  return op(d, IR_ADD, q, shift(d, IR_LSHR, q, d->bits - 1));
}

static ir_inst *divide_signed(divider *d, ir_inst *x, bool is_negative) {
  ir_inst *q = is_power(d->by) ? divide_signed_by_power(d, x) : divide_signed_by_factor(d, x);
  return is_negative ? negate(d, q) : q;
}

/* ---- All ----------------------------------------------------------------------------------------- */

/* The number that all lanes are divided by; 0: none. */
static uint64_t divisor_of(const ir_inst *x) {
  if (x->op == IR_CONST) return x->imm;
  if (x->op != IR_AGGREGATE) return 0;
  for (uint32_t i = 0; i < x->arg_count; i++)
    if (x->args[i]->op != IR_CONST || x->args[i]->imm != x->args[0]->imm) return 0;
  return x->args[0]->imm;
}

static ir_inst *quotient(divider *d, const ir_inst *inst, ir_inst *x, uint64_t divisor, bool is_positive_dividend) {
  bool has_sign = inst->op == IR_SDIV || inst->op == IR_SREM;
  uint32_t drop = 64 - ir_elem_of(inst->type)->bits;
  int64_t number_of = (int64_t)(divisor << drop) >> drop;
  bool is_negative = has_sign && number_of < 0;
  d->by = is_negative ? -(uint64_t)number_of : divisor;
  return has_sign ? divide_signed(d, x, is_negative) : divide_unsigned(d, x, is_positive_dividend);
}

/* Narrow integers are divided as those of 32 bits. */
static ir_inst *widened(divider *d, const ir_inst *inst, ir_inst *x) {
  if (ir_elem_of(inst->type)->bits >= 32) return x;
  bool has_sign = inst->op == IR_SDIV || inst->op == IR_SREM;
  d->type = ir_with_elem(d->b.m, inst->type, ir_int(d->b.m, 32));
  return ir_conv(&d->b, has_sign ? IR_SEXT : IR_ZEXT, x, d->type);
}

static ir_inst *divided(ir_function *f, ir_inst *inst, uint64_t divisor) {
  divider d = {.type = inst->type};
  d.b = (ir_builder){.m = f->module, .f = f, .block = inst->parent, .before = inst, .loc = inst->loc};
  bool is_narrow = ir_elem_of(inst->type)->bits < 32;
  ir_inst *x = widened(&d, inst, inst->args[0]);
  d.bits = ir_elem_of(d.type)->bits;
  ir_inst *value = quotient(&d, inst, x, divisor, is_narrow || is_positive(inst->args[0]));
  if (inst->op == IR_SREM || inst->op == IR_UREM) {
    uint32_t drop = 64 - ir_elem_of(inst->type)->bits;
    uint64_t by = inst->op == IR_SREM ? (uint64_t)((int64_t)(divisor << drop) >> drop) : divisor;
    bool is_mask = inst->op == IR_UREM && is_power(divisor);
    value =
        is_mask ? op(&d, IR_AND, x, number(&d, divisor - 1)) : op(&d, IR_SUB, x, op(&d, IR_MUL, value, number(&d, by)));
  }
  return is_narrow ? ir_conv(&d.b, IR_TRUNC, value, inst->type) : value;
}

static void divide(ir_function *f) {
  for (ir_inst *inst = f->body->first, *next; inst && !f->module->failed; inst = next) {
    next = ir_next_inst(inst);
    bool is_division = inst->op == IR_SDIV || inst->op == IR_UDIV || inst->op == IR_SREM || inst->op == IR_UREM;
    uint64_t divisor = is_division ? divisor_of(inst->args[1]) : 0;
    if (divisor == 0) continue;
    ir_inst *value = divided(f, inst, divisor);
    if (f->module->failed) return;
    if (value->parent && !value->name) value->name = inst->name;
    ir_replace_uses(f, inst, value);
    ir_inst_remove(inst);
  }
}

qn_status pass_divide_by_numbers(ir_module *m) {
  for (ir_function *f = m->functions; f; f = f->next) {
    if (!f->body) continue;
    positive_find(f);
    divide(f);
  }
  return m->failed ? walk_no_memory() : QN_OK;
}
