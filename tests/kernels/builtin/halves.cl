kernel void f(global half *h, global float *x, global double *d) {
  x[0] = vload_half(3, h);
  vstore_half_rtz(x[1], 0, h);
  vstore_half2((double2)(d[0], d[1]), 1, h);
}
