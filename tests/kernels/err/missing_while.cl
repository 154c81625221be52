__kernel void k(__global int *p, int n) {
  do {
    p[0] = n;
  } (n);
}
