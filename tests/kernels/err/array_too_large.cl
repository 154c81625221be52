__kernel void k(__global int *p, int n) {
  __private int a[0x7fffffffffffffff];
  p[0] = a[0];
}
