__kernel void k(__global int *p, int n) {
  flaot x = 1.0f;
  p[0] = (int)x;
}
