__kernel void k(__global int *p, int n) {
  p[0] = 1;
}
}
__kernel void k2(__global int *p, int n) {
  p[0] = n;
}
