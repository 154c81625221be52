__kernel void k(__global int *p, int n) {
  int global = 3;
  p[0] = global;
}
