kernel void f(global float *x) { x[0] = popcount(x[1]); }
