int f(void) { return 1; }
__constant int c = f();
__kernel void k(__global int *p, int n) {
  p[0] = c;
}
