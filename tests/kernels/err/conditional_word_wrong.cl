ifndef SIZE
#define SIZE 3
#endif
__kernel void a(__global int *p) { p[0] = SIZE; }
