__kernel void k(__global int *p, int n) {
  int x = p;
  p[0] = x;
}
