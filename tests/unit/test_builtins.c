/* The table of built-in functions: its order, what its rows name, and calls with every kind of argument. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
/* after these */
#include <cmocka.h>

#include "base/status.h"
#include "compiler/compiler.h"
#include "compiler/front/builtin_table.h"
#include "compiler/lib/lib.h"
#include "compiler/pass/pass.h"

static void test_rows_are_sorted(void **state) {
  (void)state;
  for (uint32_t i = 1; i < builtin_row_count; i++) {
    int order = strcmp(builtin_rows[i - 1].name, builtin_rows[i].name);
    if (order > 0) fail_msg("%s stands before %s", builtin_rows[i - 1].name, builtin_rows[i].name);
  }
}

static void check_library_name(const char *base, const builtin_row *row, uint32_t bits) {
  char name[64];
  bool whole_vectors = row->emit == builtin_emit_geometric;
  for (uint32_t lanes = 1; lanes <= (whole_vectors ? 4u : 1u); lanes++) {
    (void)snprintf(name, sizeof name, lanes > 1 ? "%s.f%ux%u" : "%s.f%u", base, bits, lanes);
    if (qn_library_find(qn_sv_from(name)) < 0) fail_msg("%s: the library has no %s", row->name, name);
  }
}

static void test_library_functions_of_rows_exist(void **state) {
  (void)state;
  for (uint32_t i = 0; i < builtin_row_count; i++) {
    const builtin_row *row = &builtin_rows[i];
    if (row->library && (row->elements & E_F32)) check_library_name(row->library, row, 32);
    if (row->library && (row->elements & E_F64)) check_library_name(row->library, row, 64);
    if (row->fast) check_library_name(row->fast, row, 32);
  }
}

static void test_signatures_are_well_formed(void **state) {
  (void)state;
  for (uint32_t i = 0; i < builtin_row_count; i++) {
    const char *s = builtin_rows[i].signature;
    if (!s[0]) continue;
    assert_non_null(strchr("TEVIJUWRiuzfv", s[0]));
    assert_int_equal(s[1], '(');
    assert_int_equal(s[strlen(s) - 1], ')');
    assert_int_equal(strspn(s, "TEVIJUWRiuzfhv()*cga, "), strlen(s));
  }
}

/* ---- Calls ------------------------------------------------------------------------------------------ */

/* Arguments of every kind; those that are memory are parameters of the kernel. */
static const char *const arguments[] = {
    "c",
    "uc",
    "s",
    "us",
    "i",
    "u",
    "l",
    "ul",
    "fl",
    "d",
    "i2",
    "u2",
    "f2",
    "f3",
    "f4",
    "d2",
    "d4",
    "i4",
    "u4",
    "l2",
    "c16",
    "f16",
    "s3",
    "b",
    "gf",
    "gi",
    "gl",
    "gd",
    "gh",
    "gf4",
    "cf",
    "lf",
    "li",
    "&pf",
    "&pi",
    "&pf4",
    "gv",
    "st",
    "0",
    "1.0f",
    "CLK_LOCAL_MEM_FENCE",
    "f4.xy",
    "&st",
};
enum { ARGUMENTS = sizeof arguments / sizeof *arguments };
static const char head[] =
    "struct s { int a; };\n"
    "kernel void f(char c, uchar uc, short s, ushort us, int i, uint u, long l, ulong ul, float fl, double d, int2 "
    "i2,\n"
    "  uint2 u2, float2 f2, float3 f3, float4 f4, double2 d2, double4 d4, int4 i4, uint4 u4, long2 l2, char16 c16,\n"
    "  float16 f16, short3 s3, global float *gf, global int *gi, global long *gl, global double *gd, global half *gh,\n"
    "  global float4 *gf4, constant float *cf, local float *lf, local int *li, global void *gv, struct s st) {\n"
    "  bool b = i > 0; float pf; int pi; float4 pf4;\n  ";

static uint64_t random_state = 88172645463325252u;
static uint32_t random_below(uint32_t count) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return (uint32_t)((random_state >> 20) % count);
}

static uint32_t accepted;

static void check_call(const char *call) {
  char source[2048];
  (void)snprintf(source, sizeof source, "%s%s;\n}\n", head, call);
  uint32_t choice = random_below(8);
  qn_compile_options options = {.fast_relaxed_math = choice == 0};
  qn_arena arena;
  qn_arena_init(&arena, 0);
  qn_compile_request request = {
      .source = qn_sv_from(source),
      .options = &options,
      .model = {.address_bits = choice == 1 ? 32 : 64, .has_double = true, .has_int64_atomics = choice != 2},
  };
  ir_module *m = NULL;
  qn_bytes log = {0};
  /* The module is verified: what was chosen and what was emitted fit together. */
  qn_status status = qn_compile(&arena, &request, &m, &log);
  if (status != QN_OK && status != QN_ERROR_COMPILE) fail_msg("%s: %s", call, qn_error_text());
  if (status == QN_OK) {
    accepted++;
    if (pass_link(m) != QN_OK || ir_verify(m) != QN_OK) fail_msg("%s: %s", call, qn_error_text());
  } else if (!strstr(qn_error_text(), "error: ")) {
    fail_msg("%s: %s", call, qn_error_text());
  }
  qn_bytes_free(&log);
  if (m) ir_module_free(m);
  qn_arena_free(&arena);
}

static void check_calls_of(const char *name, uint32_t most) {
  char call[256];
  for (uint32_t round = 0; round < most; round++) {
    int at = snprintf(call, sizeof call, "%s(", name);
    uint32_t count = 1 + random_below(4) - (random_below(16) == 0);
    const char *last = arguments[random_below(ARGUMENTS)];
    for (uint32_t i = 0; i < count; i++) {
      /* Often twice the same, as most functions want it. */
      if (random_below(4) == 0) last = arguments[random_below(ARGUMENTS)];
      at += snprintf(call + at, sizeof call - (size_t)at, "%s%s", i ? ", " : "", last);
    }
    (void)snprintf(call + at, sizeof call - (size_t)at, ")");
    check_call(call);
  }
}

static void test_calls_with_any_arguments_are_compiled_or_reported(void **state) {
  (void)state;
  char name[64];
  for (uint32_t i = 0; i < builtin_row_count; i++) {
    (void)snprintf(name, sizeof name, "%s", builtin_rows[i].name);
    char *number = strchr(name, '#');
    if (number) *number = "2348"[random_below(4)];
    check_calls_of(name, 60);
  }
  static const char *const others[] = {"as_float4",
                                       "as_int3",
                                       "convert_uchar16_sat",
                                       "convert_double2_rtz",
                                       "convert_int_rte",
                                       "convert_long4_sat_rtn",
                                       "vload16",
                                       "vstore_half16_rtp",
                                       "as_double",
                                       "convert_float3"};
  for (uint32_t i = 0; i < sizeof others / sizeof *others; i++) check_calls_of(others[i], 60);
  print_message("%u calls were accepted\n", accepted);
  assert_true(accepted > 400);
}

/* What every row is there for: a call that fits exists for each name. */
static void test_every_function_can_be_called(void **state) {
  (void)state;
  for (uint32_t i = 0; i < builtin_row_count; i++) {
    const builtin_row *row = &builtin_rows[i];
    if (!row->emit || !row->signature[0]) continue;
    char call[256], name[64];
    (void)snprintf(name, sizeof name, "%s", row->name);
    char *number = strchr(name, '#');
    if (number) *number = '4';
    bool is_float = (row->elements & E_FLOAT) != 0;
    bool is_wide = row->lanes && !(row->lanes & L_1);
    const char *t = is_float ? (is_wide ? "f4" : "fl") : is_wide ? "i4" : "i";
    int at = snprintf(call, sizeof call, "%s(", name);
    for (const char *s = strchr(row->signature, '(') + 1; *s && *s != ')'; s++) {
      const char *text = NULL;
      bool pointer = *s == '*' || s[1] == '*';
      if (pointer) s += *s == '*' ? 1 : 2;
      switch (*s) {
        case 'T':
          text = pointer ? (strcmp(name, "prefetch") == 0 || is_float ? "gf" : "gi") : t;
          break;
        case 'E':
          text = is_float ? "fl" : "i";
          break;
        case 'I':
          text = pointer ? "gi" : is_wide ? "i4" : "i";
          break;
        case 'J':
          text = is_wide ? "i4" : "i";
          break;
        case 'U':
          text = is_wide ? "u4" : "u";
          break;
        case 'V':
          text = number ? (is_float ? "f4" : "i4") : "fl";
          break;
        case 'h':
          text = "gh";
          break;
        case 'i':
          text = "i";
          break;
        case 'u':
        case 'z':
          text = "0";
          break;
        default:
          continue;
      }
      at += snprintf(call + at, sizeof call - (size_t)at, "%s%s", call[at - 1] == '(' ? "" : ", ", text);
    }
    (void)snprintf(call + at, sizeof call - (size_t)at, ")");
    uint32_t before = accepted;
    check_call(call);
    if (accepted == before) fail_msg("%s is not taken: %s", call, qn_error_text());
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rows_are_sorted),
      cmocka_unit_test(test_library_functions_of_rows_exist),
      cmocka_unit_test(test_signatures_are_well_formed),
      cmocka_unit_test(test_calls_with_any_arguments_are_compiled_or_reported),
      cmocka_unit_test(test_every_function_can_be_called),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
