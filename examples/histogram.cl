/* How often each byte occurs. Each work-group counts in local memory and adds to the result once. */
kernel void histogram(global const uchar *src, global uint *counts, uint src_size) {
  local uint mine[256];
  for (uint i = get_local_id(0); i < 256; i += get_local_size(0)) mine[i] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = get_global_id(0); i < src_size; i += get_global_size(0)) atomic_inc(&mine[src[i]]);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = get_local_id(0); i < 256; i += get_local_size(0))
    if (mine[i]) atomic_add(&counts[i], mine[i]);
}
