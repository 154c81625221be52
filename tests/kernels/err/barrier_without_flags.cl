__kernel void k(__global int *p, int n) {
  barrier();
  p[0] = n;
}
