__kernel void k(__global int *p, int n) {
  __local int l[2];
  p[0] = p == l;
}
