void sync(void) { barrier(CLK_LOCAL_MEM_FENCE); }
__kernel void k(__global int *p, int n) {
  if (get_local_id(0) == 0) sync();
  p[0] = n;
}
