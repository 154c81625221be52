__kernel void k(__global int *p, int n) {
  int a[2], b[2];
  a = b;
  p[0] = a[0];
}
