struct s {
  int a;
};
kernel void f(global float *x, global struct s *y) { x[0] = sin(y[0]); }
