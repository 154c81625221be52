// Made by Quern.

override quern_fused: bool = false;
var<private> quern_local_id: vec3<u32>;
var<private> quern_group_id: vec3<u32>;

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
const weights = array<u32, 3>(0x3e800000u, 0x3f000000u, 0x3e800000u);

override helpers_group_x: u32 = 1u;
override helpers_group_y: u32 = 1u;
override helpers_group_z: u32 = 1u;
struct helpers_arguments {
  range: quern_range,
  out_at: u32,
  in_at: u32,
  n: u32,
}
@group(0) @binding(0) var<uniform> helpers_args: helpers_arguments;
@group(0) @binding(1) var<storage, read_write> helpers_out: array<f32>;
@group(0) @binding(2) var<storage, read> helpers_in: array<f32>;
const two_over_pi_f32 = array<u32, 8>(0u, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu);

fn quern_copy_u32_5_4_u32_5_4_20_4(p: ptr<function, array<u32, 5>>, q: ptr<function, array<u32, 5>>, to: u32, at: u32) {
  for (var k = 0u; k < 5u; k++) {
    (*p)[to + k * 1u] = (*q)[at + k * 1u];
  }
}

fn quern_helpers_local_size() -> vec3<u32> { return vec3<u32>(helpers_group_x, helpers_group_y, helpers_group_z); }

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

@compute @workgroup_size(helpers_group_x, helpers_group_y, helpers_group_z)
fn helpers(@builtin(local_invocation_id) local_id: vec3<u32>, @builtin(workgroup_id) group_id: vec3<u32>,
    @builtin(global_invocation_id) global_id: vec3<u32>, @builtin(local_invocation_index) local_index: u32) {
  quern_local_id = local_id;
  quern_group_id = group_id;
  let out_from = helpers_args.out_at >> 2u;
  let in_from = helpers_args.in_at >> 2u;
  let n = helpers_args.n;
  var x: array<u32, 1>;
  x[0u] = n;
  var y: array<u32, 1>;
  y[0u] = 2u * n;
  var i = 0u;
  var mine: array<f32, 8>;
  for (; i < 8u; i = i + 1u) {
    mine[i] = helpers_in[in_from + i];
  }
  swap(&x, 0u, &y, 0u);
  var p: array<u32, 5>;
  p[0u] = x[0u];
  for (var i_1 = 0u; i_1 < 4u; i_1 = i_1 + 1u) {
    p[1u + i_1] = bitcast<u32>(mine[i_1] * bitcast<f32>(weights[(i_1 % 3u)]));
  }
  let t = sincos_f32(helpers_in[in_from]);
  let t_1 = sum(&mine, 0u, y[0u]);
  let t_2 = first(in_from);
  let t_3 = first_1(out_from);
  var argument: array<u32, 5>;
  quern_copy_u32_5_4_u32_5_4_20_4(&argument, &p, 0u, 0u);
  let t_4 = by_value(&argument, 0u);
  helpers_out[out_from] = t_1 + t_2 + t_3 + t_4 + bitcast<f32>(p[1u]) + t.x * t.y;
}

fn swap(a_memory: ptr<function, array<u32, 1>>, a: u32, b_memory: ptr<function, array<u32, 1>>, b: u32) {
  let t = (*a_memory)[a];
  (*a_memory)[a] = (*b_memory)[b];
  (*b_memory)[b] = t;
}

fn sincos_f32(p0: f32) -> vec2<f32> {
  var quarter: array<u32, 1>;
  let t = reduce_f32(abs(p0), &quarter, 0u);
  var both: vec2<f32>;
  var both_1 = both;
  both_1.x = sin_of_f32(t, quarter[0u], bitcast<u32>(p0) & 0x80000000u);
  both = both_1;
  var both_2 = both_1;
  both_2.y = sin_of_f32(t, quarter[0u] + 1u, 0u);
  both = both_2;
  return both_2;
}

fn sum(p_memory: ptr<function, array<f32, 8>>, p: u32, n: u32) -> f32 {
  var s = 0.0f;
  let end = u32(max(i32(n), 0i));
  for (var i = 0u; i < end; i = i + 1u) {
    s = s + (*p_memory)[p + i];
  }
  return s;
}

fn first(p: u32) -> f32 {
  return helpers_in[p + quern_helpers_local_size().x];
}

fn first_1(p: u32) -> f32 {
  return helpers_out[p + quern_helpers_local_size().x];
}

fn by_value(p_memory: ptr<function, array<u32, 5>>, p: u32) -> f32 {
  var p_1: array<u32, 5>;
  quern_copy_u32_5_4_u32_5_4_20_4(&p_1, p_memory, 0u, p);
  p_1[1u] = bitcast<u32>(bitcast<f32>(p_1[1u]) + f32(i32(p_1[0u])));
  let t = sum_1(&p_1, 1u, 4u);
  return t;
}

fn reduce_f32(a: f32, quarter_memory: ptr<function, array<u32, 1>>, quarter: u32) -> f32 {
  var r = reduce_small_f32(a, quarter_memory, quarter);
  if (131072.0f < a) {
    let t = reduce_large_f32(a);
    r = t.x;
    (*quarter_memory)[quarter] = u32(i32(t.y));
  }
  return r;
}

fn sin_of_f32(r: f32, quarter: u32, my_sign: u32) -> f32 {
  var choice: f32;
  if ((quarter & 1u) != 0u) {
    choice = cos_quarter_f32(r);
  } else {
    choice = sin_quarter_f32(r);
  }
  return bitcast<f32>(bitcast<u32>(choice) ^ ((quarter << 30u) & 0x80000000u) ^ my_sign);
}

fn sum_1(p_memory: ptr<function, array<u32, 5>>, p: u32, n: u32) -> f32 {
  var s = 0.0f;
  let end = u32(max(i32(n), 0i));
  for (var i = 0u; i < end; i = i + 1u) {
    s = s + bitcast<f32>((*p_memory)[p + i]);
  }
  return s;
}

fn reduce_small_f32(a: f32, quarter_memory: ptr<function, array<u32, 1>>, quarter: u32) -> f32 {
  let t = round(a * 0x1.45f306p-1f);
  (*quarter_memory)[quarter] = u32(i32(t));
  return quern_fma(-t, -0x1.ee59dap-50f, quern_fma(-t, -0x1.777a5cp-25f, quern_fma(-t, 0x1.921fb6p+0f, a)));
}

fn reduce_large_f32(a: f32) -> vec2<f32> {
  let t = bitcast<u32>(a);
  let t_1 = (t & 0x7fffffu) | 0x800000u;
  let position = (t >> 23u) - 120u;
  let position_1 = select(position, 0u, i32(position) < 0i);
  let word = u32(i32(position_1) / 32i);
  let word_1 = select(word, 4u, 4i < i32(word));
  let t_2 = u32(i32(position_1) % 32i);
  let t_3 = two_over_pi_f32[(word_1 + 1u)];
  let t_4 = two_over_pi_f32[(word_1 + 2u)];
  let t_5 = (t_3 << (t_2 & 31u)) | ((t_4 >> 1u) >> ((31u - t_2) & 31u));
  let t_6 = t_1 * t_5;
  let low = t_6 + quern_umulhi(t_1, (t_4 << (t_2 & 31u)) | ((two_over_pi_f32[(word_1 + 3u)] >> 1u) >> ((31u - t_2) & 31u)));
  let t_7 = t_1 * ((two_over_pi_f32[word_1] << (t_2 & 31u)) | ((t_3 >> 1u) >> ((31u - t_2) & 31u))) + quern_umulhi(t_1, t_5) + select(0u, 1u, low < t_6);
  let t_8 = (t_7 << 2u) | (low >> 30u);
  let t_9 = f32(i32(t_8 & 0xffffff00u));
  let t_10 = product_f32(t_9, 0x1.921fb6p+0f);
  var both: vec2<f32>;
  var both_1 = both;
  both_1.x = (t_10 + (quern_fma(t_9, 0x1.921fb6p+0f, -t_10) + (t_9 * -0x1.777a5cp-25f + (f32(i32(t_8 & 255u)) + f32(i32((low << 2u) >> 1u)) * (2.0f * pow2_f32(0xffffffe0u))) * 0x1.921fb6p+0f))) * pow2_f32(0xffffffe0u) + (a - a);
  both = both_1;
  var both_2 = both_1;
  both_2.y = f32(i32((t_7 + 0x20000000u) >> 30u));
  both = both_2;
  return both_2;
}

fn cos_quarter_f32(r: f32) -> f32 {
  let t = r * r;
  let t_1 = 0.5f * t;
  let t_2 = 1.0f - t_1;
  return t_2 + (1.0f - t_2 - t_1 + t * t * cos_tail_f32(t));
}

fn sin_quarter_f32(r: f32) -> f32 {
  let t = r * r;
  return r * t * sin_tail_f32(t) + r;
}

fn product_f32(a: f32, b: f32) -> f32 {
  return quern_fma(a, b, 0.0f);
}

fn pow2_f32(n: u32) -> f32 {
  return bitcast<f32>((n + 127u) << 23u);
}

fn cos_tail_f32(x: f32) -> f32 {
  return (0x1.99d65ap-16f * x + -0x1.6c0c04p-10f) * x + 0x1.55554ap-5f;
}

fn sin_tail_f32(x: f32) -> f32 {
  return (-0x1.990d76p-13f * x + 0x1.1106aap-7f) * x + -0x1.555544p-3f;
}
