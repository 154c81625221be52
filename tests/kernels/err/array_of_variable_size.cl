__kernel void k(__global int *p, int n) {
  int a[n];
  p[0] = a[0];
}
