int f(int n) {
  if (n) return;
  return 1;
}
__kernel void k(__global int *p, int n) {
  p[0] = f(n);
}
