kernel void f(global float *x) { x[0] = abs(x[1]); }
