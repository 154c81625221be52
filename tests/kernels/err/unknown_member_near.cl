struct s { int width, height; };
__kernel void k(__global int *p, int n) {
  struct s v;
  v.heigth = 1;
  p[0] = v.width;
}
