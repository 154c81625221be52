// errors: 0
__kernel void k(__global int *p, int n) {
  double x = 1e999;
  p[0] = (int)x;
}
