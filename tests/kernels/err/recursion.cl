int down(int n) { return n ? down(n - 1) : 0; }
__kernel void k(__global int *p, int n) {
  p[0] = down(n);
}
