__kernel void k(__global int *p, size_t n) { p[0] = (int)n; }
