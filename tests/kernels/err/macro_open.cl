#define MAX(a, b) ((a) > (b) ? (a) : (b))
__kernel void k(__global int *p, int n) {
  p[0] = MAX(n, 1;
}
