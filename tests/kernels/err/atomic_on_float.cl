__kernel void k(__global int *p, int n) {
  p[0] = atomic_add((__global float *)p, 1.0f);
}
