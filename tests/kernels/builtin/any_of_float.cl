kernel void f(global float4 *x, global int *y) { y[0] = any(x[0]); }
