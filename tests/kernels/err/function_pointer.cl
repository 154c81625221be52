__kernel void k(__global int *p, int n) {
  int (*f)(int) = 0;
  p[0] = f(n);
}
