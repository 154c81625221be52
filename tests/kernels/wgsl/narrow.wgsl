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
override narrow_group_x: u32 = 1u;
override narrow_group_y: u32 = 1u;
override narrow_group_z: u32 = 1u;
struct narrow_arguments {
  range: quern_range,
  bytes_at: u32,
  shorts_at: u32,
  fours_at: u32,
  t_at: u32,
  read_at: u32,
  n: u32,
}
@group(0) @binding(0) var<uniform> narrow_args: narrow_arguments;
@group(0) @binding(1) var<storage, read_write> narrow_bytes: array<atomic<u32>>;
@group(0) @binding(2) var<storage, read_write> narrow_shorts: array<atomic<u32>>;
@group(0) @binding(3) var<storage, read_write> narrow_fours: array<u32>;
@group(0) @binding(4) var<storage, read_write> narrow_t: array<atomic<u32>>;
@group(0) @binding(5) var<storage, read> narrow_read: array<u32>;

fn quern_load_narrow_read_i8(i: u32) -> u32 {
  return (narrow_read[i >> 2u] >> (((i) & 3u) * 8u)) & 0xffu;
}

fn quern_store_narrow_bytes_i8(i: u32, v: u32) {
  atomicXor(&narrow_bytes[i >> 2u], (atomicLoad(&narrow_bytes[i >> 2u]) ^ ((v) << (((i) & 3u) * 8u))) & (0xffu << (((i) & 3u) * 8u)));
}

fn quern_load_narrow_shorts_i16(i: u32) -> u32 {
  return (atomicLoad(&narrow_shorts[i >> 2u]) >> (((i) & 3u) * 8u)) & 0xffffu;
}

fn quern_store_narrow_shorts_i16(i: u32, v: u32) {
  atomicXor(&narrow_shorts[i >> 2u], (atomicLoad(&narrow_shorts[i >> 2u]) ^ ((v) << (((i) & 3u) * 8u))) & (0xffffu << (((i) & 3u) * 8u)));
}

fn quern_load_narrow_fours_i8x4_words(i: u32) -> vec4<u32> {
  let w0 = narrow_fours[i];
  return vec4<u32>((w0 >> 0u) & 0xffu, (w0 >> 8u) & 0xffu, (w0 >> 16u) & 0xffu, (w0 >> 24u) & 0xffu);
}

fn quern_store_narrow_fours_i8x4_words(i: u32, v: vec4<u32>) {
  narrow_fours[i] = v.x | (v.y << 8u) | (v.z << 16u) | (v.w << 24u);
}

fn quern_load_narrow_t_i8(i: u32) -> u32 {
  return (atomicLoad(&narrow_t[i >> 2u]) >> (((i) & 3u) * 8u)) & 0xffu;
}

fn quern_store_narrow_t_i32_bytes(i: u32, v: u32) {
  atomicXor(&narrow_t[i >> 2u], (atomicLoad(&narrow_t[i >> 2u]) ^ (((((v) >> 0u)) & 0xffu) << (((i) & 3u) * 8u))) & (0xffu << (((i) & 3u) * 8u)));
  atomicXor(&narrow_t[(i + 1u) >> 2u], (atomicLoad(&narrow_t[(i + 1u) >> 2u]) ^ (((((v) >> 8u)) & 0xffu) << (((i + 1u) & 3u) * 8u))) & (0xffu << (((i + 1u) & 3u) * 8u)));
  atomicXor(&narrow_t[(i + 2u) >> 2u], (atomicLoad(&narrow_t[(i + 2u) >> 2u]) ^ (((((v) >> 16u)) & 0xffu) << (((i + 2u) & 3u) * 8u))) & (0xffu << (((i + 2u) & 3u) * 8u)));
  atomicXor(&narrow_t[(i + 3u) >> 2u], (atomicLoad(&narrow_t[(i + 3u) >> 2u]) ^ (((((v) >> 24u)) & 0xffu) << (((i + 3u) & 3u) * 8u))) & (0xffu << (((i + 3u) & 3u) * 8u)));
}

fn quern_load_narrow_read_i8x3(i: u32) -> vec3<u32> {
  return vec3<u32>((narrow_read[i >> 2u] >> (((i) & 3u) * 8u)) & 0xffu, (narrow_read[(i + 1u) >> 2u] >> (((i + 1u) & 3u) * 8u)) & 0xffu, (narrow_read[(i + 2u) >> 2u] >> (((i + 2u) & 3u) * 8u)) & 0xffu);
}

fn quern_store_narrow_shorts_i16x3(i: u32, v: vec3<u32>) {
  atomicXor(&narrow_shorts[i >> 2u], (atomicLoad(&narrow_shorts[i >> 2u]) ^ ((v.x) << (((i) & 3u) * 8u))) & (0xffffu << (((i) & 3u) * 8u)));
  atomicXor(&narrow_shorts[(i + 2u) >> 2u], (atomicLoad(&narrow_shorts[(i + 2u) >> 2u]) ^ ((v.y) << (((i + 2u) & 3u) * 8u))) & (0xffffu << (((i + 2u) & 3u) * 8u)));
  atomicXor(&narrow_shorts[(i + 4u) >> 2u], (atomicLoad(&narrow_shorts[(i + 4u) >> 2u]) ^ ((v.z) << (((i + 4u) & 3u) * 8u))) & (0xffffu << (((i + 4u) & 3u) * 8u)));
}

@compute @workgroup_size(narrow_group_x, narrow_group_y, narrow_group_z)
fn narrow(@builtin(local_invocation_id) local_id: vec3<u32>, @builtin(workgroup_id) group_id: vec3<u32>,
    @builtin(global_invocation_id) global_id: vec3<u32>, @builtin(local_invocation_index) local_index: u32) {
  let bytes_from = narrow_args.bytes_at;
  let shorts_from = narrow_args.shorts_at;
  let fours_from = narrow_args.fours_at >> 2u;
  let t_from = narrow_args.t_at;
  let read_from = narrow_args.read_at;
  let n = narrow_args.n;
  let i = narrow_args.range.origin.x + global_id.x;
  quern_store_narrow_bytes_i8(bytes_from + i, ((u32(extractBits(i32(quern_load_narrow_read_i8(read_from + i)), 0u, 8u)) + 1u)) & 0xffu);
  quern_store_narrow_shorts_i16(shorts_from + i * 2u, ((u32(extractBits(i32(quern_load_narrow_shorts_i16(shorts_from + i * 2u)), 0u, 16u)) + n)) & 0xffffu);
  let t_1 = quern_load_narrow_fours_i8x4_words(fours_from + i);
  quern_store_narrow_fours_i8x4_words(fours_from + i, t_1.wzyx);
  quern_store_narrow_t_i32_bytes(t_from + i * 5u + 1u, u32(extractBits(i32(quern_load_narrow_t_i8((t_from + i * 5u))), 0u, 8u)));
  quern_store_narrow_shorts_i16x3(shorts_from + (i * 3u) * 2u, vec3<u32>(extractBits(vec3<i32>(quern_load_narrow_read_i8x3(read_from + i * 3u)), 0u, 8u)) & vec3<u32>(0xffffu));
}
