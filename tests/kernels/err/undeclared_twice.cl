__kernel void k(__global int *p, int n) {
  // told once a name
  p[0] = missing;
  p[1] = missing + missing;
}
