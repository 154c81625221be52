kernel void k(global int *p) { global int (*q)[] = (global int (*)[])p; p[0] = q == 0; }
