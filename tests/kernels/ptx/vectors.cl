// Accesses of 16 bytes at most; small elements by words; three elements; lanes by name, by number and by a variable.
kernel void vectors(global float4 *f, global uchar16 *c, global const float *three, global double2 *d, int n) {
  size_t i = get_global_id(0);
  float4 v = f[i];
  v.xz = v.wy * 2.0f;
  float3 w = vload3(i, three);
  v.xyz += w;
  uchar16 b = c[i];
  b.s3 = as_uchar4(v.x).y;
  c[i] = b;
  d[i] = convert_double2(v.lo);
  float lanes[4] = {v.x, v.y, v.z, v.w};
  volatile float own[2]; // nobody else sees it
  own[0] = v.x;
  own[n & 1] = v.y;
  f[i] = v + lanes[n & 3] + own[0];
}
