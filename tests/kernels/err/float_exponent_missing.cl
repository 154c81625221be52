__kernel void k(__global int *p, int n) {
  float x = 1.5e;
  p[0] = (int)x;
}
