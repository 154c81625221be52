__kernel void k(__global int *p, int n) {
  const int i = get_local_id(0);
  if (i == 0) return;
  barrier(CLK_LOCAL_MEM_FENCE);
  p[i] = n;
}
