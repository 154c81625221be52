kernel void f(global float *x, global int *y) { x[0] = fract(x[0], y); }
