kernel void f(global int *x) {
  int y = 0;
  atomic_inc(&y);
  x[0] = y;
}
