int first(__global int *q) { return q[0]; }
__kernel void k(__global int *p, int n) {
  p[0] = first(n);
}
