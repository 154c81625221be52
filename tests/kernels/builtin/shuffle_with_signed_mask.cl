kernel void f(global float4 *x, global int4 *m) { x[0] = shuffle(x[0], m[0]); }
