kernel void f(global float *x, global int *n) {
  float c;
  int k;
  x[0] = sincos(x[1], &c) + c;
  x[2] = remquo(x[3], x[4], &k);
  n[0] = k;
  x[5] = frexp(x[6], n);
}
