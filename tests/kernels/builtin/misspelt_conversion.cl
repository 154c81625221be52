kernel void f(global float4 *x, global int4 *y) { y[0] = convert_int4_rtx(x[0]); }
