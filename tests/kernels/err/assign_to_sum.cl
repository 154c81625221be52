__kernel void k(__global int *p, int n) {
  n + 1 = 3;
  p[0] = n;
}
