// errors: 1
constant int table[500000000] = {1};
constant int fits[1000] = {1};
kernel void f(global int *o) { o[0] = table[5] + fits[2]; }
