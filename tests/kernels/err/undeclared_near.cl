__kernel void k(__global int *p, int n) {
  int width = n;
  if (widht > 3) p[0] = 1;
}
