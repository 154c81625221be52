__kernel void k(__global int *p, int n) {
  if (n) continue;
  p[0] = 1;
}
