/* suite_math.c - some built-in functions against the host's, within OpenCL's limits; the rest is exact. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cts.h"

typedef struct function {
  const char *name;
  double (*host)(double);
  double low, high; /* of the arguments */
  double limit;     /* ULP, OpenCL 1.2, section 7.4 */
} function;

static double rsqrt_of(double x) { return 1 / sqrt(x); }
static double exp10_of(double x) { return pow(10, x); }
static double sinpi_of(double x) { return sin(x * 3.14159265358979323846); }

static const function functions[] = {
    {"sin", sin, -1000, 1000, 4},      {"cos", cos, -1000, 1000, 4},       {"tan", tan, -100, 100, 5},
    {"asin", asin, -1, 1, 4},          {"acos", acos, -1, 1, 4},           {"atan", atan, -50, 50, 5},
    {"sinh", sinh, -20, 20, 4},        {"cosh", cosh, -20, 20, 4},         {"tanh", tanh, -5, 5, 5},
    {"exp", exp, -80, 80, 3},          {"exp2", exp2, -100, 100, 3},       {"exp10", exp10_of, -30, 30, 3},
    {"expm1", expm1, -5, 20, 3},       {"log", log, 1e-6, 1e6, 3},         {"log2", log2, 1e-6, 1e6, 3},
    {"log10", log10, 1e-6, 1e6, 3},    {"log1p", log1p, -0.9, 1e4, 2},     {"sqrt", sqrt, 0, 1e9, 3},
    {"rsqrt", rsqrt_of, 1e-6, 1e6, 2}, {"cbrt", cbrt, -1e6, 1e6, 2},       {"erf", erf, -4, 4, 16},
    {"tgamma", tgamma, 0.5, 10, 16},   {"sinpi", sinpi_of, 0.01, 0.99, 4}, {"fabs", fabs, -1e9, 1e9, 0},
    {"floor", floor, -1e5, 1e5, 0},    {"ceil", ceil, -1e5, 1e5, 0},       {"trunc", trunc, -1e5, 1e5, 0},
    {"rint", rint, -1e5, 1e5, 0},      {"round", round, -1e5, 1e5, 0}};
enum { FUNCTIONS = sizeof functions / sizeof *functions, ARGUMENTS = 64 };

/* Units in the last place of a float near `wanted`. */
static double float_ulps(float came, double wanted) {
  int exponent = 0;
  if (wanted == (double)came) return 0;
  (void)frexp(wanted, &exponent);
  if (exponent < -125) exponent = -125;
  return fabs((double)came - wanted) / ldexp(1, exponent - 24);
}

static double random_in(cts *c, double low, double high) {
  return low + (high - low) * (double)cts_random(c, 1 << 24) / (1 << 24);
}

static void floats_within_limits(cts *c) {
  enum { ROOM = 1 << 13 };
  char *source = cts_alloc(c, ROOM);
  float *in = cts_alloc(c, FUNCTIONS * ARGUMENTS * sizeof(float)),
        *out = cts_alloc(c, FUNCTIONS * ARGUMENTS * sizeof(float));
  size_t used = (size_t)snprintf(
      source, ROOM,
      "kernel void all(global float *out, global const float *in, int n) {\n  int i = get_global_id(0);\n");
  for (int f = 0; f < FUNCTIONS; f++) {
    used += (size_t)snprintf(source + used, ROOM - used, "  out[%d * n + i] = %s(in[%d * n + i]);\n", f,
                             functions[f].name, f);
    for (int i = 0; i < ARGUMENTS; i++)
      in[f * ARGUMENTS + i] = (float)random_in(c, functions[f].low, functions[f].high);
  }
  snprintf(source + used, ROOM - used, "}\n");
  const uint64_t bytes = FUNCTIONS * ARGUMENTS * sizeof(float);
  qn_queue queue = cts_queue(c);
  qn_buffer a = cts_buffer(c, bytes), b = cts_buffer(c, bytes);
  qn_kernel kernel = cts_kernel(c, cts_program(c, source), "all");
  cts_put(queue, a, in, bytes);
  CTS_OK(qn_launch(queue, kernel, QN_RANGE_1D(ARGUMENTS), QN_ARGS(b, a, (int)ARGUMENTS), NULL));
  cts_get(queue, b, out, bytes);
  for (int i = 0; i < FUNCTIONS * ARGUMENTS; i++) {
    const function *f = &functions[i / ARGUMENTS];
    double wanted = f->host((double)in[i]), ulps = float_ulps(out[i], wanted);
    CTS_TRUE(ulps <= f->limit + 0.01, "%s(%.9g) is %.9g within %g ULP, not %.9g (%.2f ULP)", f->name, (double)in[i],
             wanted, f->limit, (double)out[i], ulps);
  }
}

static void doubles_within_limits(cts *c) {
  static const char source[] =
      "kernel void all(global double *out, global const double *in, int n) {\n"
      "  int i = get_global_id(0);\n"
      "  double x = in[i];\n"
      "  out[i] = sin(x); out[n + i] = exp(x / 10); out[2 * n + i] = log(fabs(x) + 1); out[3 * n + i] = sqrt(fabs(x)); "
      "out[4 * n + i] = x / 3;\n"
      "}\n";
  enum { N = 64 };
  double in[N], out[5 * N];
  static const double limits[] = {4, 3, 3, 0.5, 0.5};
  static const char *const names[] = {"sin(x)", "exp(x / 10)", "log(fabs(x) + 1)", "sqrt(fabs(x))", "x / 3"};
  qn_queue queue = cts_queue(c);
  qn_buffer a = cts_buffer(c, sizeof in), b = cts_buffer(c, sizeof out);
  for (int i = 0; i < N; i++) in[i] = random_in(c, -100, 100);
  cts_put(queue, a, in, sizeof in);
  CTS_OK(qn_launch(queue, cts_kernel(c, cts_program(c, source), "all"), QN_RANGE_1D(N), QN_ARGS(b, a, (int)N), NULL));
  cts_get(queue, b, out, sizeof out);
  for (int i = 0; i < 5 * N; i++) {
    double x = in[i % N], wanted[] = {sin(x), exp(x / 10), log(fabs(x) + 1), sqrt(fabs(x)), x / 3}, w = wanted[i / N];
    int exponent = 0;
    (void)frexp(w, &exponent);
    double ulps = fabs(out[i] - w) / ldexp(1, exponent - 53);
    /* The host's own result is within 1 ULP of the true one. */
    CTS_TRUE(ulps <= limits[i / N] + 1, "%s for x = %.17g is %.17g within %g ULP, not %.17g (%.2f ULP)", names[i / N],
             x, w, limits[i / N], out[i], ulps);
  }
}

/* What has one right answer. */
static void exact_functions(cts *c) {
  static const char source[] =
      "kernel void all(global uint *out, uint a, uint b, int d, int e, float x, float y) {\n"
      "  out[0] = mul_hi(a, b); out[1] = rotate(a, 7u); out[2] = clz(b); out[3] = popcount(a); out[4] = add_sat(a, "
      "0xf0000000u);\n"
      "  out[5] = as_uint(abs_diff(d, e)); out[6] = hadd(a, b); out[7] = as_uint(max(d, e)); out[8] = as_uint(clamp(d, "
      "-5, 5));\n"
      "  out[9] = as_uint(fma(x, y, x)); out[10] = as_uint(x * y); out[11] = as_uint(x + y); out[12] = "
      "as_uint(convert_int_sat(x * 1e20f));\n"
      "  out[13] = as_uint(convert_int_rte(2.5f + y * 0)); out[14] = convert_uchar_sat(d); out[15] = "
      "as_uint(copysign(x, -1.0f));\n"
      "  out[16] = as_uint(fmin(x, y)); out[17] = as_uint(any((int4)(0, 0, d, 0))); out[18] = as_uint(nextafter(1.0f, "
      "2.0f)); out[19] = mad24(100, 200, d);\n"
      "  uint4 v = shuffle((uint4)(a, b, 3, 4), (uint4)(3, 2, 1, 0)); out[20] = v.x; out[21] = v.w;\n"
      "  out[22] = as_uint(dot((float4)(x, y, 1, 2), (float4)(1, 1, 1, 1))); out[23] = upsample((ushort)a, "
      "(ushort)b);\n"
      "}\n";
  const uint32_t a = 0x89abcdef, b = 0x01234567;
  const int32_t d = -300, e = 2000000000;
  const float x = 1.5f, y = -2.25f;
  float floats[] = {fmaf(x, y, x), x * y, x + y, -1.5f, -2.25f, nextafterf(1, 2), x + y + 3};
  uint32_t bits[7], out[24];
  memcpy(bits, floats, sizeof bits);
  const uint32_t wanted[24] = {(uint32_t)((uint64_t)a * b >> 32),
                               a << 7 | a >> 25,
                               7,
                               20,
                               UINT32_MAX,
                               2000000300u,
                               (uint32_t)(((uint64_t)a + b) >> 1),
                               (uint32_t)e,
                               (uint32_t)-5,
                               bits[0],
                               bits[1],
                               bits[2],
                               INT32_MAX,
                               2,
                               0,
                               bits[3],
                               bits[4],
                               1,
                               bits[5],
                               20000 - 300,
                               4,
                               a,
                               bits[6],
                               0xcdef4567};
  qn_queue queue = cts_queue(c);
  qn_buffer buffer = cts_buffer(c, sizeof out);
  CTS_OK(qn_launch(queue, cts_kernel(c, cts_program(c, source), "all"), QN_RANGE_1D(1),
                   QN_ARGS(buffer, a, b, d, e, x, y), NULL));
  cts_get(queue, buffer, out, sizeof out);
  for (uint32_t i = 0; i < 24; i++) {
    char what[64];
    snprintf(what, sizeof what, "out[%u] of functions with one right answer", i);
    CTS_SAME(what, out[i], wanted[i]);
  }
}

/* Integer division by zero is a value and never a signal. */
static void division_by_zero(cts *c) {
  static const char source[] =
      "kernel void divide(global int *out, int zero, int least, int seven, long minus) {\n"
      "  out[0] = seven / zero; out[1] = seven % zero; out[2] = least / (int)minus; out[3] = least % (int)minus;\n"
      "  out[4] = (int)(7ul / (ulong)zero); out[5] = seven;\n"
      "}\n";
  const int32_t wanted[] = {0, 7, INT32_MIN, 0, 0, 7};
  int32_t out[6];
  qn_queue queue = cts_queue(c);
  qn_buffer buffer = cts_buffer(c, sizeof out);
  CTS_OK(qn_launch(queue, cts_kernel(c, cts_program(c, source), "divide"), QN_RANGE_1D(1),
                   QN_ARGS(buffer, 0, INT32_MIN, 7, -1), NULL));
  cts_get(queue, buffer, out, sizeof out);
  for (int i = 0; i < 6; i++) CTS_EQUAL(out[i], wanted[i]);
}

static const cts_test tests[] = {
    {"functions_of_float_are_within_their_limits", floats_within_limits, QN_FEATURE_KERNELS, 0, "OpenCL 1.2, 7.4"},
    {"functions_of_double_are_within_their_limits", doubles_within_limits, QN_FEATURE_KERNELS | QN_FEATURE_DOUBLE, 0,
     "OpenCL 1.2, 7.4"},
    {"functions_with_one_right_answer_give_it", exact_functions, QN_FEATURE_KERNELS, 0,
     "OpenCL C 1.2, 6.12.3; docs/builtins.md"},
    {"integer_division_by_zero_is_a_value", division_by_zero, QN_FEATURE_KERNELS, 0,
     "docs/language.md: '`x / 0` is 0, `x % 0` is `x`, `INT_MIN / -1` is `INT_MIN`'"},
};

CTS_SUITE(math, "built-in functions against the host's, within OpenCL's limits");
