__constant int table[2] = {1, 2, 3};
__kernel void k(__global int *p) { p[0] = table[0] + table[1]; }
