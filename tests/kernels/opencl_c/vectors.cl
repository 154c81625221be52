// Vectors: literals, swizzles, lanes by number, masks, components that are assigned.
kernel void vectors(global float4 *f, global int4 *i, global float3 *t, global uchar8 *b, global double2 *d, int n) {
  float4 x = f[0], y = (float4)(1.0f, x.x, 2.5f, 0.1f);
  x.y = y.z;
  x.wx = y.xy;
  f[1] = x * 2.0f + y.wzyx;
  f[2].z = x.w;
  f[3] = (x < y) ? x : y;
  i[0] = (x < y) & (x != 0.0f);
  i[1] = select(i[2], i[3], isless(x, y));
  f[4] = select(x, y, i[4]);
  float lane = ((float *)&x)[n & 3];
  y.s2 = lane;
  y = y + (float4)(lane);
  f[5] = shuffle2(x, y, (uint4)(0, 5, 2, 7));
  t[0] = t[1].zyx + (float3)(x.xy, n);
  b[0] = b[1].s76543210 + (uchar8)(3);
  b[1].lo = convert_uchar4_sat(f[6]);
  d[0] = convert_double2(f[7].xy) * 0.3;
  vstore3(vload3(n, (global float *)f), 2, (global float *)f);
  i[5] = convert_int4(f[8] > 0.5f ? f[8] : -f[8]);
}
