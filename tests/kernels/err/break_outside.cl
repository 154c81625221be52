__kernel void k(__global int *p, int n) {
  break;
  p[0] = 1;
}
