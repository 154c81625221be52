__kernel void k(__global int *p, int n) {
  if () p[0] = 1;
}
