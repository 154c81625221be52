static int twice(int x,, int y) { return x * y; }

__kernel void a(__global int *p) {
  p[0] = twice(1, 2);
  p[1] = twice(3, 4);
}
