#define P(a, b) a##b
kernel void k(global int *o) { o[0] = 6 P(/, /) 2; }
