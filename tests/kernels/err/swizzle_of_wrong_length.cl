__kernel void k(__global int *p, int n) {
  float8 a = (float8)(1.0f);
  p[0] = (int)a.s01234.x;
}
