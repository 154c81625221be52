// Made by Quern.

override merged_group_x: u32 = 1u;
override merged_group_y: u32 = 1u;
override merged_group_z: u32 = 1u;
struct merged_arguments {
  a_at: u32,
  b_at: u32,
  c_at: u32,
}
@group(0) @binding(0) var<uniform> merged_args: merged_arguments;
@group(0) @binding(1) var<storage, read_write> merged_a: array<u32>;
@group(0) @binding(2) var<storage, read_write> merged_b: array<u32>;
@group(0) @binding(3) var<storage, read_write> merged_c: array<u32>;

fn quern_store_merged_a_f32x4(i: u32, v: vec4<f32>) {
  merged_a[i] = bitcast<u32>(v.x);
  merged_a[i + 1u] = bitcast<u32>(v.y);
  merged_a[i + 2u] = bitcast<u32>(v.z);
  merged_a[i + 3u] = bitcast<u32>(v.w);
}

@compute @workgroup_size(merged_group_x, merged_group_y, merged_group_z)
fn merged(@builtin(local_invocation_id) local_id: vec3<u32>, @builtin(workgroup_id) group_id: vec3<u32>,
    @builtin(global_invocation_id) global_id: vec3<u32>, @builtin(local_invocation_index) local_index: u32) {
  let a_from = merged_args.a_at >> 2u;
  let b_from = merged_args.b_at >> 2u;
  let c_from = merged_args.c_at >> 2u;
  quern_store_merged_a_f32x4(a_from, vec4<f32>(bitcast<f32>(merged_b[b_from + 1u]) + f32(i32(merged_c[c_from + 2u]))));
}
