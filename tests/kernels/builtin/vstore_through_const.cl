kernel void f(global float4 *x, global const float *y) { vstore4(x[0], 0, y); }
