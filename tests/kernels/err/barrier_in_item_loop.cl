__kernel void k(__global int *p, int n) {
  while (get_local_id(0) != 3) {
    barrier(CLK_GLOBAL_MEM_FENCE);
    p[0]++;
  }
}
