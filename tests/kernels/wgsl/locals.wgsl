// Made by Quern.

override locals_group_x: u32 = 1u;
override locals_group_y: u32 = 1u;
override locals_group_z: u32 = 1u;
struct locals_arguments {
  out_at: u32,
  n: u32,
}
@group(0) @binding(0) var<uniform> locals_args: locals_arguments;
@group(0) @binding(1) var<storage, read_write> locals_out: array<u32>;
override locals_a_length: u32 = 1u;
var<workgroup> own_all: array<u32, 64u + locals_a_length>;
override locals_b_length: u32 = 1u;
var<workgroup> locals_b: array<f32, locals_b_length>;
var<workgroup> narrow: array<atomic<u32>, 4>;

fn quern_store_narrow_i16(i: u32, v: u32) {
  atomicXor(&narrow[i >> 2u], (atomicLoad(&narrow[i >> 2u]) ^ ((v) << (((i) & 3u) * 8u))) & (0xffffu << (((i) & 3u) * 8u)));
}

fn quern_store_locals_b_f32x4(i: u32, v: vec4<f32>) {
  locals_b[i] = v.x;
  locals_b[i + 1u] = v.y;
  locals_b[i + 2u] = v.z;
  locals_b[i + 3u] = v.w;
}

fn quern_load_narrow_i16(i: u32) -> u32 {
  return (atomicLoad(&narrow[i >> 2u]) >> (((i) & 3u) * 8u)) & 0xffffu;
}

fn quern_is_nan(x: f32) -> bool { return (bitcast<u32>(x) & u32(0x7fffffffu)) > u32(0x7f800000u); }

fn quern_ftos_sat(x: f32) -> u32 {
  let near = u32(i32(clamp(x, f32(-2147483648.0f), f32(2147483520.0f))));
  return select(select(near, u32(0x7fffffffu), x >= f32(2147483648.0f)), u32(0u), quern_is_nan(x));
}

@compute @workgroup_size(locals_group_x, locals_group_y, locals_group_z)
fn locals(@builtin(local_invocation_id) local_id: vec3<u32>, @builtin(workgroup_id) group_id: vec3<u32>,
    @builtin(global_invocation_id) global_id: vec3<u32>, @builtin(local_invocation_index) local_index: u32) {
  let out_from = locals_args.out_at >> 2u;
  let n = locals_args.n;
  let lid = local_id.x;
  own_all[lid] = n;
  quern_store_narrow_i16((lid & 7u) * 2u, (lid) & 0xffffu);
  quern_store_locals_b_f32x4(lid * 4u, vec4<f32>(f32(i32(lid))));
  var choice: u32;
  if ((n & 1u) != 0u) {
    choice = 0u;
  } else {
    choice = (64u);
  }
  own_all[choice + lid] = own_all[choice + lid] + 1u;
  storageBarrier();
  workgroupBarrier();
  locals_out[out_from + lid] = own_all[(lid ^ 1u)] + u32(extractBits(i32(quern_load_narrow_i16((lid & 7u) * 2u)), 0u, 16u)) + quern_ftos_sat(locals_b[((lid ^ 1u) * 4u)]);
}
