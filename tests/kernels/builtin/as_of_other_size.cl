kernel void f(global float4 *x, global int2 *y) { y[0] = as_int2(x[0]); }
