// Made by Quern.

override integers_group_x: u32 = 1u;
override integers_group_y: u32 = 1u;
override integers_group_z: u32 = 1u;
struct integers_arguments {
  a_at: u32,
  b_at: u32,
  c_at: u32,
  d_at: u32,
  n: u32,
}
@group(0) @binding(0) var<uniform> integers_args: integers_arguments;
@group(0) @binding(1) var<storage, read_write> integers_a: array<u32>;
@group(0) @binding(2) var<storage, read_write> integers_b: array<u32>;
@group(0) @binding(3) var<storage, read_write> integers_c: array<atomic<u32>>;
@group(0) @binding(4) var<storage, read_write> integers_d: array<atomic<u32>>;

fn quern_sdiv(a: u32, b: u32) -> u32 {
  let none = b == u32(0u);
  let past = (b == u32(0xffffffffu)) & (a == u32(0x80000000u));
  let by = select(i32(b), i32(1), none | past);
  return select(u32(i32(a) / by), u32(0u), none);
}

fn quern_srem(a: u32, b: u32) -> u32 {
  let none = b == u32(0u);
  let past = (b == u32(0xffffffffu)) & (a == u32(0x80000000u));
  let by = select(i32(b), i32(1), none | past);
  return select(u32(i32(a) % by), a, none);
}

fn quern_udiv(a: u32, b: u32) -> u32 {
  let none = b == u32(0u);
  return select(a / select(b, u32(1u), none), u32(0u), none);
}

fn quern_urem(a: u32, b: u32) -> u32 {
  let none = b == u32(0u);
  return select(a % select(b, u32(1u), none), a, none);
}

fn quern_rotl(x: u32, n: u32, bits: u32) -> u32 {
  let up = n & u32(bits - 1u);
  return (x << up) | (x >> ((u32(bits) - up) & u32(31u)));
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

fn quern_uaddsat(a: u32, b: u32) -> u32 {
  let sum = a + b;
  return select(sum, u32(0xffffffffu), sum < a);
}

fn quern_usubsat(a: u32, b: u32) -> u32 { return a - min(a, b); }

fn quern_smulhi(a: u32, b: u32) -> u32 {
  let less = select(u32(0u), b, i32(a) < i32(0)) + select(u32(0u), a, i32(b) < i32(0));
  return quern_umulhi(a, b) - less;
}

fn quern_saddsat(a: u32, b: u32) -> u32 {
  let sum = a + b;
  let past = i32((a ^ sum) & (b ^ sum)) < i32(0);
  return select(sum, select(u32(0x7fffffffu), u32(0x80000000u), i32(a) < i32(0)), past);
}

fn quern_ssubsat(a: u32, b: u32) -> u32 {
  let difference = a - b;
  let past = i32((a ^ b) & (a ^ difference)) < i32(0);
  return select(difference, select(u32(0x7fffffffu), u32(0x80000000u), i32(a) < i32(0)), past);
}

fn quern_load_integers_c_i8(i: u32) -> u32 {
  return (atomicLoad(&integers_c[i >> 2u]) >> (((i) & 3u) * 8u)) & 0xffu;
}

fn quern_store_integers_c_i8(i: u32, v: u32) {
  atomicXor(&integers_c[i >> 2u], (atomicLoad(&integers_c[i >> 2u]) ^ ((v) << (((i) & 3u) * 8u))) & (0xffu << (((i) & 3u) * 8u)));
}

fn quern_load_integers_d_i16(i: u32) -> u32 {
  return (atomicLoad(&integers_d[i >> 2u]) >> (((i) & 3u) * 8u)) & 0xffffu;
}

fn quern_store_integers_d_i16(i: u32, v: u32) {
  atomicXor(&integers_d[i >> 2u], (atomicLoad(&integers_d[i >> 2u]) ^ ((v) << (((i) & 3u) * 8u))) & (0xffffu << (((i) & 3u) * 8u)));
}

@compute @workgroup_size(integers_group_x, integers_group_y, integers_group_z)
fn integers(@builtin(local_invocation_id) local_id: vec3<u32>, @builtin(workgroup_id) group_id: vec3<u32>,
    @builtin(global_invocation_id) global_id: vec3<u32>, @builtin(local_invocation_index) local_index: u32) {
  let a_from = integers_args.a_at >> 2u;
  let b_from = integers_args.b_at >> 2u;
  let c_from = integers_args.c_at;
  let d_from = integers_args.d_at;
  let n = integers_args.n;
  let x = integers_a[a_from];
  let y = integers_a[a_from + 1u];
  let u = integers_b[b_from];
  let v = integers_b[b_from + 1u];
  integers_a[a_from + 2u] = quern_sdiv(x, y) + quern_srem(x, y) + u32(i32(x) / 7i) - u32(i32(x) % -3i);
  integers_b[b_from + 2u] = quern_udiv(u, v) + quern_urem(u, v) + u / 7u;
  integers_a[a_from + 3u] = (x << (y & 31u)) ^ u32(i32(x) >> (n & 31u)) ^ u32(i32(x) >> 3u);
  integers_b[b_from + 3u] = quern_rotl(u, v, 32u) + quern_umulhi(u, v) + quern_uaddsat(u, v) - quern_usubsat(u, 5u);
  integers_a[a_from + 4u] = quern_smulhi(x, y) + quern_saddsat(x, y) + quern_ssubsat(x, y) + countLeadingZeros(x) + countOneBits(y) + u32(max(i32(x), i32(0u - x)));
  integers_a[a_from + 5u] = u32(max(i32(x), i32(y))) + u32(min(i32(x), i32(y))) + max(u, v);
  quern_store_integers_c_i8(c_from, u32(clamp(extractBits(i32(quern_load_integers_c_i8(c_from + 1u)), 0u, 8u) + extractBits(i32(quern_load_integers_c_i8(c_from + 2u)), 0u, 8u), i32(-128), i32(127))) & 0xffu);
  quern_store_integers_c_i8(c_from + 3u, ((quern_sdiv(u32(extractBits(i32(quern_load_integers_c_i8(c_from + 4u)), 0u, 8u)), u32(extractBits(i32(quern_load_integers_c_i8(c_from + 5u)), 0u, 8u))) + u32(extractBits(i32(quern_rotl(quern_load_integers_c_i8(c_from + 6u), quern_load_integers_c_i8(c_from + 7u), 8u) & 0xffu), 0u, 8u)))) & 0xffu);
  quern_store_integers_c_i8(c_from + 8u, ((u32(extractBits(i32(u32((extractBits(i32(quern_load_integers_c_i8(c_from + 9u)), 0u, 8u) * extractBits(i32(quern_load_integers_c_i8(c_from + 10u)), 0u, 8u)) >> u32(8u)) & 0xffu), 0u, 8u)) + u32(extractBits(i32(countLeadingZeros(quern_load_integers_c_i8(c_from + 11u)) - u32(24u)), 0u, 8u)))) & 0xffu);
  quern_store_integers_d_i16(d_from, ((quern_load_integers_d_i16(d_from + 2u) * quern_load_integers_d_i16(d_from + 4u) - min(countTrailingZeros(quern_load_integers_d_i16(d_from + 6u)), u32(16u)))) & 0xffffu);
  integers_a[a_from + 6u] = select(0u, 1u, i32(x) < i32(y)) + select(0u, 1u, u < v) + select(0u, 1u, i32(u32(extractBits(i32(quern_load_integers_c_i8(c_from + 12u)), 0u, 8u))) < i32(u32(extractBits(i32(quern_load_integers_c_i8(c_from + 13u)), 0u, 8u))));
}
