__kernel void k(__global int *p, int n) {
  float x = 1.0f;
  p[0] = x[1];
}
