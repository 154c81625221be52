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
override structs_group_x: u32 = 1u;
override structs_group_y: u32 = 1u;
override structs_group_z: u32 = 1u;
struct structs_arguments {
  range: quern_range,
  all_at: u32,
  w_0: u32,
  w_1: u32,
  w_2: u32,
  w_3: u32,
  w_4: u32,
  w_5: u32,
  w_6: u32,
  w_7: u32,
}
@group(0) @binding(0) var<uniform> structs_args: structs_arguments;
@group(0) @binding(1) var<storage, read_write> structs_all: array<u32>;

fn quern_copy_u32_8_1_structs_all_32_4(p: ptr<function, array<u32, 8>>, to: u32, at: u32) {
  for (var k = 0u; k < 8u; k++) {
    (*p)[(to + k * 4u) >> 2u] = structs_all[at + k * 1u];
  }
}

fn quern_load_u32_8_1_f32x4(p: ptr<function, array<u32, 8>>, i: u32) -> vec4<f32> {
  return vec4<f32>(bitcast<f32>((*p)[i >> 2u]), bitcast<f32>((*p)[(i >> 2u) + 1u]), bitcast<f32>((*p)[(i >> 2u) + 2u]), bitcast<f32>((*p)[(i >> 2u) + 3u]));
}

fn quern_load_f32_8_4_f32x4(p: ptr<function, array<f32, 8>>, i: u32) -> vec4<f32> {
  return vec4<f32>((*p)[i], (*p)[i + 1u], (*p)[i + 2u], (*p)[i + 3u]);
}

fn quern_store_u32_8_1_f32x4(p: ptr<function, array<u32, 8>>, i: u32, v: vec4<f32>) {
  (*p)[i >> 2u] = bitcast<u32>(v.x);
  (*p)[(i >> 2u) + 1u] = bitcast<u32>(v.y);
  (*p)[(i >> 2u) + 2u] = bitcast<u32>(v.z);
  (*p)[(i >> 2u) + 3u] = bitcast<u32>(v.w);
}

fn quern_store_u32_8_1_i16(p: ptr<function, array<u32, 8>>, i: u32, v: u32) {
  (*p)[i >> 2u] = ((*p)[i >> 2u] & ~((0xffffu << (((i) & 3u) * 8u)))) | ((v) << (((i) & 3u) * 8u));
}

fn quern_copy_structs_all_u32_8_1_32_4(q: ptr<function, array<u32, 8>>, to: u32, at: u32) {
  for (var k = 0u; k < 8u; k++) {
    structs_all[to + k * 1u] = (*q)[(at + k * 4u) >> 2u];
  }
}

@compute @workgroup_size(structs_group_x, structs_group_y, structs_group_z)
fn structs(@builtin(local_invocation_id) local_id: vec3<u32>, @builtin(workgroup_id) group_id: vec3<u32>,
    @builtin(global_invocation_id) global_id: vec3<u32>, @builtin(local_invocation_index) local_index: u32) {
  let all_from = structs_args.all_at >> 2u;
  var w: array<f32, 8>;
  w[0u] = bitcast<f32>(structs_args.w_0);
  w[1u] = bitcast<f32>(structs_args.w_1);
  w[2u] = bitcast<f32>(structs_args.w_2);
  w[3u] = bitcast<f32>(structs_args.w_3);
  w[4u] = bitcast<f32>(structs_args.w_4);
  w[5u] = bitcast<f32>(structs_args.w_5);
  w[6u] = bitcast<f32>(structs_args.w_6);
  w[7u] = bitcast<f32>(structs_args.w_7);
  let i = structs_args.range.origin.x + global_id.x;
  var p: array<u32, 8>;
  quern_copy_u32_8_1_structs_all_32_4(&p, 0u, all_from + i * 8u);
  quern_store_u32_8_1_f32x4(&p, 0u, (quern_load_u32_8_1_f32x4(&p, 0u) + quern_load_f32_8_4_f32x4(&w, 0u)) * vec4<f32>(w[4u]));
  let t = bitcast<f32>(p[4u]);
  quern_store_u32_8_1_i16(&p, 20u + 2u, (select(0u, 1u, 1.0f < t)) & 0xffffu);
  quern_copy_structs_all_u32_8_1_32_4(&p, all_from + i * 8u, 0u);
}
