kernel void f(global float *x) { x[0] = clamp(x[0], 1.0f); }
