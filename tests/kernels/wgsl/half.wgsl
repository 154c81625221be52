// Made by Quern.
enable f16;

override with_half_group_x: u32 = 1u;
override with_half_group_y: u32 = 1u;
override with_half_group_z: u32 = 1u;
struct with_half_arguments {
  h_at: u32,
  f_at: u32,
  x: u32,
}
@group(0) @binding(0) var<uniform> with_half_args: with_half_arguments;
@group(0) @binding(1) var<storage, read_write> with_half_h: array<atomic<u32>>;
@group(0) @binding(2) var<storage, read_write> with_half_f: array<f32>;

fn quern_half(bits: u32) -> f16 { return f16(unpack2x16float(bits).x); }

fn quern_load_with_half_h_f16(i: u32) -> f16 {
  return quern_half((atomicLoad(&with_half_h[i >> 2u]) >> (((i) & 3u) * 8u)) & 0xffffu);
}

fn quern_to_half(x: f32) -> u32 {
  let sign = (bitcast<u32>(x) >> 16u) & 0x8000u;
  let a = bitcast<u32>(x) & 0x7fffffffu;
  if (a > 0x7f800000u) {
    return sign | 0x7e00u;
  }
  if (a >= 0x477ff000u) {
    return sign | 0x7c00u;
  }
  if (a >= 0x38800000u) {
    let r = a - 0x38000000u;
    return sign | ((r + 0xfffu + ((r >> 13u) & 1u)) >> 13u);
  }
  if (a <= 0x33000000u) {
    return sign;
  }
  let m = (a & 0x7fffffu) | 0x800000u;
  let down = 126u - (a >> 23u);
  let kept = m >> down;
  let rest = m - (kept << down);
  let half = 1u << (down - 1u);
  return sign | (kept + select(0u, 1u, rest > half || (rest == half && (kept & 1u) != 0u)));
}

fn quern_half_bits(x: f16) -> u32 { return pack2x16float(vec2<f32>(f32(x), 0.0f)); }

fn quern_store_with_half_h_f16(i: u32, v: f16) {
  atomicXor(&with_half_h[i >> 2u], (atomicLoad(&with_half_h[i >> 2u]) ^ ((quern_half_bits(v)) << (((i) & 3u) * 8u))) & (0xffffu << (((i) & 3u) * 8u)));
}

@compute @workgroup_size(with_half_group_x, with_half_group_y, with_half_group_z)
fn with_half(@builtin(local_invocation_id) local_id: vec3<u32>, @builtin(workgroup_id) group_id: vec3<u32>,
    @builtin(global_invocation_id) global_id: vec3<u32>, @builtin(local_invocation_index) local_index: u32) {
  let h_from = with_half_args.h_at;
  let f_from = with_half_args.f_at >> 2u;
  let x = quern_half((with_half_args.x >> 0u) & 0xffffu);
  quern_store_with_half_h_f16(h_from, quern_load_with_half_h_f16(h_from + 2u) * x + quern_half(quern_to_half(with_half_f[f_from])));
  with_half_f[f_from + 1u] = f32(quern_load_with_half_h_f16(h_from + 4u));
}
