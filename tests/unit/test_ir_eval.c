/* The arithmetic of constants, the interpreter's too: exact, against the machine's own and against long arithmetic. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
/* cmocka needs those before it. */
#include <cmocka.h>
#include <fenv.h>
#include <math.h>

#include "compiler/ir/float.h"
#include "compiler/ir/ir.h"

static const qn_model model64 = {64, true, true, true};
static qn_arena arena;
static ir_module *m;

static int open_module(void **state) {
  (void)state;
  qn_arena_init(&arena, 0);
  m = ir_module_new(&arena, &model64);
  return m ? 0 : -1;
}

static int close_module(void **state) {
  (void)state;
  ir_module_free(m);
  qn_arena_free(&arena);
  return 0;
}

/* ---- Random patterns, many of them special ---- */

static uint64_t random_state = 0x243f6a8885a308d3u;
static uint64_t random_bits(void) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return random_state * 0x2545f4914f6cdd1du;
}

static uint64_t low(uint64_t x, uint32_t bits) { return bits == 64 ? x : x & (((uint64_t)1 << bits) - 1); }

/* Exponents near each other, few bits set or all, zeros, infinities, NaNs. */
static uint64_t random_float(uint32_t bits) {
  uint32_t width = bits == 64 ? 52 : bits == 32 ? 23 : 10;
  uint64_t r = random_bits(), fraction = random_bits(), bias = ((uint64_t)1 << (bits - 2 - width)) - 1;
  uint64_t exponent = low(random_bits(), bits - 1 - width);
  switch (r >> 60) {
    case 0:
      fraction = 0;
      break;
    case 1:
      fraction = UINT64_MAX;
      break;
    case 2:
      fraction &= random_bits() & random_bits() & random_bits();
      break;
    case 3:
      fraction = (uint64_t)1 << (r & 63);
      break;
    default:
      break;
  }
  switch (r >> 56 & 15) {
    case 0:
      exponent = 0;
      break;
    case 1:
      exponent = 2 * bias + 1;
      break;
    case 2:
    case 3:
    case 4:
    case 5:
    case 6:
      exponent = bias - 8 + (r >> 32 & 15);
      break;
    case 7:
      exponent = 2 * bias;
      break;
    case 8:
      exponent = 1;
      break;
    default:
      break;
  }
  return (r & 1) << (bits - 1) | exponent << width | low(fraction, width);
}

static uint64_t eval(ir_op op, const ir_type *result, const ir_type *operand, uint64_t a, uint64_t b, uint64_t c) {
  uint64_t args[3] = {a, b, c}, out = 0;
  assert_true(ir_eval_scalar(op, 0, result, operand, args, &out));
  return out;
}

static void assert_float(ir_op op, uint32_t bits, const uint64_t *args, uint64_t got, uint64_t expected) {
  if (got == expected) return;
  if (ir_float_is_nan(got, bits) && ir_float_is_nan(expected, bits)) return;
  fail_msg("%s f%u 0x%llx 0x%llx 0x%llx: got 0x%llx, expected 0x%llx", ir_op_table[op].text, bits,
           (unsigned long long)args[0], (unsigned long long)args[1], (unsigned long long)args[2],
           (unsigned long long)got, (unsigned long long)expected);
}

typedef union bits32 {
  float f;
  uint32_t u;
} bits32;
typedef union bits64 {
  double f;
  uint64_t u;
} bits64;

static float as_float(uint64_t u) { return ((bits32){.u = (uint32_t)u}).f; }
static double as_double(uint64_t u) { return ((bits64){.u = u}).f; }

/* ---- f32 and f64 against the machine ---- */

static uint64_t machine32(ir_op op, const uint64_t *args) {
  volatile float a = as_float(args[0]), b = as_float(args[1]), c = as_float(args[2]);
  bits32 r = {0};
  switch (op) {
    case IR_FADD:
      r.f = a + b;
      break;
    case IR_FSUB:
      r.f = a - b;
      break;
    case IR_FMUL:
      r.f = a * b;
      break;
    case IR_FDIV:
      r.f = a / b;
      break;
    case IR_FREM:
      r.f = fmodf(a, b);
      break;
    case IR_FMA:
      r.f = fmaf(a, b, c);
      break;
    case IR_SQRT:
      r.f = sqrtf(a);
      break;
    case IR_FLOOR:
      r.f = floorf(a);
      break;
    case IR_CEIL:
      r.f = ceilf(a);
      break;
    case IR_FTRUNC:
      r.f = truncf(a);
      break;
    case IR_RINT:
      r.f = rintf(a);
      break;
    case IR_FROUND:
      r.f = roundf(a);
      break;
    case IR_FNEG:
      r.f = -a;
      break;
    case IR_FABS:
      r.f = fabsf(a);
      break;
    case IR_COPYSIGN:
      r.f = copysignf(a, b);
      break;
    case IR_FEQ:
      return a == b;
    case IR_FNE:
      return a != b;
    case IR_FLT:
      return a < b;
    case IR_FLE:
      return a <= b;
    default:
      fail();
  }
  return r.u;
}

static uint64_t machine64(ir_op op, const uint64_t *args) {
  volatile double a = as_double(args[0]), b = as_double(args[1]), c = as_double(args[2]);
  bits64 r = {0};
  switch (op) {
    case IR_FADD:
      r.f = a + b;
      break;
    case IR_FSUB:
      r.f = a - b;
      break;
    case IR_FMUL:
      r.f = a * b;
      break;
    case IR_FDIV:
      r.f = a / b;
      break;
    case IR_FREM:
      r.f = fmod(a, b);
      break;
    case IR_FMA:
      r.f = fma(a, b, c);
      break;
    case IR_SQRT:
      r.f = sqrt(a);
      break;
    case IR_FLOOR:
      r.f = floor(a);
      break;
    case IR_CEIL:
      r.f = ceil(a);
      break;
    case IR_FTRUNC:
      r.f = trunc(a);
      break;
    case IR_RINT:
      r.f = rint(a);
      break;
    case IR_FROUND:
      r.f = round(a);
      break;
    case IR_FNEG:
      r.f = -a;
      break;
    case IR_FABS:
      r.f = fabs(a);
      break;
    case IR_COPYSIGN:
      r.f = copysign(a, b);
      break;
    case IR_FEQ:
      return a == b;
    case IR_FNE:
      return a != b;
    case IR_FLT:
      return a < b;
    case IR_FLE:
      return a <= b;
    default:
      fail();
  }
  return r.u;
}

static const ir_op float_ops[] = {IR_FADD,     IR_FSUB, IR_FMUL,   IR_FDIV, IR_FREM,   IR_FMA,  IR_SQRT,
                                  IR_FLOOR,    IR_CEIL, IR_FTRUNC, IR_RINT, IR_FROUND, IR_FNEG, IR_FABS,
                                  IR_COPYSIGN, IR_FEQ,  IR_FNE,    IR_FLT,  IR_FLE};
enum { FLOAT_OPS = sizeof float_ops / sizeof *float_ops };

static void check_against(uint32_t bits, uint64_t (*machine)(ir_op op, const uint64_t *args), int rounds) {
  const ir_type *t = ir_float(m, bits);
  for (int i = 0; i < rounds; i++) {
    uint64_t args[3] = {random_float(bits), random_float(bits), random_float(bits)};
    if (i % 4 == 0) args[1] = args[0] ^ low(random_bits() & random_bits() & random_bits(), bits);
    for (int k = 0; k < FLOAT_OPS; k++) {
      ir_op op = float_ops[k];
      bool compares = ir_op_table[op].cls == IR_CLASS_CMP;
      uint64_t got = eval(op, compares ? ir_bool(m) : t, t, args[0], args[1], args[2]);
      assert_float(op, bits, args, got, machine(op, args));
    }
  }
}

static void test_f32_agrees_with_the_machine(void **state) {
  (void)state;
  check_against(32, machine32, 100000);
}

static void test_f64_agrees_with_the_machine(void **state) {
  (void)state;
  check_against(64, machine64, 60000);
}

static void test_the_result_does_not_depend_on_the_rounding_mode(void **state) {
  (void)state;
  uint64_t third = eval(IR_FDIV, ir_float(m, 32), ir_float(m, 32), 0x3f800000, 0x40400000, 0);
  assert_int_equal(fesetround(FE_UPWARD), 0);
  uint64_t again = eval(IR_FDIV, ir_float(m, 32), ir_float(m, 32), 0x3f800000, 0x40400000, 0);
  fesetround(FE_TONEAREST);
  assert_int_equal(third, 0x3eaaaaab);
  assert_int_equal(again, third);
}

/* ---- f16: through double, whose 53 bits make every operation of two halves correct after the second rounding ---- */

static uint64_t half_of(double value) { return ir_float_from_double(value, 16); }

static void test_f16_agrees_with_doubles(void **state) {
  (void)state;
  const ir_type *t = ir_float(m, 16);
  for (int i = 0; i < 200000; i++) {
    uint64_t args[3] = {random_float(16), random_float(16), 0};
    double a = ir_float_to_double(args[0], 16), b = ir_float_to_double(args[1], 16);
    assert_float(IR_FADD, 16, args, eval(IR_FADD, t, t, args[0], args[1], 0), half_of(a + b));
    assert_float(IR_FMUL, 16, args, eval(IR_FMUL, t, t, args[0], args[1], 0), half_of(a * b));
    assert_float(IR_FDIV, 16, args, eval(IR_FDIV, t, t, args[0], args[1], 0), half_of(a / b));
    assert_float(IR_FREM, 16, args, eval(IR_FREM, t, t, args[0], args[1], 0), half_of(fmod(a, b)));
  }
  for (uint64_t x = 0; x < 65536; x++) {
    uint64_t args[3] = {x, 0, 0};
    double a = ir_float_to_double(x, 16);
    assert_float(IR_SQRT, 16, args, eval(IR_SQRT, t, t, x, 0, 0), half_of(sqrt(a)));
    assert_float(IR_RINT, 16, args, eval(IR_RINT, t, t, x, 0, 0), half_of(rint(a)));
    assert_float(IR_FROUND, 16, args, eval(IR_FROUND, t, t, x, 0, 0), half_of(round(a)));
    assert_float(IR_FLOOR, 16, args, eval(IR_FLOOR, t, t, x, 0, 0), half_of(floor(a)));
    assert_float(IR_BITCAST, 16, args, half_of(a), ir_float_is_nan(x, 16) ? x | 0x200 : x);
  }
}

#if defined(__SIZEOF_FLOAT128__) && __SIZEOF_POINTER__ == 8 /* clang and libgcc pass it differently on i386 */
static void test_f16_fma_has_one_rounding(void **state) {
  (void)state;
  const ir_type *t = ir_float(m, 16);
  for (int i = 0; i < 300000; i++) {
    uint64_t args[3] = {random_float(16), random_float(16), random_float(16)};
    __float128 exact = (__float128)ir_float_to_double(args[0], 16) * (__float128)ir_float_to_double(args[1], 16) +
                       (__float128)ir_float_to_double(args[2], 16);
    /* Rounded to odd, so that the second rounding sees whether something was lost. */
    bits64 near = {.f = (double)exact};
    if (near.f == near.f && (__float128)near.f != exact) {
      if ((near.f > 0) == ((__float128)near.f > exact)) near.u--;
      near.u |= 1;
    }
    assert_float(IR_FMA, 16, args, eval(IR_FMA, t, t, args[0], args[1], args[2]), half_of(near.f));
  }
}
#else
static void test_f16_fma_has_one_rounding(void **state) {
  (void)state;
  const ir_type *t = ir_float(m, 16);
  /* 1.0009765625 * 1.0009765625 + 2^-24: just above a tie. */
  assert_int_equal(eval(IR_FMA, t, t, 0x3c01, 0x3c01, 0x0001), 0x3c02);
}
#endif

static void test_fmin_and_fmax_prefer_numbers(void **state) {
  (void)state;
  const ir_type *t = ir_float(m, 32);
  uint64_t nan = 0x7fc12345, one = 0x3f800000, two = 0x40000000;
  assert_int_equal(eval(IR_FMIN, t, t, nan, one, 0), one);
  assert_int_equal(eval(IR_FMAX, t, t, one, nan, 0), one);
  assert_int_equal(eval(IR_FMIN, t, t, two, one, 0), one);
  assert_int_equal(eval(IR_FMAX, t, t, two, one, 0), two);
  assert_true(ir_float_is_nan(eval(IR_FMAX, t, t, nan, nan, 0), 32));
}

/* ---- Conversions ---- */

static void test_conversions_between_floats(void **state) {
  (void)state;
  for (int i = 0; i < 200000; i++) {
    uint64_t x = random_float(64), y = random_float(32), args[3] = {x, 0, 0};
    bits32 narrow = {.f = (float)as_double(x)};
    bits64 wide = {.f = (double)as_float(y)};
    assert_float(IR_FNARROW, 32, args, eval(IR_FNARROW, ir_float(m, 32), ir_float(m, 64), x, 0, 0), narrow.u);
    args[0] = y;
    assert_float(IR_FWIDEN, 64, args, eval(IR_FWIDEN, ir_float(m, 64), ir_float(m, 32), y, 0, 0), wide.u);
  }
  /* A tie that a rounding by way of f32 would get wrong. */
  assert_int_equal(eval(IR_FNARROW, ir_float(m, 16), ir_float(m, 64), 0x3ff0020000000001, 0, 0), 0x3c01);
}

static void test_integers_become_floats(void **state) {
  (void)state;
  const ir_type *i64 = ir_int(m, 64), *f32 = ir_float(m, 32), *f64 = ir_float(m, 64);
  for (int i = 0; i < 200000; i++) {
    uint64_t x = random_bits() >> (random_bits() & 63), args[3] = {x, 0, 0};
    bits32 s = {.f = (float)(int64_t)x}, u = {.f = (float)x};
    bits64 d = {.f = (double)x};
    assert_float(IR_STOF, 32, args, eval(IR_STOF, f32, i64, x, 0, 0), s.u);
    assert_float(IR_UTOF, 32, args, eval(IR_UTOF, f32, i64, x, 0, 0), u.u);
    assert_float(IR_UTOF, 64, args, eval(IR_UTOF, f64, i64, x, 0, 0), d.u);
  }
  assert_int_equal(eval(IR_STOF, f32, ir_int(m, 8), 0xff, 0, 0), 0xbf800000);
  assert_int_equal(eval(IR_UTOF, f32, ir_bool(m), 1, 0, 0), 0x3f800000);
}

static void test_floats_become_integers(void **state) {
  (void)state;
  const ir_type *f32 = ir_float(m, 32), *i8 = ir_int(m, 8), *i32 = ir_int(m, 32), *i64 = ir_int(m, 64);
  assert_int_equal(eval(IR_FTOS, i32, f32, 0xc0200000, 0, 0), 0xfffffffe); /* -2.5 */
  assert_int_equal(eval(IR_FTOU, i32, f32, 0xbf000000, 0, 0), 0);          /* -0.5 */
  assert_int_equal(eval(IR_FTOS, i8, f32, 0x43000000, 0, 0), 0x7f);        /* 128 */
  assert_int_equal(eval(IR_FTOS, i8, f32, 0xc3000000, 0, 0), 0x80);        /* -128 */
  assert_int_equal(eval(IR_FTOS, i8, f32, 0xff800000, 0, 0), 0x80);
  assert_int_equal(eval(IR_FTOU, i8, f32, 0x7f800000, 0, 0), 0xff);
  assert_int_equal(eval(IR_FTOU, i8, f32, 0xff800000, 0, 0), 0);
  assert_int_equal(eval(IR_FTOS, i32, f32, 0x7fc00000, 0, 0), 0);
  assert_true(eval(IR_FTOU, i64, f32, 0x5f800000, 0, 0) == UINT64_MAX); /* 2^64 */
  assert_true(eval(IR_FTOS, i64, f32, 0xdf000000, 0, 0) == (uint64_t)1 << 63);
  for (int i = 0; i < 100000; i++) {
    float x = as_float(random_float(32));
    if (!(x > -0x1p63f && x < 0x1p63f)) continue;
    assert_true(eval(IR_FTOS, i64, f32, ((bits32){.f = x}).u, 0, 0) == (uint64_t)(int64_t)x);
  }
}

/* ---- Integers: every pair of 8-bit numbers, by definition ---- */

static int64_t signed8(uint64_t x) { return x < 128 ? (int64_t)x : (int64_t)x - 256; }

static int64_t clamp(int64_t x, int64_t lowest, int64_t highest) {
  return x < lowest ? lowest : x > highest ? highest : x;
}

static uint64_t expected8(ir_op op, uint64_t x, uint64_t y) {
  int64_t a = signed8(x), b = signed8(y), n = (int64_t)(y % 8);
  int64_t ux = (int64_t)x, uy = (int64_t)y;
  switch (op) {
    case IR_ADD:
      return (uint64_t)(a + b);
    case IR_SUB:
      return (uint64_t)(a - b);
    case IR_MUL:
      return (uint64_t)(a * b);
    case IR_SDIV:
      return b == 0 ? 0 : (uint64_t)(a / b);
    case IR_UDIV:
      return y == 0 ? 0 : x / y;
    case IR_SREM:
      return b == 0 ? x : (uint64_t)(a % b);
    case IR_UREM:
      return y == 0 ? x : x % y;
    case IR_AND:
      return x & y;
    case IR_OR:
      return x | y;
    case IR_XOR:
      return x ^ y;
    case IR_SHL:
      return x << n;
    case IR_LSHR:
      return x >> n;
    case IR_ASHR:
      return (uint64_t)((a - ((a % (1 << n)) + (1 << n)) % (1 << n)) / (1 << n));
    case IR_ROTL:
      return x << n | x >> (8 - n);
    case IR_SMIN:
      return (uint64_t)(a < b ? a : b);
    case IR_SMAX:
      return (uint64_t)(a > b ? a : b);
    case IR_UMIN:
      return x < y ? x : y;
    case IR_UMAX:
      return x > y ? x : y;
    case IR_SMULHI:
      return (uint64_t)((a * b - (((a * b) % 256) + 256) % 256) / 256);
    case IR_UMULHI:
      return x * y / 256;
    case IR_SADDSAT:
      return (uint64_t)clamp(a + b, -128, 127);
    case IR_UADDSAT:
      return (uint64_t)clamp(ux + uy, 0, 255);
    case IR_SSUBSAT:
      return (uint64_t)clamp(a - b, -128, 127);
    case IR_USUBSAT:
      return (uint64_t)clamp(ux - uy, 0, 255);
    case IR_EQ:
      return x == y;
    case IR_NE:
      return x != y;
    case IR_SLT:
      return a < b;
    case IR_SLE:
      return a <= b;
    case IR_ULT:
      return x < y;
    case IR_ULE:
      return x <= y;
    default:
      fail();
      return 0;
  }
}

static void test_every_pair_of_bytes(void **state) {
  (void)state;
  static const ir_op ops[] = {IR_ADD,  IR_SUB,  IR_MUL,    IR_SDIV,   IR_UDIV,    IR_SREM,    IR_UREM,    IR_AND,
                              IR_OR,   IR_XOR,  IR_SHL,    IR_LSHR,   IR_ASHR,    IR_ROTL,    IR_SMIN,    IR_SMAX,
                              IR_UMIN, IR_UMAX, IR_SMULHI, IR_UMULHI, IR_SADDSAT, IR_UADDSAT, IR_SSUBSAT, IR_USUBSAT,
                              IR_EQ,   IR_NE,   IR_SLT,    IR_SLE,    IR_ULT,     IR_ULE};
  const ir_type *i8 = ir_int(m, 8);
  for (size_t k = 0; k < sizeof ops / sizeof *ops; k++) {
    const ir_type *result = ir_op_table[ops[k]].cls == IR_CLASS_CMP ? ir_bool(m) : i8;
    for (uint64_t x = 0; x < 256; x++)
      for (uint64_t y = 0; y < 256; y++) {
        uint64_t got = eval(ops[k], result, i8, x, y, 0), expected = expected8(ops[k], x, y) & 0xff;
        if (got != expected)
          fail_msg("%s %d %d: %d, expected %d", ir_op_table[ops[k]].text, (int)x, (int)y, (int)got, (int)expected);
      }
  }
}

static void test_wide_integers_at_their_limits(void **state) {
  (void)state;
  const ir_type *t = ir_int(m, 64);
  uint64_t least = (uint64_t)1 << 63, most = least - 1, minus_one = UINT64_MAX;
  assert_true(eval(IR_SDIV, t, t, least, minus_one, 0) == least);
  assert_true(eval(IR_SREM, t, t, least, minus_one, 0) == 0);
  assert_true(eval(IR_SADDSAT, t, t, most, 1, 0) == most);
  assert_true(eval(IR_SADDSAT, t, t, least, minus_one, 0) == least);
  assert_true(eval(IR_SSUBSAT, t, t, least, 1, 0) == least);
  assert_true(eval(IR_SSUBSAT, t, t, 0, least, 0) == most);
  assert_true(eval(IR_UADDSAT, t, t, minus_one, 1, 0) == minus_one);
  assert_true(eval(IR_UMULHI, t, t, minus_one, minus_one, 0) == minus_one - 1);
  assert_true(eval(IR_SMULHI, t, t, minus_one, minus_one, 0) == 0);
  assert_true(eval(IR_SMULHI, t, t, least, least, 0) == (uint64_t)1 << 62);
  assert_true(eval(IR_SMULHI, t, t, least, 2, 0) == minus_one);
  assert_true(eval(IR_SHL, t, t, 1, 64, 0) == 1);
  assert_true(eval(IR_ASHR, t, t, least, 63, 0) == minus_one);
  assert_true(eval(IR_CLZ, t, t, 0, 0, 0) == 64);
  assert_true(eval(IR_CTZ, t, t, least, 0, 0) == 63);
  assert_true(eval(IR_CLZ, ir_int(m, 16), ir_int(m, 16), 1, 0, 0) == 15);
  assert_true(eval(IR_CTZ, ir_int(m, 16), ir_int(m, 16), 0, 0, 0) == 16);
  assert_true(eval(IR_POPCOUNT, t, t, minus_one, 0, 0) == 64);
  assert_true(eval(IR_NOT, ir_bool(m), ir_bool(m), 1, 0, 0) == 0);
  assert_true(eval(IR_SEXT, t, ir_bool(m), 1, 0, 0) == minus_one);
  assert_true(eval(IR_SEXT, t, ir_int(m, 8), 0x80, 0, 0) == (uint64_t)-128);
  assert_true(eval(IR_ZEXT, t, ir_int(m, 8), 0x80, 0, 0) == 0x80);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_f32_agrees_with_the_machine),
      cmocka_unit_test(test_f64_agrees_with_the_machine),
      cmocka_unit_test(test_the_result_does_not_depend_on_the_rounding_mode),
      cmocka_unit_test(test_f16_agrees_with_doubles),
      cmocka_unit_test(test_f16_fma_has_one_rounding),
      cmocka_unit_test(test_fmin_and_fmax_prefer_numbers),
      cmocka_unit_test(test_conversions_between_floats),
      cmocka_unit_test(test_integers_become_floats),
      cmocka_unit_test(test_floats_become_integers),
      cmocka_unit_test(test_every_pair_of_bytes),
      cmocka_unit_test(test_wide_integers_at_their_limits),
  };
  return cmocka_run_group_tests(tests, open_module, close_module);
}
