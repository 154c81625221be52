/* kernel_cases.h - kernels of every shape, for comparing what a target makes of them with the interpreter. */
#ifndef QUERN_TEST_KERNEL_CASES_H
#define QUERN_TEST_KERNEL_CASES_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* All kernels are k(global uint *out, global const uint *in, int n), with ITEMS items and WORDS words of out for each. */
enum { ITEMS = 192, WORDS = 4, IN_WORDS = 4 * ITEMS };

typedef struct kernel_case {
  const char *name, *source;
  uint64_t global[3], local[3];
  int n;
} kernel_case;

#define HEAD "kernel void k(global uint *out, global const uint *in, int n) {\n"
#define ID "int i = get_global_id(0); "

static const kernel_case kernel_cases[] = {
    {"bounds check", HEAD ID "if (i < n) out[i] = in[i] * 3u + (uint)i; }", {ITEMS, 1, 1}, {64, 1, 1}, 101},
    {"counting what a pointer points to",
     "typedef struct { uint a, b; } pair;\n"
     "void step(uint *p, pair *q, uint **r) { (*p)++; q->a++; (q->b)--; (**r)++; --*p; ++*p; *p += 2u; p[1]++; "
     "}\n" HEAD ID "uint x[2] = {in[i], 5u}, *r = &x[1]; pair q = {in[i] % 7u, 100u}; step(x, &q, &r); out[i]++; "
     "(*(out + 192 + i))--;\n"
     "out[i] += x[0] * 31u + x[1] * 7u + q.a * 3u + q.b + (uint)(r == &x[1]); }",
     {ITEMS, 1, 1},
     {64, 1, 1},
     0},
    {"bytes of a variable across a barrier",
     "typedef struct { uint a, b[3]; } box;\n" HEAD ID
     "box v = {in[i], {1u, 2u, 3u}}; uint w[4] = {5u, in[i], 6u, 7u}; uint s = 0;\n"
     "uchar *p = (uchar *)&v; *(uint *)p += (uint)i; ((ushort *)w)[2] += (ushort)i;\n"
     "barrier(CLK_GLOBAL_MEM_FENCE); s = v.a + v.b[2] * 3u + w[1]; barrier(CLK_GLOBAL_MEM_FENCE);\n"
     "v.b[i & 1] += 9u; w[i & 3] ^= 1u; barrier(CLK_GLOBAL_MEM_FENCE);\n"
     "out[i] = s + v.b[0] * 5u + v.b[1] + w[0] + w[1] * 3u + w[2] + w[3]; }",
     {ITEMS, 1, 1},
     {48, 1, 1},
     0},
    {"early return",
     HEAD ID "if (i >= n) return; out[i] = in[i] ^ 5u; if (in[i] & 1) return; out[i] += 7u; }",
     {ITEMS, 1, 1},
     {64, 1, 1},
     77},
    {"odd local size",
     HEAD ID "out[i] = in[i] + get_local_id(0) * 100 + get_group_id(0); }",
     {ITEMS, 1, 1},
     {24, 1, 1},
     0},
    {"tiny local size", HEAD ID "out[i] = in[i] + get_local_id(0); }", {ITEMS, 1, 1}, {3, 1, 1}, 0},
    {"one item a group", HEAD ID "out[i] = in[i] + 1; }", {ITEMS, 1, 1}, {1, 1, 1}, 0},
    {"two dimensions",
     HEAD "int x = get_global_id(0), y = get_global_id(1), w = get_global_size(0);\n"
          "if (x > 0 && y > 0 && x < w - 1) out[y * w + x] = in[y * w + x - 1] + 2 * in[(y - 1) * w + x]; }",
     {24, 8, 1},
     {12, 4, 1},
     0},
    {"three dimensions",
     HEAD "size_t x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);\n"
          "size_t at = (z * get_global_size(1) + y) * get_global_size(0) + x;\n"
          "out[at] = in[at] + (uint)(get_local_id(0) + 10 * get_local_id(1) + 100 * get_local_id(2)); }",
     {8, 6, 4},
     {4, 3, 2},
     0},
    {"uniform loop in a divergent branch",
     HEAD ID "uint sum = 1; if (in[i] & 2) for (int k = 0; k < n; k++) sum = sum * 3 + in[k]; out[i] = sum; }",
     {ITEMS, 1, 1},
     {64, 1, 1},
     9},
    {"divergent loop",
     HEAD ID "uint x = in[i] % 50, steps = 0; while (x != 1 && steps < 100) {\n"
             "x = x % 2 ? 3 * x + 1 : x / 2; steps++; } out[i] = steps; }",
     {ITEMS, 1, 1},
     {64, 1, 1},
     0},
    {"break and continue",
     HEAD ID "uint s = 0; for (int k = 0; k < 20; k++) { if ((in[i] + k) % 3 == 0) continue;\n"
             "if ((in[i] >> k) % 7 == 6) break; s += k; for (int j = 0; j < 5; j++) { if (j == (int)(in[i] % 5)) "
             "break; s ^= j; } }\n"
             "out[i] = s; }",
     {ITEMS, 1, 1},
     {64, 1, 1},
     0},
    {"return from nested loops",
     HEAD ID "out[i] = 1; for (int k = 0; k < 10; k++) for (int j = 0; j < 10; j++)\n"
             "if (in[i] % 100 == k * 10 + j) { out[i] = 5 + k + j; return; } out[i] = 2; }",
     {ITEMS, 1, 1},
     {64, 1, 1},
     0},
    {"uniform continue after a divergent one",
     HEAD ID
     "uint s = 0; for (int k = 0; k < 9; k++) { if (in[i] % 9 == k) continue; if (k == n) break; s += k + 1; }\n"
     "out[i] = s; }",
     {ITEMS, 1, 1},
     {64, 1, 1},
     6},
    {"do while",
     HEAD ID "uint x = in[i], c = 0; do { x >>= 1; c++; } while (x & 3); out[i] = c; }",
     {ITEMS, 1, 1},
     {48, 1, 1},
     0},
    {"uniform switch",
     HEAD ID "uint r; switch (n) { case 1: r = in[i]; break; case 2: r = in[i] + 1; if (r & 1) break; r = 9;\n"
             "break; default: r = 0; } out[i] = r; }",
     {ITEMS, 1, 1},
     {64, 1, 1},
     2},
    {"divergent switch",
     HEAD ID "uint r = 0; switch (in[i] % 6) { case 0: r = 10; break; case 1: r = 11; case 2: r += 12;\n"
             "break; case 4: for (int k = 0; k < 3; k++) { if (in[i] % 4 == k) break; r += k; } r += 100; break;\n"
             "case 5: if (in[i] & 8) return; r = 6; break; default: r = 77; } out[i] = r + 1; }",
     {ITEMS, 1, 1},
     {64, 1, 1},
     0},
    {"switch in a loop with continue",
     HEAD ID "uint r = 0; for (int k = 0; k < 8; k++) { switch ((in[i] + k) % 4) {\n"
             "case 0: continue; case 1: r += 1; break; case 2: if (r > 3) break; r += 5; } r *= 3; } out[i] = r; }",
     {ITEMS, 1, 1},
     {64, 1, 1},
     0},
    {"private array, index of the group",
     HEAD ID "uint a[8]; for (int k = 0; k < 8; k++) a[k] = in[i] >> k;\n"
             "uint s = 0; for (int k = 0; k < 8; k++) s = s * 5 + a[7 - k]; out[i] = s; }",
     {ITEMS, 1, 1},
     {64, 1, 1},
     0},
    {"private array, own index",
     HEAD ID "uint a[8]; for (int k = 0; k < 8; k++) a[k] = k * k + n;\n"
             "if (in[i] & 1) a[in[i] % 8] = 1000; uint s = a[(in[i] >> 3) % 8]; a[3] += s; out[i] = s + a[3]; }",
     {ITEMS, 1, 1},
     {64, 1, 1},
     4},
    {"private array in a divergent loop",
     HEAD ID "uint a[4] = {1, 2, 3, 4}; for (uint k = 0; k < in[i] % 7; k++) {\n"
             "uint t[2]; t[0] = a[k % 4]; t[1] = t[0] + k; a[(k + 1) % 4] += t[1]; } out[i] = a[0] + 10 * a[1] + 100 * "
             "a[2] + 1000 * a[3]; }",
     {ITEMS, 1, 1},
     {64, 1, 1},
     0},
    {"pointer into a private array",
     HEAD ID "uint a[6]; uint *p = a + in[i] % 3; for (int k = 0; k < 6; k++) a[k] = k + 1;\n"
             "p[1] = 50; p += in[i] & 1; out[i] = *p + a[2]; }",
     {ITEMS, 1, 1},
     {64, 1, 1},
     0},
    {"structs",
     "typedef struct { uint a; float4 v; uchar c[3]; double d; } S;\n" HEAD ID
     "S s = {in[i], (float4)(1, 2, 3, 4), {1, 2, 3}, 0.5}; S t = s; if (in[i] & 1) { t.v.y = 9; t.c[in[i] % 3] = 7; s "
     "= t; }\n"
     "out[i] = s.a + (uint)s.v.y + s.c[0] * 10 + s.c[1] * 100 + s.c[2] * 1000 + (uint)(t.d * 2); }",
     {ITEMS, 1, 1},
     {64, 1, 1},
     0},
    {"struct in global memory",
     "typedef struct { uint a, b, c; } S;\n" HEAD ID
     "global const S *p = (global const S *)in; S s = p[i]; s.b += s.a; ((global S *)out)[i] = s; }",
     {ITEMS, 1, 1},
     {64, 1, 1},
     0},
    {"vectors",
     HEAD ID "uint4 v = ((global const uint4 *)in)[i]; v.xw = v.wy + 3u; v += (uint4)(n, i, 0, 1);\n"
             "((global uint4 *)out)[i] = v.s2031; }",
     {ITEMS, 1, 1},
     {64, 1, 1},
     2},
    {"vectors of three",
     HEAD ID "uint3 v = vload3(i, in); uint3 w = v.zyx * 2u; if (v.x & 1) w.y = 7;\n"
             "vstore3(w, i, out); }",
     {ITEMS, 1, 1},
     {64, 1, 1},
     0},
    {"aligned vectors of three",
     HEAD ID "global const uint3 *p = (global const uint3 *)in; uint3 v = p[i];\n"
             "out[4 * i] = v.x + v.y * v.z; }",
     {ITEMS, 1, 1},
     {64, 1, 1},
     0},
    {"component by own index",
     HEAD ID "uint4 v = ((global const uint4 *)in)[i]; uint r = ((uint *)&v)[in[i] % 4];\n"
             "((uint *)&v)[in[i + 1] % 4] = r + 1; out[i] = v.x ^ v.y ^ v.z ^ v.w; }",
     {ITEMS - 1, 1, 1},
     {1, 1, 1},
     0},
    {"wide vectors",
     HEAD ID "ushort16 v = convert_ushort16(vload16(0, (global const uchar *)in + i)); v = v * v + (ushort)i;\n"
             "ushort8 h = v.hi ^ v.odd; out[i] = h.s0 + h.s3 * h.s7; }",
     {ITEMS, 1, 1},
     {64, 1, 1},
     0},
    {"bytes",
     HEAD ID
     "global const uchar *p = (global const uchar *)in; ((global uchar *)out)[i] = p[i] + p[2 * i] + p[3 * i + 1]; }",
     {ITEMS, 1, 1},
     {64, 1, 1},
     0},
    {"pixels",
     HEAD ID "uchar4 v = ((global const uchar4 *)in)[i]; float4 f = convert_float4(v) * 0.5f;\n"
             "((global uchar4 *)out)[i] = convert_uchar4_sat(f.zyxw + 3.0f); }",
     {ITEMS, 1, 1},
     {64, 1, 1},
     0},
    {"strides",
     HEAD ID "out[2 * i] = in[3 * i]; out[2 * i + 1] = in[n - i] + in[4 * i + 2]; }",
     {ITEMS / 4 * 3, 1, 1},
     {48, 1, 1},
     ITEMS},
    {"unsigned index that wraps",
     HEAD "uint i = get_global_id(0); uint j = i - 5u; if (j < 1000u) out[j] = in[i + 1u] + j; }",
     {ITEMS, 1, 1},
     {64, 1, 1},
     0},
    {"short index",
     HEAD "short i = (short)get_global_id(0); out[i] = in[(short)(i * 3)] + i; uchar b = (uchar)(i * 2);\n"
          "out[i] += in[b]; }",
     {ITEMS, 1, 1},
     {64, 1, 1},
     0},
    {"indirect", HEAD ID "out[i] = in[in[i] % 700u] + in[(in[i] >> 4) % 300u]; }", {ITEMS, 1, 1}, {64, 1, 1}, 0},
    {"scatter", HEAD ID "out[(i * 7) % get_global_size(0)] = in[i]; }", {ITEMS, 1, 1}, {64, 1, 1}, 0},
    {"one place",
     HEAD ID "if (i == 37) out[0] = in[i]; if (get_local_id(0) == 5) out[1 + get_group_id(0)] = in[i] * 2; }",
     {ITEMS, 1, 1},
     {64, 1, 1},
     0},
    {"bools in variables",
     HEAD ID "bool a = in[i] & 1, b = false; if (in[i] & 2) b = in[i] & 4; bool c = a && b || !a && (in[i] & 8);\n"
             "while (c && a) { a = false; b = !b; } out[i] = a + 2 * b + 4 * c; }",
     {ITEMS, 1, 1},
     {64, 1, 1},
     0},
    {"division",
     HEAD ID "int a = (int)in[i], b = (int)in[i + 1] % 7 - 3; uint c = in[i + 2] % 5; long d = (long)a * b;\n"
             "short s = (short)a, t = (short)(b + 1); uchar u = (uchar)a, v = (uchar)c; out[i] = a / (b ? b : 1) + "
             "in[i] % (c + 1u) + (uint)(d / (c + 1));\n"
             "out[i] += s / (t ? t : 2) + u / (v + 1) + a % n + (uint)a / (uint)n; }",
     {ITEMS, 1, 1},
     {64, 1, 1},
     13},
    {"conversions",
     HEAD ID
     "float f = (float)(int)in[i] * 1e-3f; double d = f * 1.5; vstore_half(f * 0.001f, i, (global half "
     "*)out);\n"
     "out[ITEMS2 + i] = convert_int_sat(d * 1e6) + convert_uchar_sat(f) + (uint)(int)vload_half(i, (global half "
     "*)out) + as_uint(f); }",
     {ITEMS, 1, 1},
     {64, 1, 1},
     0},
    {"bit casts",
     HEAD ID "uchar4 b = as_uchar4(in[i]); ushort2 s = as_ushort2(b.wzyx); ulong l = as_ulong((uint2)(in[i], s.x));\n"
             "out[i] = as_uint(s) ^ (uint)(l >> 20) ^ as_uint((char4)(b.x, b.y, 1, 2)); }",
     {ITEMS, 1, 1},
     {64, 1, 1},
     0},
    {"atomics",
     HEAD ID "atomic_add(&out[0], in[i]); atomic_max(&out[1], in[i]); atomic_inc(&out[2 + in[i] % 16]);\n"
             "if (in[i] & 1) { atomic_xor(&out[20], in[i]); atomic_min((global int *)&out[21], (int)in[i]); "
             "atomic_or(&out[30 + i % 3], in[i]); } }",
     {ITEMS, 1, 1},
     {64, 1, 1},
     0},
    {"atomic results",
     HEAD ID
     "uint old = atomic_add(&out[i % 8], 0u) + atomic_cmpxchg(&out[8 + i], 0u, in[i]); out[ITEMS2 + 8 + i] = old;\n"
     "atomic_xchg((global float *)&out[2 * ITEMS2 + 8 + i], (float)i); }",
     {ITEMS, 1, 1},
     {64, 1, 1},
     0},
    {"local memory and barriers",
     HEAD ID "local uint t[64]; int l = get_local_id(0); t[l] = in[i]; barrier(CLK_LOCAL_MEM_FENCE);\n"
             "for (int s = 32; s > 0; s >>= 1) { if (l < s) t[l] += t[l + s]; barrier(CLK_LOCAL_MEM_FENCE); }\n"
             "out[i] = t[0] + t[63 - l]; }",
     {ITEMS, 1, 1},
     {64, 1, 1},
     0},
    {"variables across barriers",
     HEAD ID
     "local uint t[48]; int l = get_local_id(0); uint a = in[i], b[3] = {a, a + 1, a * 2}; uint4 v = (uint4)(a);\n"
     "float f = (float)(a % 100); uchar c = (uchar)a; bool q = a & 1; t[l] = a; barrier(CLK_LOCAL_MEM_FENCE); if (q) "
     "b[a % 3] += t[47 - l];\n"
     "v.yz += t[(l + 1) % 48]; barrier(CLK_LOCAL_MEM_FENCE); t[l] = b[0] ^ v.y; barrier(CLK_LOCAL_MEM_FENCE);\n"
     "out[i] = b[0] + b[1] * 3 + b[2] * 5 + v.x + v.y + v.z + (uint)f + c + q + t[(l * 5) % 48]; }",
     {ITEMS, 1, 1},
     {48, 1, 1},
     0},
    {"barrier in two dimensions",
     HEAD "local uint t[8][8]; int x = get_local_id(0), y = get_local_id(1); int gx = get_global_id(0), gy = "
          "get_global_id(1);\n"
          "t[y][x] = in[gy * 16 + gx]; barrier(CLK_LOCAL_MEM_FENCE); out[gy * 16 + gx] = t[x][y] + t[7 - y][x]; }",
     {16, 8, 1},
     {8, 8, 1},
     0},
    {"helper with pointers",
     "void __attribute__((noinline)) split(uint x, uint *low, uint *high) { *low = x & 0xffff; if (x & 1) *high = x >> "
     "16; }\n"
     "uint __attribute__((noinline)) at(global const uint *p, int i, int n) { uint s = 0; for (int k = 0; k < n; k++) "
     "{ if (p[i] % 5 == k) return s + 1; s += p[i + k]; } return s; }\n" HEAD ID
     "uint a = 1, b = 2; split(in[i], &a, &b); if (b & 2) a += at(in, i, n); out[i] = a * 3 + b; }",
     {ITEMS, 1, 1},
     {64, 1, 1},
     4},
    {"helper that asks for ids",
     "uint __attribute__((noinline)) id(uint k) { return (uint)(get_local_id(0) * 3 + get_global_id(1) + "
     "get_group_id(0) * 7 + k); }\n" HEAD ID "out[i] = id(in[i] & 1) + id(5u); }",
     {ITEMS, 1, 1},
     {48, 1, 1},
     0},
    {"helper with vectors",
     "float4 __attribute__((noinline)) mix4(float4 a, float3 b, float t) { if (t > 0.5f) return a; return a * t + "
     "b.xyzx; }\n" HEAD ID "float4 v = mix4((float4)(i, 1, 2, 3), (float3)(in[i] & 15), (in[i] & 3) * 0.25f); out[i] = "
     "(uint)(v.x + 2 * v.y + 4 * v.z + 8 * v.w); }",
     {ITEMS, 1, 1},
     {64, 1, 1},
     0},
    {"struct by value",
     "typedef struct { uint a; float b; uint c[4]; } S;\nuint __attribute__((noinline)) f(S s, int k) { s.c[k] += s.a; "
     "return s.c[0] + s.c[k] * 2 + (uint)s.b; }\n" HEAD ID
     "S s = {in[i], 2.5f, {1, 2, 3, in[i] & 7}}; uint r = f(s, in[i] % 4); out[i] = r + s.c[in[i] % 4]; }",
     {ITEMS, 1, 1},
     {64, 1, 1},
     0},
    {"constants",
     "constant uint table[5] = {2, 3, 5, 7, 11}; constant float4 w[2] = {(float4)(1, 2, 3, 4), (float4)(5)};\n"
     "typedef struct { uchar a; int b; uint3 c; } S; constant S s[2] = {{1, -2, (uint3)(3, 4, 5)}, {6, 7, "
     "(uint3)(8)}};\n" HEAD ID
     "out[i] = table[in[i] % 5] + (uint)w[in[i] & 1].z + table[n] + s[in[i] & 1].b + s[1].c.y + s[i & 1].a; }",
     {ITEMS, 1, 1},
     {64, 1, 1},
     2},
    {"math",
     HEAD ID
     "float x = (float)(in[i] % 1000 + 1) * 0.0078125f; float s, c; s = sincos(x, &c); int e; float m = frexp(x, &e);\n"
     "out[i] = (uint)(exp(x) * 0.01f) + (uint)(int)(log(x) * 1e3f) * 3 + (uint)(int)(s * 1e3f) * 5 + (uint)(int)(c * "
     "1e3f) * 7 +\n"
     "(uint)(pow(x, 1.7f) * 1e2f) + (uint)(m * 1e5f) + (uint)e + (uint)(fmod(x, 0.7f) * 1e4f); }",
     {ITEMS, 1, 1},
     {64, 1, 1},
     0},
    {"triangular loop",
     HEAD ID "uint s = 0; for (int k = 0; k <= i % 40; k++) { uint t = in[k]; s += t * k; if (s % 1000 == 7) s++; } "
             "out[i] = s; }",
     {ITEMS, 1, 1},
     {64, 1, 1},
     0},
    {"gathers in a divergent loop",
     HEAD ID "uint s = 0; for (uint k = in[i] % 5; k < in[i + 1] % 29; k++)\n"
             "s += in[(k * 7 + in[i]) % 700u] * in[in[k] % 300u]; out[i] = s; }",
     {ITEMS, 1, 1},
     {64, 1, 1},
     0},
    {"large copy",
     "typedef struct { uint a[100]; } S;\n" HEAD ID "S s; for (int k = 0; k < 100; k++) s.a[k] = in[i] + k; S t = s; "
     "t.a[in[i] % 100] = 1; if (in[i] & 1) s = t; uint r = 0;\n"
     "for (int k = 0; k < 100; k++) r = r * 3 + s.a[k]; out[i] = r; }",
     {ITEMS, 1, 1},
     {64, 1, 1},
     0},
    {"clamped to a border",
     HEAD "int x = get_global_id(0), y = get_global_id(1); uint s = 0;\n"
          "for (int k = -3; k <= 3; k++) s = s * 3 + in[y * 48 + clamp(x + k, 0, n - 1)] + in[max(x - 40, 2)];\n"
          "long far = min((long)x + 5, (long)n); out[y * 48 + x] = s + in[far] + (uint)max(min(x, 20), 7 - x); }",
     {48, 4, 1},
     {48, 1, 1},
     45},
    {"small vectors",
     HEAD ID "global const uchar4 *p = (global const uchar4 *)in; global const short2 *h = (global const short2 *)in;\n"
             "global const ushort4 *w = (global const ushort4 *)in; global const char2 *c = (global const char2 *)in;\n"
             "global const uchar3 *t = (global const uchar3 *)in; global const float2 *f = (global const float2 *)in;\n"
             "uint at = in[i] % 300u; uchar4 a = p[i] + p[at]; short2 b = h[i] - h[at]; ushort4 d = w[i] ^ w[at];\n"
             "char2 e = c[i] * c[at]; uchar3 g = t[i] | t[at]; uint2 q = as_uint2(f[at]) + as_uint2(f[i]);\n"
             "((global uchar4 *)out)[i] = a; ((global short2 *)(out + 192))[i] = b;\n"
             "((global char2 *)(out + 384))[i] = e; if (in[i] & 3) ((global uchar4 *)out)[i] = (uchar4)(g, a.x);\n"
             "out[576 + i] = q.x + q.y * 3u + d.x + d.y * 5u + d.z * 7u + d.w * 11u; }",
     {ITEMS, 1, 1},
     {24, 1, 1},
     0},
    {"volatile",
     HEAD ID "volatile global uint *v = out; const volatile global uint *w = in; volatile uint x = w[i]; x += w[n];\n"
             "if (in[i] & 1) { v[i] = x; v[192 + i] = w[(i * 7) % 192] % 5; }\n"
             "volatile global uint2 *p = (volatile global uint2 *)(out + 384); uint2 q = p[i]; q.y = x; p[i] = q;\n"
             "if (in[i] == 77u) v[5] = 3; }",
     {ITEMS, 1, 1},
     {24, 1, 1},
     9},
    {"required size",
     "__attribute__((reqd_work_group_size(16, 4, 1))) " HEAD
     "int x = get_global_id(0), y = get_global_id(1); out[y * 16 + x] = in[y * 16 + x] + get_local_size(0) * 3 + "
     "get_local_id(1); }",
     {16, 8, 1},
     {16, 4, 1},
     0},
};

static inline void kernel_case_fill(uint32_t *in) {
  uint32_t x = 12345;
  for (int i = 0; i < IN_WORDS; i++) {
    x = x * 1664525u + 1013904223u;
    in[i] = i % 5 == 0 ? x >> 24 : x;
  }
}

/* The text to compile; the caller frees it. */
static inline char *kernel_case_source(const kernel_case *c) {
  size_t size = strlen(c->source) + 64;
  char *text = malloc(size);
  assert_non_null(text);
  (void)snprintf(text, size, "#define ITEMS2 %d\n%s", ITEMS, c->source);
  return text;
}

#endif
