kernel void read(global float *r, float16 v, float3 t, global float4 *m) {
  r[0] = v.sF + v.s0 + v.x + m[1].w;
  float8 a = v.lo + v.hi * v.even - v.odd;
  r[1] = a.s7 + a.hi.hi.y + a.rgba.a;
  float2 h = t.hi;
  r[2] = h.x + t.odd.x + t.zyx.x;
  r[3] = a[3] + a[(int)r[0]];
}

kernel void write(global float4 *m, float4 v, int i) {
  float4 p = v;
  p.x = 1;
  p.zw = p.yx;
  p.hi.y = 2;
  p.even *= 3;
  p[i] = 4;
  float3 t = p.xyz;
  t.hi = p.xy;
  m[0] = p;
  m[1].wx = p.xy;
  m[2].y += 1;
  m[3][i] = t.z;
  m[4].xyz = t;
}
