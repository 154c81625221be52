__kernel void k(__global int *p, int n) {
  int a = missing(n);
  int b = a + 1;
  int c = b * a;
  p[0] = c;
}
