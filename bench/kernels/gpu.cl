// Twelve kernels for GPUs, in OpenCL C; with gpu_cuda.h before it the same text is CUDA C, so that both compilers get one algorithm.
#ifndef __CUDACC__
#define FLOAT4(a, b, c, d) ((float4)(a, b, c, d))
#endif

__kernel void saxpy(__global float *y, __global const float *x, float a) {
  uint i = get_global_id(0);
  y[i] = fma(a, x[i], y[i]);
}

__kernel void copy(__global float4 *out, __global const float4 *in) {
  uint i = get_global_id(0);
  out[i] = in[i];
}

// Five points; a frame of one element is left alone.
__kernel void stencil(__global float *out, __global const float *in, int width) {
  int at = ((int)get_global_id(1) + 1) * width + (int)get_global_id(0) + 1;
  out[at] = 0.5f * in[at] + 0.125f * (in[at - 1] + in[at + 1] + in[at - width] + in[at + width]);
}

// Tiles of 32 by 32, groups of 32 by 8.
__kernel void transpose(__global float *out, __global const float *in, int width, int height) {
  __local float tile[32][33];
  int lx = get_local_id(0), ly = get_local_id(1), gx = get_group_id(0) * 32, gy = get_group_id(1) * 32;
  for (int k = 0; k < 32; k += 8) tile[ly + k][lx] = in[(gy + ly + k) * width + gx + lx];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int k = 0; k < 32; k += 8) out[(gx + ly + k) * height + gy + lx] = tile[lx][ly + k];
}

// One sum a group of 256.
__kernel void reduction(__global float *sums, __global const float4 *in, int each) {
  __local float part[256];
  int l = get_local_id(0), at = get_group_id(0) * 256 * each + l;
  float sum = 0;
  for (int k = 0; k < each; k++) {
    float4 v = in[at + k * 256];
    sum += (v.x + v.y) + (v.z + v.w);
  }
  part[l] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int n = 128; n > 0; n >>= 1) {
    if (l < n) part[l] += part[l + n];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (l == 0) sums[get_group_id(0)] = part[0];
}

// Sums of each group of 256 from its beginning on.
__kernel void scan(__global int *out, __global const int *in) {
  __local int part[2][256];
  int l = get_local_id(0), now = 0;
  part[0][l] = in[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int step = 1; step < 256; step <<= 1) {
    part[1 - now][l] = l >= step ? part[now][l] + part[now][l - step] : part[now][l];
    now = 1 - now;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  out[get_global_id(0)] = part[now][l];
}

// Groups of 256, one bin an item.
__kernel void histogram(__global uint *bins, __global const uint *in, int each) {
  __local uint mine[256];
  int l = get_local_id(0), at = get_group_id(0) * 256 * each + l;
  mine[l] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int k = 0; k < each; k++) {
    uint four = in[at + k * 256];
    atomic_inc(&mine[four & 255]);
    atomic_inc(&mine[four >> 8 & 255]);
    atomic_inc(&mine[four >> 16 & 255]);
    atomic_inc(&mine[four >> 24]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_add(&bins[l], mine[l]);
}

// Groups of 256, bodies by way of local memory.
__kernel void nbody(__global float4 *out, __global const float4 *bodies, int count, float softening) {
  __local float4 near[256];
  int i = get_global_id(0), l = get_local_id(0);
  float4 me = bodies[i];
  float x = 0, y = 0, z = 0;
  for (int t = 0; t < count; t += 256) {
    near[l] = bodies[t + l];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 256; k++) {
      float dx = near[k].x - me.x, dy = near[k].y - me.y, dz = near[k].z - me.z;
      float d2 = fma(dx, dx, fma(dy, dy, fma(dz, dz, softening)));
      float inverse = rsqrt(d2), pull = near[k].w * inverse * inverse * inverse;
      x = fma(dx, pull, x);
      y = fma(dy, pull, y);
      z = fma(dz, pull, z);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  out[i] = FLOAT4(x, y, z, 0.0f);
}

__kernel void black_scholes(__global float *call, __global const float *price, __global const float *strike, float years) {
  uint i = get_global_id(0);
  float s = price[i] * 50 + 1, k = strike[i] * 50 + 1, root = sqrt(years), sum[2];
  float d1 = (log(s / k) + (0.02f + 0.5f * 0.3f * 0.3f) * years) / (0.3f * root);
  for (int j = 0; j < 2; j++) {
    float d = j ? d1 - 0.3f * root : d1, t = 1 / (1 + 0.2316419f * fabs(d));
    float c = 0.39894228f * exp(-0.5f * d * d) *
              (t * (0.31938153f + t * (-0.356563782f + t * (1.781477937f + t * (-1.821255978f + t * 1.330274429f)))));
    sum[j] = d > 0 ? 1 - c : c;
  }
  call[i] = s * sum[0] - k * exp(-0.02f * years) * sum[1];
}

// C = A B, n by n; groups of 16 by 16, each with 64 by 64 elements, 4 by 4 an item.
__kernel void sgemm(__global float *c, __global const float *a, __global const float *b, int n) {
  __local float ta[16][64], tb[16][64];
  int lx = get_local_id(0), ly = get_local_id(1), l = ly * 16 + lx;
  int row = get_group_id(1) * 64, col = get_group_id(0) * 64;
  float sum[4][4];
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++) sum[i][j] = 0;
  for (int t = 0; t < n; t += 16) {
    for (int k = 0; k < 4; k++) {
      int e = l + k * 256;
      ta[e & 15][e >> 4] = a[(row + (e >> 4)) * n + t + (e & 15)];
      tb[e >> 6][e & 63] = b[(t + (e >> 6)) * n + col + (e & 63)];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 16; k++) {
      float va[4], vb[4];
      for (int i = 0; i < 4; i++) va[i] = ta[k][ly * 4 + i];
      for (int j = 0; j < 4; j++) vb[j] = tb[k][lx + j * 16];
      for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) sum[i][j] = fma(va[i], vb[j], sum[i][j]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++) c[(row + ly * 4 + i) * n + col + lx + j * 16] = sum[i][j];
}

// Five by five; a frame of two elements is left alone.
__kernel void convolution(__global float *out, __global const float *in, __global const float *weights, int width) {
  int at = ((int)get_global_id(1) + 2) * width + (int)get_global_id(0) + 2;
  float sum = 0;
  for (int y = 0; y < 5; y++)
    for (int x = 0; x < 5; x++) sum = fma(weights[y * 5 + x], in[at + (y - 2) * width + x - 2], sum);
  out[at] = sum;
}

__kernel void hash(__global uint *out, __global const uint *in, int rounds) {
  uint i = get_global_id(0), h = in[i];
  for (int k = 0; k < rounds; k++) {
    h ^= h >> 16;
    h *= 0x7feb352du;
    h ^= h >> 15;
    h *= 0x846ca68bu;
    h ^= h >> 16;
    h += (uint)k;
  }
  out[i] = h;
}
