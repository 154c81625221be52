// Made by Quern.

var<private> quern_zero: u32 = 0u;

override soft_half_group_x: u32 = 1u;
override soft_half_group_y: u32 = 1u;
override soft_half_group_z: u32 = 1u;
struct soft_half_arguments {
  h_at: u32,
  f_at: u32,
}
@group(0) @binding(0) var<uniform> soft_half_args: soft_half_arguments;
@group(0) @binding(1) var<storage, read_write> soft_half_h: array<atomic<u32>>;
@group(0) @binding(2) var<storage, read_write> soft_half_f: array<f32>;

fn quern_load_soft_half_h_i16(i: u32) -> u32 {
  return (atomicLoad(&soft_half_h[i >> 2u]) >> (((i) & 3u) * 8u)) & 0xffffu;
}

fn quern_store_soft_half_h_i16(i: u32, v: u32) {
  atomicXor(&soft_half_h[i >> 2u], (atomicLoad(&soft_half_h[i >> 2u]) ^ ((v) << (((i) & 3u) * 8u))) & (0xffffu << (((i) & 3u) * 8u)));
}

fn quern_load_soft_half_h_i16x4(i: u32) -> vec4<u32> {
  return vec4<u32>((atomicLoad(&soft_half_h[i >> 2u]) >> (((i) & 3u) * 8u)) & 0xffffu, (atomicLoad(&soft_half_h[(i + 2u) >> 2u]) >> (((i + 2u) & 3u) * 8u)) & 0xffffu, (atomicLoad(&soft_half_h[(i + 4u) >> 2u]) >> (((i + 4u) & 3u) * 8u)) & 0xffffu, (atomicLoad(&soft_half_h[(i + 6u) >> 2u]) >> (((i + 6u) & 3u) * 8u)) & 0xffffu);
}

fn quern_order(x: f32) -> i32 {
  let bits = bitcast<i32>(x);
  return select(bits, -(bits & i32(0x7fffffff)), bits < i32(0));
}

fn quern_is_nan(x: f32) -> bool { return (bitcast<u32>(x) & u32(0x7fffffffu)) > u32(0x7f800000u); }

fn quern_equal(a: f32, b: f32) -> bool {
  return (quern_order(a) == quern_order(b)) & !(quern_is_nan(a) | quern_is_nan(b));
}

@compute @workgroup_size(soft_half_group_x, soft_half_group_y, soft_half_group_z)
fn soft_half(@builtin(local_invocation_id) local_id: vec3<u32>, @builtin(workgroup_id) group_id: vec3<u32>,
    @builtin(global_invocation_id) global_id: vec3<u32>, @builtin(local_invocation_index) local_index: u32) {
  let h_from = soft_half_args.h_at;
  let f_from = soft_half_args.f_at >> 2u;
  quern_store_soft_half_h_i16(h_from, half_rte_f32(half_to_float_f32(quern_load_soft_half_h_i16((h_from + 2u))) * 2.0f));
  soft_half_f[f_from] = half_to_float_f32(quern_load_soft_half_h_i16x4((h_from + 8u)).w);
}

fn half_rte_f32(p0: f32) -> u32 {
  return half_of_f32(p0, 0u);
}

fn half_to_float_f32(p0: u32) -> f32 {
  let t = p0 & 32767u;
  return bitcast<f32>(select(bitcast<u32>(select(bitcast<f32>((t << 13u) + 0x38000000u), f32(i32(t)) * 0x1p-24f, t < 1024u)), (t << 13u) | 0x7f800000u, 31744u <= t) | ((p0 & 32768u) << 16u));
}

fn half_of_f32(x: f32, mode: u32) -> u32 {
  let t = abs(x);
  let t_1 = bitcast<u32>(t);
  let t_2 = t_1 >> 23u;
  let t_3 = t_2 - 127u;
  let t_4 = -14i <= i32(t_3);
  let drop = select(0xffffffffu - t_3, 13u, t_4);
  let drop_1 = select(drop, 25u, 25i < i32(drop));
  let m = select(0u, (t_1 & 0x7fffffu) | 0x800000u, (t_1 >> 23u) != 0u);
  let t_5 = m >> (drop_1 & 31u);
  let lost = select(m & ((1u << (drop_1 & 31u)) - 1u), 1u, (t_1 != 0u) & !(m != 0u));
  let t_6 = 1u << ((drop_1 - 1u) & 31u);
  let h = t_5 + select(select(select(0u, 1u, (t_6 < lost) | ((lost == t_6) & ((t_5 & 1u) != 0u))), 0u, mode == 1u), select(0u, 1u, lost != 0u), mode == 2u) + select(0u, (t_2 - 113u) << 10u, t_4);
  return ((select(select(select(h, select(31744u, 31743u, mode == 1u), (15i < i32(t_3)) | (31744u <= h)), 31744u, quern_equal(t, bitcast<f32>(quern_zero ^ 0x7f800000u))), 32256u, quern_is_nan(x)) | ((bitcast<u32>(x) >> 31u) << 15u))) & 0xffffu;
}
