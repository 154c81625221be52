int add(int a, int b) { return a + b; }
__kernel void k(__global int *p, int n) {
  p[0] = add(n);
}
