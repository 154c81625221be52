int sum(int count, ...) { return count; }
__kernel void k(__global int *p) { p[0] = sum(2, 3, 4) + sum(1, 2); }
