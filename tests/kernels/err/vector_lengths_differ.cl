__kernel void k(__global int *p, int n) {
  float4 a = (float4)(1.0f);
  float2 b = (float2)(2.0f);
  p[0] = (int)(a + b).x;
}
