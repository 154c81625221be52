kernel void f(global float4 *x) { x[0] = vload4(0, x); }
