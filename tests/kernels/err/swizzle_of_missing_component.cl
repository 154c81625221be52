__kernel void k(__global int *p, int n) {
  float2 a = (float2)(1.0f);
  p[0] = (int)a.z;
}
