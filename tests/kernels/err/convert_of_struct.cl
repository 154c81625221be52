struct s { int a; };
__kernel void k(__global int *p, int n) {
  struct s v = {1};
  p[0] = convert_int(v);
}
