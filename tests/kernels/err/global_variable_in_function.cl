__kernel void k(__global int *p, int n) {
  __global int g;
  p[0] = 1;
}
