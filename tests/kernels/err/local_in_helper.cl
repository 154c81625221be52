int f(int n) {
  __local int l[4];
  l[0] = n;
  return l[0];
}
__kernel void k(__global int *p, int n) {
  p[0] = f(n);
}
