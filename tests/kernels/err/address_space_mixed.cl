__kernel void k(__global int *p, int n) {
  __local int *q = p;
  q[0] = 1;
}
