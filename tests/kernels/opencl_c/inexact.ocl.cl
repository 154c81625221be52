/* Made by Quern. Build with: -cl-std=CL1.2 */
#pragma OPENCL FP_CONTRACT OFF

uint quern_div_uint(uint a, uint b) {
  uint by = b == 0 ? 1 : b;
  return b == 0 ? 0 : a / by;
}
uint quern_rem_uint(uint a, uint b) {
  uint by = b == 0 ? 1 : b;
  return b == 0 ? a : a % by;
}

uint digits_of_f32(uint a) {
  return ((a << (((a >> 23) != 0 ? 0 : clz(a) - 8) & 31)) & 0x7fffff) | 0x800000;
}

int exponent_of_f32(uint a) {
  return (int)((a >> 23) != 0 ? a >> 23 : (uint)(1 - ((a >> 23) != 0 ? 0 : (int)clz(a) - 8))) - 127;
}

float round_to_f32(uint m, int e) {
  const int t = e + 127;
  const int drop = t > 0 ? 8 : 9 - t;
  const int before = drop > 24 ? drop - 24 : 0;
  const int before_1 = before > 31 ? 31 : before;
  const uint m_1 = (m >> (before_1 & 31)) | (uint)((m & ((1u << (before_1 & 31)) - 1)) != 0);
  const int drop_1 = drop > 24 ? 24 : drop;
  const uint kept = m_1 >> (drop_1 & 31);
  const uint t_1 = m_1 & ((1u << (drop_1 & 31)) - 1);
  const uint t_2 = 1u << ((drop_1 - 1) & 31);
  return as_float(t > 254 ? 0x7f800000 : kept + (uint)((t_2 < t_1) | ((t_1 == t_2) & ((kept & 1) != 0))) + (t > 0 ? (int)((uint)(e + 126) << 23) : 0));
}

float rounded_divide_f32(float p0, float p1) {
  const uint t = as_uint(p0) & 0x7fffffff;
  const uint t_1 = as_uint(p1) & 0x7fffffff;
  const uint t_2 = digits_of_f32(t_1);
  uint rest = digits_of_f32(t);
  const bool t_3 = t_2 <= rest;
  uint q = (uint)t_3;
  rest -= t_3 ? t_2 : 0;
  for (int i = 0; i < 3; i++) {
    rest = rest << 8;
    q = (q << 8) | quern_div_uint(rest, t_2);
    rest = quern_rem_uint(rest, t_2);
  }
  rest = rest << 7;
  q = (q << 7) | quern_div_uint(rest, t_2);
  rest = quern_rem_uint(rest, t_2);
  q = (t_3 ? q : q << 1) | (uint)(rest != 0);
  float choice;
  if ((t - 1 < 0x7f7fffff) & (t_1 - 1 < 0x7f7fffff)) {
    choice = as_float(as_int(round_to_f32(q, exponent_of_f32(t) - exponent_of_f32(t_1) - (t_3 ? 0 : 1))) | ((as_int(p0) ^ as_int(p1)) & (-2147483647 - 1)));
  } else {
    choice = p0 / p1;
  }
  return choice;
}

float rounded_sqrt_f32(float p0) {
  const uint t = as_uint(p0);
  const int t_1 = exponent_of_f32(t);
  const int t_2 = t_1 & 1;
  uint word = digits_of_f32(t) << ((7 + t_2) & 31);
  uint root = 0;
  uint rest = 0;
  for (int i = 0; i < 26; i++) {
    const uint t_3 = (root << 2) | 1;
    rest = (rest << 2) | (word >> 30);
    word = word << 2;
    const bool t_4 = t_3 <= rest;
    rest -= t_4 ? t_3 : 0;
    root = (root << 1) | (uint)t_4;
  }
  return t - 1 < 0x7f7fffff ? round_to_f32((root << 6) | (uint)(rest != 0), (t_1 - t_2) / 2) : sqrt(p0);
}

#pragma OPENCL FP_CONTRACT ON

kernel void inexact(global float *f, global float2 *v) {
  f[0] = rounded_divide_f32(f[1], f[2]) + rounded_sqrt_f32(f[3]);
  const float2 t = v[1];
  const float2 t_1 = v[2];
  v[0] = (float2)(rounded_divide_f32(t.x, t_1.x), rounded_divide_f32(t.y, t_1.y));
  f[4] = 1.0f / f[5];
  f[6] = rsqrt(f[7]) + rsqrt(f[8]);
  v[3] = rsqrt(v[4]);
}
