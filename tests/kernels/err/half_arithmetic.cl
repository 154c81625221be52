__kernel void k(__global int *p, int n) {
  half h = 1;
  p[0] = (int)(h + h);
}
