kernel void f(global float4 *x, constant float *y) { vstore4(x[0], 0, y); }
