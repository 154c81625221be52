__kernel void k(__global int *p, int n) {
  p[0] = (int)(5.0f % 2.0f);
}
