__attribute__((overloadable)) int f(int a, float b) { return a; }
__attribute__((overloadable)) int f(float a, int b) { return b; }
kernel void k(global int *p) { p[0] = f(1, 2); }
