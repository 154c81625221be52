__kernel void k(__global int *p, int n) {
  int a = 1;
  float a = 2.0f;
  p[0] = a;
}
