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
override pointers_group_x: u32 = 1u;
override pointers_group_y: u32 = 1u;
override pointers_group_z: u32 = 1u;
struct pointers_arguments {
  range: quern_range,
  bytes_at: u32,
  out_at: u32,
  n: u32,
}
@group(0) @binding(0) var<uniform> pointers_args: pointers_arguments;
@group(0) @binding(1) var<storage, read> pointers_bytes: array<u32>;
@group(0) @binding(2) var<storage, read_write> pointers_out: array<f32>;

fn quern_load_pointers_bytes_i16(i: u32) -> u32 {
  return (pointers_bytes[i >> 2u] >> (((i) & 3u) * 8u)) & 0xffffu;
}

@compute @workgroup_size(pointers_group_x, pointers_group_y, pointers_group_z)
fn pointers(@builtin(local_invocation_id) local_id: vec3<u32>, @builtin(workgroup_id) group_id: vec3<u32>,
    @builtin(global_invocation_id) global_id: vec3<u32>, @builtin(local_invocation_index) local_index: u32) {
  let bytes_from = pointers_args.bytes_at;
  let out_from = pointers_args.out_at >> 2u;
  let n = pointers_args.n;
  let i = pointers_args.range.origin.x + global_id.x;
  if (i32(n) <= i32(i)) {
    return;
  }
  let t = 2u * i;
  pointers_out[out_from + i] = bitcast<f32>(pointers_bytes[((bytes_from + 8u) + t * 4u + 4u) >> 2u]) + f32(i32(quern_load_pointers_bytes_i16((((bytes_from + 8u) + t * 4u) + 2u))));
}
