__kernel void k(__global int *p, int n) {
  if (get_local_id(0) != 0) {
    p[0] = n;
  } else {
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}
