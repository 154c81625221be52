__constant int c[2] = {1, 2};
__kernel void k(__global int *p, int n) {
  c[0] = n;
  p[0] = c[0];
}
