__constant int c;
__kernel void k(__global int *p, int n) {
  p[0] = c;
}
