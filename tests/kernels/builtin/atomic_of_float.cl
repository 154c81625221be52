kernel void f(global float *x) { atomic_add(x, 1.0f); }
