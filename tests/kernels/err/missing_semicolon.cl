__kernel void k(__global int *p, int n) {
  int a = 1
  p[0] = a;
}
