__kernel void k(__global int *p, int n) {
  void v;
  p[0] = 1;
}
