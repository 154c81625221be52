// Made by Quern.

override wide_group_x: u32 = 1u;
override wide_group_y: u32 = 1u;
override wide_group_z: u32 = 1u;
struct wide_arguments {
  a_at: u32,
  b_at: u32,
  f_at: u32,
  n: u32,
}
@group(0) @binding(0) var<uniform> wide_args: wide_arguments;
@group(0) @binding(1) var<storage, read_write> wide_a: array<u32>;
@group(0) @binding(2) var<storage, read_write> wide_b: array<u32>;
@group(0) @binding(3) var<storage, read_write> wide_f: array<f32>;

fn quern_load_wide_a_i64(i: u32) -> vec2<u32> {
  return vec2<u32>(wide_a[i], wide_a[i + 1u]);
}

fn quern_load_wide_b_i64(i: u32) -> vec2<u32> {
  return vec2<u32>(wide_b[i], wide_b[i + 1u]);
}

fn quern_sub64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  return vec2<u32>(a.x - b.x, a.y - b.y - select(0u, 1u, a.x < b.x));
}

fn quern_add64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  let low = a.x + b.x;
  return vec2<u32>(low, a.y + b.y + select(0u, 1u, low < a.x));
}

fn quern_umulhi(a: u32, b: u32) -> u32 {
  let low = u32(0xffffu);
  let half = u32(16u);
  let ll = (a & low) * (b & low);
  let lh = (a & low) * (b >> half);
  let hl = (a >> half) * (b & low);
  let middle = (ll >> half) + (lh & low) + (hl & low);
  return (a >> half) * (b >> half) + (lh >> half) + (hl >> half) + (middle >> half);
}

fn quern_mul64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  return vec2<u32>(a.x * b.x, quern_umulhi(a.x, b.x) + a.x * b.y + a.y * b.x);
}

fn quern_store_wide_a_i64(i: u32, v: vec2<u32>) {
  wide_a[i] = v.x;
  wide_a[i + 1u] = v.y;
}

fn quern_ult64(a: vec2<u32>, b: vec2<u32>) -> bool { return a.y < b.y || (a.y == b.y && a.x < b.x); }

fn quern_divide64(a: vec2<u32>, b: vec2<u32>) -> vec4<u32> {
  if ((b.x | b.y) == 0u) {
    return vec4<u32>(0u, 0u, a);
  }
  if ((a.y | b.y) == 0u) {
    return vec4<u32>(a.x / b.x, 0u, a.x % b.x, 0u);
  }
  var quotient = vec2<u32>(0u, 0u);
  var rest = vec2<u32>(0u, 0u);
  var left = a;
  for (var i = 0u; i < 64u; i++) {
    let carry = (rest.y >> 31u) != 0u;
    rest = vec2<u32>((rest.x << 1u) | (left.y >> 31u), (rest.y << 1u) | (rest.x >> 31u));
    left = vec2<u32>(left.x << 1u, (left.y << 1u) | (left.x >> 31u));
    quotient = vec2<u32>(quotient.x << 1u, (quotient.y << 1u) | (quotient.x >> 31u));
    if (carry || !quern_ult64(rest, b)) {
      rest = quern_sub64(rest, b);
      quotient.x = quotient.x | 1u;
    }
  }
  return vec4<u32>(quotient, rest);
}

fn quern_neg64(a: vec2<u32>) -> vec2<u32> { return quern_sub64(vec2<u32>(0u, 0u), a); }

fn quern_abs64(a: vec2<u32>) -> vec2<u32> { return select(a, quern_neg64(a), i32(a.y) < 0); }

fn quern_sdiv64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  let size = quern_divide64(quern_abs64(a), quern_abs64(b)).xy;
  return select(size, quern_neg64(size), i32(a.y ^ b.y) < 0);
}

fn quern_srem64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  let size = quern_divide64(quern_abs64(a), quern_abs64(b)).zw;
  return select(size, quern_neg64(size), i32(a.y) < 0);
}

fn quern_udiv64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> { return quern_divide64(a, b).xy; }

fn quern_urem64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> { return quern_divide64(a, b).zw; }

fn quern_store_wide_b_i64(i: u32, v: vec2<u32>) {
  wide_b[i] = v.x;
  wide_b[i + 1u] = v.y;
}

fn quern_shl64(a: vec2<u32>, n: u32) -> vec2<u32> {
  let by = n & 31u;
  if ((n & 32u) != 0u) {
    return vec2<u32>(0u, a.x << by);
  }
  return vec2<u32>(a.x << by, (a.y << by) | ((a.x >> 1u) >> (31u - by)));
}

fn quern_ashr64(a: vec2<u32>, n: u32) -> vec2<u32> {
  let by = n & 31u;
  let high = u32(i32(a.y) >> by);
  if ((n & 32u) != 0u) {
    return vec2<u32>(high, u32(i32(a.y) >> 31u));
  }
  return vec2<u32>((a.x >> by) | ((a.y << 1u) << (31u - by)), high);
}

fn quern_lshr64(a: vec2<u32>, n: u32) -> vec2<u32> {
  let by = n & 31u;
  if ((n & 32u) != 0u) {
    return vec2<u32>(a.y >> by, 0u);
  }
  return vec2<u32>((a.x >> by) | ((a.y << 1u) << (31u - by)), a.y >> by);
}

fn quern_slt64(a: vec2<u32>, b: vec2<u32>) -> bool {
  return i32(a.y) < i32(b.y) || (a.y == b.y && a.x < b.x);
}

fn quern_umulhi64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  let lh = vec2<u32>(a.x * b.y, quern_umulhi(a.x, b.y));
  let hl = vec2<u32>(a.y * b.x, quern_umulhi(a.y, b.x));
  let hh = vec2<u32>(a.y * b.y, quern_umulhi(a.y, b.y));
  let middle = quern_add64(quern_add64(lh, vec2<u32>(quern_umulhi(a.x, b.x), 0u)), vec2<u32>(hl.x, 0u));
  return quern_add64(quern_add64(hh, vec2<u32>(hl.y, 0u)), vec2<u32>(middle.y, 0u));
}

fn quern_rotl64(a: vec2<u32>, n: u32) -> vec2<u32> { return quern_shl64(a, n) | quern_lshr64(a, (64u - n) & 63u) ; }

fn quern_clz64(a: vec2<u32>) -> vec2<u32> {
  return vec2<u32>(select(countLeadingZeros(a.y), 32u + countLeadingZeros(a.x), a.y == 0u), 0u);
}

fn quern_shift_down(x: vec2<u32>, n: u32) -> vec2<u32> {
  if (n > 63u) {
    return vec2<u32>(select(0u, 1u, (x.x | x.y) != 0u), 0u);
  }
  let kept = quern_lshr64(x, n);
  let lost = any(quern_shl64(kept, n) != x);
  return vec2<u32>(kept.x | select(0u, 1u, lost), kept.y);
}

fn quern_pack(significand: vec2<u32>, e: i32) -> u32 {
  var m = significand;
  var base = 0u;
  if (e < 1) {
    m = quern_shift_down(m, u32(1 - e));
  } else if (e > 254) {
    return 0x7f800000u;
  } else {
    base = u32(e - 1) << 23u;
  }
  let kept = m.y >> 8u;
  let rest = (m.y & 0x7fu) | m.x | (kept & 1u);
  return base + kept + select(0u, 1u, (m.y & 0x80u) != 0u && rest != 0u);
}

fn quern_u64_to_f32(a: vec2<u32>) -> f32 {
  if ((a.x | a.y) == 0u) {
    return 0.0f;
  }
  let top = quern_clz64(a).x;
  return bitcast<f32>(quern_pack(quern_shl64(a, top), 190 - i32(top)));
}

fn quern_s64_to_f32(a: vec2<u32>) -> f32 {
  return bitcast<f32>(bitcast<u32>(quern_u64_to_f32(quern_abs64(a))) | (a.y & 0x80000000u));
}

fn quern_is_nan(x: f32) -> bool { return (bitcast<u32>(x) & u32(0x7fffffffu)) > u32(0x7f800000u); }

fn quern_f32_to_u64(x: f32) -> vec2<u32> {
  let bits = bitcast<u32>(x);
  let e = i32((bits >> 23u) & 0xffu) - 127;
  if (quern_is_nan(x) || (bits >> 31u) != 0u || e < 0) {
    return vec2<u32>(0u, 0u);
  }
  if (e > 63) {
    return vec2<u32>(0xffffffffu, 0xffffffffu);
  }
  return quern_lshr64(vec2<u32>(0u, (bits << 8u) | 0x80000000u), u32(63 - e));
}

fn quern_f32_to_s64(x: f32) -> vec2<u32> {
  let size = quern_f32_to_u64(abs(x));
  let is_negative = (bitcast<u32>(x) >> 31u) != 0u;
  if (i32(size.y) < 0) {
    return select(vec2<u32>(0xffffffffu, 0x7fffffffu), vec2<u32>(0u, 0x80000000u), is_negative);
  }
  return select(size, quern_neg64(size), is_negative);
}

@compute @workgroup_size(wide_group_x, wide_group_y, wide_group_z)
fn wide(@builtin(local_invocation_id) local_id: vec3<u32>, @builtin(workgroup_id) group_id: vec3<u32>,
    @builtin(global_invocation_id) global_id: vec3<u32>, @builtin(local_invocation_index) local_index: u32) {
  let a_from = wide_args.a_at >> 2u;
  let b_from = wide_args.b_at >> 2u;
  let f_from = wide_args.f_at >> 2u;
  let n = wide_args.n;
  let x = quern_load_wide_a_i64(a_from);
  let y = quern_load_wide_a_i64(a_from + 2u);
  let u = quern_load_wide_b_i64(b_from);
  let v = quern_load_wide_b_i64(b_from + 2u);
  quern_store_wide_a_i64(a_from + 4u, quern_sub64(quern_add64(x, quern_mul64(y, vec2<u32>(3u, 0u))), x ^ y));
  quern_store_wide_a_i64(a_from + 6u, quern_add64(quern_sdiv64(x, y), quern_srem64(x, y)));
  quern_store_wide_b_i64(b_from + 4u, quern_add64(quern_udiv64(u, v), quern_urem64(u, v)));
  quern_store_wide_a_i64(a_from + 8u, quern_add64(quern_add64(quern_shl64(x, vec2<u32>(vec2<i32>(i32(n)) >> vec2<u32>(0u, 31u)).x), quern_ashr64(x, vec2<u32>(vec2<i32>(i32(n)) >> vec2<u32>(0u, 31u)).x)), quern_lshr64(u, vec2<u32>(40u, 0u).x)));
  quern_store_wide_a_i64(a_from + 10u, select(vec2<u32>(vec2<i32>(i32(n)) >> vec2<u32>(0u, 31u)), quern_sub64(vec2<u32>(0u, 0u), x), quern_slt64(x, y)));
  quern_store_wide_b_i64(b_from + 6u, quern_add64(quern_add64(quern_umulhi64(u, v), quern_rotl64(u, v.x)), vec2<u32>(vec2<i32>(i32(select(0u, 1u, all(u == v)))) >> vec2<u32>(0u, 31u))));
  wide_f[f_from] = quern_s64_to_f32(x) + quern_u64_to_f32(u);
  quern_store_wide_a_i64(a_from + 12u, quern_f32_to_s64(wide_f[f_from + 1u]));
  wide_f[f_from + 2u] = bitcast<vec2<f32>>(u).y;
  switch (select(select(0u, 1u, all(x == vec2<u32>(0xffffffffu, 0xffffffffu))), 2u, all(x == vec2<u32>(0x2u, 0x1u)))) {
    case 1u: {
      quern_store_wide_a_i64(a_from + 14u, vec2<u32>(1u, 0u));
      break;
    }
    case 2u: {
      quern_store_wide_a_i64(a_from + 14u, vec2<u32>(2u, 0u));
      break;
    }
    default: {
      quern_store_wide_a_i64(a_from + 14u, vec2<u32>(3u, 0u));
    }
  }
}
