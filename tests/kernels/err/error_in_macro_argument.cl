#define TWICE(x) ((x) + (x))
__kernel void k(__global int *p, int n) {
  p[0] = TWICE(nn);
}
