__kernel void k(__global int *p, int n) {
  __global int *q = n;
  p[0] = q[0];
}
