#define TILE(x, 16
#define SIZE 3
__kernel void a(__global int *p) {
  __local int shared[TILE(SIZE)];
  for (int i = 0; i < TILE(2); i++) shared[i] = i;
  p[0] = shared[TILE(1)];
}
