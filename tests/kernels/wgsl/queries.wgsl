// Made by Quern.

var<private> quern_local_id: vec3<u32>;
var<private> quern_group_id: vec3<u32>;

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
override queries_group_x: u32 = 1u;
override queries_group_y: u32 = 1u;
override queries_group_z: u32 = 1u;
struct queries_arguments {
  range: quern_range,
  out_at: u32,
}
@group(0) @binding(0) var<uniform> queries_args: queries_arguments;
@group(0) @binding(1) var<storage, read_write> queries_out: array<u32>;

struct fixed_arguments {
  range: quern_range,
  out_at: u32,
}
@group(0) @binding(0) var<uniform> fixed_args: fixed_arguments;
@group(0) @binding(1) var<storage, read_write> fixed_out: array<u32>;

fn quern_queries_local_size() -> vec3<u32> { return vec3<u32>(queries_group_x, queries_group_y, queries_group_z); }

@compute @workgroup_size(queries_group_x, queries_group_y, queries_group_z)
fn queries(@builtin(local_invocation_id) local_id: vec3<u32>, @builtin(workgroup_id) group_id: vec3<u32>,
    @builtin(global_invocation_id) global_id: vec3<u32>, @builtin(local_invocation_index) local_index: u32) {
  quern_local_id = local_id;
  quern_group_id = group_id;
  let out_from = queries_args.out_at >> 2u;
  queries_out[out_from + (queries_args.range.origin.y + global_id.y)] = queries_args.range.work_dim + queries_args.range.global_offset.x + queries_args.range.global_size.y + (queries_args.range.group_base.z + group_id.z);
  queries_out[out_from + place()] = quern_queries_local_size().x + queries_args.range.num_groups.y;
}

@compute @workgroup_size(8, 4, 1)
fn fixed(@builtin(local_invocation_id) local_id: vec3<u32>, @builtin(workgroup_id) group_id: vec3<u32>,
    @builtin(global_invocation_id) global_id: vec3<u32>, @builtin(local_invocation_index) local_index: u32) {
  let out_from = fixed_args.out_at >> 2u;
  fixed_out[out_from + (local_id.x + 8u * local_id.y)] = fixed_args.range.origin.x + global_id.x;
}

fn place() -> u32 {
  return queries_args.range.origin.x + quern_group_id.x * queries_group_x + quern_local_id.x + quern_local_id.y * queries_args.range.num_groups.z;
}
