__kernel void k(__global int *p, int n) {
  if (n) {
    p[0] = 1;
}
