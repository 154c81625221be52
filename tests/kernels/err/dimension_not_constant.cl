__kernel void k(__global int *p, int n) {
  p[0] = (int)get_global_id(n, 2);
}
