struct s { int a : 3; };
__kernel void k(__global int *p, int n) {
  struct s v = {1};
  p[0] = v.a;
}
