// opencl_c: adapter
// Entries for adapters: a buffer is a pointer and an offset; who asks for the launch's range gets it.
int group(int n) { return (int)get_group_id(0) * n; }
kernel void plain(global int *out, constant float *c, local int *m, global const int *restrict in, int n) {
  int i = get_global_id(0);
  if (i < n) out[i] = in[i] + (int)c[get_local_id(1)] + (int)get_local_size(0);
}
kernel void ranged(global int *out) {
  out[get_global_id(0)] = group(3) + (int)get_num_groups(1) + (int)get_global_size(2) + (int)get_global_offset(0);
}
__attribute__((reqd_work_group_size(8, 4, 1))) kernel void bare(float x) {}
