// model: 64 nodouble
__kernel void k(__global int *p, int n) {
  double d = 1.0;
  p[0] = (int)d;
}
