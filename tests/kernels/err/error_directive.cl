#ifndef WIDTH
#error "set WIDTH with -D"
#endif
__kernel void k(__global int *p, int n) {
  p[0] = n;
}
