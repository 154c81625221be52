kernel void f(global float *x, global int *y) { x[0] = convert_float_sat(y[0]); }
