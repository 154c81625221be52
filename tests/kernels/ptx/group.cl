// Static and dynamic local memory, barriers, atomics with orders and scopes, a size that the launch is held to.
kernel __attribute__((reqd_work_group_size(64, 1, 1))) void histogram(global uint *bins, global const uchar *in, local uint *mine) {
  local uint total;
  int l = get_local_id(0);
  mine[l] = 0;
  if (l == 0) total = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_inc(&mine[in[get_global_id(0)] & 63]);
  uint before = atomic_max(&total, (uint)l);
  mem_fence(CLK_GLOBAL_MEM_FENCE);
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_add(&bins[l], mine[l] + before);
  if (atomic_cmpxchg(&bins[64], 0, total) == 0) atomic_sub((volatile global int *)&bins[65], 1);
}
