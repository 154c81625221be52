__kernel void k(__global int *p, int n) {
  __local int l = 3;
  p[0] = l;
}
