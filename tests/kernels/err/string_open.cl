__constant char text[] = "abc;
__kernel void k(__global int *p, int n) {
  p[0] = text[0];
}
