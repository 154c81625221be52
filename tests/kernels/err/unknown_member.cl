struct s { int a, b; };
__kernel void k(__global int *p, int n) {
  struct s v;
  v.c = 1;
  p[0] = v.a;
}
