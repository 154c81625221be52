#define HALF(x) ((x) * halve)
#define TWICE(x) ((x) * )
__kernel void a(__global int *p) {
  p[0] = TWICE(1);
  p[1] = TWICE(2);
  p[2] = TWICE(3) + p[0];
}
