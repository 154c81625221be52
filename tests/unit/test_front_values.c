/* What programs compute: the same text is compiled by this compiler as C and by the front end as OpenCL C, which the
 * interpreter runs in both data models; the results must be the same. What C lacks (vectors, masked shifts) is compared
 * with values written down by the rules of the specification. */
/* labels: lp64 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/status.h"
#include "compiler/compiler.h"
#include "compiler/interp/interp.h"
#include "compiler/pass/pass.h"

/* GCC's own opinions about the C side of the snippets. */
#if defined __GNUC__ && !defined __clang__
#pragma GCC diagnostic ignored "-Wswitch-unreachable"
#pragma GCC diagnostic ignored "-Wswitch-outside-range"
#pragma GCC diagnostic ignored "-Wmissing-braces"
#endif
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wmissing-braces"
#pragma GCC diagnostic ignored "-Wdangling-else"
#pragma GCC diagnostic ignored "-Wswitch"
#pragma GCC diagnostic ignored "-Woverflow"
#pragma GCC diagnostic ignored "-Wfloat-conversion"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wimplicit-fallthrough"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-value"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wparentheses"
#pragma GCC diagnostic ignored "-Wpedantic"

#ifdef FRONT_VALUES_NATIVE
#include "support/runner.h"
enum { SMALLEST_MODEL = 64 }; /* native code is made for 64 bits */
#else
enum { SMALLEST_MODEL = 32 };
#endif

/* ---- Running ----------------------------------------------------------------------------------------------------- */

enum { COUNT = 64 };
typedef struct memory {
  int r[COUNT];
  int a[COUNT];
  float f[COUNT];
} memory;

static void fill(memory *m) {
  memset(m, 0, sizeof *m);
  for (int i = 0; i < COUNT; i++) {
    m->a[i] = (i * i * 26543 - 7 * i) % 1000 - 300;
    m->f[i] = (float)i * 0.75f - 9.5f;
  }
  for (int i = 0; i < 16; i++) m->a[i] = i;
}

/* Runs the kernel k of a source; its parameters are r, a, f of `memory`, as buffers. */
#ifdef FRONT_VALUES_NATIVE
static void run(const char *source, uint32_t bits, memory *m) {
  (void)bits;
  runner r;
  if (runner_open(&r, source, NULL, true) < 0) fail_msg("%s\n%s", qn_error_text(), source);
  const interp_argument arguments[] = {runner_buffer(m->r, sizeof m->r), runner_buffer(m->a, sizeof m->a),
                                       runner_buffer(m->f, sizeof m->f)};
  if (runner_run(&r, "k", 1, 1, arguments, 3) < 0) fail_msg("%s\n%s", qn_error_text(), source);
  runner_close(&r);
}
#else
static void run(const char *source, uint32_t bits, memory *m) {
  qn_arena arena;
  qn_arena_init(&arena, 0);
  ir_module *module;
  const qn_compile_request request = {.source = qn_sv_from(source),
                                      .file_name = "values.cl",
                                      .model = {.address_bits = bits, .has_double = true, .has_int64_atomics = true}};
  qn_status status = qn_compile(&arena, &request, &module, NULL);
  if (status < 0) fail_msg("%s\n%s", qn_error_text(), source);
  status = pass_link(module);
  if (status < 0) fail_msg("%s", qn_error_text());
  const interp_argument arguments[] = {{.kind = QN_ARGUMENT_BUFFER, .memory = m->r, .size_bytes = sizeof m->r},
                                       {.kind = QN_ARGUMENT_BUFFER, .memory = m->a, .size_bytes = sizeof m->a},
                                       {.kind = QN_ARGUMENT_BUFFER, .memory = m->f, .size_bytes = sizeof m->f}};
  const interp_launch launch = {.dimensions = 1,
                                .global = {1, 1, 1},
                                .local = {1, 1, 1},
                                .arguments = arguments,
                                .argument_count = 3,
                                .step_limit = 1000000};
  status = interp_run(ir_function_find(module, QN_SV("k")), &launch, NULL);
  if (status < 0) fail_msg("%s\n%s", qn_error_text(), source);
  ir_module_free(module);
  qn_arena_free(&arena);
}

#endif

static void compare(const char *name, uint32_t bits, const memory *got, const memory *wanted) {
  for (int i = 0; i < COUNT; i++) {
    if (got->r[i] != wanted->r[i]) fail_msg("%s, %u bits: r[%d] is %d, not %d", name, bits, i, got->r[i], wanted->r[i]);
    if (memcmp(&got->f[i], &wanted->f[i], sizeof got->f[i]) != 0)
      fail_msg("%s, %u bits: f[%d] is %a, not %a", name, bits, i, (double)got->f[i], (double)wanted->f[i]);
  }
}

/* ---- Snippets that are C as well ----------------------------------------------------------------------------------- */

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
#define global
#define __constant static const

typedef struct snippet {
  const char *name, *shared, *body;
  void (*reference)(int *r, const int *a, float *f);
} snippet;

/* What stands outside of the kernel, and the kernel's body. */
#define SHARED(name, ...)                           \
  static const char name##_shared[] = #__VA_ARGS__; \
  __VA_ARGS__
#define BODY(name, ...)                           \
  static const char name##_body[] = #__VA_ARGS__; \
  static void name##_c(int *r, const int *a, float *f) __VA_ARGS__

static const char none_shared[] = "";

BODY(integers, {
  for (int i = 0; i < 16; i++) {
    int x = a[i + 20];
    int y = a[i + 3] | 1;
    r[i] = x + y * 3 - x / y + x % y;
    r[i + 16] = (x & y) ^ (x | ~y);
    r[i + 32] = (x < y) + 2 * (x <= y) + 4 * (x == y) + 8 * (x != y) + 16 * (x > y) + 32 * (x >= y);
    r[i + 48] = -x + +y - !x + !!y;
  }
})

BODY(widths, {
  char c = 120;
  uchar uc = 200;
  short s = -3;
  ushort us = 65535;
  uint u = 4000000000u;
  long l = -5000000000L;
  ulong ul = 18000000000000000000UL;
  c += 20;
  r[0] = c;
  r[1] = uc + uc;
  r[2] = (uchar)(uc + uc);
  r[3] = s * us;
  r[4] = u > s;
  r[5] = (int)(u / 7 + s);
  r[6] = l / 1000;
  r[7] = (int)(ul / 1000000007UL);
  r[8] = (int)(l >> 3);
  r[9] = (int)(ul >> 40);
  r[10] = s >> 1;
  r[11] = us << 3;
  r[12] = (short)us;
  r[13] = (char)uc;
  r[14] = c < uc;
  r[15] = l < u;
  r[16] = (long)u * s / 4;
  r[17] = (int)(u + 1000000000u);
  r[18] = (int)((ul * 3) % 1000);
  r[19] = -1 < 1u;
  r[20] = (uchar)-1 == 255;
  r[21] = 0x7fffffff;
  r[22] = (int)0xffffffff;
  r[23] = 'a' + '\n' + '\x41' + '\101';
  r[24] = 010 + 0X5;
  r[25] = 1 ? -1 : 1u;
  us++;
  uc--;
  s = 5;
  s <<= 4;
  u >>= 5;
  l *= -3;
  ul /= 3;
  r[26] = us + uc + s + (int)u + (int)(l / 1000) + (int)(ul >> 33);
  c = -128;
  c--;
  r[27] = c;
  r[28] = s++;
  r[29] = ++s;
  r[30] = s--;
})

BODY(floats, {
  float x = f[3];
  float y = f[20];
  double d = f[5];
  f[0] = x * y;
  f[1] = x / y;
  f[2] = x - 1;
  f[3] = d / 3;
  f[4] = (float)(d * x);
  f[5] = -x;
  f[6] = a[4] / 3.0f;
  f[7] = a[5] / 3;
  f[8] = 1.0 / 3;
  f[9] = 0x1.8p-3f + 1e-3f + .5f + 3.f;
  f[10] = 16777217;
  f[11] = (float)4294967295u;
  f[12] = (float)-5000000000L;
  f[13] = (float)18000000000000000000UL;
  r[0] = x;
  r[1] = (int)(y * 100);
  r[2] = (uchar)(y * 10);
  r[3] = x < y;
  r[4] = x == x;
  r[5] = x != y;
  r[6] = !x;
  r[7] = (bool)0.25f;
  r[8] = (long)(d * 1e9) >> 7;
  r[9] = (uint)3000000000.0f >> 1;
  f[14] += 2;
  f[15] *= f[14];
  f[16]++;
  --f[17];
  f[18] -= d;
  int i = 7;
  i *= 1.5f;
  r[10] = i;
  i -= 0.75;
  r[11] = i;
  f[19] = x > 0 ? x : a[3];
  f[20] = (x && y) + (x || y);
  f[21] = 0.1f;
  f[22] = 1.00000005960464477539062f;
  f[23] = 1.00000005960464477539063f;
  f[24] = 1.000000178813934326171875f;
  f[25] = 16777219.f;
  f[26] = 1e-45f;
  f[27] = 7.006492321624086e-46f;
  f[28] = 3.40282346e38F;
  f[29] = 0x1.000001p0f;
  f[30] = 0x1.000001000000001p0f;
  f[31] = 4.9406564584124654e-324 * 1e300;
  f[32] = 9007199254740993.0 - 9007199254740992.0;
})

BODY(flow, {
  int n = 0;
  for (int i = 0; i < 20; i++) {
    if (i % 3 == 0) continue;
    if (i == 17) break;
    n += i;
  }
  r[0] = n;
  while (n > 10) {
    n -= 7;
    if (n == 30) break;
  }
  r[1] = n;
  do {
    n++;
    if (n & 1) continue;
    n += 2;
  } while (n < 40);
  r[2] = n;
  for (int i = 0, j = 10; i < j; i++, j--) r[3] += i * j;
  int k = 0;
  for (;;) {
    if (++k > 5) break;
    for (int j = 0; j < 5; j++) {
      if (j == k) break;
      if (j == 1) continue;
      r[4] += j;
    }
  }
  do r[5]++;
  while (0);
  do {
    if (k) break;
    r[6] = 1;
  } while (0);
  do {
    if (k) continue;
    r[7] = 1;
  } while (0);
  if (n)
    if (k)
      r[8] = 1;
    else
      r[8] = 2;
  {
    int n = 3;
    r[9] = n;
  }
  r[10] = n;
  int i = 0;
  while (i < 10) r[11] += i++;
  for (int q = 0; q < 3; q++) {
    int fresh = 1;
    fresh += q;
    r[12 + q] = fresh;
  }
  r[16] = (r[15] = 3, r[15] + 1);
  r[17] = r[18] = 5;
})

BODY(short_circuits, {
  int n = 0;
  r[0] = a[0] && n++;
  r[1] = a[1] && n++;
  r[2] = a[1] || n++;
  r[3] = a[0] || n++;
  r[4] = n;
  r[5] = a[0] ? n++ : --n;
  r[6] = a[1] ? n++ : --n;
  r[7] = n;
  r[8] = (a[2] > 1 && a[3] > 2) || n++;
  r[9] = (a[2] > 1 && a[3] > 5) || n++;
  r[10] = n;
  r[11] = !(a[0] && n++) && (n++ || n++);
  r[12] = n;
  int big = 100000;
  r[13] = big < 10 && r[big];
  r[14] = big > 10 || r[big];
  r[15] = big < 10 ? r[big] : 7;
  global int *p = r;
  r[16] = p && *p == r[0];
  r[17] = (a[1] ? 2 : 3) + (a[0] ? 20 : 30);
  r[18] = a[0] ? 1 : a[1] ? 2 : 3;
  for (int i = 0; i < 5 && r[20 + i] == 0; i++) r[20 + i] = i + 1;
  while (n > 0 && n-- != 2) r[30]++;
})

BODY(switches, {
  for (int i = -1; i < 12; i++) {
    int n = 0;
    switch (i) {
      case 0:
        n = 1;
        break;
      case 1:
        n = 2;
      case 2:
        n += 4;
      case 3:
        n += 8;
        if (i == 2) break;
        n += 16;
        break;
      case 4:
      case 5:
        n = 32;
        break;
      case 6: {
        int deep = 5;
        while (deep > 0) {
          deep--;
          if (deep == 2) break;
        }
        n = deep;
        break;
      }
      default:
        n = 64;
        if (i > 8) break;
      case 7:
        n += 128;
      case 8:
        if (i == 8) continue;
        switch (n & 3) {
          case 0:
            n += 256;
            break;
          default:
            n += 512;
        }
    }
    r[i + 1] = n;
  }
  switch ((uchar)(a[5] + 251)) {
    case 0:
      r[20] = 1;
      break;
    case 256:
      r[20] = 2;
  }
  switch (5000000000L + a[1]) {
    case 5000000001L:
      r[21] = 3;
      break;
    case 705032705:
      r[21] = 4;
  }
  switch (a[3]) {
    r[22] = 1;
    int later;
    case 3:
      later = 9;
      r[23] = later;
      break;
    case 4:
      later = 2;
  }
  for (int i = 0; i < 4; i++) {
    switch (i) {
      case 1:
        continue;
      case 2:
        break;
    }
    r[24 + i] = 1;
  }
})

/* So many cases that fall into each other are emitted in another way. */
#define STEP(n)    \
  case n:          \
    x = x * 3 + n; \
    if ((x & 15) == 5) break;
#define STEPS(n) STEP(n) STEP(n + 1) STEP(n + 2) STEP(n + 3) STEP(n + 4) STEP(n + 5) STEP(n + 6) STEP(n + 7)
static const char long_switches_shared[] =
    "#define STEP(n) case n: x = x * 3 + n; if ((x & 15) == 5) break;\n"
    "#define STEPS(n) STEP(n) STEP(n + 1) STEP(n + 2) STEP(n + 3) STEP(n + 4) STEP(n + 5) STEP(n + 6) STEP(n + 7)\n";
BODY(long_switches, {
  for (int i = -3; i < 61; i++) {
    uint x = i;
    switch (i) {
      STEPS(0)
      STEPS(8)
      case 16:
        for (int j = 0; j < 9; j++) {
          if (j == 2) continue;
          if (j == 7) break;
          x += j;
        }
        STEPS(17)
      default:
        x += 1000;
        STEPS(30)
        STEPS(40)
      case 48: {
        uint y = x + 3;
        switch (y & 3) {
          case 1:
            break;
          default:
            x ^= y;
        }
      }
        if (x == 12345) return;
        STEPS(50)
    }
    r[i + 3] = (int)x;
  }
  for (int i = 0; i < 60; i++) {
    uint x = r[i];
    switch (i) {
      STEPS(0)
      STEPS(8)
      STEPS(16)
      case 24:
        if (x & 1) continue;
        STEPS(25)
        STEPS(33)
        x += 7;
    }
    r[i] = (int)x;
  }
})

#define WAY(n)        \
  case n * 37 - 3000: \
    x = n;            \
    break;
#define WAYS(n) WAY(n) WAY(n + 1) WAY(n + 2) WAY(n + 3) WAY(n + 4) WAY(n + 5) WAY(n + 6) WAY(n + 7)
#define LINK(n)    \
  if (i == n * 3)  \
    x = x * 5 + n; \
  else
#define LINKS(n) LINK(n) LINK(n + 1) LINK(n + 2) LINK(n + 3) LINK(n + 4) LINK(n + 5) LINK(n + 6) LINK(n + 7)
static const char many_ways_shared[] =
    "#define WAY(n) case n * 37 - 3000: x = n; break;\n"
    "#define WAYS(n) WAY(n) WAY(n + 1) WAY(n + 2) WAY(n + 3) WAY(n + 4) WAY(n + 5) WAY(n + 6) WAY(n + 7)\n"
    "#define LINK(n) if (i == n * 3) x = x * 5 + n; else\n"
    "#define LINKS(n) LINK(n) LINK(n + 1) LINK(n + 2) LINK(n + 3) LINK(n + 4) LINK(n + 5) LINK(n + 6) LINK(n + 7)\n";
BODY(many_ways, {
  for (int i = -2; i < 170; i++) {
    int x = -1;
    switch (i * 37 - 3000 + (i % 9 == 4)) {
      WAYS(0)
      WAYS(8)
      WAYS(16)
      WAYS(24)
      WAYS(32)
      WAYS(40)
      WAYS(48)
      WAYS(56)
      WAYS(64)
      WAYS(72)
      WAYS(80)
      WAYS(88)
      WAYS(96)
      WAYS(104)
      WAYS(112)
      WAYS(120)
      WAYS(128)
      WAYS(136)
      WAYS(144)
    }
    r[(i + 2) & 31] = r[(i + 2) & 31] * 3 + x;
  }
  for (int i = -2; i < 320; i++) {
    int x = i;
    LINKS(0)
    LINKS(8)
    if (i == 100)
      break;
    else
      LINKS(16)
    if (i == 77)
      continue;
    else
      LINKS(24)
    LINKS(32)
    LINKS(40)
    if (0)
      x = 1000;
    else
      LINKS(48)
    LINKS(56)
    LINKS(64) x = -x;
    r[32 + (i & 31)] = r[32 + (i & 31)] * 3 + x;
  }
  for (int i = 0; i < 99; i++) {
    int x = 0;
    LINKS(0)
    LINKS(8)
    LINKS(16)
    LINKS(24)
    if (1)
      x = 5;
    else
      LINKS(32)
    LINKS(40) {}
    r[i & 63] ^= x << (i & 15);
  }
})

SHARED(
    records,
    typedef struct point {
      int x;
      int y;
    } point;
    typedef struct line {
      point from;
      point to;
      char tag[3];
      union {
        int whole;
        uchar bytes[4];
        float real;
      } u;
    } line;
    struct list {
      struct list *next;
      int value;
    };
    static point make_point(int x, int y) {
      point p = {x, y};
      return p;
    } static int area(line l) {
      l.from.x *= 2;
      return (l.to.x - l.from.x) * (l.to.y - l.from.y);
    } static void shift(line *l, point by) {
      l->from.x += by.x;
      l->from.y += by.y;
      l->to.x += by.x, l->to.y += by.y;
    } static point larger(point p, point q) { return p.x > q.x ? p : q; })
BODY(records, {
  line l = {{1, 2}, {.y = 10, .x = 8}, "ab"};
  r[0] = area(l);
  r[1] = l.from.x;
  line m = l;
  shift(&m, make_point(3, 4));
  r[2] = m.from.x * 1000 + m.from.y * 100 + m.to.x * 10 + m.to.y;
  r[3] = l.from.x * 1000 + l.from.y * 100 + l.to.x * 10 + l.to.y;
  m.u.real = 1.0f;
  r[4] = m.u.whole;
  m.u.bytes[3] = 0x40;
  r[5] = m.u.whole;
  r[6] = l.tag[0] + l.tag[1] + l.tag[2];
  line lines[3] = {[1] = {.to = {5, 6}}, [2].tag[1] = 7};
  lines[0] = lines[1];
  r[7] = lines[0].to.x + lines[1].to.y + lines[2].tag[1] + lines[2].from.x;
  line *p = lines + 2;
  p--;
  p->to.x++;
  r[8] = (*p).to.x + p[-1].to.x + (p - lines);
  r[9] = make_point(3, 4).y + larger(l.from, m.from).x + larger(make_point(9, 1), l.to).y;
  r[10] = ((point){a[3], 5}).x + (&(point){6, 7})->y;
  point q;
  point s;
  q = s = make_point(1, 2);
  q.x = 5;
  r[11] = q.x * 10 + s.x;
  struct list nodes[3] = {{nodes + 1, 1}, {nodes + 2, 2}, {0, 3}};
  for (struct list *n = nodes; n; n = n->next) r[12] = r[12] * 10 + n->value;
  r[13] = sizeof(point) + sizeof(line) + sizeof lines;
  point points[2][2] = {1, 2, 3, 4, {{5}, 7}};
  r[14] = points[0][0].y + points[0][1].x * 10 + points[1][0].x * 100 + points[1][1].x * 1000;
  struct {
    struct {
      int inner;
    };
    int outer;
  } anonymous = {{3}, 4};
  anonymous.inner += anonymous.outer;
  r[15] = anonymous.inner;
  *(a[0] ? &q : &s) = make_point(7, 8);
  r[16] = q.y + s.y;
})

SHARED(
    pointers,
    static void swap(int *x, int *y) {
      int t = *x;
      *x = *y;
      *y = t;
    } static int sum(const int *p, int n) {
      int s = 0;
      while (n--) s += *p++;
      return s;
    } static int total(int m[2][3]) { return m[0][0] + m[1][2] * 10; } static int *find(int *p, int x) {
      while (*p != x) p++;
      return p;
    })
BODY(pointers, {
  int x = 3;
  int y = 4;
  swap(&x, &y);
  r[0] = x * 10 + y;
  int v[6] = {5, 4, 3, 2, 1};
  r[1] = sum(v, 6) + sum(v + 2, 2);
  int m[2][3] = {{1, 2, 3}, {4, 5, 6}};
  r[2] = total(m);
  int *p = &m[0][1];
  r[3] = p[3] + *(p - 1) + 2 [p];
  int(*row)[3] = m + 1;
  r[4] = (*row)[1] + row[-1][2];
  r[5] = &v[5] - v;
  r[6] = (p > &m[0][0]) + (p == &m[0][1]) + (p != m[1]);
  int **pp = &p;
  **pp = 20;
  *pp += 1;
  r[7] = m[0][1] + *p++;
  r[7] += *++p;
  uchar *bytes = (uchar *)v;
  bytes[1] = 1;
  r[8] = v[0];
  *(uint *)v = 7;
  r[9] = v[0];
  r[10] = *find(v, 2) + (find(v, 1) - v);
  global const int *c = a + 5;
  c += 2;
  c -= 1;
  r[11] = *c--;
  r[12] = c[0] + *c;
  char text[] = "hello";
  r[13] = text[1] + sizeof(text) + (sizeof v / sizeof v[0]);
  char *t = text;
  int length = 0;
  while (*t++) length++;
  r[14] = length;
  r[15] = *&x + (&*p == p) + !p;
  int *q = 0;
  r[16] = q == 0;
  swap(m[0], m[1] + 2);
  r[18] = m[0][0] * 10 + m[1][2];
  long address = (long)(v + 1) - (long)v;
  r[19] = (int)address;
})

SHARED(
    constants, enum shape{ROUND, SQUARE = 10, FLAT, NEGATIVE = -4}; __constant int primes[] = {2, 3, 5, 7, 11};
    __constant float scale = 0.5f; __constant struct {
      int id;
      float weights[3];
    } table[2] = {{1, {0.25f, 0.5f}}, {.weights[2] = 4, .id = 9}};
    __constant int last = sizeof primes / sizeof primes[0] - 1; __constant char grades[2][4] = {"abc", {'x'}};
    static int nth(int i) { return primes[i]; })
BODY(constants, {
  r[0] = nth(3) + primes[last] + FLAT + NEGATIVE;
  f[0] = table[1].weights[2] * scale + table[0].weights[1] + table[0].weights[2];
  r[1] = table[1].id + grades[0][2] + grades[1][0] + grades[1][1];
  int small[8] = {1, [4] = 3, a[3]};
  for (int i = 0; i < 8; i++) r[2] = r[2] * 3 + small[i];
  int large[50] = {[7] = 5, a[9], [40] = 2};
  for (int i = 0; i < 50; i++) r[3] = r[3] * 5 % 10007 + large[i];
  enum shape shape = SQUARE;
  r[4] = shape + ROUND;
  for (int i = 0; i < 3; i++) {
    int again[20] = {1};
    r[5] += again[0]++ + again[19]++;
  }
})

SHARED(
    functions, static int twice(int x); static int fourth(int x) { return twice(twice(x)); } static int twice(int x) {
      return x * 2;
    } static bool is_odd(int x) { return x & 1; } static uchar narrow(int x) { return x; } static float half_of(int x) {
      return x / 2.0f;
    } static int early(int x) {
      for (int i = 0;; i++) {
        if (i * i > x) return i;
        if (i > 100) break;
      }
      return -1;
    } static void nothing(void) {} static int many(char a, short b, long c, float d, double e, bool g) {
      return a + b + c + d + e + g;
    } static int counted(int n) {
      int depth = 0;
      while (n) n /= 2, depth++;
      return depth;
    })
BODY(functions, {
  r[0] = fourth(a[5]);
  r[1] = is_odd(6) + is_odd(7) * 2;
  r[2] = narrow(300);
  f[0] = half_of(5);
  r[3] = early(50) + early(20000);
  nothing();
  r[4] = many(300, 70000, 5, 1.75f, 2.5, 7);
  r[5] = counted(1000);
  (void)a[1];
})

static const snippet snippets[] = {
    {"integers", none_shared, integers_body, integers_c},
    {"widths", none_shared, widths_body, widths_c},
    {"floats", none_shared, floats_body, floats_c},
    {"flow", none_shared, flow_body, flow_c},
    {"short circuits", none_shared, short_circuits_body, short_circuits_c},
    {"switches", none_shared, switches_body, switches_c},
    {"long switches", long_switches_shared, long_switches_body, long_switches_c},
    {"many ways", many_ways_shared, many_ways_body, many_ways_c},
    {"records", records_shared, records_body, records_c},
    {"pointers", pointers_shared, pointers_body, pointers_c},
    {"constants", constants_shared, constants_body, constants_c},
    {"functions", functions_shared, functions_body, functions_c},
};

static void run_snippet(const snippet *s) {
  static char source[32768];
  memory wanted;
  fill(&wanted);
  s->reference(wanted.r, wanted.a, wanted.f);
  for (uint32_t bits = 64; bits >= SMALLEST_MODEL; bits -= 32) {
    memory got;
    fill(&got);
    snprintf(source, sizeof source, "%s\nkernel void k(global int *r, global int *a, global float *f) %s", s->shared,
             s->body);
    run(source, bits, &got);
    compare(s->name, bits, &got, &wanted);
  }
}

#define TEST_SNIPPET(index, name)                    \
  static void name##_compute_as_in_c(void **state) { \
    (void)state;                                     \
    run_snippet(&snippets[index]);                   \
  }
TEST_SNIPPET(0, integers)
TEST_SNIPPET(1, widths)
TEST_SNIPPET(2, floats)
TEST_SNIPPET(3, flow)
TEST_SNIPPET(4, short_circuits)
TEST_SNIPPET(5, switches)
TEST_SNIPPET(6, long_switches)
TEST_SNIPPET(7, many_ways)
TEST_SNIPPET(8, records)
TEST_SNIPPET(9, pointers)
TEST_SNIPPET(10, constants)
TEST_SNIPPET(11, functions)

/* ---- What C lacks: values by the specification ----------------------------------------------------------------------- */

/* Runs a kernel's body, which gives its answers in r, and compares with `wanted`. */
static void expect(const char *shared, const char *body, const int *wanted, int count) {
  static char source[8192];
  for (uint32_t bits = 64; bits >= SMALLEST_MODEL; bits -= 32) {
    memory got;
    fill(&got);
    snprintf(source, sizeof source, "%s\nkernel void k(global int *r, global int *a, global float *f) {\n%s\n}\n",
             shared, body);
    run(source, bits, &got);
    for (int i = 0; i < count; i++)
      if (got.r[i] != wanted[i])
        fail_msg("%u bits: r[%d] is %d, not %d, after\n%s", bits, i, got.r[i], wanted[i], source);
  }
}
#define EXPECT(shared, body, ...) \
  expect(shared, body, (const int[]){__VA_ARGS__}, sizeof((const int[]){__VA_ARGS__}) / sizeof(int))

static void shifts_take_their_amount_modulo_the_width(void **state) {
  (void)state;
  EXPECT("",
         "int x = a[1]; r[0] = x << 33; r[1] = 256 >> 40; r[2] = (char)1 << 33; r[3] = (int)(1L << 65);"
         "r[4] = -8 >> 33; r[5] = 8u >> -31; x <<= 34; r[6] = x; uchar c = 1; c <<= 7; r[7] = c; c <<= 1; r[8] = c;",
         2, 1, 2, 2, -4, 4, 4, 128, 0);
  EXPECT("",
         "uchar4 c = (uchar4)(1, 2, 4, 128) << (uchar4)(9, 8, 1, 1); char2 s = (char2)(-128, 64) >> (char2)(10, 9);"
         "r[0] = c.x; r[1] = c.y; r[2] = c.z; r[3] = c.w; r[4] = s.x; r[5] = s.y; uint2 u = (uint2)(1, 3) << 33;"
         "r[6] = u.y; long2 l = (long2)(1) << (long2)(65, 3); r[7] = l.x + l.y;",
         2, 2, 8, 0, -32, 32, 6, 10);
}

static void vector_comparisons_give_minus_one(void **state) {
  (void)state;
  EXPECT(
      "",
      "float4 x = (float4)(1, 2, 3, 4), y = (float4)(4, 2, 1, 9); int4 m = x < y; r[0] = m.x; r[1] = m.y;"
      "m = x == y; r[2] = m.y; m = x >= y; r[3] = m.z; r[4] = m.w; m = (x != y) && (y != 9.0f); r[5] = m.x; r[6] = m.w;"
      "m = !x || y > x; r[7] = m.x + m.y; char2 c = (uchar2)(200, 1) > (uchar2)(100); r[8] = c.x * 10 + c.y;"
      "long2 l = (double2)(1, 2) < 2.0; r[9] = (int)(l.x + l.y); short2 s = !(ushort2)(0, 5); r[10] = s.x + s.y * 2;"
      "r[11] = 1.0f < 2.0f;",
      -1, 0, -1, -1, 0, -1, 0, -1, -10, -1, -1, 1);
}

static void vectors_compute_lane_by_lane(void **state) {
  (void)state;
  EXPECT(
      "",
      "int4 v = (int4)(1, 2, 3, 4), w = v * 2 + (int4)(10, (int2)(20, 30), 40); r[0] = w.x; r[1] = w.y; r[2] = w.w;"
      "v += w; v -= 1; v = -v; r[3] = v.z; v %= 7; r[4] = v.w; v = ~v & 0xff; r[5] = v.x; v = (int4)(5) / v; r[6] = "
      "v.y;"
      "uchar4 c = (uchar4)(250) + (uchar4)(1, 5, 6, 7); r[7] = c.x; r[8] = c.z; char4 s = (char4)(127) + (char)1;"
      "r[9] = s.x; float2 f2 = (float2)(1, 2) / 4; r[10] = (int)(f2.y * 100); f2 = 3 - f2; r[11] = (int)(f2.x * 100);"
      "int3 t = (int3)(1, 2, 3); t++; --t.y; r[12] = t.x + t.y * 10 + t.z * 100; v = (a[1] > 0) ? t.xyzz : v;"
      "r[13] = v.w; double4 d = (double4)(1) + 0.5; r[14] = (int)(d.s3 * 4);",
      12, 24, 48, -38, -2, 4, 1, 251, 0, -128, 50, 275, 422, 4, 6);
}

static void choices_by_vectors_look_at_the_sign_bit(void **state) {
  (void)state;
  EXPECT("",
         "int4 m = (int4)(-1, 0, 1, 0x80000000); int4 v = m ? (int4)(1, 2, 3, 4) : (int4)(10, 20, 30, 40);"
         "r[0] = v.x; r[1] = v.y; r[2] = v.z; r[3] = v.w; float4 x = (float4)(1, -2, 3, -4); x = x < 0 ? -x : x + 1;"
         "r[4] = (int)(x.x + x.y * 10 + x.z * 100 + x.w * 1000); char2 c = (char2)(-1, 0) ? (char2)(5) : (char)6;"
         "r[5] = c.x * 10 + c.y; v = m ? 7 : 8; r[6] = v.x * 10 + v.z; uint4 u = m ? (uint4)(1) : 2u; r[7] = u.y;",
         1, 20, 30, 4, 4422, 56, 78, 2);
}

static void swizzles_read_and_write(void **state) {
  (void)state;
  EXPECT(
      "",
      "int8 v = (int8)(0, 1, 2, 3, 4, 5, 6, 7); r[0] = v.s7 * 10 + v.S3; int4 q = v.hi.odd.xyxy; r[1] = q.x * 1000 + "
      "q.y * 100 + q.z * 10 + q.w;"
      "q = v.s0246; r[2] = q.w + q.y * 10; q.xw = q.wx; r[3] = q.x * 1000 + q.y * 100 + q.z * 10 + q.w; q.lo = q.hi; "
      "r[4] = q.x * 10 + q.y;"
      "q.even += 3; q.odd *= (int2)(2, 3); r[5] = q.x * 1000 + q.y * 100 + q.z * 10 + q.w; int3 t = q.zyx; t.hi = "
      "(int2)(9, 8); r[6] = t.z * 100 + t.odd.x;"
      "q = (int4)(1, 2, 3, 4); q[2] = 7; q[a[1]]++; r[7] = q[0] * 1000 + q.y * 100 + q[2] * 10 + q[3]; q.s3 = "
      "q.rgba.g; r[8] = q.w; int2 p = q.xx; r[9] = p.y;"
      "int16 w = (int16)(v, v.s76543210); r[10] = w.sF * 100 + w.sa * 10 + w.lo.hi.x; q.yz = q.zy; r[11] = q.y * 10 + "
      "q.z; r[12] = (q.xy + q.zw).y;"
      "q.x = q.y = 5; r[13] = q.x + q.y; q.wzyx = (int4)(1, 2, 3, 4); r[14] = q.x * 1000 + q.y * 100 + q.z * 10 + q.w;",
      73, 5757, 26, 6240, 40, 7070, 900, 1374, 3, 1, 54, 73, 10, 10, 4321);
}

static void lanes_in_global_memory_are_written_one_by_one(void **state) {
  (void)state;
  EXPECT("",
         "global int4 *v = (global int4 *)r; v[0] = (int4)(1, 2, 3, 4); v[0].y = 7; v[0].zw += 10; v[1].wx = v[0].xy;"
         "v[2].hi = v[0].lo; v[3][a[2]] = 5; ((global int3 *)r)[4] = (int3)(1, 2, 3); v[5].w = 9; v[5].xyz = v[0].www;"
         "local int2 l[2]; l[1].y = 4; l[1].x = l[1].y++; v[6].xy = l[1];",
         1, 7, 13, 14, 7, 0, 0, 1, 0, 0, 1, 7, 0, 0, 5, 0, 1, 2, 3, 0, 14, 14, 14, 9, 4, 5);
}

static void bools_become_all_ones_in_integer_vectors(void **state) {
  (void)state;
  EXPECT("",
         "bool t = a[1], n = a[0]; int4 v = (int4)t; r[0] = v.z; v = (int4)n; r[1] = v.x; r[2] = t + t; float2 x = "
         "(float2)t;"
         "r[3] = (int)x.y; bool b = 0.5f; r[4] = b; b = 256; r[5] = b; b--; r[6] = b; b++; b++; r[7] = b; r[8] = "
         "sizeof(bool);",
         -1, 0, 2, 1, 1, 1, 0, 1, 1);
}

static void pointers_reinterpret_memory(void **state) {
  (void)state;
  EXPECT("",
         "float x = 1.5f; r[0] = *(int *)&x; short s[4] = {1, 2, 3, -1}; r[1] = ((int *)s)[1] >> 16; int2 v = "
         "(int2)(5, 6);"
         "r[2] = ((int *)&v)[1]; float4 q; float *p = (float *)&q; for (int i = 0; i < 4; i++) p[i] = i; r[3] = "
         "(int)(q.z + q.w * 10);"
         "global uchar *b = (global uchar *)(r + 4); b[0] = 1; b[1] = 2; *(global short *)(b + 2) = 3; r[5] = ((global "
         "int4 *)a)[1].y;"
         "void *any = &x; r[6] = *(int *)any == r[0]; r[7] = (int)((char *)(&v + 1) - (char *)&v);"
         "size_t address = (size_t)(r + 8); *(global int *)address = 42; float4 m[2] = {(float4)(1, 2, 3, 4), 5};"
         "r[9] = (int)((float *)m)[4]; struct { char c; int i; } __attribute__((packed)) z[2] = {{1, 2}, {3, 4}};"
         "r[10] = sizeof z + z[1].i; r[11] = *((char *)z + 5);",
         0x3fc00000, -1, 6, 32, 0x30201, 5, 1, 8, 42, 5, 14, 3);
}

static void local_memory_is_shared_and_declared_in_kernels(void **state) {
  (void)state;
  EXPECT(
      "void fill(local int *p, int n) { for (int i = 0; i < n; i++) p[i] = i * i; }\n"
      "int read(local int (*rows)[4], int i) { return rows[i][1]; }\n"
      "struct cell { int x; float4 v; };\n",
      "local int tile[4][4]; local struct cell c; fill(tile[0], 16); barrier(CLK_LOCAL_MEM_FENCE); r[0] = tile[3][3];"
      "r[1] = read(tile, 2); c.x = 3; c.v.yz = (float2)(1, 2); r[2] = c.x + (int)c.v.z; { local int inner; inner = 7; "
      "r[3] = inner; }"
      "local int *p = tile[1]; r[4] = *p++ + p[1]; for (int i = 0; i < 2; i++) { if (i) { "
      "barrier(CLK_LOCAL_MEM_FENCE); r[5] = i; } }",
      225, 81, 5, 7, 52, 1);
}

static void kernels_are_called_as_functions(void **state) {
  (void)state;
  EXPECT("kernel void other(global int *r, int n);\n",
         "other(r, 3); r[1] = r[0] + 1; }\nkernel void other(global int *r, int n) { r[0] = n * 2;", 6, 7);
}

static void constants_have_the_values_of_expressions(void **state) {
  (void)state;
  EXPECT(
      "enum { A = 3, B = A * 2 + (1 << 4), C = sizeof(float3) };\n"
      "constant int4 v = (int4)(1, 2, 3, 4) * 2 + 1; constant float2 q = (float2)(1, 2).yx;\n"
      "constant int big = (int)(3.7 * 2), m = -7 / 2, n = -7 % 3, u = (uchar)300 + (char)200, t = 1 ? A : B;\n"
      "constant ulong l = 0xffffffffffffUL >> 8; constant double d = 1.0f / 3;\n"
      "constant int *constant p = (constant int *)&v + 1; constant char *constant s = \"ab\" \"c\\n\";\n",
      "r[0] = B; r[1] = C; r[2] = v.w; r[3] = (int)q.x; r[4] = big * 100 + m; r[5] = n; r[6] = u; r[7] = t; r[8] = "
      "(int)(l >> 20);"
      "r[9] = (int)(d * 1000); r[10] = p[1]; r[11] = s[2] + s[3]; const int k = 3; int x[k + A]; r[12] = sizeof x; "
      "r[13] = -B;"
      "r[14] = 07 + 0b11 - 3 + 0x1F + 'a' + 1e1; r[15] = 5 / 0 + 5 % 0;",
      22, 16, 9, 2, 697, -1, -12, 3, 0xfffff, 333, 7, 109, 24, -22, 145, 5);
}

int main(void) {
#ifdef FRONT_VALUES_NATIVE
  if (!runner_has_native()) return 0;
#endif
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(integers_compute_as_in_c),
      cmocka_unit_test(widths_compute_as_in_c),
      cmocka_unit_test(floats_compute_as_in_c),
      cmocka_unit_test(flow_compute_as_in_c),
      cmocka_unit_test(short_circuits_compute_as_in_c),
      cmocka_unit_test(switches_compute_as_in_c),
      cmocka_unit_test(long_switches_compute_as_in_c),
      cmocka_unit_test(many_ways_compute_as_in_c),
      cmocka_unit_test(records_compute_as_in_c),
      cmocka_unit_test(pointers_compute_as_in_c),
      cmocka_unit_test(constants_compute_as_in_c),
      cmocka_unit_test(functions_compute_as_in_c),
      cmocka_unit_test(shifts_take_their_amount_modulo_the_width),
      cmocka_unit_test(vector_comparisons_give_minus_one),
      cmocka_unit_test(vectors_compute_lane_by_lane),
      cmocka_unit_test(choices_by_vectors_look_at_the_sign_bit),
      cmocka_unit_test(swizzles_read_and_write),
      cmocka_unit_test(lanes_in_global_memory_are_written_one_by_one),
      cmocka_unit_test(bools_become_all_ones_in_integer_vectors),
      cmocka_unit_test(pointers_reinterpret_memory),
      cmocka_unit_test(local_memory_is_shared_and_declared_in_kernels),
      cmocka_unit_test(kernels_are_called_as_functions),
      cmocka_unit_test(constants_have_the_values_of_expressions),
  };
  return cmocka_run_group_tests_name("front_values", tests, NULL, NULL);
}
