__kernel void k(__global int *p, int n) {
  float4 v = (float4)(1.0f);
  p[0] = as_int(v);
}
