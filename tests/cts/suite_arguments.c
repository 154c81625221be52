/* suite_arguments.c - what a kernel is given: values of every type, buffers, local memory, nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cts.h"

/* ---- Values of every type --------------------------------------------------------------------------- */

typedef struct type {
  const char *name;
  uint32_t bytes;
  uint64_t needs;
} type;

static const type types[] = {{"char", 1, 0},
                             {"uchar", 1, 0},
                             {"short", 2, 0},
                             {"ushort", 2, 0},
                             {"int", 4, 0},
                             {"uint", 4, 0},
                             {"long", 8, 0},
                             {"ulong", 8, 0},
                             {"float", 4, 0},
                             {"double", 8, QN_FEATURE_DOUBLE},
                             {"half", 2, QN_FEATURE_HALF}};
static const uint32_t widths[] = {1, 2, 3, 4, 8, 16};
enum { TYPES = sizeof types / sizeof *types, WIDTHS = sizeof widths / sizeof *widths };

/* The kernel of a type has the value between two others, so that a wrong offset shows. */
static void add_kernel(char *source, size_t room, const type *t, uint32_t width) {
  char name[32];
  size_t used = strlen(source);
  snprintf(name, sizeof name, width == 1 ? "%s" : "%s%u", t->name, width);
  snprintf(source + used, room - used,
           "kernel void take_%s(global uchar *out, uchar before, %s value, uchar after) {\n"
           "  *(global %s *)(out + 128) = value; out[0] = before; out[1] = after;\n"
           "}\n",
           name, name, name);
}

/* Floats of random bits may be NaNs whose bits needn't survive: these are small whole numbers. */
static void random_value(cts *c, const type *t, void *out, uint32_t count) {
  cts_random_bytes(&c->random, out, (uint64_t)t->bytes * count);
  for (uint32_t i = 0; i < count; i++) {
    float f = (float)((unsigned char *)out)[i * t->bytes] - 100.0f;
    double d = f;
    uint16_t h = (uint16_t)(0x3c00 + i); /* 1 and a little */
    if (!strcmp(t->name, "float")) memcpy((char *)out + i * 4, &f, 4);
    if (!strcmp(t->name, "double")) memcpy((char *)out + i * 8, &d, 8);
    if (!strcmp(t->name, "half")) memcpy((char *)out + i * 2, &h, 2);
  }
}

static void check_value(cts *c, qn_queue queue, qn_program program, qn_buffer buffer, const type *t, uint32_t width) {
  char name[48], what[96];
  unsigned char value[128] = {0}, out[256];
  uint32_t bytes = t->bytes * (width == 3 ? 4 : width);
  snprintf(name, sizeof name, width == 1 ? "take_%s" : "take_%s%u", t->name, width);
  snprintf(what, sizeof what, "the value of kernel %s", name);
  random_value(c, t, value, width);
  qn_kernel kernel = cts_kernel(c, program, name);
  cts_fill(queue, buffer, 0xee);
  CTS_OK(qn_launch(queue, kernel, QN_RANGE_1D(1),
                   QN_ARGS(buffer, (unsigned char)17, qn_arg_bytes(value, bytes), (unsigned char)18), NULL));
  cts_get(queue, buffer, out, sizeof out);
  CTS_BYTES(what, out + 128, value, (uint64_t)t->bytes * width);
  CTS_SAME("the argument before it", out[0], 17);
  CTS_SAME("the argument behind it", out[1], 18);
}

static void values_of(cts *c, uint64_t needs) {
  enum { ROOM = 1 << 15 };
  char *source = cts_alloc(c, ROOM);
  qn_queue queue = cts_queue(c);
  qn_buffer buffer = cts_buffer(c, 256);
  if (needs == QN_FEATURE_HALF) snprintf(source, ROOM, "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n");
  for (int t = 0; t < TYPES; t++)
    for (int w = 0; types[t].needs == needs && w < WIDTHS; w++) add_kernel(source, ROOM, &types[t], widths[w]);
  qn_program program = cts_program(c, source);
  for (int t = 0; t < TYPES; t++)
    for (int w = 0; types[t].needs == needs && w < WIDTHS; w++)
      check_value(c, queue, program, buffer, &types[t], widths[w]);
}

static void values(cts *c) { values_of(c, 0); }
static void doubles(cts *c) { values_of(c, QN_FEATURE_DOUBLE); }
static void halves(cts *c) { values_of(c, QN_FEATURE_HALF); }

/* An integer of another width is taken when its value fits. */
static void integers_of_other_widths(cts *c) {
  static const char source[] =
      "kernel void take(global long *out, char a, uchar b, short d, ushort e, int f, uint g, long h, ulong i) {\n"
      "  out[0] = a; out[1] = b; out[2] = d; out[3] = e; out[4] = f; out[5] = g; out[6] = h; out[7] = (long)i;\n"
      "}\n";
  int64_t out[8];
  qn_queue queue = cts_queue(c);
  qn_kernel kernel = cts_kernel(c, cts_program(c, source), "take");
  qn_buffer buffer = cts_buffer(c, sizeof out);
  static const int64_t values[][8] = {{-128, 0, -32768, 0, -5, 6, -7, 8},
                                      {127, 255, 32767, 65535, INT32_MAX, UINT32_MAX, INT64_MAX, INT64_MAX}};
  for (int round = 0; round < 2; round++) {
    const int64_t *v = values[round];
    CTS_OK(qn_launch(queue, kernel, QN_RANGE_1D(1),
                     QN_ARGS(buffer, qn_arg_i64(v[0]), qn_arg_i64(v[1]), qn_arg_i64(v[2]), qn_arg_i64(v[3]),
                             qn_arg_i64(v[4]), qn_arg_i64(v[5]), qn_arg_i64(v[6]), qn_arg_i64(v[7])),
                     NULL));
    cts_get(queue, buffer, out, sizeof out);
    CTS_BYTES("integers that were given with 64 bits", out, v, sizeof out);
  }
  CTS_GIVES(qn_launch(queue, kernel, QN_RANGE_1D(1), QN_ARGS(buffer, 128, 0, 0, 0, 0, 0, 0, 0), NULL),
            QN_ERROR_INVALID_ARGUMENT);
}

/* ---- Structs -------------------------------------------------------------------------------------- */

typedef struct inner {
  int8_t a;
  int16_t b[3];
  float v[4] __attribute__((aligned(16)));
} inner;

typedef struct outer {
  uint8_t first;
  inner nested[2];
  uint64_t middle;
  uint32_t many[40];
  int8_t last;
} outer;

static void structs(cts *c) {
  static const char source[] =
      "typedef struct { char a; short b[3]; float4 v; } inner;\n"
      "typedef struct { uchar first; inner nested[2]; ulong middle; uint many[40]; char last; } outer;\n"
      "kernel void take(global outer *out, char before, outer value, inner small, char after) {\n"
      "  out[0] = value; out[1] = value; out[1].nested[1] = small; out[1].first = before; out[1].last = after;\n"
      "  out[1].middle = sizeof(outer);\n"
      "}\n";
  outer value, out[2];
  inner small;
  memset(&value, 0, sizeof value);
  memset(&small, 0, sizeof small);
  value.first = 200;
  value.last = -3;
  value.middle = UINT64_C(0x123456789abcdef0);
  for (int i = 0; i < 40; i++) value.many[i] = (uint32_t)i * 1000003u;
  for (int n = 0; n < 2; n++) {
    value.nested[n].a = (int8_t)(n + 1);
    for (int i = 0; i < 3; i++) value.nested[n].b[i] = (int16_t)(n * 100 + i);
    for (int i = 0; i < 4; i++) value.nested[n].v[i] = (float)(n * 10 + i) + 0.5f;
  }
  small.a = 77;
  small.v[3] = 9.25f;
  qn_queue queue = cts_queue(c);
  qn_kernel kernel = cts_kernel(c, cts_program(c, source), "take");
  qn_buffer buffer = cts_buffer(c, sizeof out);
  CTS_OK(qn_launch(queue, kernel, QN_RANGE_1D(1),
                   QN_ARGS(buffer, (signed char)-1, qn_arg_bytes(&value, sizeof value),
                           qn_arg_bytes(&small, sizeof small), (signed char)-2),
                   NULL));
  cts_get(queue, buffer, out, sizeof out);
  CTS_SAME("sizeof of a struct on the device", out[1].middle, sizeof value);
  CTS_SAME("a struct's first member", out[0].first, 200);
  CTS_SAME("a struct's last member", (uint8_t)out[0].last, (uint8_t)-3);
  CTS_SAME("a ulong in a struct", out[0].middle, value.middle);
  CTS_BYTES("an array in a struct", out[0].many, value.many, sizeof value.many);
  for (int n = 0; n < 2; n++) {
    CTS_SAME("a struct in a struct", out[0].nested[n].a, n + 1);
    CTS_BYTES("shorts in a struct in a struct", out[0].nested[n].b, value.nested[n].b, sizeof value.nested[n].b);
    CTS_BYTES("a vector in a struct in a struct", out[0].nested[n].v, value.nested[n].v, sizeof value.nested[n].v);
  }
  CTS_SAME("the second of two structs", out[1].nested[1].a, 77);
  CTS_SAME("the argument before the structs", (uint8_t)out[1].first, (uint8_t)-1);
  CTS_SAME("the argument behind the structs", (uint8_t)out[1].last, (uint8_t)-2);
}

/* ---- Their number ---------------------------------------------------------------------------------- */

/* `count` ulongs and a buffer; 1,024 bytes are OpenCL's least limit. */
static void check_many(cts *c, qn_queue queue, uint32_t count) {
  enum { ROOM = 1 << 14, MOST = 128 };
  char *source = cts_alloc(c, ROOM);
  qn_argument arguments[MOST];
  uint64_t out[MOST], bytes = count * sizeof(uint64_t);
  qn_buffer buffer = cts_buffer(c, bytes);
  int used = snprintf(source, ROOM, "kernel void take(global ulong *out");
  for (uint32_t i = 0; i < count; i++) used += snprintf(source + used, (size_t)(ROOM - used), ", ulong a%u", i);
  used += snprintf(source + used, (size_t)(ROOM - used), ") {\n");
  for (uint32_t i = 0; i < count; i++)
    used += snprintf(source + used, (size_t)(ROOM - used), " out[%u] = a%u;\n", i, i);
  snprintf(source + used, (size_t)(ROOM - used), "}\n");
  qn_kernel kernel = cts_kernel(c, cts_program(c, source), "take");
  arguments[0] = qn_arg_buffer(buffer);
  for (uint32_t i = 0; i < count; i++) arguments[i + 1] = qn_arg_u64(i * UINT64_C(0x100000001) + 7);
  CTS_OK(qn_launch(queue, kernel, QN_RANGE_1D(1), arguments, count + 1, NULL));
  cts_get(queue, buffer, out, bytes);
  for (uint32_t i = 0; i < count; i++) CTS_SAME("one of many arguments", out[i], i * UINT64_C(0x100000001) + 7);
}

static void many_values(cts *c) {
  qn_queue queue = cts_queue(c);
  static const uint32_t counts[] = {1, 31, 64, 120};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) check_many(c, queue, counts[i]);
}

static void many_buffers(cts *c) {
  static const char source[] =
      "kernel void join(global uint *out, global const uint *a, global const uint *b, global const uint *d, global "
      "const uint *e,\n"
      "                 global const uint *f, global const uint *g, global const uint *h, global const uint *i,\n"
      "                 global const uint *j, global const uint *k, global const uint *l, global const uint *m,\n"
      "                 global const uint *n, global const uint *o, global const uint *p) {\n"
      "  out[0] = a[0]; out[1] = b[0]; out[2] = d[0]; out[3] = e[0]; out[4] = f[0]; out[5] = g[0]; out[6] = h[0];\n"
      "  out[7] = i[0]; out[8] = j[0]; out[9] = k[0]; out[10] = l[0]; out[11] = m[0]; out[12] = n[0]; out[13] = o[0];\n"
      "  out[14] = p[0];\n"
      "}\n";
  enum { COUNT = 15 };
  uint32_t out[COUNT];
  qn_argument arguments[COUNT + 1];
  qn_queue queue = cts_queue(c);
  qn_kernel kernel = cts_kernel(c, cts_program(c, source), "join");
  qn_buffer target = cts_buffer(c, sizeof out);
  arguments[0] = qn_arg_buffer(target);
  for (uint32_t i = 0; i < COUNT; i++) {
    uint32_t value = i * i + 1000;
    qn_buffer buffer = cts_buffer(c, sizeof value);
    cts_put(queue, buffer, &value, sizeof value);
    arguments[i + 1] = qn_arg_buffer(buffer);
  }
  CTS_OK(qn_launch(queue, kernel, QN_RANGE_1D(1), arguments, COUNT + 1, NULL));
  cts_get(queue, target, out, sizeof out);
  for (uint32_t i = 0; i < COUNT; i++) CTS_SAME("one of many buffers", out[i], i * i + 1000);
}

static void no_arguments(cts *c) {
  qn_queue queue = cts_queue(c);
  qn_kernel kernel = cts_kernel(c, cts_program(c, "kernel void nothing(void) {}"), "nothing");
  CTS_OK(qn_launch(queue, kernel, QN_RANGE_3D(5, 6, 7), NULL, 0, NULL));
  cts_finish(queue);
}

static void arguments_are_copied(cts *c) {
  typedef struct big {
    uint32_t words[16];
  } big;
  static const char source[] =
      "typedef struct { uint w[16]; } big;\n"
      "kernel void put(global uint *out, uint at, big value) { for (int i = 0; i < 16; i++) out[at * 16 + i] = "
      "value.w[i]; }\n";
  enum { LAUNCHES = 100 };
  big value;
  uint32_t out[LAUNCHES * 16];
  qn_queue queue = cts_queue(c);
  qn_kernel kernel = cts_kernel(c, cts_program(c, source), "put");
  qn_buffer buffer = cts_buffer(c, sizeof out);
  for (uint32_t n = 0; n < LAUNCHES; n++) {
    for (uint32_t i = 0; i < 16; i++) value.words[i] = n * 100 + i;
    CTS_OK(qn_launch(queue, kernel, QN_RANGE_1D(1), QN_ARGS(buffer, n, qn_arg_bytes(&value, sizeof value)), NULL));
    memset(&value, 0xff, sizeof value);
  }
  cts_get(queue, buffer, out, sizeof out);
  for (uint32_t n = 0; n < LAUNCHES * 16; n++)
    CTS_SAME("a word of a struct that changed after its launch", out[n], n / 16 * 100 + n % 16);
}

/* ---- Buffers -------------------------------------------------------------------------------------- */

static void null_buffers(cts *c) {
  static const char source[] =
      "kernel void which(global uint *out, global uint *a, constant uint *b, global float4 *d) {\n"
      "  out[get_global_id(0)] = (a ? 1 : 2) + (b ? 10 : 20) + (d ? 100 : 200);\n"
      "}\n";
  uint32_t out[8];
  qn_buffer none = NULL, buffer = cts_buffer(c, sizeof out), some = cts_buffer(c, 64);
  qn_queue queue = cts_queue(c);
  qn_kernel kernel = cts_kernel(c, cts_program(c, source), "which");
  for (uint32_t bits = 0; bits < 8; bits++) {
    qn_view place = cts_view(buffer, 0, QN_WHOLE);
    CTS_OK(qn_launch(queue, kernel, QN_RANGE_1D(1),
                     QN_ARGS(&place, bits & 1 ? some : none, bits & 2 ? some : none, bits & 4 ? some : none), NULL));
    cts_get(queue, buffer, out, sizeof out);
    CTS_SAME("which of three pointers are null, as digits", out[0],
             (bits & 1 ? 1 : 2) + (bits & 2 ? 10 : 20) + (bits & 4 ? 100 : 200));
  }
}

static void views_with_offsets(cts *c) {
  enum { PARTS = 8, N = 10 };
  uint64_t step = c->info.buffer_alignment < 64 ? 64 : c->info.buffer_alignment;
  uint64_t bytes = step * (PARTS + 1);
  unsigned char *out = cts_alloc(c, bytes), *model = cts_alloc(c, bytes);
  qn_queue queue = cts_queue(c);
  qn_kernel kernel = cts_kernel(
      c,
      cts_program(c,
                  "kernel void put(global uint *out, uint n) { out[get_global_id(0)] = n + (uint)get_global_id(0); }"),
      "put");
  qn_buffer buffer = cts_buffer(c, bytes);
  cts_fill(queue, buffer, 0xdd);
  memset(model, 0xdd, (size_t)bytes);
  for (uint32_t i = 0; i < PARTS; i++) {
    const qn_view view = cts_view(buffer, step * ((i * 3) % PARTS), N * sizeof(uint32_t));
    CTS_OK(qn_launch(queue, kernel, QN_RANGE_1D(N), QN_ARGS(&view, i * 100), NULL));
    for (uint32_t j = 0; j < N; j++) {
      uint32_t value = i * 100 + j;
      memcpy(model + view.offset_bytes + j * sizeof value, &value, sizeof value);
    }
  }
  cts_get(queue, buffer, out, bytes);
  CTS_BYTES("a buffer whose parts were given to kernels", out, model, bytes);
}

static void two_views_of_one_buffer(cts *c) {
  enum { N = 500 };
  uint64_t step = c->info.buffer_alignment < 4 ? 4 : c->info.buffer_alignment;
  uint64_t offset = (N * sizeof(uint32_t) + step - 1) / step * step;
  uint32_t out[N];
  qn_queue queue = cts_queue(c);
  qn_kernel kernel = cts_kernel(c,
                                cts_program(c,
                                            "kernel void add(global uint *to, global const uint *from) { "
                                            "to[get_global_id(0)] += from[get_global_id(0)] + 1; }"),
                                "add");
  qn_buffer buffer = cts_buffer(c, 2 * offset);
  const qn_view low = cts_view(buffer, 0, N * sizeof(uint32_t)), high = cts_view(buffer, offset, N * sizeof(uint32_t));
  cts_fill(queue, buffer, 0);
  for (int i = 0; i < 5; i++) {
    CTS_OK(qn_launch(queue, kernel, QN_RANGE_1D(N), QN_ARGS(&high, &low), NULL));
    CTS_OK(qn_launch(queue, kernel, QN_RANGE_1D(N), QN_ARGS(&low, &high), NULL));
  }
  cts_get(queue, buffer, out, sizeof out);
  uint32_t a = 0, b = 0;
  for (int i = 0; i < 5; i++) {
    b += a + 1;
    a += b + 1;
  }
  for (int i = 0; i < N; i++) CTS_SAME("two views of one buffer in one launch", out[i], a);
}

static void one_buffer_twice(cts *c) {
  enum { N = 500 };
  uint32_t out[N];
  qn_queue queue = cts_queue(c);
  qn_kernel kernel = cts_kernel(c,
                                cts_program(c,
                                            "kernel void twice(global uint *to, global const uint *from) { size_t i = "
                                            "get_global_id(0); to[i] = from[i] * 2; }"),
                                "twice");
  qn_buffer buffer = cts_buffer(c, sizeof out);
  for (uint32_t i = 0; i < N; i++) out[i] = i;
  cts_put(queue, buffer, out, sizeof out);
  CTS_OK(qn_launch(queue, kernel, QN_RANGE_1D(N), QN_ARGS(buffer, buffer), NULL));
  cts_get(queue, buffer, out, sizeof out);
  for (uint32_t i = 0; i < N; i++) CTS_SAME("one buffer given twice", out[i], i * 2);
}

static void constant_memory(cts *c) {
  static const char source[] =
      "constant int table[5] = {10, 20, 30, 40, 50};\n"
      "kernel void look(global int *out, constant int *given, constant float4 *vectors) {\n"
      "  int i = get_global_id(0);\n"
      "  out[i] = table[i % 5] + given[i] + (int)vectors[i % 2].z;\n"
      "}\n";
  enum { N = 100 };
  int32_t given[N], out[N];
  const float vectors[8] = {0, 0, 3, 0, 0, 0, 7, 0};
  qn_queue queue = cts_queue(c);
  qn_kernel kernel = cts_kernel(c, cts_program(c, source), "look");
  qn_buffer target = cts_buffer(c, sizeof out), a = cts_buffer(c, sizeof given), b = cts_buffer(c, sizeof vectors);
  for (int i = 0; i < N; i++) given[i] = 1000 * i;
  cts_put(queue, a, given, sizeof given);
  cts_put(queue, b, vectors, sizeof vectors);
  CTS_OK(qn_launch(queue, kernel, QN_RANGE_1D(N), QN_ARGS(target, a, b), NULL));
  cts_get(queue, target, out, sizeof out);
  for (int i = 0; i < N; i++) CTS_EQUAL(out[i], (i % 5 + 1) * 10 + 1000 * i + (i % 2 ? 7 : 3));
}

/* ---- Local memory ---------------------------------------------------------------------------------- */

static void local_memory(cts *c) {
  static const char source[] =
      "kernel void share(global uint *out, local uchar *a, uint n, local float8 *b, local uint *d) {\n"
      "  size_t l = get_local_id(0), size = get_local_size(0);\n"
      "  local uint fixed[32];\n"
      "  a[l] = (uchar)l; b[l] = (float8)(l); d[l] = l * n; if (l < 32) fixed[l] = 1000;\n"
      "  barrier(CLK_LOCAL_MEM_FENCE);\n"
      "  size_t other = size - 1 - l;\n"
      "  out[get_global_id(0)] = a[other] + (uint)b[other].s7 + d[other] + fixed[other % 32];\n"
      "  if (l == 0) out[get_global_size(0) + get_group_id(0)] = (uint)((size_t)b & 31);\n"
      "}\n";
  enum { LOCAL = 40, GROUPS = 6, N = LOCAL * GROUPS };
  uint32_t out[N + GROUPS];
  qn_queue queue = cts_queue(c);
  qn_kernel kernel = cts_kernel(c, cts_program(c, source), "share");
  qn_buffer buffer = cts_buffer(c, sizeof out);
  qn_range range = QN_INIT(qn_range);
  range.dimensions = 1;
  range.global[0] = N;
  range.local[0] = LOCAL;
  CTS_OK(qn_launch(queue, kernel, &range,
                   QN_ARGS(buffer, qn_arg_local(LOCAL), 7u, qn_arg_local(LOCAL * 32), qn_arg_local(LOCAL * 4)), NULL));
  cts_get(queue, buffer, out, sizeof out);
  for (uint32_t i = 0; i < N; i++) {
    uint32_t other = LOCAL - 1 - i % LOCAL;
    CTS_SAME("a sum of three local arguments and a local array", out[i], other + other + other * 7 + 1000);
  }
  for (int i = 0; i < GROUPS; i++) CTS_SAME("a local float8 argument's address modulo 32", out[N + i], 0);
}

static void all_of_local_memory(cts *c) {
  static const char source[] =
      "kernel void mark(global uint *out, local uchar *a, uint n) {\n"
      "  for (uint i = 0; i < n; i++) a[i] = (uchar)(i * 7);\n"
      "  uint wrong = 0;\n"
      "  for (uint i = 0; i < n; i++) wrong += a[i] != (uchar)(i * 7);\n"
      "  out[get_global_id(0)] = wrong;\n"
      "}\n";
  uint32_t out[4], bytes = (uint32_t)(c->info.local_memory_bytes < 1 << 16 ? c->info.local_memory_bytes : 1 << 16);
  qn_queue queue = cts_queue(c);
  qn_kernel kernel = cts_kernel(c, cts_program(c, source), "mark");
  qn_buffer buffer = cts_buffer(c, sizeof out);
  qn_range range = QN_INIT(qn_range);
  range.dimensions = 1;
  range.global[0] = 4;
  range.local[0] = 1;
  cts_fill(queue, buffer, 0xff);
  CTS_OK(qn_launch(queue, kernel, &range, QN_ARGS(buffer, qn_arg_local(bytes), bytes), NULL));
  cts_get(queue, buffer, out, sizeof out);
  for (int i = 0; i < 4; i++) CTS_SAME("wrong bytes of local memory", out[i], 0);
  CTS_GIVES(
      qn_launch(queue, kernel, &range, QN_ARGS(buffer, qn_arg_local(c->info.local_memory_bytes + 1), bytes), NULL),
      QN_ERROR_INVALID_ARGUMENT);
}

/* ---- half in memory -------------------------------------------------------------------------------- */

static void half_in_memory(cts *c) {
  static const char source[] =
      "kernel void scale(global half *out, global const half *in) {\n"
      "  size_t i = get_global_id(0);\n"
      "  vstore_half(vload_half(i, in) * 2.0f, i, out);\n"
      "}\n";
  static const uint16_t in[] = {0x0000, 0x3c00, 0xbc00, 0x4200, 0x3555, 0x0400, 0x5640, 0xd640};
  static const uint16_t wanted[] = {0x0000, 0x4000, 0xc000, 0x4600, 0x3955, 0x0800, 0x5a40, 0xda40};
  uint16_t out[8];
  qn_queue queue = cts_queue(c);
  qn_kernel kernel = cts_kernel(c, cts_program(c, source), "scale");
  qn_buffer a = cts_buffer(c, sizeof in), b = cts_buffer(c, sizeof out);
  cts_put(queue, a, in, sizeof in);
  CTS_OK(qn_launch(queue, kernel, QN_RANGE_1D(8), QN_ARGS(b, a), NULL));
  cts_get(queue, b, out, sizeof out);
  CTS_BYTES("halves that were doubled", out, wanted, sizeof out);
}

/* ---- What doesn't fit ------------------------------------------------------------------------------ */

static void wrong_arguments(cts *c) {
  qn_queue queue = cts_queue(c);
  qn_kernel kernel =
      cts_kernel(c, cts_program(c, "kernel void k(global uint *out, uint n, local uint *l) { out[0] = n; }"), "k");
  qn_buffer buffer = cts_buffer(c, 64), other = cts_buffer_on(c, cts_device(c), 64);
  unsigned char out[64];
  cts_fill(queue, buffer, 2);
  const qn_argument l = qn_arg_local(4);
  CTS_GIVES(qn_launch(queue, kernel, QN_RANGE_1D(1), QN_ARGS(buffer, 1u), NULL), QN_ERROR_INVALID_ARGUMENT);
  CTS_GIVES(qn_launch(queue, kernel, QN_RANGE_1D(1), QN_ARGS(buffer, 1u, l, l), NULL), QN_ERROR_INVALID_ARGUMENT);
  CTS_FAILS(qn_launch(queue, kernel, QN_RANGE_1D(1), QN_ARGS(buffer, buffer, l), NULL), QN_ERROR_INVALID_ARGUMENT,
            "'n'");
  CTS_FAILS(qn_launch(queue, kernel, QN_RANGE_1D(1), QN_ARGS(1u, 1u, l), NULL), QN_ERROR_INVALID_ARGUMENT, "'out'");
  CTS_FAILS(qn_launch(queue, kernel, QN_RANGE_1D(1), QN_ARGS(buffer, 1.0f, l), NULL), QN_ERROR_INVALID_ARGUMENT, "'n'");
  CTS_FAILS(qn_launch(queue, kernel, QN_RANGE_1D(1), QN_ARGS(other, 1u, l), NULL), QN_ERROR_INVALID_ARGUMENT, "'out'");
  cts_get(queue, buffer, out, sizeof out);
  CTS_FILLED("the buffer after launches that were refused", out, 2, sizeof out);
}

#define VALUES "quern.h: QN_ARGUMENT_VALUE; adapter.h: 'value: size_bytes in OpenCL's layout, borrowed for the call'"
#define BUFFERS "quern.h: QN_ARGUMENT_BUFFER; adapter.h: memory, offset_bytes and size_bytes of qn_launch_argument"
#define LOCALS "quern.h: 'size_bytes of local memory.'; adapter.h: size_bytes and alignment of qn_launch_argument"

static const cts_test tests[] = {
    {"values_of_every_type_arrive", values, QN_FEATURE_KERNELS, 0, VALUES},
    {"values_of_double_arrive", doubles, QN_FEATURE_KERNELS | QN_FEATURE_DOUBLE, 0, VALUES},
    {"values_of_half_arrive", halves, QN_FEATURE_KERNELS | QN_FEATURE_HALF, 0, VALUES},
    {"integers_of_other_widths_arrive", integers_of_other_widths, QN_FEATURE_KERNELS, 0,
     "quern.h: 'integer of another width than the kernel's is accepted when its value fits.'"},
    {"structs_arrive", structs, QN_FEATURE_KERNELS, 0, VALUES},
    {"many_values_arrive", many_values, QN_FEATURE_KERNELS, 0,
     "adapter.h: max_argument_bytes, 1,024 or more as in OpenCL"},
    {"many_buffers_arrive", many_buffers, QN_FEATURE_KERNELS, 0, BUFFERS},
    {"a_kernel_without_arguments_runs", no_arguments, QN_FEATURE_KERNELS, 0,
     "adapter.h: argument_count of qn_launch_record may be 0"},
    {"arguments_are_copied_before_the_call_returns", arguments_are_copied, QN_FEATURE_KERNELS, 0,
     "quern.h: 'Stateless and asynchronous: arguments are copied before it returns.'; adapter.h: 'Everything borrowed "
     "is copied before it returns.'"},
    {"a_null_buffer_is_a_null_pointer", null_buffers, QN_FEATURE_KERNELS, 0,
     "adapter.h: 'buffer; NULL: a null pointer'"},
    {"views_with_offsets_arrive", views_with_offsets, QN_FEATURE_KERNELS, 0, BUFFERS},
    {"two_views_of_one_buffer_arrive", two_views_of_one_buffer, QN_FEATURE_KERNELS, 0, BUFFERS},
    {"one_buffer_may_be_given_twice", one_buffer_twice, QN_FEATURE_KERNELS, 0, BUFFERS},
    {"constant_memory_arrives", constant_memory, QN_FEATURE_KERNELS, 0,
     "quern.h: QN_ARGUMENT_BUFFER: 'a __global or __constant pointer'"},
    {"local_memory_is_given_by_size", local_memory, QN_FEATURE_KERNELS, 0, LOCALS},
    {"all_of_local_memory_is_there", all_of_local_memory, QN_FEATURE_KERNELS, 0, "adapter.h: local_memory_bytes"},
    {"half_in_memory_is_read_and_written", half_in_memory, QN_FEATURE_KERNELS, 0,
     "OpenCL C 1.2, 6.12.7: vload_half and vstore_half are everywhere"},
    {"wrong_arguments_are_refused", wrong_arguments, QN_FEATURE_KERNELS, 0,
     "quern.h: qn_launch: 'INVALID_ARGUMENT (the text names the argument)'"},
};

CTS_SUITE(arguments, "values, structs, buffers, local memory and null pointers given to kernels");
