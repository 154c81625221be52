/* Made by Quern. Build with: -cl-std=CL1.2 */
#pragma OPENCL FP_CONTRACT OFF

struct quern_launch_3 {
  ulong offset[3];
};
struct quern_range {
  ulong global_size[3];
  ulong global_offset[3];
  ulong group_base[3];
  ulong num_groups[3];
  ulong enqueued_local[3];
};
struct quern_launch_range_1 {
  struct quern_range range;
  ulong offset[1];
};

kernel void plain(global int *out, constant float *c, local const int *m, global const int *restrict in, int n) {
  const int i = (int)get_global_id(0);
  if (i < n) {
    out[i] = in[i] + (int)c[get_local_id(1)] + (int)get_local_size(0);
  }
}

kernel void quern_at_plain(global int *out, constant float *c, local const int *m, global const int *restrict in, int n, struct quern_launch_3 launch) {
  out = (global int *)((global char *)out + launch.offset[0]);
  c = (constant float *)((constant char *)c + launch.offset[1]);
  in = (global const int *)((global const char *)in + launch.offset[2]);
  const int i = (int)get_global_id(0);
  if (i < n) {
    out[i] = in[i] + (int)c[get_local_id(1)] + (int)get_local_size(0);
  }
}

int group(int n, struct quern_range *range) {
  return (int)range->group_base[0] * n;
}

kernel void ranged(global int *out, struct quern_launch_range_1 launch) {
  out = (global int *)((global char *)out + launch.offset[0]);
  struct quern_range range = launch.range;
  range.group_base[0] += get_group_id(0);
  range.group_base[1] += get_group_id(1);
  range.group_base[2] += get_group_id(2);
  out[get_global_id(0)] = group(3, &range) + (int)range.num_groups[1] + (int)range.global_size[2] + (int)range.global_offset[0];
}

__attribute__((reqd_work_group_size(8, 4, 1)))
kernel void bare(float x) {
}
