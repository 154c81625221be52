__kernel void k(__global int *p, int n) {
  int größe = n;
  p[0] = 1;
}
