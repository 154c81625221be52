__kernel void k(__global int *p, int n) {
  p[0] = (int)vload4(0, n).x;
}
