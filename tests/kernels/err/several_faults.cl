// errors: 3
__kernel void k(__global int *p, int n) {
  int a = missing;
  int b = 1
  float4 c = a;
  p[0] = c.q;
}
