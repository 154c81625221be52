typedef int t;
typedef float t;
__kernel void k(__global int *p, int n) {
  t v = 1;
  p[0] = (int)v;
}
