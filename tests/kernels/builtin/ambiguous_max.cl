kernel void f(global int *x, uint n) { x[0] = max(x[1], n); }
