kernel void barrier_loop(global const float *in, global float *out, local float *tile) {
  int lid = get_local_id(0);
  tile[lid] = in[get_global_id(0)];
  for (int step = get_local_size(0) / 2; step > 0; step /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lid < step) tile[lid] += tile[lid + step];
  }
  if (lid == 0) out[get_group_id(0)] = tile[0];
}
