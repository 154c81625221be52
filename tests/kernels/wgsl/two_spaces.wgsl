// Made by Quern.

struct quern_range {
  origin: vec3<u32>,
  work_dim: u32,
  global_size: vec3<u32>,
  num_groups: vec3<u32>,
  group_base: vec3<u32>,
  global_offset: vec3<u32>,
  enqueued_local: vec3<u32>,
  local_size: vec3<u32>,
}
override two_spaces_group_x: u32 = 1u;
override two_spaces_group_y: u32 = 1u;
override two_spaces_group_z: u32 = 1u;
struct two_spaces_arguments {
  range: quern_range,
  in_at: u32,
  out_at: u32,
  n: u32,
}
@group(0) @binding(0) var<uniform> two_spaces_args: two_spaces_arguments;
@group(0) @binding(1) var<storage, read> two_spaces_in: array<f32>;
@group(0) @binding(2) var<storage, read_write> two_spaces_out: array<f32>;
var<workgroup> weights: array<f32, 64>;

@compute @workgroup_size(two_spaces_group_x, two_spaces_group_y, two_spaces_group_z)
fn two_spaces(@builtin(local_invocation_id) local_id: vec3<u32>, @builtin(workgroup_id) group_id: vec3<u32>,
    @builtin(global_invocation_id) global_id: vec3<u32>, @builtin(local_invocation_index) local_index: u32) {
  let in_from = two_spaces_args.in_at >> 2u;
  let out_from = two_spaces_args.out_at >> 2u;
  let n = two_spaces_args.n;
  let i = two_spaces_args.range.origin.x + global_id.x;
  let lid = local_id.x;
  weights[(lid & 63u)] = two_spaces_in[in_from + lid];
  workgroupBarrier();
  let t = weigh(in_from + i * n, 0u, n);
  let t_1 = weigh(in_from + n, 8u, 8u);
  two_spaces_out[out_from + i] = t + t_1;
}

fn weigh(row: u32, weights_1: u32, n: u32) -> f32 {
  var sum = 0.0f;
  let end = u32(max(i32(n), 0i));
  for (var k = 0u; k < end; k = k + 1u) {
    sum = sum + two_spaces_in[row + k] * weights[weights_1 + k];
  }
  return sum;
}
