__kernel void k(__global int *p, int n) {
  float8 v = (float8)(1.0f);
  p[0] = (int)dot(v, v);
}
