__attribute__((reqd_work_group_size(0, 1, 1)))
__kernel void k(__global int *p, int n) {
  p[0] = n;
}
