kernel void f(global float *x) { x[0] = sin(x[0], 1.0f); }
