#define OVERLOAD __attribute__((overloadable))
float OVERLOAD square(float x) { return x * x; }
OVERLOAD float4 square(float4 x) { return x * x; }
int OVERLOAD square(int x);
float OVERLOAD square(global const float *p, int n) { return square(p[n]); }
kernel void k(global float *r, global float4 *v, char c) {
  v[0] = square(v[1]);
  r[0] = square(r[1]) + square(c) + square(r, 2);
}
int OVERLOAD square(int x) { return x * x; }
