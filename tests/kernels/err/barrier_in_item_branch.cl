__kernel void k(__global int *p, int n) {
  if (get_local_id(0) == 0) barrier(CLK_LOCAL_MEM_FENCE);
  p[0] = n;
}
