__kernel void k(__global int *p, int n) {
  unsigned float x = 1;
  p[0] = (int)x;
}
