#define STORE(i) p[i] = vaule
__kernel void k(__global int *p, int n) {
  int value = n;
  STORE(0);
  p[1] = value;
}
