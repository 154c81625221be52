kernel void f(global float *x) { x[0] = normalise(x[0]); }
