/* labels: unit */
/* Pass divide_by_numbers, beside C's own division: what a program of divisions of numbers stores when the pass has made shifts and
 * multiplications of them, and these are folded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
/* cmocka needs those before it. */
#include <cmocka.h>

#include "../support/rounds.h"
#include "base/bytes.h"
#include "base/status.h"
#include "compiler/ir/ir.h"
#include "compiler/pass/pass.h"

enum { UDIV, UREM, SDIV, SREM, OPS };
static const char *const op_names[OPS] = {"udiv", "urem", "sdiv", "srem"};

static uint64_t mask_of(uint32_t bits) { return UINT64_MAX >> (64 - bits); }
static int64_t signed_of(uint64_t x, uint32_t bits) { return (int64_t)(x << (64 - bits)) >> (64 - bits); }

/* As ir.h says it. */
static uint64_t expected(int op, uint32_t bits, uint64_t x, uint64_t y) {
  int64_t a = signed_of(x, bits), b = signed_of(y, bits);
  bool is_quotient = op == UDIV || op == SDIV;
  if (y == 0) return is_quotient ? 0 : x;
  if (op == UDIV) return x / y;
  if (op == UREM) return x % y;
  if (b == -1) return (is_quotient ? -(uint64_t)a : 0) & mask_of(bits);
  return (uint64_t)(is_quotient ? a / b : a % b) & mask_of(bits);
}

/* ---- A program ------------------------------------------------------------------------------------ */

/* Every other dividend is a difference, of which nothing is known before it is folded: so it counts as a negative one. */
static void write_program(qn_bytes *text, int op, uint32_t bits, const uint64_t *xs, uint32_t x_count, uint64_t y) {
  qn_bytes_append_str(text, "quern 1 bits 64\n");
  qn_bytes_printf(text, "kernel @k(%%x : ptr global i%u) {\n", bits);
  for (uint32_t i = 0, n = 0; i < x_count; i++) {
    long long x = signed_of(xs[i], bits), opposite = signed_of(-xs[i] & mask_of(bits), bits), by = signed_of(y, bits);
    if (i % 2) {
      qn_bytes_printf(text, "  %%%u = sub i%u 0, i%u %lld : i%u\n", n, bits, bits, opposite, bits);
      qn_bytes_printf(text, "  %%%u = %s %%%u, i%u %lld : i%u\n", n + 1, op_names[op], n, bits, by, bits);
      n++;
    } else {
      qn_bytes_printf(text, "  %%%u = %s i%u %lld, i%u %lld : i%u\n", n, op_names[op], bits, x, bits, by, bits);
    }
    qn_bytes_printf(text, "  store %%x, %%%u\n", n++);
  }
  qn_bytes_append_str(text, "  return\n}\n");
}

typedef struct stores {
  const ir_inst **list;
  uint32_t count;
} stores;

static bool note_store(void *user, ir_inst *inst) {
  stores *s = user;
  assert_true(inst->op != IR_UDIV && inst->op != IR_UREM && inst->op != IR_SDIV && inst->op != IR_SREM);
  if (inst->op == IR_STORE) s->list[s->count++] = inst;
  return true;
}

static void check(const char *what, qn_status status) {
  if (status != QN_OK) fail_msg("%s: %s", what, qn_error_text());
}

/* One divisor, and all dividends. */
static void try_divisor(int op, uint32_t bits, const uint64_t *xs, uint32_t x_count, uint64_t y) {
  qn_bytes text = {0};
  qn_arena arena;
  qn_arena_init(&arena, 0);
  qn_model model = {64, true, true, true};
  write_program(&text, op, bits, xs, x_count, y);
  ir_module *m = ir_module_new(&arena, &model);
  assert_non_null(m);
  check("parse", ir_parse(m, qn_bytes_view(&text), "divisions"));
  check("divide_by_numbers", pass_divide_by_numbers(m));
  check("verify", ir_verify(m));
  stores s = {calloc(x_count, sizeof *s.list), 0};
  ir_walk(m->functions->body, note_store, &s);
  check("simplify", pass_simplify(m));
  s.count = 0;
  ir_walk(m->functions->body, note_store, &s);
  assert_int_equal(s.count, x_count);
  for (uint32_t i = 0; i < x_count; i++) {
    const ir_inst *value = s.list[i]->args[1];
    assert_int_equal(value->op, IR_CONST);
    uint64_t wanted = expected(op, bits, xs[i], y & mask_of(bits));
    if (value->imm != wanted)
      fail_msg("%s of %u bits: %#llx by %#llx is %#llx, not %#llx", op_names[op], bits, (unsigned long long)xs[i],
               (unsigned long long)(y & mask_of(bits)), (unsigned long long)wanted, (unsigned long long)value->imm);
  }
  free(s.list);
  ir_module_free(m);
  qn_arena_free(&arena);
  qn_bytes_free(&text);
}

/* ---- Numbers -------------------------------------------------------------------------------------- */

static uint64_t state = 88172645463325252u;
static uint64_t next_random(void) {
  state ^= state << 13;
  state ^= state >> 7;
  return state ^= state << 17;
}

enum { MOST = 4096 };

/* About powers of two, the ends of both kinds, and about multiples of the divisor, where quotients change. */
static uint32_t dividends(uint64_t *xs, uint32_t bits, uint64_t y) {
  uint32_t n = 0;
  uint64_t mask = mask_of(bits), by = y & mask;
  for (uint32_t k = 0; k < bits; k++)
    for (int d = -1; d <= 1; d++) xs[n++] = ((UINT64_C(1) << k) + (uint64_t)d) & mask;
  for (int d = -3; d <= 3; d++) xs[n++] = (uint64_t)d & mask;
  for (int i = 0; by && i < 24; i++) {
    uint64_t most = mask / by, whole = (i < 4 || most == 0 ? most : next_random() % most) * by;
    for (int d = -1; d <= 1; d++) {
      xs[n++] = (whole + (uint64_t)d) & mask;
      xs[n++] = -(whole + (uint64_t)d) & mask;
    }
  }
  for (int i = 0; i < 16; i++) xs[n++] = next_random() >> next_random() % 64 & mask;
  return n;
}

static void try_all_ops(uint32_t bits, uint64_t y) {
  static uint64_t xs[MOST];
  uint32_t count = dividends(xs, bits, y);
  for (int op = 0; op < OPS; op++) try_divisor(op, bits, xs, count, y);
}

static void test_divisions_by_numbers_give_what_c_gives(void **unused) {
  (void)unused;
  static const uint32_t widths[] = {8, 16, 32, 64};
  uint64_t randoms = test_rounds("random divisors of each width", 10, 3000);
  for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
    uint32_t bits = widths[w];
    for (uint64_t y = 1; y <= (randoms > 10 ? 40 : 8); y++) {
      try_all_ops(bits, y);
      try_all_ops(bits, -y);
    }
    for (uint32_t k = 0; k < bits; k += randoms > 10 ? 1 : 3)
      for (int d = -1; d <= 1; d++)
        if (((UINT64_C(1) << k) + (uint64_t)d) & mask_of(bits)) try_all_ops(bits, (UINT64_C(1) << k) + (uint64_t)d);
    static const uint64_t known[] = {641, 6700417, 1000000007, 0x7fffffff, 0xfffffffb, 274177, 3600, 86400};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
      if (known[i] & mask_of(bits)) try_all_ops(bits, known[i]);
    for (uint64_t i = 0; i < randoms; i++) {
      uint64_t y = next_random() >> next_random() % 64;
      if (y & mask_of(bits)) try_all_ops(bits, y);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_divisions_by_numbers_give_what_c_gives)};
  return cmocka_run_group_tests_name("divide_by_numbers", tests, NULL, NULL);
}
