__kernel void k(__global int *p, int n) {
  for (int i = 0; i < n) p[i] = 1;
}
