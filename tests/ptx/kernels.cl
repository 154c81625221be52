// What simulate.py runs: work-groups that work together, private arrays that become values, every access width, calls, edges of numbers.
#define T 8
kernel void sgemm(global const float *restrict a, global const float *restrict b, global float *restrict c, int n) {
  local float as[T][2 * T], bs[T][2 * T];
  int lx = get_local_id(0), ly = get_local_id(1), gx = get_group_id(0) * 2 * T, gy = get_group_id(1) * 2 * T, l = ly * T + lx;
  float acc[2][2] = {{0, 0}, {0, 0}};
  for (int k = 0; k < n; k += T) {
    for (int q = 0; q < 2; q++) {
      int e = l + q * T * T;
      as[e % T][e / T] = a[(gy + e / T) * n + k + e % T];
      bs[e / (2 * T)][e % (2 * T)] = b[(k + e / (2 * T)) * n + gx + e % (2 * T)];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int kk = 0; kk < T; kk++) {
      float x[2], y[2];
      for (int i = 0; i < 2; i++) x[i] = as[kk][ly * 2 + i], y[i] = bs[kk][lx * 2 + i];
      for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) acc[i][j] += x[i] * y[j];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++) c[(gy + ly * 2 + i) * n + gx + lx * 2 + j] = acc[i][j];
}

kernel void scan(global const int *in, global int *out, local int *a, local int *b) {
  int l = get_local_id(0), n = get_local_size(0);
  a[l] = in[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int step = 1; step < n; step *= 2) {
    b[l] = l >= step ? a[l] + a[l - step] : a[l];
    barrier(CLK_LOCAL_MEM_FENCE);
    local int *t = a;
    a = b;
    b = t;
  }
  out[get_global_id(0)] = a[l];
}

// Counts to limits that are not a multiple of anything, up and down, signed and unsigned, and near the ends of the numbers.
kernel void loops(global int *out, global const int *limits) {
  int i = get_global_id(0), n = limits[i], sum = 0;
  uint m = (uint)n;
  for (int k = 0; k < n; k++) sum += k * k;
  for (uint k = 3; k < m && k < 50; k += 2) sum ^= (int)k;
  for (int k = n; k > 0; k -= 3) sum -= k;
  for (int k = INT_MAX - 9; k < INT_MAX - 1; k += 2) sum += k;
  for (uint k = 0; k < (m & 31); k += 3) sum = sum * 3 + (int)k;
  for (long k = n; k < 20; k++) sum += (int)k;
  for (int k = 0; k < 24; k++) sum ^= sum >> (k & 3);
  for (int k = 0; k < 6; k++) {
    if (k == (n & 7)) continue;
    if (k == 5 && n > 3) break;
    sum += k;
  }
  int k = 0;
  do sum += k * 2; while (++k < 5);
  out[i] = sum;
}

typedef struct {
  float2 at;
  int kind[3];
  char tag;
} item;
typedef union {
  int i;
  float f;
} word;
kernel void structs(global item *items, item given, global float *out, int n) {
  int i = get_global_id(0);
  item mine = items[i], other = given;
  word w;
  other.kind[i % 3] += mine.kind[1];
  mine.at = mine.at.yx + other.at;
  mine.kind[2] = other.kind[i % 3];
  mine.tag ^= (char)(n + 1);
  w.f = mine.at.x;
  item copy = mine;
  items[i] = copy;
  float t[4];
  float *p = t;
  for (int k = 0; k < 4; k++) *p++ = mine.at.x * k;
  float sum = 0;
  for (int k = 0; k < 4; k++) sum += t[(k + n) & 3] + t[k];
  out[i] = sum + (w.i & 0xff) + (p - t);
}

__attribute__((noinline)) float4 chosen(float4 a, bool c, double d, char k) { return c ? a + k : a * (float)d; }
__attribute__((noinline)) bool is_odd(long x) { return x & 1; }
kernel void calls(global float4 *x, global const double *d) {
  int i = get_global_id(0);
  x[i] = chosen(x[i], is_odd(i), d[i], -3) + chosen(x[i].wzyx, !is_odd(i), 2, (char)i);
}

// Private memory of the caller, a struct by value and one that is given back.
__attribute__((noinline)) item stirred(int *p, item it, int n) {
  int own[4] = {1, 2, 3, 4};
  for (int k = 0; k < 3; k++) p[k] += it.kind[k] * own[(k + n) & 3];
  it.kind[n % 3] = p[0];
  it.at.y = n;
  return it;
}
kernel void frames(global item *items, global int *out) {
  int i = get_global_id(0), mine[3] = {i, 2 * i, 7};
  item first = items[i], second = stirred(mine, first, i);
  items[i] = stirred(mine, second, i + 1);
  out[i] = mine[0] + mine[1] * 3 + mine[2] * 5 + first.kind[0];
}

kernel void vectors(global float4 *f, global uchar16 *c, global float *three, global double2 *d, global short8 *s, global char *odd, int n) {
  int i = get_global_id(0);
  float4 v = f[i];
  v.xz = v.wy * 2.0f;
  float3 w = vload3(i, three);
  v.xyz += w;
  uchar16 b = c[i];
  b.s3 = as_uchar4(v.x).y;
  b = b.s0123ba98674cfde5.s048c159d26ae37bf;
  c[i] = b;
  d[i] = convert_double2(v.lo) + (double2)(n, i);
  vstore3(v.zyx, i, three);
  s[i] = as_short8(b) + (short8)n;
  f[i] = v;
  vstore4(vload4(0, odd + 5 * i) + (char4)1, 0, odd + 5 * i);
}

kernel void integers(global int *a, global char *c, global ulong *l, global uchar *u, global short *s) {
  int i = get_global_id(0), x = a[2 * i], y = a[2 * i + 1];
  a[2 * i] = x / y + x % y * 3 + (x << y) - (x >> y) + (int)((uint)x >> y) + (int)((uint)x / (uint)y) + (int)((uint)x % (uint)y);
  a[2 * i + 1] = add_sat(x, y) ^ sub_sat(x, y) ^ mul_hi(x, y) ^ (int)rotate((uint)x, (uint)y) ^ (int)clz((uint)x) ^ (int)popcount(y) ^ abs_diff(x, y);
  char p = c[2 * i], q = c[2 * i + 1];
  c[2 * i] = p / q + p % q + (p << (q & 7)) + (p >> (q & 7)) + add_sat(p, q) - sub_sat(p, q) + mul_hi(p, q) + rotate(p, q) + clz(p) + min(p, q);
  uchar r = u[2 * i], t = u[2 * i + 1];
  u[2 * i] = r / t + r % t + add_sat(r, t) - sub_sat(r, t) + mul_hi(r, t) + rotate(r, t) + clz(t) + max(r, t) + popcount(r);
  ulong e = l[2 * i], f = l[2 * i + 1];
  l[2 * i] = e / f + e % f + (e << f) + (e >> f) + (ulong)((long)e >> f) + add_sat(e, f) + sub_sat(e, f) + mul_hi(e, f) + rotate(e, f);
  l[2 * i + 1] = (ulong)(add_sat((long)e, (long)f) ^ sub_sat((long)e, (long)f) ^ ((long)e / (long)f) ^ ((long)e % (long)f)) + clz(e) + popcount(f);
  short g = s[2 * i], h = s[2 * i + 1];
  s[2 * i] = g / h + g % h + add_sat(g, h) - sub_sat(g, h) + mul_hi(g, h) + rotate(g, h) + (g < h) + abs(g);
  bool less = x < y, even = !(y & 1);
  s[2 * i + 1] = (less ^ even) + (less == even) * 2 + (e > f) * 4 + ((long)e > (long)f) * 8 + (r < t) * 16 + (p < q) * 32;
}

kernel void floats(global float *x, global double *d, global int *k, global long *l) {
  int i = get_global_id(0);
  float a = x[2 * i], b = x[2 * i + 1];
  double p = d[2 * i], q = d[2 * i + 1];
  k[4 * i] = convert_int_sat(a) + convert_uchar_sat(b) - convert_short_sat(a);
  k[4 * i + 1] = (a < b) + (a <= b) * 2 + (a == b) * 4 + (a != b) * 8 + isnan(a) * 16 + signbit(b) * 32 + (p < q) * 64 + (p != q) * 128;
  k[4 * i + 2] = convert_int_sat(p) ^ (int)convert_uint_sat(q);
  k[4 * i + 3] = as_int(floor(a) + 0.0f) ^ as_int(ceil(b) + 0.0f) ^ as_int(trunc(a) + 0.0f) ^ as_int(round(b) + 0.0f) ^ as_int(rint(a) + 0.0f);
  l[2 * i] = convert_long_sat(a) ^ convert_long_sat(p);
  l[2 * i + 1] = as_long(round(p) + 0.0) ^ as_long(fmin(p, q) + 0.0) ^ as_long(convert_double(l[2 * i + 1]));
  x[2 * i] = fmax(a, b) + copysign(fabs(a), b) + (float)k[4 * i] + (float)(uint)k[4 * i + 1];
  x[2 * i + 1] = fmod(a, b) + (float)p + fabs(b);
  d[2 * i] = sqrt(fabs(p)) + p / q + fma(p, q, 1.0);
  d[2 * i + 1] = a * (double)b - p;
}

kernel void atomics(global int *g, global float *out, int n) {
  local int mine[2];
  local uint most;
  int l = get_local_id(0);
  if (l < 2) mine[l] = 0;
  if (l == 0) most = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_add(&mine[l & 1], l);
  atomic_max(&most, (uint)(l * 7 % 11));
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l == 0) {
    atomic_sub(&g[0], mine[0]);
    atomic_or(&g[1], mine[1]);
    atomic_min(&g[2], -mine[1]);
    atomic_xor(&g[3], n);
    g[4] = atomic_xchg(&g[5], 9);
    g[6] = atomic_cmpxchg(&g[7], 0, 5);
  }
  mem_fence(CLK_GLOBAL_MEM_FENCE);
  out[get_global_id(0)] = most + get_local_size(0) + get_num_groups(0) * 100 + get_global_size(0) * 3 + get_global_offset(0);
}

constant float weights[2][3] = {{0.25f, 0.5f, 0.25f}, {1, 2, 3}};
constant int table[8] = {1, 2, 3, 4, 5, -6, 7};
constant char *constant words[3] = {"one", "seven", ""};
float picked(constant float *p, int i) { return p[i]; }
kernel void constants(global float *x, constant float *given, int n) {
  int i = get_global_id(0);
  float sum = picked(i & 1 ? given : weights[1], i % 3);
  for (int k = 0; k < n; k++) sum += weights[k & 1][k % 3] * given[k % 3];
  for (int k = 0; k < 3; k++) sum += weights[1][k];
  x[i] = sum + table[i & 7] + words[n % 3][i % 3 ? 1 : 0];
}

kernel void choices(global int *out, global const int *in, int n) {
  int i = get_global_id(0), sum = in[i];
  for (int k = 0; k < n; k++) {
    switch (sum & 15) {
      case 0: sum += 7; break;
      case 1: sum ^= 5;
      case 2: sum += k; continue;
      case 3: case 4: sum *= 3; break;
      case 5: sum -= 11; break;
      case 6: sum |= 64; break;
      case 8: sum = -sum; break;
      case 9: sum += 100; break;
      case -1: sum = 0; break;
      case 12: if (sum > 500) { out[i] = sum; return; }
      default: sum += 13;
    }
  }
  out[i] = sum;
}
