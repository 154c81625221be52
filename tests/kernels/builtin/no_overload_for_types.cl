kernel void f(global float4 *x, global float2 *y) { x[0] = pow(x[1], y[0]); }
