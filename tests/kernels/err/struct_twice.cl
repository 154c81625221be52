struct s { int a; };
struct s { float a; };
__kernel void k(__global int *p, int n) {
  struct s v;
  v.a = n;
  p[0] = v.a;
}
