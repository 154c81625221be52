__kernel void k(__global int *p, int n) {
  const __global int *q = p;
  q[0] = n;
}
