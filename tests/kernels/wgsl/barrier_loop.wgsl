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
override barrier_loop_group_x: u32 = 1u;
override barrier_loop_group_y: u32 = 1u;
override barrier_loop_group_z: u32 = 1u;
struct barrier_loop_arguments {
  range: quern_range,
  in_at: u32,
  out_at: u32,
}
@group(0) @binding(0) var<uniform> barrier_loop_args: barrier_loop_arguments;
@group(0) @binding(1) var<storage, read> barrier_loop_in: array<f32>;
@group(0) @binding(2) var<storage, read_write> barrier_loop_out: array<f32>;
override barrier_loop_tile_length: u32 = 1u;
var<workgroup> barrier_loop_tile: array<f32, barrier_loop_tile_length>;

fn quern_barrier_loop_local_size() -> vec3<u32> { return vec3<u32>(barrier_loop_group_x, barrier_loop_group_y, barrier_loop_group_z); }

@compute @workgroup_size(barrier_loop_group_x, barrier_loop_group_y, barrier_loop_group_z)
fn barrier_loop(@builtin(local_invocation_id) local_id: vec3<u32>, @builtin(workgroup_id) group_id: vec3<u32>,
    @builtin(global_invocation_id) global_id: vec3<u32>, @builtin(local_invocation_index) local_index: u32) {
  let in_from = barrier_loop_args.in_at >> 2u;
  let out_from = barrier_loop_args.out_at >> 2u;
  let lid = local_id.x;
  barrier_loop_tile[lid] = barrier_loop_in[in_from + (barrier_loop_args.range.origin.x + global_id.x)];
  for (var step = quern_barrier_loop_local_size().x / 2u; 0u < step; step = step / 2u) {
    workgroupBarrier();
    if (lid < step) {
      barrier_loop_tile[lid] = barrier_loop_tile[lid] + barrier_loop_tile[(lid + step)];
    }
  }
  if (lid == 0u) {
    barrier_loop_out[out_from + (barrier_loop_args.range.group_base.x + group_id.x)] = barrier_loop_tile[0u];
  }
}
