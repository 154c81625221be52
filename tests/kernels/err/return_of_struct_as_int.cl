struct s { int a; };
int f(struct s v) { return v; }
__kernel void k(__global int *p, int n) {
  struct s v = {1};
  p[0] = f(v);
}
