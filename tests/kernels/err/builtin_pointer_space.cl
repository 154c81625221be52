__kernel void k(__global int *p, int n) {
  __local float l[4];
  float whole;
  p[0] = (int)fract(1.5f, p);
}
