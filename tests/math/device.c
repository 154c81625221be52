/* device.c - the math functions as kernels call them, through Quern's own compiler: in the interpreter, or as native
 * code.
 *
 *   math_device [interp|cpu [SAMPLES [FUNCTION [OPTIONS]]]] */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "runner.h"
#include "support/rounds.h"
#include "ulp.h"

typedef struct device {
  bool is_native;
  const char *options;
  const math_case *c; /* what `runner` holds */
  int bits;
  runner runner;
} device;

/* How a case is written where it isn't name(x, y). */
static const struct {
  const char *name, *expression;
} expressions[] = {
    {"frexp", "frexp(x[i], &k)"},
    {"frexp_exponent", "(frexp(x[i], &k), k)"},
    {"lgamma_sign", "(lgamma_r(x[i], &k), k)"},
    {"remquo", "remquo(x[i], y[i], &k)"},
    {"remquo_quotient", "(remquo(x[i], y[i], &k), k)"},
    {"sincos_x", "sincos(x[i], &r)"},
    {"sincos_y", "(sincos(x[i], &r), r)"},
    {"fract", "fract(x[i], &r)"},
    {"modf", "modf(x[i], &r)"},
};

static void write_source(const math_case *c, int bits, char *out, size_t size) {
  static const char *const arguments[] = {[MATH_R_R] = "x[i]",
                                          [MATH_RR_R] = "x[i], y[i]",
                                          [MATH_RRR_R] = "x[i], y[i], z[i]",
                                          [MATH_RI_R] = "x[i], n[i]",
                                          [MATH_R_I] = "x[i]"};
  char expression[128];
  snprintf(expression, sizeof expression, "%s(%s)", c->name, arguments[c->kind]);
  for (size_t i = 0; i < sizeof expressions / sizeof *expressions; i++)
    if (strcmp(expressions[i].name, c->name) == 0)
      snprintf(expression, sizeof expression, "%s", expressions[i].expression);
  const char *real = bits == 32 ? "float" : "double";
  snprintf(out, size,
           "kernel void f(global const %s *x, global const %s *y, global const %s *z, global const int *n,\n"
           "              global %s *out) {\n"
           "  size_t i = get_global_id(0);\n"
           "  %s r = 0;\n"
           "  int k = 0;\n"
           "  out[i] = %s;\n"
           "}\n",
           real, real, real, c->kind == MATH_R_I ? "int" : real, real, expression);
}

static bool open_case(device *d, const math_case *c, int bits) {
  if (d->c == c && d->bits == bits) return true;
  if (d->c) runner_close(&d->runner);
  d->c = NULL;
  char source[1024];
  write_source(c, bits, source, sizeof source);
  if (runner_open(&d->runner, source, d->options, d->is_native) != QN_OK) {
    fprintf(stderr, "%s\n", qn_error_text());
    return false;
  }
  d->c = c;
  d->bits = bits;
  return true;
}

static void to_bits(int bits, size_t count, const double *from, void *to) {
  for (size_t i = 0; i < count; i++) {
    if (bits == 32) {
      ((float *)to)[i] = (float)from[i];
    } else {
      ((double *)to)[i] = from[i];
    }
  }
}

static bool evaluate(void *user, const math_case *c, int bits, size_t count, const double *x, const double *y,
                     const double *z, const int32_t *n, double *out) {
  device *d = user;
  if (!open_case(d, c, bits)) return false;
  size_t size = count * (size_t)bits / 8;
  const double *from[] = {x, y, z};
  interp_argument arguments[5];
  for (uint32_t i = 0; i < 5; i++) arguments[i] = runner_buffer(malloc(size), size);
  for (uint32_t i = 0; i < 3; i++) to_bits(bits, count, from[i], arguments[i].memory);
  free(arguments[3].memory);
  int32_t *whole = malloc(count * sizeof *n);
  memcpy(whole, n, count * sizeof *n);
  arguments[3] = runner_buffer(whole, count * sizeof *n);
  qn_status status = runner_run(&d->runner, "f", count, 64, arguments, 5);
  if (status != QN_OK) fprintf(stderr, "%s\n", qn_error_text());
  const void *got = arguments[4].memory;
  for (size_t i = 0; i < count; i++)
    out[i] = c->kind == MATH_R_I ? ((const int32_t *)got)[i]
             : bits == 32        ? (double)((const float *)got)[i]
                                 : ((const double *)got)[i];
  for (uint32_t i = 0; i < 5; i++) free(arguments[i].memory);
  return status == QN_OK;
}

int main(int argc, char **argv) {
  device d = {.is_native = argc > 1 && strcmp(argv[1], "cpu") == 0, .options = argc > 4 ? argv[4] : NULL};
  if (d.is_native && !runner_has_native()) {
    printf("this machine runs no x86-64-v3 code: skipped\n");
    return 77;
  }
  size_t samples = (size_t)test_rounds_of("samples of each function, on a device", argc > 2 ? argv[2] : "8192");
  int failures = math_measure_all(argc > 3 && argv[3][0] ? argv[3] : NULL, samples, evaluate, &d);
  if (d.c) runner_close(&d.runner);
  if (failures) fprintf(stderr, "%d functions are over their limits\n", failures);
  return failures != 0;
}
