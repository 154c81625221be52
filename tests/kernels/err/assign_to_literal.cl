__kernel void k(__global int *p, int n) {
  3 = n;
  p[0] = n;
}
