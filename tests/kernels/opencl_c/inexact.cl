// opencl_c: inexact
// model: nodouble
// A driver whose division and sqrt are not correctly rounded: they are spelt out, unless the source wants them fast.
kernel void inexact(global float *f, global float2 *v) {
  f[0] = f[1] / f[2] + sqrt(f[3]);
  v[0] = v[1] / v[2];
  f[4] = native_recip(f[5]);
  f[6] = rsqrt(f[7]) + native_rsqrt(f[8]); /* within 2 ULP on every driver: theirs */
  v[3] = rsqrt(v[4]);
}
