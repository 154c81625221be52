__kernel void k(__global int *p, int n) {
  switch (n) {
    default: p[0] = 1; break;
    default: p[0] = 2; break;
  }
}
