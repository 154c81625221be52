__kernel void k(__global int *p, int n, float n) { p[0] = 1; }
