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
override three_group_x: u32 = 1u;
override three_group_y: u32 = 1u;
override three_group_z: u32 = 1u;
struct three_arguments {
  range: quern_range,
  packed_at: u32,
  padded_at: u32,
  out_at: u32,
}
@group(0) @binding(0) var<uniform> three_args: three_arguments;
@group(0) @binding(1) var<storage, read> three_packed: array<f32>;
@group(0) @binding(2) var<storage, read_write> three_padded: array<f32>;
@group(0) @binding(3) var<storage, read_write> three_out: array<f32>;

fn quern_load_three_packed_f32x3(i: u32) -> vec3<f32> {
  return vec3<f32>(three_packed[i], three_packed[i + 1u], three_packed[i + 2u]);
}

fn quern_load_three_padded_f32x3(i: u32) -> vec3<f32> {
  return vec3<f32>(three_padded[i], three_padded[i + 1u], three_padded[i + 2u]);
}

fn quern_store_three_out_f32x3(i: u32, v: vec3<f32>) {
  three_out[i] = v.x;
  three_out[i + 1u] = v.y;
  three_out[i + 2u] = v.z;
}

@compute @workgroup_size(three_group_x, three_group_y, three_group_z)
fn three(@builtin(local_invocation_id) local_id: vec3<u32>, @builtin(workgroup_id) group_id: vec3<u32>,
    @builtin(global_invocation_id) global_id: vec3<u32>, @builtin(local_invocation_index) local_index: u32) {
  let packed_from = three_args.packed_at >> 2u;
  let padded_from = three_args.padded_at >> 2u;
  let out_from = three_args.out_at >> 2u;
  let i = three_args.range.origin.x + global_id.x;
  let v = quern_load_three_packed_f32x3(packed_from + i * 3u);
  let t = v.xy * vec2<f32>(2.0f);
  var t_1 = v;
  t_1.z = t.x;
  t_1.x = t.y;
  let t_2 = t_1.zy;
  three_padded[padded_from + i * 4u + 1u] = t_2.x;
  three_padded[padded_from + i * 4u + 2u] = t_2.y;
  quern_store_three_out_f32x3(out_from + i * 3u, t_1 + quern_load_three_padded_f32x3(padded_from + i * 4u));
}
