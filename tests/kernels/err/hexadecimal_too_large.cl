__kernel void k(__global int *p, int n) {
  p[0] = 0x123456789abcdef01;
}
