/* Made by Quern. Build with: -cl-std=CL1.2 -cl-fp32-correctly-rounded-divide-sqrt */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF

int quern_sat_int_float(float x) { return x == x ? convert_int_sat(x) : 0; }

float clamp_to_f32(float x, float limit) {
  const float x_1 = limit < x ? limit : x;
  return x_1 < -limit ? -limit : x_1;
}

#pragma OPENCL FP_CONTRACT ON

float exp_tail_f32(float x) {
  return (((0x1.6adcep-10f * x + 0x1.12316cp-7f) * x + 0x1.555786p-5f) * x + 0x1.5554a4p-3f) * x + 0x1.fffffep-2f;
}

float exp_less_1_f32(float r) {
  return r * r * exp_tail_f32(r) + r;
}

float pow2_f32(int n) {
  return as_float((uint)(n + 127) << 23);
}

float scale_f32(float p, int n) {
  const int t = n >> 1;
  return p * pow2_f32(t) * pow2_f32(n - t);
}

float exp_f32(float p0) {
  const float x_1 = clamp_to_f32(p0, 105.0f);
  const float t = rint(x_1 * 0x1.715476p+0f);
  return scale_f32(exp_less_1_f32(x_1 - t * 0x1.62e4p-1f - t * 0x1.7f7d1cp-20f) + 1.0f, (int)t);
}

float my_half_to_float_f32(ushort p0) {
  const uint t = (uint)p0 & 32767;
  return as_float((t >= 31744 ? ((t << 13) | 0x7f800000) : as_uint(t < 1024 ? (float)(int)t * 0x1p-24f : as_float((t << 13) + 0x38000000))) | (((uint)p0 & 32768) << 16));
}

short my_half_of_f32(float x, int mode) {
  const float t = fabs(x);
  const uint t_1 = as_uint(t);
  const uint t_2 = t_1 >> 23;
  const int t_3 = (int)t_2 - 127;
  const bool t_4 = t_3 >= -14;
  const int drop = t_4 ? 13 : -1 - t_3;
  const int drop_1 = drop > 25 ? 25 : drop;
  const uint m = (t_1 >> 23) != 0 ? ((t_1 & 0x7fffff) | 0x800000) : 0;
  const uint t_5 = m >> (drop_1 & 31);
  const uint lost = ((t_1 != 0) & !(m != 0)) ? 1 : (m & ((1u << (drop_1 & 31)) - 1));
  const uint t_6 = 1u << ((drop_1 - 1) & 31);
  const uint h = t_5 + (mode == 2 ? (lost != 0 ? 1u : 0u) : (mode == 1 ? 0 : (((t_6 < lost) | ((lost == t_6) & ((t_5 & 1) != 0))) ? 1u : 0u))) + (t_4 ? (int)((uint)((int)t_2 - 113) << 10) : 0);
  return (short)((x != x ? 32256 : (t == INFINITY ? 31744 : (((t_3 > 15) | (h >= 31744)) ? (mode == 1 ? 31743u : 31744u) : h))) | ((as_uint(x) >> 31) << 15));
}

short my_half_rte_f32(float p0) {
  return my_half_of_f32(p0, 0);
}

kernel void builtins(global float *f, global ushort *h, global double *d, float x) {
  f[0] = exp_f32(x) + sqrt(f[1]) + fma(x, 2.0f, f[2]) + floor(x) + rint(x) + fmax(x, f[3]);
  f[4] = my_half_to_float_f32(*(global const ushort *)(h + 3)) + x / 3.0f;
  *(global short *)(h + 1) = my_half_rte_f32(x);
  f[5] = (0.0f / 0.0f);
  d[0] = d[1] * 0x1.999999999999ap-4 + trunc(d[2]);
  d[2] = rsqrt(d[4]) + 1.0 / sqrt(d[5]);
  const float t = f[7];
  const double t_1 = d[3];
  const float t_2 = floor(x);
  f[8] = t_2;
  const float t_3 = x - t_2;
  f[6] = (float)((uint)quern_sat_int_float(x) + (uint)t + ((as_uint(x) & 0x7fffffff) > 0x7f800000)) + (float)t_1 + (x == t_2 ? copysign(0.0f, x) : (t_3 > 0x1.fffffep-1f ? 0x1.fffffep-1f : t_3));
}
