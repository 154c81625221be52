kernel void f(global float *x, int n) { x[0] = sqrt(n); }
