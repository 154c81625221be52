// Made by Quern.

const table = array<u32, 4>(1u, 2u, 3u, 4u);

override flat_group_x: u32 = 1u;
override flat_group_y: u32 = 1u;
override flat_group_z: u32 = 1u;
struct flat_arguments {
  a_at: u32,
  a_address: u32,
  b_at: u32,
  b_address: u32,
  bytes_at: u32,
  bytes_address: u32,
  c_at: u32,
  c_address: u32,
  n: u32,
}
@group(0) @binding(0) var<uniform> flat_args: flat_arguments;
@group(0) @binding(1) var<storage, read_write> flat_a: array<atomic<u32>>;
@group(0) @binding(2) var<storage, read_write> flat_b: array<atomic<u32>>;
@group(0) @binding(3) var<storage, read_write> flat_bytes: array<atomic<u32>>;
@group(0) @binding(4) var<storage, read> flat_c: array<u32>;

fn quern_load_flat_flat_a_flat_b_i32(i: u32) -> u32 {
  if (i >= flat_args.b_address) {
    return atomicLoad(&flat_b[((i - flat_args.b_address + flat_args.b_at) >> 2u)]);
  }
  return atomicLoad(&flat_a[((i - flat_args.a_address + flat_args.a_at) >> 2u)]);
}

fn quern_store_flat_flat_a_flat_b_i32(i: u32, v: u32) {
  if (i >= flat_args.b_address) {
    atomicStore(&flat_b[((i - flat_args.b_address + flat_args.b_at) >> 2u)], v);
    return;
  }
  atomicStore(&flat_a[((i - flat_args.a_address + flat_args.a_at) >> 2u)], v);
}

fn quern_atomic_add_flat_flat_a_flat_b(i: u32, v: u32) -> u32 {
  if (i >= flat_args.b_address) {
    return atomicAdd(&flat_b[((i - flat_args.b_address + flat_args.b_at) >> 2u)], v);
  }
  return atomicAdd(&flat_a[((i - flat_args.a_address + flat_args.a_at) >> 2u)], v);
}

fn quern_load_flat_flat_c_table_i32(i: u32) -> u32 {
  if (i >= flat_args.c_address) {
    return flat_c[((i - flat_args.c_address + flat_args.c_at) >> 2u)];
  }
  return table[((i - (0x100u)) >> 2u)];
}

fn quern_store_flat_bytes_i8(i: u32, v: u32) {
  atomicXor(&flat_bytes[i >> 2u], (atomicLoad(&flat_bytes[i >> 2u]) ^ ((v) << (((i) & 3u) * 8u))) & (0xffu << (((i) & 3u) * 8u)));
}

fn quern_store_flat_flat_bytes_i8(i: u32, v: u32) {
  quern_store_flat_bytes_i8(i - flat_args.bytes_address + flat_args.bytes_at, v);
}

@compute @workgroup_size(flat_group_x, flat_group_y, flat_group_z)
fn flat(@builtin(local_invocation_id) local_id: vec3<u32>, @builtin(workgroup_id) group_id: vec3<u32>,
    @builtin(global_invocation_id) global_id: vec3<u32>, @builtin(local_invocation_index) local_index: u32) {
  let n = flat_args.n;
  var p = select((flat_args.b_address), (flat_args.a_address), 3i < i32(n));
  let end = u32(max(i32(n), 0i));
  for (var i = 0u; i < end; i = i + 1u) {
    let t = p;
    p = t + 4u;
    quern_store_flat_flat_a_flat_b_i32(t, quern_load_flat_flat_a_flat_b_i32(t) + i);
  }
  _ = quern_atomic_add_flat_flat_a_flat_b(p, 5u);
  var choice: u32;
  if ((n & 1u) != 0u) {
    choice = (0x100u);
  } else {
    choice = (flat_args.c_address);
  }
  var choice_1: u32;
  if (3i < i32(n)) {
    choice_1 = u32((i32(p) - i32((flat_args.a_address))) / 4);
  } else {
    choice_1 = 0u;
  }
  quern_store_flat_flat_a_flat_b_i32((flat_args.b_address), quern_load_flat_flat_c_table_i32(choice + (n & 3u) * 4u) + select(0u, 1u, p == (flat_args.a_address)) + choice_1);
  if (((flat_args.bytes_address) != 0xffffffffu) & ((select((flat_args.bytes_address), 0u, (flat_args.bytes_address) == 0xffffffffu) & 3u) == 0u)) {
    quern_store_flat_flat_bytes_i8((flat_args.bytes_address) + n, 1u);
  }
}
