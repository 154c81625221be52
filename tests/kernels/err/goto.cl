__kernel void k(__global int *p, int n) {
  goto out;
  out:
  p[0] = 1;
}
