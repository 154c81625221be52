/* The verifier: each rule of ir.h has a body that breaks it, and the message says which. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
/* cmocka needs those before it. */
#include <cmocka.h>

#include "base/status.h"
#include "compiler/ir/ir.h"

static const qn_model model64 = {64, true, true, true};

/* Parses and verifies; the error's text, or "" - of the last call. */
static const char *verify(const char *text) {
  qn_arena arena;
  qn_arena_init(&arena, 0);
  ir_module *m = ir_module_new(&arena, &model64);
  if (ir_parse(m, qn_sv_from(text), "test.ir") != QN_OK) fail_msg("%s\n%s", qn_error_text(), text);
  qn_status status = ir_verify(m);
  ir_module_free(m);
  qn_arena_free(&arena);
  return status == QN_OK ? "" : qn_error_text();
}

static const char *const before =
    "quern 1 bits 64\n"
    "struct @pair {i32, f32}\n"
    "struct @opaque\n"
    "constant @table : [4 x i32] = {1, 2, 3}\n"
    "func @callee(%a : f32) : i32 {\n return i32 1\n}\n"
    "kernel @other() {\n  return\n}\n"
    "func @f(%x : ptr global f32, %n : i32, %c : bool, %v : f32x4, %p : ptr private @pair, %h : ptr constant i32, "
    "%g : ptr generic i32, %l : ptr local f16, %o : ptr global @opaque) {\n"
    "  var %i : i32\n"
    "  var %a : [4 x f32]\n";

/* A body in a function with these parameters. */
static void assert_body(const char *body, const char *message) {
  qn_bytes text = {0};
  qn_bytes_printf(&text, "%s%s\n}\n", before, body);
  const char *found = verify(text.data);
  if (*message ? !strstr(found, message) : *found) fail_msg("%s\nexpected '%s', found '%s'", body, message, found);
  qn_bytes_free(&text);
}

typedef struct rule {
  const char *body, *message;
} rule;

static void assert_rules(const rule *rules, size_t count) {
  for (size_t i = 0; i < count; i++) assert_body(rules[i].body, rules[i].message);
}
#define ASSERT_RULES(rules) assert_rules(rules, sizeof(rules) / sizeof *(rules))

static void test_valid_bodies_pass(void **state) {
  (void)state;
  static const rule rules[] = {
      {"%1 = and %c, bool true : bool", ""},
      {"%1 = eq %c, %c : bool", ""},
      {"%1 = elem %x, i8 1 : ptr global f32 %2 = ult %1, %x : bool", ""},
      {"%1 = flt %v, %v fast : boolx4 %2 = select %1, %v, %v : f32x4", ""},
      {"%1 = select %c, %x, ptr global f32 zero : ptr global f32", ""},
      {"%1 = bitcast %v : i8x16 %2 = bitcast f32x3 zero : i32x3", ""},
      {"%1 = index @table, i32 1 : ptr constant i32 %2 = load %1 : i32", ""},
      {"%1 = index %a, i32 1 : ptr private f32 store %1, f32 1 align 1 volatile", ""},
      {"%1 = pcast %g : ptr local i8 %2 = ptoi %1 : i64 %3 = itop %2 : ptr global i8", ""},
      {"%1 = vload %l : f16x3 vstore %l, %1", ""},
      {"%1 = field %p, 1 : ptr private f32 copy %p, %p", ""},
      {"%1 = atomic cmpxchg seq_cst device %g, i32 1, i32 2 : i32 atomic store relaxed group %x, f32 1", ""},
      {"%1 = sext %c : i8 %2 = utof %c : f32 %3 = ftou %2 sat : i64", ""},
      {"loop { switch %n { case 1 { continue } default { break } } } continue { switch %n { default { break } } "
       "break_if %c }",
       ""},
      {"loop { } continue { loop { break } }", ""},
      {"%1 = pdiff %x, %x : i64 %2 = call @callee(f32 1) : i32 trap", ""},
      {"fresh %a fresh %i", ""},
  };
  ASSERT_RULES(rules);
}

static void test_operations_check_their_types(void **state) {
  (void)state;
  static const rule rules[] = {
      {"%1 = add %n, f32 1 : i32", "the operands differ in type"},
      {"%1 = add %n, %n : i64", "the result has another type"},
      {"%1 = add %c, %c : bool", "not an operand type"},
      {"%1 = fadd %n, %n : i32", "not an operand type"},
      {"%1 = not %v : f32x4", "not an operand type"},
      {"%1 = slt %x, %x : bool", "not an operand type"},
      {"%1 = eq %x, %g : bool", "the operands differ in type"},
      {"%1 = flt %v, %v : bool", "the result has another type"},
      {"%1 = trunc %n : i32", "not types of this conversion"},
      {"%1 = zext %n : i16", "not types of this conversion"},
      {"%1 = stof %c : f32", "not types of this conversion"},
      {"%1 = fwiden %v : f64x2", "the number of lanes changes"},
      {"%1 = fnarrow %v : f64x4", "not types of this conversion"},
      {"%1 = bitcast %v : i64", "numbers of one size"},
      {"%1 = bitcast %v : i32x3", "numbers of one size"},
      {"%1 = bitcast %c : i8", "numbers of one size"},
      {"%1 = select %n, %n, %n : i32", "the condition is a bool"},
      {"%1 = select boolx2 zero, %v, %v : f32x4", "the condition is a bool"},
      {"%1 = select %c, %n, i8 1 : i32", "the choices have another type"},
      {"%1 = vec f32 1, f32 2 : f32x4", "as many scalars as lanes"},
      {"%1 = splat %n : f32x4", "another type than the lanes"},
      {"%1 = extract %v, f32 1 : f32", "the index is an integer"},
      {"%1 = extract %v, i8 1 : f64", "the result has another type"},
      {"%1 = insert %v, %n, i8 1 : f32x4", "another type than the lanes"},
      {"%1 = shuffle %v, %v [8, 0] : f32x2", "a lane that isn't there"},
      {"%1 = shuffle %v, f32x2 zero [0, 0] : f32x2", "two vectors of one type"},
      {"%1 = elem %n, i8 1 : i32", "a pointer expected"},
      {"%1 = elem %o, i8 1 : ptr global @opaque", "elements without size"},
      {"%1 = elem %x, %c : ptr global f32", "the index is an integer"},
      {"%1 = index %x, i8 1 : ptr global f32", "array or vector expected"},
      {"%1 = index %a, i8 1 : ptr global f32", "the result has another type"},
      {"%1 = field %p, 2 : ptr private f32", "a struct with this field"},
      {"%1 = pcast %x : ptr local f32", "not spaces of a cast"},
      {"%1 = pcast %h : ptr generic i32", "not spaces of a cast"},
      {"%1 = pdiff %x, %g : i64", "two pointers of one type"},
      {"%1 = global_id 3 : i64", "a dimension is 0, 1 or 2"},
      {"%1 = global_id 0 : i32", "the result has another type"},
      {"%1 = load %x : i32", "the value has another type"},
      {"%1 = load %p : i32", "the value has another type"},
      {"store %h, i32 1", "constant memory is not written"},
      {"%1 = load %o : i32", "a pointer to something with a size"},
      {"store %x, %n", "the value has another type"},
      {"%1 = vload %p : f32x4", "the vector has other elements"},
      {"copy %x, %g", "two pointers to one type"},
      {"fresh %p", "a private variable expected"},
      {"%1 = call @callee(%n) : i32", "an argument has another type"},
      {"%1 = call @callee() : i32", "another number of arguments"},
      {"%1 = call @callee(f32 1) : f32", "the result has another type"},
      {"call @other()", "a kernel is not called"},
      {"%1 = atomic add relaxed device %x, f32 1 : f32", "not a type of this atomic operation"},
      {"%1 = atomic fadd relaxed device %g, i32 1 : i32", "not a type of this atomic operation"},
      {"%1 = atomic load relaxed device %l : f16", "not a type of this atomic operation"},
      {"%1 = atomic add relaxed device %g : i32", "another number of operands"},
      {"%1 = fadd %v, %v nsw : f32x4", "a flag that this operation has not"},
      {"%1 = add %n, %n volatile : i32", "a flag that this operation has not"},
      {"if %n { }", "the condition is a bool"},
      {"switch %n { case 1 { } case 1 { } default { } }", "a case stands twice"},
      {"return %n", "return with a value"},
      {"%1 = add ptr constant i32 @table + 4, %h : ptr constant i32", "stands in initialisers"},
  };
  ASSERT_RULES(rules);
}

static void test_structure_is_checked(void **state) {
  (void)state;
  static const rule rules[] = {
      {"if %c { %1 = add %n, %n : i32 } store %i, %1", "an operand is not visible here"},
      {"loop { %1 = add %n, %n : i32 } continue { store %i, %1 }", "an operand is not visible here"},
      {"break", "no loop or switch"},
      {"loop { } continue { break }", "no loop or switch"},
      {"loop { } continue { if %c { break } }", "no loop or switch"},
      {"continue", "no loop that it may continue"},
      {"switch %n { default { continue } }", "no loop that it may continue"},
      {"loop { } continue { switch %n { default { continue } } }", "no loop that it may continue"},
      {"loop { break_if %c }", "last in a continue block"},
      {"loop { } continue { break_if %c store %i, %n }", "last in a continue block"},
      {"loop { } continue { if %c { break_if %c } }", "last in a continue block"},
      {"loop { } continue { if %c { return } }", "return in a continue block"},
      {"loop { break store %i, %n }", "stands last in its block"},
      {"trap store %i, %n", "stands last in its block"},
      {"region { }", "the function has no regions"},
  };
  ASSERT_RULES(rules);
}

static void assert_module(const char *text, const char *message) {
  const char *found = verify(text);
  if (*message ? !strstr(found, message) : *found) fail_msg("%s\nexpected '%s', found '%s'", text, message, found);
}

static void test_functions_are_checked(void **state) {
  (void)state;
  assert_module("quern 1 bits 64\nkernel @k()", "a kernel without a body");
  assert_module("quern 1 bits 64\nkernel @k() : i32 { }", "a kernel has no result");
  assert_module("quern 1 bits 64\nkernel @k(%p : ptr private f32) { }", "a kernel's pointers are");
  assert_module("quern 1 bits 64\nkernel @k(%p : ptr generic f32) { }", "a kernel's pointers are");
  assert_module("quern 1 bits 64\nkernel @k(%p : ptr global ptr global f32) { }",
                "a pointer within a kernel's argument");
  assert_module("quern 1 bits 64\nstruct @s { ptr global f32 }\nkernel @k(%p : ptr private @s byval) { }",
                "a pointer within a kernel's argument");
  assert_module("quern 1 bits 64\nfunc @f(%p : ptr global f32 byval) { }", "byval and sret are for");
  assert_module("quern 1 bits 64\nfunc @f(%p : [2 x i32]) { }", "a parameter is a scalar");
  assert_module("quern 1 bits 64\nfunc @f() { local @l : i32 }", "local memory belongs to kernels");
  assert_module("quern 1 bits 64\nfunc @f() { var %x : [1099511627776 x i32] }", "a larger one than the limit");
  assert_module("quern 1 bits 64\nfunc @f() { context %x : i32 }", "this storage is for");
  assert_module("quern 1 bits 64\nfunc @f() { call @g() }\nfunc @g() { if bool true { call @f() } }",
                "it calls itself");
  assert_module("quern 1 bits 64\nfunc @f(%p : i8) { call @f(%p) }", "it calls itself");
  assert_module("quern 1 bits 64\nconstant @c : ptr constant f32 = @c + 4\n", "");
}

static void test_regions_are_checked(void **state) {
  (void)state;
  static const rule rules[] = {
      {"region { %1 = local_id 0 : i64 return }", ""},
      {"%1 = local_id 0 : i64", "an item's id outside of regions"},
      {"%1 = group_id 0 : i64 region { %2 = add %1, %1 : i64 }", ""},
      {"region { region { } }", "a region in a region"},
      {"region { barrier }", "a barrier after the pass regions"},
      {"loop { region { break } }", "no loop or switch"},
      {"region { store %c, i32 1 } region { store %c, i32 2 }", ""},
      {"region { store %p, i32 1 } region { store %p, i32 2 }", "a plain variable is used in two regions"},
      {"store %c, i32 1", "a variable of work-items outside of regions"},
      {"store %g, i32 1", ""},
      {"loop { } continue { region { return } }", ""},
  };
  for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
    qn_bytes text = {0};
    qn_bytes_printf(
        &text, "quern 1 bits 64\nkernel @k() regions 64 64 { var %%p : i32 context %%c : i32 group %%g : i32\n%s }",
        rules[i].body);
    assert_module(text.data, rules[i].message);
    qn_bytes_free(&text);
  }
}

static void test_messages_show_the_instruction(void **state) {
  (void)state;
  assert_string_equal(
      verify("quern 1 bits 64\nfunc @f(%a : f32) {\n  barrier\n  %5 = fneg %a : f32\n  store %a, %5\n}\n"),
      "invalid IR: function @f: 'store %a, %0': a pointer to something with a size expected");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_valid_bodies_pass),    cmocka_unit_test(test_operations_check_their_types),
      cmocka_unit_test(test_structure_is_checked), cmocka_unit_test(test_functions_are_checked),
      cmocka_unit_test(test_regions_are_checked),  cmocka_unit_test(test_messages_show_the_instruction),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
