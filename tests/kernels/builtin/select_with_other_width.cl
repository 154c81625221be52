kernel void f(global float4 *x, global short4 *m) { x[0] = select(x[0], x[1], m[0]); }
