__kernel void k(__global int *__global *p) { p[0][0] = 1; }
