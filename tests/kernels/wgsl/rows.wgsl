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
override turned_group_x: u32 = 1u;
override turned_group_y: u32 = 1u;
override turned_group_z: u32 = 1u;
struct turned_arguments {
  range: quern_range,
  out_at: u32,
  in_at: u32,
  n: u32,
}
@group(0) @binding(0) var<uniform> turned_args: turned_arguments;
@group(0) @binding(1) var<storage, read_write> turned_out: array<f32>;
@group(0) @binding(2) var<storage, read> turned_in: array<f32>;
var<workgroup> tile: array<array<f32, 17>, 16>;

override counted_group_x: u32 = 1u;
override counted_group_y: u32 = 1u;
override counted_group_z: u32 = 1u;
struct counted_arguments {
  range: quern_range,
  out_at: u32,
}
@group(0) @binding(0) var<uniform> counted_args: counted_arguments;
@group(0) @binding(1) var<storage, read_write> counted_out: array<u32>;
var<workgroup> count: array<atomic<u32>, 32>;

override walked_group_x: u32 = 1u;
override walked_group_y: u32 = 1u;
override walked_group_z: u32 = 1u;
struct walked_arguments {
  range: quern_range,
  out_at: u32,
}
@group(0) @binding(0) var<uniform> walked_args: walked_arguments;
@group(0) @binding(1) var<storage, read_write> walked_out: array<u32>;
var<workgroup> part: array<u32, 64>;

override signs_group_x: u32 = 1u;
override signs_group_y: u32 = 1u;
override signs_group_z: u32 = 1u;
struct signs_arguments {
  range: quern_range,
  out_at: u32,
}
@group(0) @binding(0) var<uniform> signs_args: signs_arguments;
@group(0) @binding(1) var<storage, read_write> signs_out: array<u32>;
var<workgroup> part_1: array<array<u32, 5>, 3>;

fn quern_walked_local_size() -> vec3<u32> { return vec3<u32>(walked_group_x, walked_group_y, walked_group_z); }

@compute @workgroup_size(turned_group_x, turned_group_y, turned_group_z)
fn turned(@builtin(local_invocation_id) local_id: vec3<u32>, @builtin(workgroup_id) group_id: vec3<u32>,
    @builtin(global_invocation_id) global_id: vec3<u32>, @builtin(local_invocation_index) local_index: u32) {
  let out_from = turned_args.out_at >> 2u;
  let in_from = turned_args.in_at >> 2u;
  let n = turned_args.n;
  let x = local_id.x;
  let y = local_id.y;
  tile[y][x] = turned_in[in_from + (((turned_args.range.group_base.y + group_id.y) * 16u + y) * n + (turned_args.range.group_base.x + group_id.x) * 16u + x)];
  workgroupBarrier();
  turned_out[out_from + (((turned_args.range.group_base.x + group_id.x) * 16u + y) * n + (turned_args.range.group_base.y + group_id.y) * 16u + x)] = tile[x][y] + tile[0u][16u] * 0.0f;
}

@compute @workgroup_size(counted_group_x, counted_group_y, counted_group_z)
fn counted(@builtin(local_invocation_id) local_id: vec3<u32>, @builtin(workgroup_id) group_id: vec3<u32>,
    @builtin(global_invocation_id) global_id: vec3<u32>, @builtin(local_invocation_index) local_index: u32) {
  let out_from = counted_args.out_at >> 2u;
  let l = local_id.x;
  atomicStore(&count[(l & 3u) * 8u + ((l >> 2u) & 7u)], 0u);
  workgroupBarrier();
  _ = atomicAdd(&count[(l & 3u) * 8u + 1u], 1u);
  workgroupBarrier();
  counted_out[out_from + (counted_args.range.origin.x + global_id.x)] = atomicLoad(&count[(l & 3u) * 8u + 1u]);
}

@compute @workgroup_size(walked_group_x, walked_group_y, walked_group_z)
fn walked(@builtin(local_invocation_id) local_id: vec3<u32>, @builtin(workgroup_id) group_id: vec3<u32>,
    @builtin(global_invocation_id) global_id: vec3<u32>, @builtin(local_invocation_index) local_index: u32) {
  let out_from = walked_args.out_at >> 2u;
  let l = local_id.x & 7u;
  var sum = 0u;
  for (var i = 0u; i < 8u; i = i + 1u) {
    part[l * 8u + i] = l * i;
  }
  workgroupBarrier();
  var row = (l * 8u);
  for (var i_1 = 0u; i_1 < 8u; i_1 = i_1 + 1u) {
    let t = row;
    row = t + 1u;
    sum = sum + part[t];
  }
  walked_out[out_from + (walked_args.range.origin.x + global_id.x)] = sum + quern_walked_local_size().x;
}

@compute @workgroup_size(signs_group_x, signs_group_y, signs_group_z)
fn signs(@builtin(local_invocation_id) local_id: vec3<u32>, @builtin(workgroup_id) group_id: vec3<u32>,
    @builtin(global_invocation_id) global_id: vec3<u32>, @builtin(local_invocation_index) local_index: u32) {
  let out_from = signs_args.out_at >> 2u;
  let l = ((local_id.x % 3u)) & 0xffu;
  let t = local_id.x % 5u;
  part_1[u32(extractBits(i32(l), 0u, 8u))][t] = 0u - u32(extractBits(i32(l), 0u, 8u));
  part_1[u32(extractBits(i32(l), 0u, 8u))][t] = part_1[u32(extractBits(i32(l), 0u, 8u))][t] + 2u;
  signs_out[out_from + (signs_args.range.origin.x + global_id.x)] = part_1[u32(extractBits(i32(l), 0u, 8u))][t];
}
