/* Making modules by hand: what makers give, and that a module whose memory runs out says so and stays usable. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
/* cmocka needs those before it. */
#include <cmocka.h>

#include "base/status.h"
#include "compiler/ir/ir.h"
#include "compiler/pass/pass.h"
#include "support/failing.h"

static const qn_model model64 = {64, true, true, true};

typedef struct fixture {
  qn_arena arena;
  ir_module *m;
  ir_function *f;
  ir_builder b;
} fixture;

/* A module with a kernel k(global float *x, int n). */
static bool open_fixture(fixture *x) {
  *x = (fixture){0};
  qn_arena_init(&x->arena, 0);
  x->m = ir_module_new(&x->arena, &model64);
  x->f = x->m ? ir_function_get(x->m, QN_SV("k")) : NULL;
  if (!x->f) return false;
  const ir_type *types[] = {ir_pointer(x->m, IR_GLOBAL, ir_float(x->m, 32)), ir_int(x->m, 32)};
  const char *names[] = {"x", "n"};
  ir_function_signature(x->f, ir_void(x->m), types, names, 2);
  x->f->is_kernel = true;
  x->f->body = ir_block_new(x->m, NULL);
  x->b = (ir_builder){.m = x->m, .f = x->f, .block = x->f->body};
  return !x->m->failed;
}

static void close_fixture(fixture *x) {
  ir_module_free(x->m);
  qn_arena_free(&x->arena);
}

static void test_types_are_equal_when_they_are_the_same(void **state) {
  (void)state;
  fixture x;
  assert_true(open_fixture(&x));
  const ir_type *f32 = ir_float(x.m, 32);
  assert_ptr_equal(ir_vector(x.m, f32, 4), ir_vector(x.m, f32, 4));
  assert_ptr_not_equal(ir_vector(x.m, f32, 4), ir_vector(x.m, f32, 3));
  assert_ptr_equal(ir_pointer(x.m, IR_LOCAL, f32), ir_pointer(x.m, IR_LOCAL, f32));
  assert_ptr_not_equal(ir_pointer(x.m, IR_LOCAL, f32), ir_pointer(x.m, IR_GLOBAL, f32));
  assert_ptr_equal(ir_array(x.m, f32, 7), ir_array(x.m, f32, 7));
  assert_ptr_not_equal(ir_struct_new(x.m, "s"), ir_struct_new(x.m, "s"));
  assert_ptr_equal(ir_const_int(x.m, ir_int(x.m, 8), 0x105), ir_const_int(x.m, ir_int(x.m, 8), 5));
  assert_ptr_equal(ir_const_float(x.m, f32, 0.1), ir_const_bits(x.m, f32, 0x3dcccccd));
  close_fixture(&x);
}

static void test_names_are_made_unique(void **state) {
  (void)state;
  fixture x;
  assert_true(open_fixture(&x));
  const ir_type *i32 = ir_int(x.m, 32);
  assert_string_equal(ir_var_private(x.f, "i", i32)->name, "i");
  assert_string_equal(ir_var_private(x.f, "i", i32)->name, "i.1");
  assert_string_equal(ir_var_private(x.f, "n", i32)->name, "n.1"); /* a parameter has it */
  assert_string_equal(ir_var_private(x.f, "i.2", i32)->name, "i.2");
  assert_string_equal(ir_var_private(x.f, "i", i32)->name, "i.3");
  assert_string_equal(ir_var_local(x.f, "i", i32)->name, "i"); /* local memory is named in the module */
  assert_string_equal(ir_var_constant(x.m, "i", i32, ir_zero(x.m, i32))->name, "i.1");
  close_fixture(&x);
}

static void test_makers_find_result_types(void **state) {
  (void)state;
  fixture x;
  assert_true(open_fixture(&x));
  ir_inst *p = x.f->params[0].value, *n = x.f->params[1].value;
  const ir_type *f32 = ir_float(x.m, 32);
  assert_ptr_equal(ir_load(&x.b, p)->type, f32);
  assert_ptr_equal(ir_elem(&x.b, p, n)->type, p->type);
  assert_ptr_equal(ir_vload(&x.b, p, 3)->type, ir_vector(x.m, f32, 3));
  assert_ptr_equal(ir_bin(&x.b, IR_SLT, n, ir_const_int(x.m, n->type, 3))->type, ir_bool(x.m));
  assert_ptr_equal(ir_bin(&x.b, IR_PDIFF, p, p)->type, ir_int(x.m, 64));
  assert_ptr_equal(ir_query(&x.b, IR_GLOBAL_ID, 0)->type, ir_int(x.m, 64));
  assert_ptr_equal(ir_query(&x.b, IR_WORK_DIM, 0)->type, ir_int(x.m, 32));
  ir_inst *v = ir_splat(&x.b, ir_vector(x.m, f32, 4), ir_load(&x.b, p));
  assert_ptr_equal(ir_shuffle(&x.b, v, v, (int32_t[]){3, 2}, 2)->type, ir_vector(x.m, f32, 2));
  assert_ptr_equal(ir_bin(&x.b, IR_FLT, v, v)->type, ir_vector(x.m, ir_bool(x.m), 4));
  assert_int_equal(ir_verify(x.m), QN_OK);
  close_fixture(&x);
}

static void test_float_operations_take_the_builders_flags(void **state) {
  (void)state;
  fixture x;
  assert_true(open_fixture(&x));
  x.b.fp_flags = IR_CONTRACT | IR_FAST;
  ir_inst *a = ir_load(&x.b, x.f->params[0].value);
  assert_int_equal(a->flags, 0);
  assert_int_equal(ir_bin(&x.b, IR_FADD, a, a)->flags, IR_CONTRACT | IR_FAST);
  assert_int_equal(ir_bin(&x.b, IR_FDIV, a, a)->flags, IR_FAST);
  assert_int_equal(ir_bin(&x.b, IR_ADD, x.f->params[1].value, x.f->params[1].value)->flags, 0);
  assert_int_equal(ir_verify(x.m), QN_OK);
  close_fixture(&x);
}

static void test_the_builder_inserts_before_an_instruction(void **state) {
  (void)state;
  fixture x;
  assert_true(open_fixture(&x));
  ir_inst *first = ir_load(&x.b, x.f->params[0].value);
  ir_inst *last = ir_return(&x.b, NULL);
  x.b.before = last;
  ir_inst *middle = ir_load(&x.b, x.f->params[0].value);
  assert_ptr_equal(first->next, middle);
  assert_ptr_equal(middle->next, last);
  x.b.before = first;
  ir_inst *start = ir_load(&x.b, x.f->params[0].value);
  assert_ptr_equal(x.f->body->first, start);
  ir_inst_move_before(last, start);
  assert_ptr_equal(x.f->body->first, last);
  assert_ptr_equal(x.f->body->last, middle);
  ir_inst_remove(last);
  assert_ptr_equal(x.f->body->first, start);
  assert_int_equal(ir_verify(x.m), QN_OK);
  close_fixture(&x);
}

static void test_calls_are_put_in_order(void **state) {
  (void)state;
  fixture x;
  assert_true(open_fixture(&x));
  ir_function **order, *again;
  uint32_t count;
  const char *text =
      "quern 1 bits 64\nfunc @a() { call @b() call @c() }\nfunc @b() { if bool true { call @c() } }\nfunc @c() { }\n";
  assert_int_equal(ir_parse(x.m, qn_sv_from(text), "t"), QN_OK);
  assert_true(ir_call_order(x.m, &order, &count, &again));
  assert_int_equal(count, 4);
  assert_string_equal(order[0]->name, "k");
  assert_string_equal(order[1]->name, "c");
  assert_string_equal(order[2]->name, "b");
  assert_string_equal(order[3]->name, "a");
  close_fixture(&x);
}

static void nest(ir_builder *b, int depth) {
  for (int i = 0; i < depth; i++) ir_into(b, ir_if(b, ir_undef(b->m, ir_bool(b->m)))->u.ctrl.blocks[0]);
}

static void test_nesting_deeper_than_the_limit_is_refused(void **state) {
  (void)state;
  fixture x;
  assert_true(open_fixture(&x));
  nest(&x.b, IR_DEPTH_LIMIT);
  assert_int_equal(ir_verify(x.m), QN_OK);
  nest(&x.b, 1);
  assert_int_equal(ir_verify(x.m), QN_ERROR_LIMIT);
  assert_non_null(strstr(qn_error_text(), "'k'"));
  close_fixture(&x);
}

/* A helper that is deep, called from a deep place: what must be inlined is refused, other calls stay calls. */
static void check_deep_call(bool with_barrier, qn_status expected) {
  fixture x;
  assert_true(open_fixture(&x));
  ir_function *helper = ir_function_get(x.m, QN_SV("helper"));
  ir_function_signature(helper, ir_void(x.m), NULL, NULL, 0);
  helper->body = ir_block_new(x.m, NULL);
  helper->is_inline = true;
  ir_builder inner = {.m = x.m, .f = helper, .block = helper->body};
  nest(&inner, 600);
  if (with_barrier) ir_barrier(&inner, IR_BARRIER, 0);
  nest(&x.b, 600);
  ir_call(&x.b, helper, NULL, 0);
  assert_int_equal(ir_verify(x.m), QN_OK);
  assert_int_equal(pass_inline(x.m, false), expected);
  close_fixture(&x);
}

static void test_inlining_does_not_nest_deeper_than_the_limit(void **state) {
  (void)state;
  check_deep_call(false, QN_OK);
  check_deep_call(true, QN_ERROR_LIMIT);
}

/* A loop with a barrier, a struct, a switch, a call; with every kind of maker. */
static void build_much(fixture *x) {
  ir_module *m = x->m;
  ir_builder *b = &x->b;
  const ir_type *i32 = ir_int(m, 32), *f32 = ir_float(m, 32);
  ir_type *s = ir_struct_new(m, "s");
  ir_struct_complete(m, s, (const ir_type *[]){i32, ir_vector(m, f32, 3)}, (const char *[]){"a", "b"}, NULL, 2, false,
                     false, 0);
  ir_inst *parts[] = {ir_const_int(m, i32, 1), ir_zero(m, ir_vector(m, f32, 3))};
  ir_var *constant = ir_var_constant(m, "c", s, ir_const_aggregate(m, s, parts, 2));
  ir_var *i = ir_var_private(x->f, "i", i32), *own = ir_var_private(x->f, "own", s);
  ir_var *tile = ir_var_local(x->f, "tile", ir_array(m, f32, 8));
  ir_function *callee = ir_function_get(m, QN_SV("callee"));
  if (!callee) return;
  ir_function_signature(callee, f32, &f32, NULL, 1);
  if (m->failed) return;
  callee->body = ir_block_new(m, NULL);
  ir_builder inner = {.m = m, .f = callee, .block = callee->body};
  ir_return(&inner, ir_bin(&inner, IR_FMUL, callee->params[0].value, callee->params[0].value));
  ir_copy(b, own->address, constant->address);
  ir_store(b, i->address, x->f->params[1].value);
  ir_inst *loop = ir_loop(b);
  ir_into(b, loop->u.ctrl.blocks[0]);
  ir_barrier(b, IR_BARRIER, IR_FENCE_LOCAL);
  ir_inst *value = ir_load(b, ir_index(b, tile->address, ir_query(b, IR_LOCAL_ID, 0)));
  ir_inst *sum = ir_call(b, callee, &value, 1);
  ir_inst *choice = ir_switch(b, ir_load(b, i->address), (uint64_t[]){1, 2}, 2);
  if (!choice) return;
  ir_into(b, choice->u.ctrl.blocks[1]);
  ir_store(b, ir_field_at(b, own->address, 0), ir_load(b, i->address));
  ir_into(b, loop->u.ctrl.blocks[0]);
  ir_store(b, ir_elem(b, x->f->params[0].value, ir_query(b, IR_GLOBAL_ID, 0)), sum);
  ir_into(b, loop->u.ctrl.blocks[1]);
  ir_inst *next = ir_bin(b, IR_SUB, ir_load(b, i->address), ir_const_int(m, i32, 1));
  ir_store(b, i->address, next);
  ir_break_if(b, ir_bin(b, IR_EQ, next, ir_zero(m, i32)));
  ir_into(b, x->f->body);
  ir_store(b, x->f->params[0].value, ir_conv(b, IR_STOF, ir_load(b, ir_field_at(b, own->address, 0)), f32));
}

static qn_status build_and_run(qn_bytes *text) {
  fixture x;
  qn_status status = QN_ERROR_OUT_OF_HOST_MEMORY;
  if (open_fixture(&x)) {
    build_much(&x);
    status = ir_verify(x.m);
    if (status == QN_OK) status = pass_inline(x.m, true);
    if (status == QN_OK) status = pass_simplify(x.m);
    if (status == QN_OK) status = pass_access(x.m);
    if (status == QN_OK) status = pass_regions(x.m);
    if (status == QN_OK) status = ir_verify(x.m);
    if (status == QN_OK) ir_print(x.m, text);
  }
  close_fixture(&x);
  return status;
}

static void test_each_allocation_may_fail(void **state) {
  (void)state;
  qn_bytes text = {0};
  assert_int_equal(build_and_run(&text), QN_OK);
  assert_non_null(strstr(text.data, "region {"));
  FAILING_EACH(n) {
    qn_bytes again = {0};
    qn_status status = build_and_run(&again);
    failing_pause();
    assert_true(status == QN_OK || status == QN_ERROR_OUT_OF_HOST_MEMORY);
    if (status == QN_OK && !again.failed) assert_string_equal(again.data, text.data);
    qn_bytes_free(&again);
  }
  qn_bytes_free(&text);
}

/* Reading fails cleanly as well. */
static void test_each_allocation_of_the_parser_may_fail(void **state) {
  (void)state;
  qn_bytes text = {0};
  assert_int_equal(build_and_run(&text), QN_OK);
  FAILING_EACH(n) {
    qn_arena arena;
    qn_arena_init(&arena, 0);
    ir_module *m = ir_module_new(&arena, &model64);
    qn_status status = m ? ir_parse(m, qn_bytes_view(&text), "t") : QN_ERROR_OUT_OF_HOST_MEMORY;
    failing_pause();
    assert_true(status == QN_OK || status == QN_ERROR_OUT_OF_HOST_MEMORY);
    ir_module_free(m);
    qn_arena_free(&arena);
  }
  qn_bytes_free(&text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_types_are_equal_when_they_are_the_same),
      cmocka_unit_test(test_names_are_made_unique),
      cmocka_unit_test(test_makers_find_result_types),
      cmocka_unit_test(test_float_operations_take_the_builders_flags),
      cmocka_unit_test(test_the_builder_inserts_before_an_instruction),
      cmocka_unit_test(test_calls_are_put_in_order),
      cmocka_unit_test(test_nesting_deeper_than_the_limit_is_refused),
      cmocka_unit_test(test_inlining_does_not_nest_deeper_than_the_limit),
      cmocka_unit_test(test_each_allocation_may_fail),
      cmocka_unit_test(test_each_allocation_of_the_parser_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
