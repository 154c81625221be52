kernel void f(global float3 *x, global float *p) {
  float3 v = vload3(1, p);
  v = max(sin(v), 0.5f);
  vstore3(v, 2, p);
  x[0] = select(v, x[1], isless(v, x[1]));
}
