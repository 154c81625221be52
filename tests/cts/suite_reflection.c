/* suite_reflection.c - what is told of kernels and their arguments. */
#include <stdio.h>
#include <string.h>

#include "cts.h"

typedef struct expected {
  const char *name, *type_name;
  uint32_t kind, type, width, bytes, align, access, space;
} expected;

static void check_text(const char *what, const char *name, const char *came, const char *wanted) {
  if (strcmp(came, wanted) == 0) return;
  CTS_TRUE(false, "%s of argument '%s' is '%s', not '%s'", what, name, wanted, came);
}

static void check_argument(qn_kernel kernel, uint32_t index, const expected *e) {
  qn_argument_info info = QN_INIT(qn_argument_info);
  char what[128];
  CTS_OK(qn_kernel_argument(kernel, index, &info));
  check_text("the name", e->name, info.name, e->name);
  check_text("type_name", e->name, info.type_name, e->type_name);
  const struct {
    const char *field;
    uint32_t came, wanted;
  } fields[] = {{"kind", info.kind, e->kind},
                {"element_type", info.element_type, e->type},
                {"vector_width", info.vector_width, e->width},
                {"element_bytes", info.element_bytes, e->bytes},
                {"element_align", info.element_align, e->align},
                {"access", info.access, e->access},
                {"address_space", info.address_space, e->space}};
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
    snprintf(what, sizeof what, "%s of argument '%s' (%s)", fields[i].field, e->name, e->type_name);
    CTS_SAME(what, fields[i].came, fields[i].wanted);
  }
}

enum { VALUE = QN_ARGUMENT_VALUE, BUFFER = QN_ARGUMENT_BUFFER, LOCAL = QN_ARGUMENT_LOCAL };
enum { READ = QN_ACCESS_READ, WRITE = QN_ACCESS_WRITE, BOTH = READ | WRITE };

static void arguments(cts *c) {
  static const char source[] =
      "typedef struct { uchar a; uint b; float4 v; } pair;\n"
      "kernel void k(char a, uchar b, short d, ushort e, int f, uint g, long h, ulong i, float j, float3 m, uint16 n, "
      "pair o,\n"
      "              global float *p, global const int4 *q, constant pair *r, local ushort2 *s, global uchar *restrict "
      "t) {\n"
      "  p[0] = a + b + d + e + f + g + h + i + j + m.x + n.s1 + o.b + q[0].x + r[0].b;\n"
      "  s[0] = 1; t[0] = t[1] + s[0].x;\n"
      "}\n";
  static const expected wanted[] = {{"a", "char", VALUE, QN_TYPE_I8, 1, 1, 1, 0, QN_SPACE_PRIVATE},
                                    {"b", "uchar", VALUE, QN_TYPE_U8, 1, 1, 1, 0, QN_SPACE_PRIVATE},
                                    {"d", "short", VALUE, QN_TYPE_I16, 1, 2, 2, 0, QN_SPACE_PRIVATE},
                                    {"e", "ushort", VALUE, QN_TYPE_U16, 1, 2, 2, 0, QN_SPACE_PRIVATE},
                                    {"f", "int", VALUE, QN_TYPE_I32, 1, 4, 4, 0, QN_SPACE_PRIVATE},
                                    {"g", "uint", VALUE, QN_TYPE_U32, 1, 4, 4, 0, QN_SPACE_PRIVATE},
                                    {"h", "long", VALUE, QN_TYPE_I64, 1, 8, 8, 0, QN_SPACE_PRIVATE},
                                    {"i", "ulong", VALUE, QN_TYPE_U64, 1, 8, 8, 0, QN_SPACE_PRIVATE},
                                    {"j", "float", VALUE, QN_TYPE_F32, 1, 4, 4, 0, QN_SPACE_PRIVATE},
                                    {"m", "float3", VALUE, QN_TYPE_F32, 3, 16, 16, 0, QN_SPACE_PRIVATE},
                                    {"n", "uint16", VALUE, QN_TYPE_U32, 16, 64, 64, 0, QN_SPACE_PRIVATE},
                                    {"o", "pair", VALUE, QN_TYPE_NONE, 1, 32, 16, 0, QN_SPACE_PRIVATE},
                                    {"p", "float*", BUFFER, QN_TYPE_F32, 1, 4, 4, WRITE, QN_SPACE_GLOBAL},
                                    {"q", "int4*", BUFFER, QN_TYPE_I32, 4, 16, 16, READ, QN_SPACE_GLOBAL},
                                    {"r", "pair*", BUFFER, QN_TYPE_NONE, 1, 32, 16, READ, QN_SPACE_CONSTANT},
                                    {"s", "ushort2*", LOCAL, QN_TYPE_U16, 2, 4, 4, BOTH, QN_SPACE_LOCAL},
                                    {"t", "uchar*", BUFFER, QN_TYPE_U8, 1, 1, 1, BOTH, QN_SPACE_GLOBAL}};
  enum { COUNT = sizeof wanted / sizeof *wanted };
  qn_kernel kernel = cts_kernel(c, cts_program(c, source), "k");
  qn_kernel_info info = QN_INIT(qn_kernel_info);
  CTS_OK(qn_kernel_query(kernel, &info));
  CTS_SAME("argument_count", info.argument_count, COUNT);
  for (uint32_t i = 0; i < COUNT; i++) check_argument(kernel, i, &wanted[i]);
  qn_argument_info last = QN_INIT(qn_argument_info);
  CTS_GIVES(qn_kernel_argument(kernel, COUNT, &last), QN_ERROR_NOT_FOUND);
}

static void qualifiers(cts *c) {
  qn_kernel kernel = cts_kernel(c,
                                cts_program(c,
                                            "kernel void k(global const int *a, global int *restrict b, volatile "
                                            "global int *d, global int *e) { b[0] = a[0] + d[0] + e[0]; }"),
                                "k");
  static const uint32_t wanted[4][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, 0, 0}};
  for (uint32_t i = 0; i < 4; i++) {
    qn_argument_info info = QN_INIT(qn_argument_info);
    CTS_OK(qn_kernel_argument(kernel, i, &info));
    CTS_SAME("is_const", info.is_const, wanted[i][0]);
    CTS_SAME("is_restrict", info.is_restrict, wanted[i][1]);
    CTS_SAME("is_volatile", info.is_volatile, wanted[i][2]);
  }
}

static qn_kernel_info kernel_info(qn_kernel kernel) {
  qn_kernel_info info = QN_INIT(qn_kernel_info);
  CTS_OK(qn_kernel_query(kernel, &info));
  return info;
}

static void groups(cts *c) {
  static const char source[] =
      "kernel void plain(global int *out) { out[0] = 1; }\n"
      "kernel __attribute__((reqd_work_group_size(4, 2, 1))) void required(global int *out) { out[0] = 1; }\n"
      "kernel __attribute__((work_group_size_hint(16, 1, 1))) void hinted(global int *out) { out[0] = 1; }\n"
      "kernel void locals(global int *out) {\n"
      "  local int a[100]; local char b[7];\n"
      "  a[get_local_id(0) % 100] = 1; b[0] = 2; barrier(CLK_LOCAL_MEM_FENCE); out[0] = a[0] + b[0];\n"
      "}\n";
  qn_program program = cts_program(c, source);
  qn_kernel_info plain = kernel_info(cts_kernel(c, program, "plain")),
                 required = kernel_info(cts_kernel(c, program, "required"));
  qn_kernel_info hinted = kernel_info(cts_kernel(c, program, "hinted")),
                 locals = kernel_info(cts_kernel(c, program, "locals"));
  CTS_TRUE(strcmp(plain.name, "plain") == 0, "a kernel's name is 'plain', not '%s'", plain.name);
  CTS_TRUE(plain.max_group_items >= 1 && plain.max_group_items <= c->info.max_group_items,
           "max_group_items of a kernel, %llu, is between 1 and the device's, %llu",
           (unsigned long long)plain.max_group_items, (unsigned long long)c->info.max_group_items);
  const uint64_t none[3] = {0, 0, 0}, four_two[3] = {4, 2, 1}, sixteen[3] = {16, 1, 1};
  CTS_BYTES("required_local of a kernel without it", plain.required_local, none, sizeof none);
  CTS_BYTES("required_local", required.required_local, four_two, sizeof four_two);
  CTS_BYTES("hinted_local", hinted.hinted_local, sixteen, sizeof sixteen);
  CTS_SAME("static_local_bytes of a kernel without local memory", plain.static_local_bytes, 0);
  CTS_TRUE(locals.static_local_bytes >= 407 && locals.static_local_bytes <= 1024,
           "static_local_bytes of 407 bytes of arrays is that and some padding, not %llu",
           (unsigned long long)locals.static_local_bytes);
}

static void dimensions(cts *c) {
  static const struct {
    const char *source;
    uint32_t asked;
  } cases[] = {
      {"kernel void k(global int *out) { out[0] = (int)get_global_size(2); }", 0},
      {"kernel void k(global int *out) { out[get_global_id(0)] = 1; }", 1},
      {"kernel void k(global int *out) { out[get_global_id(0)] = (int)get_group_id(1); }", 2},
      {"kernel void k(global int *out) { out[get_local_id(2)] = 1; }", 3},
      {"kernel void k(global int *out, uint d) { out[get_global_id(d)] = 1; }", 3},
      {"int y(void) { return (int)get_global_id(1); }\nkernel void k(global int *out) { out[y()] = 1; }", 2},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    CTS_SAME(cases[i].source, kernel_info(cts_kernel(c, cts_program(c, cases[i].source), "k")).asked_dimensions,
             cases[i].asked);
}

/* size_t and pointers are as wide as the device's addresses, in kernels and in what is told. */
static void data_model(cts *c) {
  static const char source[] =
      "typedef struct { char a; size_t b; } pair;\n"
      "kernel void sizes(global uint *out, pair p) {\n"
      "  out[0] = sizeof(size_t); out[1] = sizeof(global void *); out[2] = sizeof(pair); out[3] = sizeof(long); out[4] "
      "= sizeof(float3);\n"
      "  out[5] = (uint)p.b;\n"
      "}\n";
  uint32_t out[6], word = c->info.address_bits / 8;
  unsigned char p[16] = {0};
  p[word] = 99;
  qn_queue queue = cts_queue(c);
  qn_kernel kernel = cts_kernel(c, cts_program(c, source), "sizes");
  qn_buffer buffer = cts_buffer(c, sizeof out);
  qn_argument_info info = QN_INIT(qn_argument_info);
  CTS_OK(qn_kernel_argument(kernel, 1, &info));
  CTS_SAME("the size of a struct with a size_t", info.element_bytes, 2 * word);
  CTS_OK(qn_launch(queue, kernel, QN_RANGE_1D(1), QN_ARGS(buffer, qn_arg_bytes(p, 2 * (uint64_t)word)), NULL));
  cts_get(queue, buffer, out, sizeof out);
  const uint32_t wanted[] = {word, word, 2 * word, 8, 16, 99};
  for (int i = 0; i < 6; i++)
    CTS_SAME("sizeof size_t, pointers, a struct, long, float3, and a member", out[i], wanted[i]);
}

#define TOLD "quern.h: qn_argument_info and qn_kernel_info"

static const cts_test tests[] = {
    {"arguments_are_described", arguments, QN_FEATURE_KERNELS, 0, TOLD},
    {"qualifiers_are_described", qualifiers, QN_FEATURE_KERNELS, 0, TOLD},
    {"group_sizes_and_local_memory_are_described", groups, QN_FEATURE_KERNELS, 0,
     TOLD "; adapter.h: qn_adapter_kernel_info.max_group_items"},
    {"asked_dimensions_are_described", dimensions, QN_FEATURE_KERNELS, 0, TOLD},
    {"the_data_model_is_that_of_the_device", data_model, QN_FEATURE_KERNELS, 0, "adapter.h: 'chooses the data model'"},
};

CTS_SUITE(reflection, "what is told of kernels and their arguments");
