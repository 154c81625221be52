__attribute__((reqd_work_group_size(64, 1, 1)))
__kernel void k(__global int *p, int n) {
  while (get_local_id(0) != 3) {
    barrier(CLK_GLOBAL_MEM_FENCE);
    p[0]++;
  }
}
