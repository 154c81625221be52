__kernel void k(__global int *p, int n) {
  int a[2] = {1, 2, 3};
  p[0] = a[0];
}
