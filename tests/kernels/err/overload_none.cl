__attribute__((overloadable)) int f(int a) { return a; }
__attribute__((overloadable)) int f(float4 a) { return 1; }
kernel void k(global int *p) { p[0] = f(p); }
