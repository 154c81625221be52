/* Every component-wise operation against ir_eval_scalar, on values of every kind, scalars and vectors, in code for
 * machines with and without the instructions: one item after another, and in lanes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
/* cmocka asks for the three above. */
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "support/llvm.h"

enum { VALUES = 256, LOCAL = 64 };

typedef struct op_case {
  ir_op op;
  uint32_t flags;
  const ir_type *operand, *result;
  uint32_t lanes;
} op_case;

/* ---- Values ---- */

static uint64_t random_state = 0x9e3779b97f4a7c15ull;
static uint64_t random_bits(void) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return random_state * 0x2545f4914f6cdd1dull;
}

static uint64_t random_int(uint32_t bits) {
  static const uint64_t corners[] = {0, 1, 2, 3, 7, 8, 15, 16, 31, 32, 63, 64, 100};
  uint64_t value = random_bits();
  switch (value >> 60) {
    case 0:
    case 1:
      value = corners[value % 13];
      break;
    case 2:
      value = 0 - corners[value % 13];
      break;
    case 3:
      value = (1ull << (bits - 1)) - corners[value % 3];
      break;
    case 4:
      value = (1ull << (bits - 1)) + corners[value % 3];
      break;
    case 5:
      value >>= value % 64;
      break;
    default:
      break;
  }
  return bits == 64 ? value : value & ((1ull << bits) - 1);
}

typedef struct float_format {
  uint32_t bits, digits;
} float_format;

/* Every exponent, and more often those around 1; zeros, infinities, NaNs, subnormals, integers, halves. */
static uint64_t random_float(uint32_t bits) {
  uint32_t digits = bits == 16 ? 10 : bits == 32 ? 23 : 52, exponents = bits - 1 - digits;
  uint64_t all = (1ull << exponents) - 1, bias = all >> 1, value = random_bits();
  uint64_t sign = (value & 1) << (bits - 1), exponent = (value >> 8) & all,
           fraction = (value >> 12) & ((1ull << digits) - 1);
  switch ((value >> 1) & 15) {
    case 0:
      return sign;
    case 1:
      return sign | all << digits;
    case 2:
      return sign | all << digits | 1ull << (digits - 1);
    case 3:
      return sign | fraction;
    case 4:
      return sign | (fraction >> (value % digits));
    case 5:
      return sign | bias << digits;
    case 6:
    case 7:
      exponent = bias + (value >> 50) % (digits + 3);
      fraction &= ~0ull << (digits - (value >> 50) % digits);
      break;
    case 8:
      fraction = 0;
      break;
    case 9:
      fraction = (1ull << digits) - 1;
      break;
    default:
      exponent = bias - 6 + (value >> 50) % 12;
      break;
  }
  fraction &= (1ull << digits) - 1;
  if (exponent >= all) exponent = all - 1;
  return sign | exponent << digits | fraction;
}

static uint64_t random_value(const ir_type *type) {
  if (type->kind == IR_BOOL) return random_bits() & 1;
  return type->kind == IR_INT ? random_int(type->bits) : random_float(type->bits);
}

/* ---- Comparing ---- */

static double as_double(const ir_type *type, uint64_t bits) {
  float f;
  double d;
  if (type->kind != IR_FLOAT) return 0;
  if (type->bits == 64) {
    memcpy(&d, &bits, 8);
    return d;
  }
  if (type->bits == 32) {
    uint32_t b = (uint32_t)bits;
    memcpy(&f, &b, 4);
    return (double)f;
  }
  uint32_t exponent = (uint32_t)(bits >> 10) & 31, fraction = (uint32_t)bits & 1023;
  double magnitude = exponent == 31 ? (fraction ? (double)NAN : (double)INFINITY)
                     : exponent     ? ldexp(1024 + fraction, (int)exponent - 25)
                                    : ldexp(fraction, -24);
  return bits >> 15 & 1 ? -magnitude : magnitude;
}

/* Out of range a conversion may give any value. */
static int any_value(const op_case *c, uint64_t x) {
  double value = as_double(c->operand, x);
  bool to_signed = c->op == IR_FTOS;
  if ((c->op != IR_FTOS && c->op != IR_FTOU) || (c->flags & IR_SAT)) return 0;
  double limit = ldexp(1, (int)c->result->bits - (to_signed ? 1 : 0));
  return !(value > (to_signed ? -limit - 1 : -1.0) && value < limit) || (to_signed && value < -limit);
}

static int agree(const op_case *c, const uint64_t *args, uint64_t expected, uint64_t got) {
  if (expected == got || any_value(c, args[0])) return 1;
  if (c->result->kind != IR_FLOAT) return 0;
  double x = as_double(c->result, expected), y = as_double(c->result, got);
  if (isnan(x) && isnan(y)) return 1;
  bool either = c->op == IR_FMIN || c->op == IR_FMAX;
  return either && x == 0 && y == 0;
}

/* ---- Kernels ---- */

static void type_name(const ir_type *elem, uint32_t lanes, char *out, size_t size) {
  const char *kind = elem->kind == IR_BOOL ? "bool" : elem->kind == IR_INT ? "i" : "f";
  int n = elem->kind == IR_BOOL ? snprintf(out, size, "%s", kind) : snprintf(out, size, "%s%u", kind, elem->bits);
  if (lanes > 1) (void)snprintf(out + n, size - (size_t)n, "x%u", lanes);
}

static const char *const flag_words[] = {"", " sat"};

static void write_kernel(qn_bytes *text, const op_case *c, unsigned index) {
  char x[32], r[32];
  static const char *const names[] = {"x", "y", "z"};
  int operands = ir_op_table[c->op].operands, n = 1;
  type_name(c->operand, c->lanes, x, sizeof x);
  type_name(c->result, c->lanes, r, sizeof r);
  qn_bytes_printf(text, "kernel @k%u(%%r : ptr global %s", index, r);
  for (int i = 0; i < operands; i++) qn_bytes_printf(text, ", %%%s : ptr global %s", names[i], x);
  qn_bytes_printf(text, ") {\n  %%0 = global_id 0 : i64\n");
  for (int i = 0; i < operands; i++, n += 2) {
    qn_bytes_printf(text, "  %%%d = elem %%%s, %%0 : ptr global %s\n", n, names[i], x);
    qn_bytes_printf(text, "  %%%d = load %%%d : %s\n", n + 1, n, x);
  }
  qn_bytes_printf(text, "  %%%d = %s", n, ir_op_table[c->op].text);
  for (int i = 0; i < operands; i++) qn_bytes_printf(text, "%s %%%d", i ? "," : "", 2 + 2 * i);
  qn_bytes_printf(text, "%s : %s\n", flag_words[(c->flags & IR_SAT) != 0], r);
  qn_bytes_printf(text, "  %%%d = elem %%r, %%0 : ptr global %s\n  store %%%d, %%%d\n  return\n}\n", n + 1, r, n + 1,
                  n);
}

/* ---- Cases ---- */

typedef struct case_list {
  ir_module *types; /* whose types the cases have */
  qn_arena arena;
  op_case items[2048];
  unsigned count;
} case_list;

/* The scalar, and for every other one a vector of some size. */
static void add_case(case_list *list, ir_op op, uint32_t flags, const ir_type *operand, const ir_type *result) {
  static const uint32_t lane_counts[] = {3, 2, 4, 3, 8, 4, 16};
  static unsigned calls;
  assert_true(list->count + 2 < sizeof list->items / sizeof *list->items);
  list->items[list->count++] = (op_case){op, flags, operand, result, 1};
  if (calls++ % 2 == 0) list->items[list->count++] = (op_case){op, flags, operand, result, lane_counts[calls / 2 % 7]};
}

static bool is_float_op(ir_op op) { return (op >= IR_FADD && op <= IR_COPYSIGN) || (op >= IR_FEQ && op <= IR_FLE); }

static void add_same_type(case_list *list, ir_op op) {
  ir_module *m = list->types;
  bool compares = ir_op_table[op].cls == IR_CLASS_CMP;
  for (uint32_t bits = 8; bits <= 64; bits *= 2) {
    if (is_float_op(op) && bits == 8) continue;
    const ir_type *type = is_float_op(op) ? ir_float(m, bits) : ir_int(m, bits);
    add_case(list, op, 0, type, compares ? ir_bool(m) : type);
  }
}

static void add_conversion(case_list *list, ir_op op, bool from_float, bool to_float) {
  ir_module *m = list->types;
  for (uint32_t from = from_float ? 16 : 8; from <= 64; from *= 2)
    for (uint32_t to = to_float ? 16 : 8; to <= 64; to *= 2) {
      bool wider = to > from, extends = op == IR_ZEXT || op == IR_SEXT || op == IR_FWIDEN;
      bool resizes = extends || op == IR_TRUNC || op == IR_FNARROW;
      if (resizes && (to == from || wider != extends)) continue;
      const ir_type *operand = from_float ? ir_float(m, from) : ir_int(m, from);
      const ir_type *result = to_float ? ir_float(m, to) : ir_int(m, to);
      bool saturates = op == IR_FTOS || op == IR_FTOU;
      for (uint32_t flags = 0; flags <= (saturates ? IR_SAT : 0u); flags += IR_SAT)
        add_case(list, op, flags, operand, result);
    }
}

static void add_all(case_list *list) {
  for (int op = 0; op < IR_OP_COUNT; op++) {
    ir_class cls = ir_op_table[op].cls;
    if (cls == IR_CLASS_UN || cls == IR_CLASS_BIN || cls == IR_CLASS_TRI || cls == IR_CLASS_CMP)
      add_same_type(list, (ir_op)op);
  }
  add_conversion(list, IR_TRUNC, false, false);
  add_conversion(list, IR_ZEXT, false, false);
  add_conversion(list, IR_SEXT, false, false);
  add_conversion(list, IR_FTOS, true, false);
  add_conversion(list, IR_FTOU, true, false);
  add_conversion(list, IR_STOF, false, true);
  add_conversion(list, IR_UTOF, false, true);
  add_conversion(list, IR_FNARROW, true, true);
  add_conversion(list, IR_FWIDEN, true, true);
}

/* ---- Running ---- */

static uint64_t size_of(const ir_type *elem) { return elem->kind == IR_BOOL ? 1 : elem->bits / 8; }
static uint64_t room_of(uint32_t lanes) { return lanes == 3 ? 4 : lanes; }

static void fill(const op_case *c, unsigned char *memory) {
  for (uint64_t i = 0; i < VALUES * room_of(c->lanes); i++) {
    uint64_t value = random_value(c->operand);
    memcpy(memory + i * size_of(c->operand), &value, size_of(c->operand));
  }
}

static uint64_t read_at(const ir_type *elem, const unsigned char *memory, uint64_t i) {
  uint64_t value = 0;
  memcpy(&value, memory + i * size_of(elem), size_of(elem));
  return value;
}

static unsigned check_results(const op_case *c, unsigned char *const *arrays, const unsigned char *result,
                              const char *how) {
  unsigned bad = 0;
  for (uint64_t i = 0; i < VALUES * room_of(c->lanes); i++) {
    uint64_t args[3], expected = 0, got = read_at(c->result, result, i);
    if (c->lanes == 3 && i % 4 == 3) continue;
    for (int k = 0; k < ir_op_table[c->op].operands; k++) args[k] = read_at(c->operand, arrays[k], i);
    assert_true(ir_eval_scalar(c->op, c->flags, c->result, c->operand, args, &expected));
    if (agree(c, args, expected, got)) continue;
    if (bad++ == 0) {
      char x[32], r[32];
      type_name(c->operand, c->lanes, x, sizeof x);
      type_name(c->result, c->lanes, r, sizeof r);
      print_error("%s: %s%s %s -> %s: (%#llx, %#llx, %#llx) gives %#llx, not %#llx\n", how, ir_op_table[c->op].text,
                  flag_words[(c->flags & IR_SAT) != 0], x, r, (unsigned long long)args[0], (unsigned long long)args[1],
                  (unsigned long long)args[2], (unsigned long long)got, (unsigned long long)expected);
    }
  }
  return bad;
}

static unsigned run_case(const test_code *code, const op_case *c, unsigned index, const char *how) {
  static unsigned char arrays[3][VALUES * 16 * 8] __attribute__((aligned(128)));
  static unsigned char result[VALUES * 16 * 8] __attribute__((aligned(128)));
  unsigned char *inputs[3] = {arrays[0], arrays[1], arrays[2]};
  void *block[4] = {result, arrays[0], arrays[1], arrays[2]};
  char name[32];
  for (int i = 0; i < 3; i++) fill(c, arrays[i]);
  memset(result, 0, sizeof result);
  (void)snprintf(name, sizeof name, "k%u", index);
  /* The last group is smaller than a vector. */
  test_llvm_run(code, name, 1, (uint64_t[]){VALUES - 5, 1, 1}, (uint64_t[]){LOCAL, 1, 1}, block);
  test_llvm_run(code, name, 1, (uint64_t[]){VALUES, 1, 1}, (uint64_t[]){LOCAL, 1, 1}, block);
  return check_results(c, inputs, result, how);
}

/* A module for so many kernels at a time, so that none takes long. */
enum { CHUNK = 16 };

/* Lanes of long vectors are many registers, which tell nothing new. */
static bool is_run(const op_case *c, const qn_target_options *options) { return options->scalar || c->lanes <= 4; }

static unsigned run_chunk(const case_list *list, unsigned first, const qn_target_options *options, const char *how) {
  test_code code;
  qn_bytes text = {0};
  unsigned bad = 0, last = first + CHUNK < list->count ? first + CHUNK : list->count;
  qn_bytes_append_str(&text, "quern 1 bits 64 double half int64_atomics\n");
  for (unsigned i = first; i < last; i++)
    if (is_run(&list->items[i], options)) write_kernel(&text, &list->items[i], i);
  test_llvm_compile(&code, text.data, options);
  for (unsigned i = first; i < last && bad < 20; i++)
    if (is_run(&list->items[i], options)) bad += run_case(&code, &list->items[i], i, how) != 0;
  test_llvm_free(&code);
  qn_bytes_free(&text);
  return bad;
}

static case_list list;

/* Of `parts` parts of the cases, one: what machines share need not be tested in all of their code. */
static void check_part(const char *cpu, bool scalar, unsigned part, unsigned parts) {
  qn_target_options options = test_llvm_options(cpu);
  char how[64];
  unsigned bad = 0;
  options.scalar = scalar;
  if (!test_llvm_runs(cpu)) skip();
  (void)snprintf(how, sizeof how, "%s, %s", cpu, scalar ? "one by one" : "lanes");
  for (unsigned i = part * CHUNK; i < list.count && bad < 20; i += parts * CHUNK)
    bad += run_chunk(&list, i, &options, how);
  assert_int_equal(bad, 0);
}

/* Base code has the most that is spelt out. */
static void base_code_in_lanes_is_exact(void **state) { (void)state, check_part("x86-64", false, 0, 2); }
static void base_code_one_by_one_is_exact(void **state) { (void)state, check_part("x86-64", true, 0, 3); }
static void v3_code_in_lanes_is_exact(void **state) { (void)state, check_part("x86-64-v3", false, 1, 3); }
static void v3_code_one_by_one_is_exact(void **state) { (void)state, check_part("x86-64-v3", true, 2, 3); }
static void v4_code_in_lanes_is_exact(void **state) { (void)state, check_part("x86-64-v4", false, 1, 2); }

static int set_up(void **state) {
  qn_model model = {.address_bits = 64, .has_double = true, .has_half = true};
  (void)state;
  qn_arena_init(&list.arena, 0);
  list.types = ir_module_new(&list.arena, &model);
  add_all(&list);
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  ir_module_free(list.types);
  qn_arena_free(&list.arena);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(base_code_one_by_one_is_exact), cmocka_unit_test(base_code_in_lanes_is_exact),
      cmocka_unit_test(v3_code_one_by_one_is_exact),   cmocka_unit_test(v3_code_in_lanes_is_exact),
      cmocka_unit_test(v4_code_in_lanes_is_exact),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
