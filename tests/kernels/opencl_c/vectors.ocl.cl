/* Made by Quern. Build with: -cl-std=CL1.2 */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF

uchar4 quern_sat_uchar4_float4(float4 x) { return select((uchar4)(0), convert_uchar4_sat(x), convert_char4(x == x)); }

#pragma OPENCL FP_CONTRACT ON

kernel void vectors(global float4 *f, global int4 *i, global float3 *t, global uchar8 *b, global double2 *d, int n) {
  float4 x = f[0];
  const float4 y = (float4)(1.0f, x.x, 2.5f, 0x1.99999ap-4f);
  x.y = 2.5f;
  const float2 t_1 = y.xy;
  float4 t_2 = x;
  t_2.w = t_1.x;
  x = t_2;
  x.x = t_1.y;
  f[1] = x * 2.0f + y.wzyx;
  ((global float *)(f + 2))[2] = x.w;
  f[3] = select(y, x, x < y);
  i[0] = (x < y) & (x != 0.0f);
  i[1] = select(i[2], i[3], (x < y) < 0);
  f[4] = select(x, y, i[4] < 0);
  const float lane = ((const float *)&x)[n & 3];
  float4 y_1 = y;
  y_1.z = lane;
  const float4 y_2 = y_1 + lane;
  f[5] = (float4)(x.x, y_2.y, x.z, y_2.w);
  const float2 t_3 = x.xy;
  t[0] = t[1].zyx + (float3)(t_3.x, t_3.y, (float)n);
  b[0] = b[1].s76543210 + (uchar8)(3);
  const uchar4 t_4 = quern_sat_uchar4_float4(f[6]);
  ((global uchar *)(b + 1))[0] = t_4.x;
  ((global uchar *)(b + 1))[1] = t_4.y;
  ((global uchar *)(b + 1))[2] = t_4.z;
  ((global uchar *)(b + 1))[3] = t_4.w;
  d[0] = convert_double2(f[7].xy) * 0x1.3333333333333p-2;
  vstore3(vload3(0, (global const float *)f + (ulong)n * 3), 0, (global float *)f + 6);
  i[5] = convert_int4(select(-f[8], f[8], f[8] > 0.5f));
}
