kernel void f(global float *x) { printf("%f\n", x[0]); }
