__kernel void k(__global int *p, n) { p[0] = n; }
