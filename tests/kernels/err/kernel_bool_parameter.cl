__kernel void k(__global int *p, bool b) { p[0] = b; }
