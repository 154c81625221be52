struct s { int a; };
__kernel void k(__global int *p, int n) {
  struct s v = {.c = 1};
  p[0] = v.a;
}
