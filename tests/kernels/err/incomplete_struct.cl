__kernel void k(__global int *p, int n) {
  struct missing v;
  p[0] = 1;
}
