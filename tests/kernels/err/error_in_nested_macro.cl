#define INNER(x) ((x) * facter)
#define OUTER(x) (INNER(x) + 1)
__kernel void k(__global int *p, int n) {
  int factor = 3;
  p[0] = OUTER(n) + factor;
}
