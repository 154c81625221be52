int counter = 0;
__kernel void k(__global int *p, int n) {
  p[0] = counter;
}
