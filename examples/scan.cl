/* Running sums within each work-group, and each group's total: log2(size) steps with a barrier each (Hillis and
 * Steele). `buffer` has room for twice the work-group's items. */
kernel void scan(global const int *in, global int *out, global int *totals, local int *buffer) {
  const size_t lid = get_local_id(0), size = get_local_size(0);
  local int *from = buffer, *to = buffer + size;
  from[lid] = in[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (size_t step = 1; step < size; step *= 2) {
    to[lid] = lid >= step ? from[lid] + from[lid - step] : from[lid];
    barrier(CLK_LOCAL_MEM_FENCE);
    local int *swap = from;
    from = to;
    to = swap;
  }
  out[get_global_id(0)] = from[lid];
  if (lid == size - 1) totals[get_group_id(0)] = from[lid];
}
