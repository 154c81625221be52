// errors: 0
__kernel void k(__global int *p, int n) {
  float x = 1e999f;
  p[0] = (int)x;
}
