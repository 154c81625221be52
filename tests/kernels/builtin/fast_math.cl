// options: -cl-fast-relaxed-math
kernel void f(global float *x, global double *d, global int *n) {
  x[0] = exp(x[1]) + sin(x[2]) + pow(x[3], x[4]) + atan(x[5]);
  d[0] = exp(d[1]);
  n[0] = isnan(x[6]);
}
