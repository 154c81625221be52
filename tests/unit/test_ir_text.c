/* The IR's text form: what is printed parses to the same text, and bad text is an error with its place. */
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

typedef struct fixture {
  qn_arena arena;
  ir_module *m;
  qn_bytes text;
} fixture;

static void open_module(fixture *x) {
  *x = (fixture){0};
  qn_arena_init(&x->arena, 0);
  x->m = ir_module_new(&x->arena, &model64);
  assert_non_null(x->m);
}

static void close_module(fixture *x) {
  qn_bytes_free(&x->text);
  ir_module_free(x->m);
  qn_arena_free(&x->arena);
}

/* What `text` prints as. */
static void reprint(fixture *x, const char *text) {
  open_module(x);
  qn_status status = ir_parse(x->m, qn_sv_from(text), "test.ir");
  if (status != QN_OK) fail_msg("%s", qn_error_text());
  ir_print(x->m, &x->text);
}

static void assert_same(const char *text) {
  fixture x;
  reprint(&x, text);
  assert_string_equal(x.text.data, text);
  close_module(&x);
}

static void assert_becomes(const char *text, const char *expected) {
  fixture x;
  reprint(&x, text);
  assert_string_equal(x.text.data, expected);
  close_module(&x);
  assert_same(expected);
}

static void assert_error(const char *text, const char *message) {
  fixture x;
  open_module(&x);
  assert_int_equal(ir_parse(x.m, qn_sv_from(text), "test.ir"), QN_ERROR_DATA);
  assert_string_equal(qn_error_text(), message);
  close_module(&x);
}

static void test_every_construct_prints_as_it_was_read(void **state) {
  (void)state;
  assert_same(
      "quern 1 bits 64 double half int64_atomics fast\n"
      "struct @particle {f32x4, f32 align 16, ptr global @particle}\n"
      "union @either packed align 8 {i32, [3 x i16]}\n"
      "struct @opaque\n"
      "constant @weights : [3 x f32] = {0x1p-2, 0x1.8p-1, -inf}\n"
      "constant @bytes : [1000 x i8] align 16 = {1, -128}\n"
      "constant @mixed : @particle = {{0x1p+0, nan:0x7fc00001, -0x0p+0, 0x1p-149}, 0x0p+0, zero}\n"
      "constant @choice : @either = {.1 = {-1, 0, 5}}\n"
      "constant @pointers : [2 x ptr constant f32] = {@weights + 4, @weights}\n"
      "constant @nothing : @either = zero\n"
      "func @helper(%p : ptr global f32, %s : ptr private @particle byval) : f32 inline noinline {\n"
      "  %0 = load %p align 1 volatile : f32\n"
      "  return %0\n"
      "}\n"
      "func @later(%o : ptr global @opaque)\n"
      "kernel @all(%x : ptr global f32 const restrict volatile access readwrite element f32 type \"float*\\22\\0a\", "
      "%n : "
      "i32 access read element u32) reqd 64 1 1 hint 8 8 1 static 256 {\n"
      "  local @tile : [64 x f32] align 128 offset 128\n"
      "  var %i : i32\n"
      "  var %v : f32x3 align 64\n"
      "  %0 = global_id 0 : i64\n"
      "  %1 = work_dim : i32\n"
      "  %2 = trunc %0 : i32\n"
      "  store %i, %2\n"
      "  loop {\n"
      "    %3 = load %i : i32\n"
      "    %4 = slt %3, %n : bool\n"
      "    if %4 {\n"
      "    } else {\n"
      "      break\n"
      "    }\n"
      "    %5 = elem %x, i64 -1 : ptr global f32\n"
      "    %6 = load %5 : f32\n"
      "    %7 = fmul %6, f32 0x1.8p+1 contract fast : f32\n"
      "    store %5, %7\n"
      "    switch %3 {\n"
      "      case -1 {\n"
      "        continue\n"
      "      }\n"
      "      case 7 {\n"
      "      }\n"
      "      default {\n"
      "        break\n"
      "      }\n"
      "    }\n"
      "  } continue {\n"
      "    %8 = load %i : i32\n"
      "    %9 = add %8, i32 64 nsw : i32\n"
      "    store %i, %9\n"
      "    %10 = eq %9, i32 0 : bool\n"
      "    break_if %10\n"
      "  }\n"
      "  barrier local global\n"
      "  fence\n"
      "  %11 = index @tile, %0 : ptr local f32\n"
      "  %12 = atomic add relaxed device %i, i32 1 : i32\n"
      "  %13 = vec f32 0x1p+0, f32 0x1p+1 : f32x2\n"
      "  %14 = shuffle %13, f32x2 zero [0, 3, -1] : f32x3\n"
      "  %15 = select bool true, %14, f32x3 {0x1p+0, undef, 0x1p+2} : f32x3\n"
      "  %16 = call @helper(%x, ptr private @particle undef) : f32\n"
      "  call @later(ptr global @opaque zero)\n"
      "  region {\n"
      "    return\n"
      "  }\n"
      "  return\n"
      "}\n");
}

static void test_text_is_made_canonical(void **state) {
  (void)state;
  assert_becomes(
      "quern 1 bits 64 ; a comment\n"
      "kernel @k(%x : ptr global f32) { %a = load %x : f32 %b = fadd %a, f32 1.5 : f32\n"
      "  store %x,\n %b loop { break } continue { } if bool true { } return }",
      "quern 1 bits 64\n"
      "kernel @k(%x : ptr global f32) {\n"
      "  %0 = load %x : f32\n"
      "  %1 = fadd %0, f32 0x1.8p+0 : f32\n"
      "  store %x, %1\n"
      "  loop {\n"
      "    break\n"
      "  }\n"
      "  if bool true {\n"
      "  }\n"
      "  return\n"
      "}\n");
}

static void test_zeros_have_one_spelling(void **state) {
  (void)state;
  assert_becomes("quern 1 bits 64\nconstant @a : [4 x i32] = {0, 0}\nconstant @b : i32x4 = {1, 0, 0, 0}\n",
                 "quern 1 bits 64\nconstant @a : [4 x i32] = zero\nconstant @b : i32x4 = {1, 0, 0, 0}\n");
}

static void test_structs_stand_before_their_use_and_unused_ones_are_left_out(void **state) {
  (void)state;
  assert_becomes(
      "quern 1 bits 64\nstruct @unused {i8}\nstruct @a {i32, ptr global @c}\nstruct @b {@a}\nstruct @c {i8}\n"
      "func @f(%p : ptr global @b)\n",
      "quern 1 bits 64\nstruct @a {i32, ptr global @c}\nstruct @b {@a}\nstruct @c {i8}\n"
      "func @f(%p : ptr global @b)\n");
}

static void test_calls_may_stand_before_the_function(void **state) {
  (void)state;
  assert_same("quern 1 bits 64\nfunc @f() {\n  call @g()\n  return\n}\nfunc @g() {\n  return\n}\n");
}

static void test_text_is_added_to_what_the_module_declares(void **state) {
  (void)state;
  fixture x;
  open_module(&x);
  assert_int_equal(ir_parse(x.m, QN_SV("quern 1 bits 64\nconstant @t : i32 = 1\nfunc @f(%a : f32) : f32\n"), "a"),
                   QN_OK);
  assert_int_equal(ir_parse(x.m,
                            QN_SV("quern 1 bits 64\nconstant @t : i32 = 2\nfunc @f(%x : f32) : f32 {\n"
                                  "%l = load @t : i32 return %x\n}\n"),
                            "b"),
                   QN_OK);
  ir_print(x.m, &x.text);
  assert_string_equal(x.text.data,
                      "quern 1 bits 64\nconstant @t : i32 = 1\nconstant @t.1 : i32 = 2\n"
                      "func @f(%a : f32) : f32 {\n  %0 = load @t.1 : i32\n  return %a\n}\n");
  close_module(&x);
}

static void test_errors_name_the_place(void **state) {
  (void)state;
  assert_error("", "test.ir:1:1: expected 'quern 1', found the end of the text");
  assert_error("quern 2 bits 64", "test.ir:1:7: this version of the text form is not known; only 1 is");
  assert_error("quern 1 bits 64\n  foo", "test.ir:2:3: expected struct, union, constant, func or kernel, found 'foo'");
  assert_error("quern 1 bits 64\nfunc @f() {\n  %0 = add i32 1, %1 : i32\n}",
               "test.ir:3:19: expected a value that is defined before, found '%1'");
  assert_error("quern 1 bits 64\nfunc @f() {\n  call @g()\n}", "test.ir:3:8: function @g is not declared");
  assert_error("quern 1 bits 64\nfunc @f(%a : i8, %a : i8)", "test.ir:2:18: %a is defined twice");
  assert_error("quern 1 bits 64\nfunc @f(%0 : i8)",
               "test.ir:2:9: the name of a parameter or variable starts with a digit: 0");
  assert_error("quern 1 bits 64\nfunc @f() {\n  var %1a : i8\n}",
               "test.ir:3:7: the name of a parameter or variable starts with a digit: 1a");
  assert_error("quern 1 bits 64\nfunc @f(%a : ptr global @s)", "test.ir:2:25: struct @s is not declared");
  assert_error("quern 1 bits 64\nstruct @s {@s}", "test.ir:2:12: struct @s is not complete here");
  assert_error("quern 1 bits 64\nconstant @c : i8 = 256", "test.ir:2:20: the number does not fit i8");
  assert_error("quern 1 bits 64\nconstant @c : i8 = -129", "test.ir:2:20: the number does not fit i8");
  assert_error("quern 1 bits 64\nconstant @c : f32 = 0x1p+200", "test.ir:2:21: the number does not fit f32");
  assert_error("quern 1 bits 64\nconstant @c : f32 = nan:0x7f800000",
               "test.ir:2:21: expected a number, inf or nan:0x..., found 'nan:0x7f800000'");
  assert_error("quern 1 bits 64\nconstant @c : i32x2 = {1}", "test.ir:2:24: fewer parts than the type has");
  assert_error("quern 1 bits 64\nconstant @c : i32x2 = {1, 2, 3}", "test.ir:2:30: more parts than the type has");
  assert_error("quern 1 bits 64\nfunc @f() {\n  return i8 1\n",
               "test.ir:4:1: expected an operation, found the end of the text");
  assert_error("quern 1 bits 64\nfunc @f() {\n  var %a : i32 align 3\n",
               "test.ir:3:22: an alignment is a power of two, 65536 at most");
  assert_error("quern 1 bits 64\nfunc @f(%a : i8)\nfunc @f(%a : i16)\n",
               "test.ir:3:6: function @f is declared with another signature");
  assert_error("quern 1 bits 64 \x80", "test.ir:1:17: expected struct, union, constant, func or kernel, found '?'");
}

static void assert_too_deep(const char *before, const char *level, const char *after) {
  qn_bytes text = {0};
  qn_bytes_append_str(&text, before);
  for (int i = 0; i < 100000; i++) qn_bytes_append_str(&text, level);
  qn_bytes_append_str(&text, after);
  fixture x;
  open_module(&x);
  assert_int_equal(ir_parse(x.m, qn_bytes_view(&text), "t"), QN_ERROR_DATA);
  assert_non_null(strstr(qn_error_text(), "nested too deep"));
  close_module(&x);
  qn_bytes_free(&text);
}

static void test_nesting_is_bounded(void **state) {
  (void)state;
  assert_too_deep("quern 1 bits 64\nfunc @f() {", "if bool true {", "");
  assert_too_deep("quern 1 bits 64\nfunc @f(%a : ", "ptr global ", "i8)");
  assert_too_deep("quern 1 bits 64\nfunc @f(%a : ", "[1 x ", "i8");
}

static void test_long_chains_of_structs_print(void **state) {
  (void)state;
  qn_bytes text = {0};
  qn_bytes_append_str(&text, "quern 1 bits 64\nstruct @s0 {i8}\n");
  for (int i = 1; i < 20000; i++)
    qn_bytes_printf(&text, "struct @s%d {%s@s%d, ptr global @s%d}\n", i, i % 2 ? "ptr local " : "", i - 1, 19999);
  qn_bytes_append_str(&text, "func @f(%p : ptr global @s5)\n");
  assert_same(text.data);
  qn_bytes_free(&text);
}

static void test_layout_follows_c(void **state) {
  (void)state;
  fixture x;
  reprint(
      &x,
      "quern 1 bits 64\nstruct @a {i8, f32x3, i16}\nstruct @p packed {i8, i64, i16 align 4}\nunion @u align 64 {i8, [5 "
      "x i32]}\nfunc @f(%a : ptr global @a, %p : ptr global @p, %u : ptr global @u, %v : ptr local [3 x @a])\n");
  ir_function *f = ir_function_find(x.m, QN_SV("f"));
  const ir_type *a = f->params[0].type->elem, *p = f->params[1].type->elem, *u = f->params[2].type->elem;
  assert_int_equal(a->size, 48);
  assert_int_equal(a->align, 16);
  assert_int_equal(a->fields[1].offset, 16);
  assert_int_equal(a->fields[2].offset, 32);
  assert_int_equal(p->size, 16);
  assert_int_equal(p->fields[1].offset, 1);
  assert_int_equal(p->fields[2].offset, 12);
  assert_int_equal(u->size, 64);
  assert_int_equal(f->params[3].type->elem->size, 144);
  close_module(&x);
}

static void test_sizes_stop_at_the_limit(void **state) {
  (void)state;
  fixture x;
  open_module(&x);
  const ir_type *t = ir_array(x.m, ir_array(x.m, ir_int(x.m, 64), UINT64_MAX), UINT64_MAX);
  assert_int_equal(t->size, IR_SIZE_LIMIT);
  close_module(&x);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_construct_prints_as_it_was_read),
      cmocka_unit_test(test_text_is_made_canonical),
      cmocka_unit_test(test_zeros_have_one_spelling),
      cmocka_unit_test(test_structs_stand_before_their_use_and_unused_ones_are_left_out),
      cmocka_unit_test(test_calls_may_stand_before_the_function),
      cmocka_unit_test(test_text_is_added_to_what_the_module_declares),
      cmocka_unit_test(test_errors_name_the_place),
      cmocka_unit_test(test_nesting_is_bounded),
      cmocka_unit_test(test_long_chains_of_structs_print),
      cmocka_unit_test(test_layout_follows_c),
      cmocka_unit_test(test_sizes_stop_at_the_limit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
