// Kernels whose memory or control flow suits vectors badly: what lanes cost where they may not pay.

kernel void gather_sum(global float *out, global const int *index, global const float *in) {
  int i = get_global_id(0);
  float sum = 0;
  for (int k = 0; k < 16; k++) sum += in[index[i * 16 + k] & 0xffff];
  out[i] = sum;
}

kernel void table_bytes(global uchar *out, global const uchar *in, global const uchar *table) {
  int i = get_global_id(0);
  out[i] = table[in[i]];
}

typedef struct { float x, y, z, vx, vy, vz, mass, charge; } body;
kernel void structs(global float *out, global const body *in) {
  int i = get_global_id(0);
  body b = in[i];
  out[i] = b.mass * (b.vx * b.vx + b.vy * b.vy + b.vz * b.vz) + b.charge * (b.x + b.y + b.z);
}

kernel void rows(global float *out, global const float *in, int n) {
  int i = get_global_id(0);
  float sum = 0;
  for (int k = 0; k < n; k++) sum += in[i * n + k];
  out[i] = sum;
}

kernel void chase(global int *out, global const int *next, int n) {
  int at = get_global_id(0);
  for (int k = 0; k < n; k++) at = next[at] & 0xffff;
  out[get_global_id(0)] = at;
}

kernel void search(global int *out, global const int *keys, global const int *in) {
  int i = get_global_id(0), low = 0;
  for (int step = 32768; step; step >>= 1) if (keys[low + step] < in[i]) low += step;
  out[i] = low;
}

kernel void bytes_strided(global uchar *out, global const uchar *in) {
  int i = get_global_id(0);
  out[i] = (in[3 * i] + in[3 * i + 1] + in[3 * i + 2]) / 3;
}

kernel void bytes(global uchar *out, global const uchar *in) {
  int i = get_global_id(0);
  out[i] = (in[i] * 3 + in[i + 1]) >> 2;
}

kernel void longs(global ulong *out, global const ulong *in) {
  int i = get_global_id(0);
  ulong x = in[i];
  for (int k = 0; k < 8; k++) x = (x ^ (x >> 31)) * 0x9e3779b97f4a7c15ul;
  out[i] = x;
}

kernel void branches(global int *out, global const int *in) {
  int i = get_global_id(0), x = in[i], n = 0;
  while (x != 1 && n < 64) { if (x & 1) x = (x * 3 + 1) & 0xffff; else x >>= 1; n++; }
  out[i] = n;
}

kernel void long_division(global long *out, global const long *in) {
  int i = get_global_id(0);
  out[i] = in[i] / (in[i + 1] | 1) + in[i] % 1000;
}

kernel void pixels_gathered(global uchar4 *out, global const uchar4 *in, global const int *index) {
  int i = get_global_id(0);
  uchar4 p = in[index[i] & 0xffff];
  out[i] = (uchar4)(p.z, p.y, p.x, p.w);
}

kernel void vectors8(global float *out, global const float8 *in, global const int *index) {
  int i = get_global_id(0);
  float8 v = in[index[i] & 0xffff] * 2.0f;
  out[i] = v.s0 + v.s1 * v.s2 + v.s3 * v.s4 + v.s5 * v.s6 + v.s7;
}

kernel void pick(global int *out, global const int *index, global const int *in) {
  int i = get_global_id(0), x = in[i];
  if ((x & 7) == 0) x += in[index[i] & 0xffff] * in[index[(i + 1) & 0xffff] & 0xffff];
  out[i] = x;
}
