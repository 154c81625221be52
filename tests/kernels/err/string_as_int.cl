__kernel void k(__global int *p, int n) {
  int x = "abc";
  p[0] = x;
}
