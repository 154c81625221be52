__kernel void k(__global int *p, int n) {
  const int c = 1;
  c = n;
  p[0] = c;
}
