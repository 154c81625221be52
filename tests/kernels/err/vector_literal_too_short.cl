__kernel void k(__global int *p, int n) {
  float4 a = (float4)(1.0f, 2.0f, 3.0f);
  p[0] = (int)a.x;
}
