int first(__global int *q) { return q[0]; }
__kernel void k(__global int *p, int n) {
  __local int l[4];
  p[0] = first(l);
}
