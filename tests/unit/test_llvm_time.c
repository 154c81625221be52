/* labels: serial */
/* Compile time grows with the source, not with its square, whatever is long in it: front end with passes, and code. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
/* cmocka asks for the three above. */
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/status.h"
#include "compiler/compiler.h"
#include "compiler/pass/pass.h"
#include "support/llvm.h"

/* A text around `count` pieces; '#' in a piece is its number. */
typedef struct shape {
  const char *what, *before, *piece, *after;
  int count;
  const char *close; /* once for each piece, after all of them; NULL: nothing */
  bool nests;        /* the front end has a limit: no more than `count` of them */
} shape;

#define KERNEL                                                                                 \
  "kernel void k(global float *out, global const float *in, global const int *sel, int n) {\n" \
  "  int i = get_global_id(0), s = sel[i]; float r = 0, t = in[i];\n"
#define END "  out[i] = r + t; }\n"
#define LOCAL "local float l[64];\n"
#define BARRIER "barrier(CLK_LOCAL_MEM_FENCE);\n"
#define EXCHANGE "l[i & 63] = r; " BARRIER " r += l[(i + #) & 63];\n"

/* What the front end and the passes read is cheap, so there is more of it than of what LLVM gets. */
static const shape shapes[] = {
    {"kernels", "", "kernel void k#(global int *y) { y[get_global_id(0)] += #; }\n", "", 6},
    {"helper functions", "", "float f#(float x) { return x * #.5f + 1; }\n", KERNEL "r = f3(t);" END, 20},
    {"calls", "float f(float x, float y) { return x * y + 1; }\n" KERNEL, "r = f(r, #);\n", END, 20},
    {"statements", KERNEL, "r = r * t + #;\n", END, 40},
    {"variables", KERNEL, "float v# = t * #; r += v#;\n", END, 20},
    {"loads and stores", KERNEL, "r += in[(i + #) & n]; out[(i + #) & n] = r;\n", END, 10},
    {"blocks", KERNEL, "{ float v = t * #; r += v; }\n", END, 20},
    {"ifs", KERNEL, "if (s == #) r += in[#];\n", END, 12},
    {"ifs that are uniform", KERNEL, "if (n == #) r += in[#];\n", END, 12},
    {"a chain of ifs", KERNEL, "if (s == #) r = t * #; else\n", "r = 1;" END, 6},
    {"a chain of ifs that are uniform", KERNEL, "if (n == #) r = t * #; else\n", "r = 1;" END, 6},
    {"loops", KERNEL, "for (int j = 0; j < n; j++) r += in[j + #];\n", END, 4},
    {"cases", KERNEL "switch (s) {\n", "case 7 * #: r = in[#] * #.5f; break;\n", "}" END, 100},
    {"cases that are uniform", KERNEL "switch (n) {\n", "case 7 * #: r = in[#] * #.5f; break;\n", "}" END, 100},
    {"cases that fall through", KERNEL "switch (n) {\n", "case 7 * #: r += in[#] * #.5f;\n", "}" END, 100},
    {"operands", KERNEL "r = t\n", "+ in[(i + #) & n] * #.5f\n", ";" END, 20},
    {"arguments of max", KERNEL "r = t;\n", "r = max(r, in[#]);\n", END, 20},
    {"members", "struct s {\n", "int m#;\n", "};\nkernel void k(global struct s *x) { x->m1 = x->m2; }\n", 60},
    {"elements of a table", "constant int table[] = {\n", "#,\n",
     "};\nkernel void k(global int *y) { *y = table[*y]; }\n", 200},
    {"barriers", KERNEL LOCAL, EXCHANGE, END, 8},
    {"barriers and what lives across", KERNEL LOCAL, "float v# = r * #.5f; " EXCHANGE "r += v#;\n", END, 6},
    {"barriers in loops", KERNEL LOCAL, "for (int j = 0; j < n; j++) { " EXCHANGE BARRIER "}\n", END, 4},
    {"barriers in nested loops", KERNEL LOCAL, "for (int j# = 0; j# < n; j#++) { " EXCHANGE, END, 4, "} ", true},
    {"barriers in conditions", KERNEL LOCAL, "if (n > #) { " EXCHANGE " }\n", END, 6},
    {"barriers in conditions that vary", KERNEL LOCAL, "if (s > #) r += 1; if (l[#] > 0) { " EXCHANGE " }\n", END, 3},
    {"remainders", KERNEL, "s = (n + #) % s;\n", "r += s;" END, 40},
    {"divisions of long", KERNEL "long u = sel[n], v = s;\n", "u = (u + #) / v;\n", "s = (int)u; r += s;" END, 5},
    {"vectors", KERNEL, "{ float4 a = vload4(#, in + i) * t; r += a.x * a.y - a.z * a.w; }\n", END, 10},
    {"values that live long", KERNEL "float v[1000];\n", "v[#] = in[(i * #) & n]; r += v[# / 2];\n", END, 20},
    {"nested loops", KERNEL, "for (int j# = 0; j# < n; j#++)\n", "r += in[s];" END, 8, NULL, true},
    {"nested loops that go on", KERNEL "int j = 0;\n", "for (int k = j; k < n; k++) for (int j = k; j < n; j++)\n",
     "r += in[j + s];" END, 4, NULL, true},
};

static void append(qn_bytes *text, const char *piece, int number) {
  for (; *piece; piece++) {
    if (*piece == '#')
      qn_bytes_printf(text, "%d", number);
    else
      qn_bytes_append_char(text, *piece);
  }
}

static qn_bytes text_of(const shape *s, int count) {
  qn_bytes text = {0};
  qn_bytes_append_str(&text, s->before);
  for (int i = 0; i < count; i++) append(&text, s->piece, i);
  for (int i = 0; i < count && s->close; i++) qn_bytes_append_str(&text, s->close);
  qn_bytes_append_str(&text, s->after);
  assert_false(text.failed);
  return text;
}

/* Of this process: the code generator has a thread of its own. */
static double milliseconds(void) {
  struct timespec now;
  assert_int_equal(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now), 0);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

typedef enum part { PART_FRONT, PART_CODE } part;

/* Compiles, and says how long the part took. */
static double time_once(const char *text, part which) {
  const qn_target_options options = {.emit = QN_EMIT_OBJECT, .arch = "x86-64", .cpu = "x86-64-v4", .features = ""};
  qn_compile_request request = {.source = qn_sv_from(text),
                                .model = {.address_bits = 64, .has_double = true, .has_int64_atomics = true}};
  qn_arena arena;
  ir_module *m;
  qn_bytes code = {0};
  qn_arena_init(&arena, 0);
  double start = milliseconds();
  if (qn_compile(&arena, &request, &m, NULL) < 0 || qn_prepare_cpu(m) < 0) fail_msg("%.2000s", qn_error_text());
  double middle = milliseconds();
  if (which == PART_CODE && qn_target_llvm(m, &options, &code) < 0) fail_msg("%s", qn_error_text());
  double end = milliseconds();
  qn_bytes_free(&code);
  ir_module_free(m);
  qn_arena_free(&arena);
  return which == PART_FRONT ? middle - start : end - middle;
}

static double time_of(const shape *s, int count, part which) {
  qn_bytes text = text_of(s, count);
  double best = time_once(text.data, which);
  for (int i = 0; i < 2 && best < 50; i++) {
    double time = time_once(text.data, which);
    if (time < best) best = time;
  }
  qn_bytes_free(&text);
  return best;
}

/* Eight times the source takes some eight times as long; 64 times would be quadratic. A machine that does other things
 * may disturb one measurement, but not three. Gives how many times. */
static double growth_of(const shape *s, part which, int count) {
  double once = 0, more = 0;
  for (int try = 0; try < 3; try++) {
    once = time_of(s, count, which);
    more = time_of(s, count * 8, which);
    if (more < once * 20 + 1) return more / once;
  }
  fail_msg("%d %s: %.2f ms, eight times as many: %.2f ms", count, s->what, once, more);
  return 0;
}

static void expect_linear(const char *what, part which, int factor) {
  const shape *steepest = shapes;
  double most = 0;
  for (const shape *s = shapes; s < shapes + sizeof shapes / sizeof *shapes; s++) {
    double growth = growth_of(s, which, s->nests ? s->count : s->count * factor);
    if (growth > most) {
      most = growth;
      steepest = s;
    }
    if (getenv("TELL")) printf("%s: %.1f\n", s->what, growth);
  }
  printf("measured: %s: eight times the source takes at most %.1f times as long (%s)\n", what, most, steepest->what);
}

static void front_end_and_passes_are_linear(void **state) {
  (void)state;
  setenv("QUERN_VERIFY", "0", 1);
  expect_linear("front end and passes", PART_FRONT, 4);
}

static void code_generation_is_linear(void **state) {
  (void)state;
  (void)setenv("QUERN_LLVM_LIBRARY", QUERN_BINARY_DIR "/libquern-llvm.so", 0);
  expect_linear("code generation", PART_CODE, 1);
}

/* What took minutes once, in the long tier: the limit is far from what it takes now, which is printed. */
static void the_largest_kernels_take_seconds(void **state) {
  static const shape large[] = {
      {"barriers", KERNEL LOCAL, EXCHANGE, END, 1000},
      {"barriers in loops in conditions", KERNEL LOCAL,
       "if (n > #) for (int j = 0; j < n; j++) { " EXCHANGE BARRIER "for (int k = j; k < n; k++) { " EXCHANGE BARRIER
       "} }\n",
       END, 63},
      {"barriers in nested loops", KERNEL LOCAL, "for (int j# = 0; j# < n; j#++) { " EXCHANGE, END, 120, "} ", true},
      {"remainders", KERNEL, "s = (n + #) % s;\n", "r += s;" END, 4000},
      {"statements", KERNEL, "r = r * t + #;\n", END, 10000},
      {"loads and stores", KERNEL, "r += in[(i + #) & n]; out[(i + #) & n] = r;\n", END, 2000},
      {"vectors", KERNEL, "{ float4 a = vload4(#, in + i) * t; r += a.x * a.y - a.z * a.w; }\n", END, 400},
      {"loops", KERNEL, "for (int j = 0; j < n; j++) r += in[j + #];\n", END, 1000},
      {"nested loops", KERNEL, "for (int j# = 0; j# < n; j#++)\n", "r += in[s];" END, 240, NULL, true},
  };
  const char *tier = getenv("QUERN_LONG");
  (void)state;
  if (!tier || tier[0] != '1') skip();
  for (const shape *s = large; s < large + sizeof large / sizeof *large; s++) {
    qn_bytes text = text_of(s, s->count);
    double time = time_once(text.data, PART_CODE);
    qn_bytes_free(&text);
    printf("measured: %d %s: %.0f ms\n", s->count, s->what, time);
    if (time > 30000) fail_msg("%d %s: %.0f ms", s->count, s->what, time);
  }
}

/* Each function calls the one before it twice. Who walks into every call has no end: there are 2^60 of them. */
static void functions_that_are_called_twice_are_looked_at_once(void **state) {
  char line[128];
  (void)state;
  (void)setenv("QUERN_LLVM_LIBRARY", QUERN_BINARY_DIR "/libquern-llvm.so", 0);
  for (int asks = 0; asks < 2; asks++) {
    qn_bytes text = {0};
    append(&text, asks ? "int f0(int x) { return x * (int)get_global_id(0); }\n" : "int f0(int x) { return x * x; }\n",
           0);
    for (int i = 1; i <= 60; i++) {
      snprintf(line, sizeof line, "int f%d(int x) { return f%d(x) + f%d(x + 1); }\n", i, i - 1, i - 1);
      append(&text, line, 0);
    }
    append(&text, "kernel void k(global int *y) { if (y[0] == 77) y[get_global_id(0)] = f60(y[0]); }\n", 0);
    (void)time_once(text.data, PART_CODE);
    qn_bytes_free(&text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(front_end_and_passes_are_linear),
      cmocka_unit_test(code_generation_is_linear),
      cmocka_unit_test(functions_that_are_called_twice_are_looked_at_once),
      cmocka_unit_test(the_largest_kernels_take_seconds),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
