// Made by Quern.

override quern_fused: bool = false;
var<private> quern_zero: u32 = 0u;

override floats_group_x: u32 = 1u;
override floats_group_y: u32 = 1u;
override floats_group_z: u32 = 1u;
struct floats_arguments {
  f_at: u32,
  i_at: u32,
  x: f32,
  y: f32,
}
@group(0) @binding(0) var<uniform> floats_args: floats_arguments;
@group(0) @binding(1) var<storage, read_write> floats_f: array<f32>;
@group(0) @binding(2) var<storage, read_write> floats_i: array<u32>;

fn quern_is_nan(x: f32) -> bool { return (bitcast<u32>(x) & u32(0x7fffffffu)) > u32(0x7f800000u); }

fn quern_shl64(a: vec2<u32>, n: u32) -> vec2<u32> {
  let by = n & 31u;
  if ((n & 32u) != 0u) {
    return vec2<u32>(0u, a.x << by);
  }
  return vec2<u32>(a.x << by, (a.y << by) | ((a.x >> 1u) >> (31u - by)));
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

fn quern_lshr64(a: vec2<u32>, n: u32) -> vec2<u32> {
  let by = n & 31u;
  if ((n & 32u) != 0u) {
    return vec2<u32>(a.y >> by, 0u);
  }
  return vec2<u32>((a.x >> by) | ((a.y << 1u) << (31u - by)), a.y >> by);
}

fn quern_shift_down(x: vec2<u32>, n: u32) -> vec2<u32> {
  if (n > 63u) {
    return vec2<u32>(select(0u, 1u, (x.x | x.y) != 0u), 0u);
  }
  let kept = quern_lshr64(x, n);
  let lost = any(quern_shl64(kept, n) != x);
  return vec2<u32>(kept.x | select(0u, 1u, lost), kept.y);
}

fn quern_add64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  let low = a.x + b.x;
  return vec2<u32>(low, a.y + b.y + select(0u, 1u, low < a.x));
}

fn quern_ult64(a: vec2<u32>, b: vec2<u32>) -> bool { return a.y < b.y || (a.y == b.y && a.x < b.x); }

fn quern_sub64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  return vec2<u32>(a.x - b.x, a.y - b.y - select(0u, 1u, a.x < b.x));
}

fn quern_clz64(a: vec2<u32>) -> vec2<u32> {
  return vec2<u32>(select(countLeadingZeros(a.y), 32u + countLeadingZeros(a.x), a.y == 0u), 0u);
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

fn quern_fma(a: f32, b: f32, c: f32) -> f32 {
  if (quern_fused) {
    return fma(a, b, c);
  }
  let bits = vec3<u32>(bitcast<u32>(a), bitcast<u32>(b), bitcast<u32>(c));
  var e = vec3<i32>((bits >> vec3<u32>(23u)) & vec3<u32>(0xffu));
  var m = bits & vec3<u32>(0x7fffffu);
  if (e.x == 255 || e.y == 255) {
    return a * b + c;
  }
  if (e.z == 255) {
    return c;
  }
  if ((bits.x << 1u) == 0u || (bits.y << 1u) == 0u) {
    return a * b + c;
  }
  if ((bits.z << 1u) == 0u) {
    return a * b;
  }
  let up = countLeadingZeros(m) - vec3<u32>(8u);
  let is_small = e == vec3<i32>(0);
  m = select(m | vec3<u32>(0x800000u), m << (up & vec3<u32>(31u)), is_small);
  e = select(e, vec3<i32>(1) - vec3<i32>(up), is_small);
  var product = quern_shl64(vec2<u32>(m.x * m.y, quern_umulhi(m.x, m.y)), 14u);
  var sum = vec2<u32>(0u, m.z << 6u);
  var x = e.x + e.y - 314;
  let apart = x - (e.z - 188);
  if (apart >= 0) {
    sum = quern_shift_down(sum, u32(apart));
  } else {
    product = quern_shift_down(product, u32(-apart));
    x = e.z - 188;
  }
  var sign = (bits.x ^ bits.y) & 0x80000000u;
  if (sign == (bits.z & 0x80000000u)) {
    sum = quern_add64(product, sum);
  } else if (quern_ult64(product, sum)) {
    sum = quern_sub64(sum, product);
    sign = sign ^ 0x80000000u;
  } else {
    sum = quern_sub64(product, sum);
  }
  if ((sum.x | sum.y) == 0u) {
    return 0.0f;
  }
  let top = quern_clz64(sum).x;
  return bitcast<f32>(sign | quern_pack(quern_shl64(sum, top), x - i32(top) + 190));
}

fn quern_divide(x: f32, y: f32) -> f32 {
  let down = select(f32(1.0f), f32(0x1p-24f), abs(y) > f32(0x1p126f));
  let by = select(down, f32(0x1p24f), abs(y) < f32(0x1p-126f));
  return x / (y * by) * by;
}

fn quern_sqrt(x: f32) -> f32 {
  let is_small = x < f32(0x1p-60f);
  let scaled = x * select(f32(1.0f), f32(0x1p60f), is_small);
  let r = inverseSqrt(scaled);
  let y = scaled * r;
  let half = y * f32(0.5f);
  let rest = scaled * f32(0.25f) - half * half;
  let near = (y + rest * (r + r)) * select(f32(1.0f), f32(0x1p-30f), is_small);
  return select(near, scaled, (scaled == f32(0.0f)) | (bitcast<u32>(scaled) == u32(0x7f800000u)));
}

fn quern_fmin(a: f32, b: f32) -> f32 { return select(select(min(a, b), b, quern_is_nan(a)), a, quern_is_nan(b)); }

fn quern_fmax(a: f32, b: f32) -> f32 { return select(select(max(a, b), b, quern_is_nan(a)), a, quern_is_nan(b)); }

fn quern_fround(x: f32) -> f32 {
  let whole = trunc(x);
  return select(whole, whole + select(f32(1.0f), f32(-1.0f), x < f32(0.0f)), abs(x - whole) >= f32(0.5f));
}

fn quern_copysign(a: f32, b: f32) -> f32 {
  return bitcast<f32>((bitcast<u32>(a) & u32(0x7fffffffu)) | (bitcast<u32>(b) & u32(0x80000000u)));
}

fn quern_ftos_sat(x: f32) -> u32 {
  let near = u32(i32(clamp(x, f32(-2147483648.0f), f32(2147483520.0f))));
  return select(select(near, u32(0x7fffffffu), x >= f32(2147483648.0f)), u32(0u), quern_is_nan(x));
}

fn quern_order(x: f32) -> i32 {
  let bits = bitcast<i32>(x);
  return select(bits, -(bits & i32(0x7fffffff)), bits < i32(0));
}

fn quern_less(a: f32, b: f32) -> bool {
  return (quern_order(a) < quern_order(b)) & !(quern_is_nan(a) | quern_is_nan(b));
}

fn quern_udiv(a: u32, b: u32) -> u32 {
  let none = b == u32(0u);
  return select(a / select(b, u32(1u), none), u32(0u), none);
}

fn quern_urem(a: u32, b: u32) -> u32 {
  let none = b == u32(0u);
  return select(a % select(b, u32(1u), none), a, none);
}

@compute @workgroup_size(floats_group_x, floats_group_y, floats_group_z)
fn floats(@builtin(local_invocation_id) local_id: vec3<u32>, @builtin(workgroup_id) group_id: vec3<u32>,
    @builtin(global_invocation_id) global_id: vec3<u32>, @builtin(local_invocation_index) local_index: u32) {
  let f_from = floats_args.f_at >> 2u;
  let i_from = floats_args.i_at >> 2u;
  let x = floats_args.x;
  let y = floats_args.y;
  floats_i[i_from] = select(0u, 1u, 0x7f800000u < (bitcast<u32>(x) & 0x7fffffffu)) + select(0u, 1u, (bitcast<u32>(y) & 0x7fffffffu) == 0x7f800000u) * 2u + select(0u, 1u, (bitcast<u32>(x) & 0x7fffffffu) < 0x7f800000u) * 4u + select(0u, 1u, quern_is_nan(x)) * 8u;
  floats_f[f_from] = quern_fma(x, y, 1.0f);
  floats_f[f_from + 1u] = quern_divide(x, y);
  floats_f[f_from + 2u] = quern_sqrt(x);
  let t = fmod_f32(x, y);
  floats_f[f_from + 3u] = t;
  floats_f[f_from + 4u] = quern_fmin(x, y) + quern_fmax(x, 2.0f);
  floats_f[f_from + 5u] = quern_fround(x) + round(y) + floor(x) + trunc(y);
  floats_f[f_from + 6u] = quern_copysign(x, y) - abs(y);
  floats_i[i_from + 1u] = quern_ftos_sat(x) + quern_ftos_sat(y);
  floats_f[f_from + 7u] = bitcast<f32>(quern_zero ^ 0x7f800000u);
  floats_f[f_from + 8u] = bitcast<f32>(quern_zero ^ 0x80000000u);
  floats_f[f_from + 9u] = bitcast<f32>(quern_zero ^ 0x000116c2u);
  floats_i[i_from + 2u] = select(0u, 1u, quern_less(x, bitcast<f32>(quern_zero ^ 0x7f800000u))) + select(0u, 1u, x == y) + select(0u, 1u, x <= y);
}

fn fmod_f32(p0: f32, p1: f32) -> f32 {
  let t = abs(p0);
  let t_1 = abs(p1);
  if (!quern_less(t, bitcast<f32>(quern_zero ^ 0x7f800000u)) | !(0.0f < t_1)) {
    return bitcast<f32>(quern_zero ^ 0x7fc00000u);
  }
  if (t < t_1) {
    return p0;
  }
  var ex: array<u32, 1>;
  let t_2 = whole_f32(t, &ex, 0u);
  var ey: array<u32, 1>;
  let t_3 = whole_f32(t_1, &ey, 0u);
  var q: array<u32, 1>;
  let t_4 = divide_f32(t_2, t_3, ex[0u] - ey[0u], &q, 0u);
  return quern_copysign(of_whole_f32(t_4, ey[0u]), p0);
}

fn whole_f32(a: f32, exponent_memory: ptr<function, array<u32, 1>>, exponent: u32) -> u32 {
  let t = a < 0x1p-126f;
  var choice: f32;
  if (t) {
    choice = a * pow2_f32(25u);
  } else {
    choice = a;
  }
  let t_1 = bitcast<u32>(choice);
  (*exponent_memory)[exponent] = (t_1 >> 23u) - select(127u, 152u, t);
  return (t_1 & 0x7fffffu) | 0x800000u;
}

fn divide_f32(m: u32, d: u32, distance: u32, quotient_memory: ptr<function, array<u32, 1>>, quotient: u32) -> u32 {
  var m_1 = m;
  var distance_1 = distance;
  var q = quern_udiv(m, d);
  m_1 = quern_urem(m, d);
  while (0i < i32(distance_1)) {
    let t = select(8u, distance_1, i32(distance_1) < 8i);
    let t_1 = m_1 << (t & 31u);
    let t_2 = quern_udiv(t_1, d);
    m_1 = t_1 - t_2 * d;
    q = (q << (t & 31u)) + t_2;
    distance_1 = distance_1 - t;
  }
  (*quotient_memory)[quotient] = q;
  return m_1;
}

fn of_whole_f32(m: u32, exponent: u32) -> f32 {
  let t = exponent - 23u;
  let t_1 = u32(i32(t) >> 1u);
  return f32(i32(m)) * pow2_f32(t_1) * pow2_f32(t - t_1);
}

fn pow2_f32(n: u32) -> f32 {
  return bitcast<f32>((n + 127u) << 23u);
}
