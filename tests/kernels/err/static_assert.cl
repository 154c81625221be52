__kernel void k(__global int *p, int n) {
  _Static_assert(sizeof(int) == 8, "int has 8 bytes");
  p[0] = n;
}
