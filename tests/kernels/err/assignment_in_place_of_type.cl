__kernel void k(__global int *p, int n) {
  x = 3;
  p[0] = n;
}
