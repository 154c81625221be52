#include "generator.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Legal barriers: every work-item of a group reaches the same ones. So code has two modes. In COMMON code all items walk
 * together: conditions there are the same for all. In OWN code items go different ways, and no barrier stands there.
 *
 * `v0`..`v5` differ between items; `u0`..`u3` and loop counters are the same for all of a group; `p` is a private array;
 * `A` and `B` are local memory, a word an item, used only between barriers. */

typedef struct gen {
  uint64_t state;
  char *text;
  size_t size, capacity;
  int indent, depth, counters, budget;
  bool in_common_loop;
} gen;

#define VARS 6
#define COMMONS 4

static uint64_t next(gen *g) {
  uint64_t z = (g->state += UINT64_C(0x9e3779b97f4a7c15));
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

static unsigned pick(gen *g, unsigned n) { return (unsigned)(next(g) % n); }

static void put(gen *g, const char *format, ...) {
  va_list args;
  if (!g->text && !(g->text = malloc(g->capacity = 1 << 16))) exit(2);
  for (;;) {
    va_start(args, format);
    int n = vsnprintf(g->text + g->size, g->capacity - g->size, format, args);
    va_end(args);
    if (g->size + (size_t)n + 1 < g->capacity) {
      g->size += (size_t)n;
      return;
    }
    g->capacity = g->capacity * 2 + (size_t)n + 1;
    g->text = realloc(g->text, g->capacity);
    if (!g->text) exit(2);
  }
}

static void line(gen *g) { put(g, "%*s", g->indent * 2, ""); }

/* ---- Expressions ---- */

static void expression(gen *g, int depth, bool common);

static void leaf(gen *g, bool common) {
  static const char *const common_leaves[] = {"n0", "n1", "(uint)get_group_id(0)", "(uint)get_local_size(0)",
                                              "(uint)get_num_groups(1)"};
  static const char *const own_leaves[] = {"lid", "gid", "(uint)get_local_id(0)", "(uint)get_global_id(1)", "in[gid]"};
  switch (pick(g, common ? 3 : 6)) {
    case 0:
      put(g, "%uu", pick(g, 4) ? pick(g, 16) : (unsigned)next(g));
      break;
    case 1:
      put(g, "u%u", pick(g, COMMONS));
      break;
    case 2:
      put(g, "%s", common_leaves[pick(g, 5)]);
      break;
    case 3:
      put(g, "%s", own_leaves[pick(g, 5)]);
      break;
    case 4:
      put(g, "p[v%u & 3]", pick(g, VARS));
      break;
    default:
      put(g, "v%u", pick(g, VARS));
      break;
  }
}

static void binary(gen *g, int depth, bool common) {
  static const char *const ops[] = {"+", "-", "*", "^", "&", "|"};
  put(g, "(");
  expression(g, depth - 1, common);
  put(g, " %s ", ops[pick(g, 6)]);
  expression(g, depth - 1, common);
  put(g, ")");
}

static void condition(gen *g, int depth, bool common) {
  static const char *const ops[] = {"<", ">", "==", "!=", "<=", ">="};
  put(g, "(");
  expression(g, depth, common);
  put(g, " & %uu) %s %uu", 3 + 4 * pick(g, 2), ops[pick(g, 6)], pick(g, 5));
}

static void expression(gen *g, int depth, bool common) {
  if (depth <= 0) {
    leaf(g, common);
    return;
  }
  switch (pick(g, 9)) {
    case 0:
      put(g, "(");
      condition(g, depth - 1, common);
      put(g, " ? ");
      expression(g, depth - 1, common);
      put(g, " : ");
      expression(g, depth - 1, common);
      put(g, ")");
      break;
    case 1:
      put(g, "(");
      expression(g, depth - 1, common);
      put(g, " %s (", pick(g, 2) ? "/" : "%");
      expression(g, depth - 1, common);
      put(g, " | 1u))");
      break;
    case 2:
      put(g, "(");
      expression(g, depth - 1, common);
      put(g, " %s (", pick(g, 2) ? "<<" : ">>");
      expression(g, depth - 1, common);
      put(g, " & 31u))");
      break;
    case 3:
      put(g, "mix4((uint4)(");
      for (int i = 0; i < 4; i++) {
        if (i) put(g, ", ");
        leaf(g, common);
      }
      put(g, "))");
      break;
    case 4:
      put(g, "rotate(");
      expression(g, depth - 1, common);
      put(g, ", %uu)", pick(g, 32));
      break;
    default:
      binary(g, depth, common);
      break;
  }
}

static void assign(gen *g, bool common) {
  line(g);
  if (common && pick(g, 3) == 0)
    put(g, "u%u", pick(g, COMMONS));
  else if (pick(g, 5) == 0)
    put(g, "p[%u]", pick(g, 4));
  else {
    put(g, "v%u", pick(g, VARS));
    common = false;
  }
  bool same = g->text[g->size - 2] == 'u';
  put(g, " %s ", pick(g, 3) ? "=" : pick(g, 2) ? "+=" : "^=");
  expression(g, 2, same);
  put(g, ";\n");
}

/* ---- OWN code: items go different ways ---- */

static void own_statements(gen *g, int count, bool in_loop);

static void own_block(gen *g, bool in_loop) {
  g->indent++;
  g->depth++;
  own_statements(g, 1 + (int)pick(g, 3), in_loop);
  g->depth--;
  g->indent--;
}

static void own_if(gen *g, bool in_loop) {
  line(g);
  put(g, "if (");
  condition(g, 1, false);
  put(g, ") {\n");
  own_block(g, in_loop);
  line(g);
  if (pick(g, 2)) {
    put(g, "} else {\n");
    own_block(g, in_loop);
    line(g);
  }
  put(g, "}\n");
}

static void own_loop(gen *g) {
  int k = g->counters++;
  line(g);
  switch (pick(g, 3)) {
    case 0:
      put(g, "for (uint k%d = 0; k%d < (", k, k);
      expression(g, 1, false);
      put(g, " & 7u); k%d++) {\n", k);
      own_block(g, true);
      line(g);
      put(g, "}\n");
      break;
    case 1:
      put(g, "uint k%d = ", k);
      expression(g, 1, false);
      put(g, " & 7u;\n");
      line(g);
      put(g, "while (k%d > 0) {\n", k);
      g->indent++;
      line(g);
      g->indent--;
      put(g, "k%d--;\n", k);
      own_block(g, true);
      line(g);
      put(g, "}\n");
      break;
    default:
      put(g, "uint k%d = 0;\n", k);
      line(g);
      put(g, "do {\n");
      own_block(g, true);
      line(g);
      put(g, "} while (++k%d < (", k);
      expression(g, 1, false);
      put(g, " & 3u));\n");
  }
}

static void own_switch(gen *g) {
  line(g);
  put(g, "switch (");
  expression(g, 1, false);
  put(g, " & 3u) {\n");
  for (unsigned i = 0, n = 1 + pick(g, 4); i < n; i++) {
    line(g);
    if (i == 3 || (i + 1 == n && pick(g, 2)))
      put(g, "default:\n");
    else
      put(g, "case %u:\n", i);
    own_block(g, false);
    if (pick(g, 3)) {
      line(g);
      put(g, "  break;\n");
    }
  }
  line(g);
  put(g, "}\n");
}

static void own_statement(gen *g, bool in_loop) {
  unsigned what = g->depth > 4 || --g->budget < 0 ? 0 : pick(g, 10);
  if (what < 5)
    assign(g, false);
  else if (what < 7)
    own_if(g, in_loop);
  else if (what < 8)
    own_loop(g);
  else if (what < 9)
    own_switch(g);
  else if (in_loop) {
    line(g);
    put(g, "if (");
    condition(g, 1, false);
    put(g, ") %s;\n", pick(g, 2) ? "break" : "continue");
  } else
    assign(g, false);
}

static void own_statements(gen *g, int count, bool in_loop) {
  for (int i = 0; i < count; i++) own_statement(g, in_loop);
}

/* ---- COMMON code: barriers ---- */

static void common_statements(gen *g, int count);

static void barrier(gen *g) {
  line(g);
  put(g, "barrier(CLK_LOCAL_MEM_FENCE);\n");
}

/* Each item gives a word and takes another's. */
static void exchange(gen *g) {
  char memory = pick(g, 2) ? 'A' : 'B';
  barrier(g);
  line(g);
  put(g, "%c[lid] = ", memory);
  expression(g, 1, false);
  put(g, ";\n");
  if (pick(g, 3) == 0) own_statements(g, 1, false);
  barrier(g);
  line(g);
  if (pick(g, 4) == 0)
    put(g, "u%u = %c[%uu %% size];\n", pick(g, COMMONS), memory, pick(g, 9)); /* the same for all, but who can tell */
  else
    put(g, "v%u %s %c[(lid + %uu) %% size];\n", pick(g, VARS), pick(g, 2) ? "=" : "^=", memory, pick(g, 9));
}

static void count_together(gen *g) {
  barrier(g);
  line(g);
  put(g, "A[lid] = 0;\n");
  barrier(g);
  line(g);
  put(g, "atomic_%s(&A[v%u %% size], ", pick(g, 2) ? "add" : "xor", pick(g, VARS));
  expression(g, 1, false);
  put(g, ");\n");
  barrier(g);
  line(g);
  put(g, "v%u = A[lid];\n", pick(g, VARS));
}

static void call_helper(gen *g) {
  line(g);
  put(g, "v%u = pass_on(%s, v%u, lid, size, ", pick(g, VARS), pick(g, 2) ? "A" : "B", pick(g, VARS));
  expression(g, 1, true);
  put(g, " & 3u);\n");
}

static void common_block(gen *g) {
  g->indent++;
  g->depth++;
  common_statements(g, 1 + (int)pick(g, 3));
  g->depth--;
  g->indent--;
}

static void common_if(gen *g) {
  line(g);
  put(g, "if (");
  condition(g, 1, true);
  put(g, ") {\n");
  common_block(g);
  line(g);
  if (pick(g, 2)) {
    put(g, "} else {\n");
    common_block(g);
    line(g);
  }
  put(g, "}\n");
}

/* After a loop body's last barrier items may go on, or end the last round, each for itself. */
static void loop_tail(gen *g, const char *is_last) {
  g->indent++;
  switch (pick(g, 5)) {
    case 0:
      line(g);
      put(g, "if (");
      condition(g, 1, false);
      put(g, ") continue;\n");
      own_statements(g, 2, false);
      break;
    case 1:
      line(g);
      put(g, "if (%s && (", is_last);
      condition(g, 1, false);
      put(g, ")) break;\n");
      own_statements(g, 1, false);
      break;
    case 2:
      line(g);
      put(g, "if (");
      condition(g, 1, true);
      put(g, ") break;\n");
      own_statements(g, 1, false);
      break;
    default:
      break;
  }
  g->indent--;
}

static void common_loop(gen *g) {
  int k = g->counters++;
  char last[64];
  unsigned rounds = 1 + pick(g, 4);
  bool outer = g->in_common_loop;
  line(g);
  g->in_common_loop = true;
  if (pick(g, 2)) {
    snprintf(last, sizeof last, "c%d + 1 == %uu", k, rounds);
    put(g, "for (uint c%d = 0; c%d < %uu; c%d++) {\n", k, k, rounds, k);
    common_block(g);
    if (pick(g, 3) == 0) {
      line(g);
      put(g, "  if (");
      condition(g, 1, true);
      put(g, ") continue;\n");
      common_block(g);
    }
    loop_tail(g, last);
    line(g);
    put(g, "}\n");
  } else if (pick(g, 2)) {
    put(g, "uint c%d = 0;\n", k);
    snprintf(last, sizeof last, "c%d == %uu", k, rounds);
    line(g);
    put(g, "while (c%d < %uu) {\n", k, rounds);
    line(g);
    put(g, "  c%d++;\n", k);
    common_block(g);
    loop_tail(g, last);
    line(g);
    put(g, "}\n");
  } else {
    put(g, "uint c%d = 0;\n", k);
    snprintf(last, sizeof last, "c%d + 1 == %uu", k, rounds);
    line(g);
    put(g, "do {\n");
    common_block(g);
    loop_tail(g, last);
    line(g);
    put(g, "} while (++c%d < %uu);\n", k, rounds);
  }
  g->in_common_loop = outer;
}

static void common_switch(gen *g) {
  line(g);
  put(g, "switch (");
  expression(g, 1, true);
  put(g, " & 3u) {\n");
  for (unsigned i = 0, n = 1 + pick(g, 4); i < n; i++) {
    line(g);
    if (i == 3)
      put(g, "default:\n");
    else
      put(g, "case %u:\n", i);
    common_block(g);
    if (pick(g, 3)) {
      line(g);
      put(g, "  break;\n");
    }
  }
  line(g);
  put(g, "}\n");
}

static void common_statement(gen *g) {
  unsigned what = g->depth > 4 || --g->budget < 0 ? pick(g, 4) : pick(g, 13);
  switch (what) {
    case 0:
    case 1:
      assign(g, true);
      break;
    case 2:
    case 3:
    case 4:
      exchange(g);
      break;
    case 5:
      own_if(g, false);
      break;
    case 6:
      own_loop(g);
      break;
    case 7:
      common_if(g);
      break;
    case 8:
    case 9:
      common_loop(g);
      break;
    case 10:
      common_switch(g);
      break;
    case 11:
      count_together(g);
      break;
    default:
      call_helper(g);
      break;
  }
}

static void common_statements(gen *g, int count) {
  for (int i = 0; i < count; i++) common_statement(g);
}

/* ---- Kernel ---- */

static const char prelude[] =
    "static uint mix4(uint4 x) {\n"
    "  x = x.wxyz * (uint4)(3, 5, 7, 9) + x.yzwx;\n"
    "  x.xz ^= x.wy;\n"
    "  return x.x + x.y * 31u + x.z * 17u + x.w;\n"
    "}\n"
    "static uint pass_on(local uint *m, uint x, uint lid, uint size, uint rounds) {\n"
    "  for (uint r = 0; r < rounds; r++) {\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    m[lid] = x;\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    if (size == 1) return x + r;\n"
    "    x = m[(lid + 1) % size] * 3u + r;\n"
    "  }\n"
    "  return x;\n"
    "}\n\n";

static void results(gen *g) {
  for (int i = 0; i < GENERATOR_RESULTS; i++) {
    line(g);
    put(g, "out[gid * %d + %d] = v%d + p[%d];\n", GENERATOR_RESULTS, i, i, i & 3);
  }
}

static void early_return(gen *g, bool common) {
  line(g);
  put(g, "if (");
  condition(g, 1, common);
  put(g, ") {\n");
  g->indent++;
  results(g);
  line(g);
  put(g, "return;\n");
  g->indent--;
  line(g);
  put(g, "}\n");
}

generated generate(uint64_t seed) {
  static const uint64_t sizes[][2] = {{1, 1},  {2, 1},   {3, 1}, {5, 1}, {8, 1},  {16, 1}, {33, 1},
                                      {64, 1}, {100, 1}, {4, 4}, {7, 3}, {1, 16}, {8, 8}};
  gen g = {.state = seed * UINT64_C(0x2545f4914f6cdd1d) + 1, .budget = 40};
  generated out = {0};
  unsigned size = pick(&g, sizeof sizes / sizeof *sizes);
  for (int d = 0; d < 2; d++) {
    out.local[d] = sizes[size][d];
    out.groups[d] = 1 + pick(&g, 3);
  }
  out.n0 = pick(&g, 2) ? pick(&g, 8) : (uint32_t)next(&g);
  out.n1 = pick(&g, 2) ? pick(&g, 8) : (uint32_t)next(&g);
  uint64_t items = out.local[0] * out.local[1];
  put(&g, "/* seed %llu */\n%s", (unsigned long long)seed, prelude);
  if (pick(&g, 2))
    put(&g, "__attribute__((reqd_work_group_size(%u, %u, 1)))\n", (unsigned)out.local[0], (unsigned)out.local[1]);
  put(&g, "kernel void random_kernel(global uint *out, global const uint *in, uint n0, uint n1) {\n");
  put(&g, "  local uint A[%u], B[%u];\n", (unsigned)items, (unsigned)items);
  put(&g, "  const uint size = %uu;\n", (unsigned)items);
  put(&g, "  const uint lid = get_local_id(1) * get_local_size(0) + get_local_id(0);\n");
  put(&g, "  const uint gid = get_global_id(1) * get_global_size(0) + get_global_id(0);\n");
  put(&g, "  uint p[4] = {gid, lid, n0, 7};\n");
  for (int i = 0; i < VARS; i++) put(&g, "  uint v%d = in[gid] * %du + %du;\n", i, 2 * i + 1, i);
  for (int i = 0; i < COMMONS; i++) put(&g, "  uint u%d = n%d + %du;\n", i, i & 1, i);
  g.indent = 1;
  common_statements(&g, 3 + (int)pick(&g, 5));
  if (pick(&g, 4) == 0) {
    early_return(&g, true);
    common_statements(&g, 2);
  }
  if (pick(&g, 3) == 0) {
    early_return(&g, false);
    own_statements(&g, 2, false);
  }
  results(&g);
  put(&g, "}\n");
  out.source = g.text;
  return out;
}
