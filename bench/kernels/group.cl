// Work-groups that work together: barriers, local memory, atomics.

kernel void reduction(global float *sums, global const float *in, local float *part) {
  int l = get_local_id(0);
  part[l] = in[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int step = get_local_size(0) / 2; step > 0; step /= 2) {
    if (l < step) part[l] += part[l + step];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (l == 0) sums[get_group_id(0)] = part[0];
}

kernel void dot_product(global float *sums, global const float4 *a, global const float4 *b, local float *part, int each) {
  int l = get_local_id(0), n = get_local_size(0);
  float sum = 0;
  for (int k = 0; k < each; k++) {
    size_t i = (get_group_id(0) * each + k) * n + l;
    sum += dot(a[i], b[i]);
  }
  part[l] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int step = n / 2; step > 0; step /= 2) {
    if (l < step) part[l] += part[l + step];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (l == 0) sums[get_group_id(0)] = part[0];
}

kernel void histogram(global uint *bins, global const uchar *in, int each) {
  local uint mine[256];
  int l = get_local_id(0), n = get_local_size(0);
  for (int i = l; i < 256; i += n) mine[i] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  size_t start = (size_t)get_group_id(0) * n * each;
  for (int k = 0; k < each; k++) atomic_inc(&mine[in[start + (size_t)k * n + l]]);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = l; i < 256; i += n)
    if (mine[i]) atomic_add(&bins[i], mine[i]);
}

// Inclusive sums within each work-group.
kernel void scan(global float *out, global const float *in, local float *a, local float *b) {
  int l = get_local_id(0), n = get_local_size(0);
  a[l] = in[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int step = 1; step < n; step *= 2) {
    b[l] = l >= step ? a[l] + a[l - step] : a[l];
    barrier(CLK_LOCAL_MEM_FENCE);
    local float *t = a;
    a = b;
    b = t;
  }
  out[get_global_id(0)] = a[l];
}

// Sorts each work-group's values: a bitonic network in local memory.
kernel void sort_groups(global uint *data, local uint *part) {
  int l = get_local_id(0), n = get_local_size(0);
  part[l] = data[get_global_id(0)] >> 1 ^ (uint)l * 2654435761u;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int size = 2; size <= n; size *= 2)
    for (int stride = size / 2; stride > 0; stride /= 2) {
      int other = l ^ stride;
      if (other > l) {
        uint x = part[l], y = part[other];
        bool up = (l & size) == 0;
        if ((x > y) == up) {
          part[l] = y;
          part[other] = x;
        }
      }
      barrier(CLK_LOCAL_MEM_FENCE);
    }
  data[get_global_id(0)] = part[l];
}
