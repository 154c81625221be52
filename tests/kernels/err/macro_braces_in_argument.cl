#define P(x) x
kernel void k(global int*o){ o[0] = P((int[]){1,2,3}[2]); }
