// opencl_c: inexact
kernel void inexact_double(global float *f, global float2 *v, global double *d) {
  f[0] = f[1] / f[2] + sqrt(f[3]);
  v[0] = v[1] / v[2];
  d[0] = d[1] / d[2];
}
