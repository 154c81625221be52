// Made by Quern.

override vectors_group_x: u32 = 1u;
override vectors_group_y: u32 = 1u;
override vectors_group_z: u32 = 1u;
struct vectors_arguments {
  f_at: u32,
  i_at: u32,
  l_at: u32,
  given_0: f32,
  given_1: f32,
  given_2: f32,
  given_3: f32,
  given_4: f32,
  given_5: f32,
  given_6: f32,
  given_7: f32,
  given_8: f32,
  given_9: f32,
  given_10: f32,
  given_11: f32,
  given_12: f32,
  given_13: f32,
  given_14: f32,
  given_15: f32,
  n: u32,
}
@group(0) @binding(0) var<uniform> vectors_args: vectors_arguments;
@group(0) @binding(1) var<storage, read_write> vectors_f: array<f32>;
@group(0) @binding(2) var<storage, read_write> vectors_i: array<u32>;
@group(0) @binding(3) var<storage, read_write> vectors_l: array<u32>;

fn quern_load_vectors_f_f32x4(i: u32) -> vec4<f32> {
  return vec4<f32>(vectors_f[i], vectors_f[i + 1u], vectors_f[i + 2u], vectors_f[i + 3u]);
}

fn quern_store_vectors_f_f32x4(i: u32, v: vec4<f32>) {
  vectors_f[i] = v.x;
  vectors_f[i + 1u] = v.y;
  vectors_f[i + 2u] = v.z;
  vectors_f[i + 3u] = v.w;
}

fn quern_load_vectors_i_i32x4(i: u32) -> vec4<u32> {
  return vec4<u32>(vectors_i[i], vectors_i[i + 1u], vectors_i[i + 2u], vectors_i[i + 3u]);
}

fn quern_is_nan_x4(x: vec4<f32>) -> vec4<bool> { return (bitcast<vec4<u32>>(x) & vec4<u32>(0x7fffffffu)) > vec4<u32>(0x7f800000u); }

fn quern_ftos_sat_x4(x: vec4<f32>) -> vec4<u32> {
  let near = vec4<u32>(vec4<i32>(clamp(x, vec4<f32>(-2147483648.0f), vec4<f32>(2147483520.0f))));
  return select(select(near, vec4<u32>(0x7fffffffu), x >= vec4<f32>(2147483648.0f)), vec4<u32>(0u), quern_is_nan_x4(x));
}

fn quern_store_vectors_i_i32x4(i: u32, v: vec4<u32>) {
  vectors_i[i] = v.x;
  vectors_i[i + 1u] = v.y;
  vectors_i[i + 2u] = v.z;
  vectors_i[i + 3u] = v.w;
}

fn quern_load_vectors_l_i64(i: u32) -> vec2<u32> {
  return vec2<u32>(vectors_l[i], vectors_l[i + 1u]);
}

fn quern_add64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  let low = a.x + b.x;
  return vec2<u32>(low, a.y + b.y + select(0u, 1u, low < a.x));
}

fn quern_store_vectors_l_i64(i: u32, v: vec2<u32>) {
  vectors_l[i] = v.x;
  vectors_l[i + 1u] = v.y;
}

@compute @workgroup_size(vectors_group_x, vectors_group_y, vectors_group_z)
fn vectors(@builtin(local_invocation_id) local_id: vec3<u32>, @builtin(workgroup_id) group_id: vec3<u32>,
    @builtin(global_invocation_id) global_id: vec3<u32>, @builtin(local_invocation_index) local_index: u32) {
  let f_from = vectors_args.f_at >> 2u;
  let i_from = vectors_args.i_at >> 2u;
  let l_from = vectors_args.l_at >> 2u;
  var given: array<vec4<f32>, 4>;
  given[0u][0] = bitcast<f32>(vectors_args.given_0);
  given[0u][1] = bitcast<f32>(vectors_args.given_1);
  given[0u][2] = bitcast<f32>(vectors_args.given_2);
  given[0u][3] = bitcast<f32>(vectors_args.given_3);
  given[1u][0] = bitcast<f32>(vectors_args.given_4);
  given[1u][1] = bitcast<f32>(vectors_args.given_5);
  given[1u][2] = bitcast<f32>(vectors_args.given_6);
  given[1u][3] = bitcast<f32>(vectors_args.given_7);
  given[2u][0] = bitcast<f32>(vectors_args.given_8);
  given[2u][1] = bitcast<f32>(vectors_args.given_9);
  given[2u][2] = bitcast<f32>(vectors_args.given_10);
  given[2u][3] = bitcast<f32>(vectors_args.given_11);
  given[3u][0] = bitcast<f32>(vectors_args.given_12);
  given[3u][1] = bitcast<f32>(vectors_args.given_13);
  given[3u][2] = bitcast<f32>(vectors_args.given_14);
  given[3u][3] = bitcast<f32>(vectors_args.given_15);
  let n = vectors_args.n;
  let t = quern_load_vectors_f_f32x4(f_from) * quern_load_vectors_f_f32x4((f_from + 8u)) + vec4<f32>(2.0f);
  let t_1 = quern_load_vectors_f_f32x4(f_from + 4u) * quern_load_vectors_f_f32x4((f_from + 8u) + 4u) + vec4<f32>(2.0f);
  let t_2 = vec4<f32>(t_1.w, t.y, t.z, t.w);
  let t_3 = vec4<f32>(t_1.x, t_1.y, t_1.z, t.x);
  let t_4 = quern_load_vectors_f_f32x4(f_from + 4u);
  let t_5 = quern_load_vectors_f_f32x4((f_from + 8u));
  let t_6 = quern_load_vectors_f_f32x4((f_from + 8u) + 4u);
  quern_store_vectors_f_f32x4((f_from + 16u), select(t_2, quern_load_vectors_f_f32x4(f_from), vec4<i32>(select(vec4<u32>(0u), vec4<u32>(0xffffffffu), t_2 < t_5)) < vec4<i32>(vec4<u32>(0u))));
  quern_store_vectors_f_f32x4((f_from + 16u) + 4u, select(t_3, t_4, vec4<i32>(select(vec4<u32>(0u), vec4<u32>(0xffffffffu), t_3 < t_6)) < vec4<i32>(vec4<u32>(0u))));
  let t_7 = quern_load_vectors_i_i32x4(i_from + 4u);
  let t_8 = quern_load_vectors_i_i32x4(i_from + 8u);
  let t_9 = quern_load_vectors_i_i32x4(i_from + 12u);
  quern_store_vectors_i_i32x4((i_from + 16u), quern_load_vectors_i_i32x4(i_from) + quern_ftos_sat_x4(given[0u]));
  quern_store_vectors_i_i32x4((i_from + 16u) + 4u, t_7 + quern_ftos_sat_x4(given[1u]));
  quern_store_vectors_i_i32x4((i_from + 16u) + 8u, t_8 + quern_ftos_sat_x4(given[2u]));
  quern_store_vectors_i_i32x4((i_from + 16u) + 12u, t_9 + quern_ftos_sat_x4(given[3u]));
  let t_10 = quern_load_vectors_l_i64(l_from);
  let t_11 = quern_load_vectors_l_i64(l_from + 2u);
  let t_12 = quern_load_vectors_l_i64(l_from + 4u);
  quern_store_vectors_l_i64((l_from + 8u), quern_add64(quern_load_vectors_l_i64(l_from + 6u), vec2<u32>(vec2<i32>(i32(n)) >> vec2<u32>(0u, 31u))));
  quern_store_vectors_l_i64((l_from + 8u) + 2u, quern_add64(t_12, vec2<u32>(vec2<i32>(i32(n)) >> vec2<u32>(0u, 31u))));
  quern_store_vectors_l_i64((l_from + 8u) + 4u, quern_add64(t_11, vec2<u32>(vec2<i32>(i32(n)) >> vec2<u32>(0u, 31u))));
  quern_store_vectors_l_i64((l_from + 8u) + 6u, quern_add64(t_10, vec2<u32>(vec2<i32>(i32(n)) >> vec2<u32>(0u, 31u))));
  vectors_i[i_from + 32u + 3u] = vectors_i[i_from + (n & 15u)];
  vectors_f[(f_from + 24u)] = t_1.w;
  vectors_f[f_from + 24u + 1u] = t.z;
  vectors_f[f_from + 24u + 2u] = t_1.x;
  vectors_f[f_from + 24u + 3u] = t_1.z;
}
