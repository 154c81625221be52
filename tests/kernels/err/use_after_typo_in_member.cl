// errors: 2
__kernel void k(__global int *p, int n) {
  float4 v = (float4)(0.0f);
  v.foo = 1.0f;
  p[0] = (int)v.foo;
}
