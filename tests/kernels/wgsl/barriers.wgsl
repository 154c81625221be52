// Made by Quern.

var<workgroup> quern_shared: u32;

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
override barriers_group_x: u32 = 1u;
override barriers_group_y: u32 = 1u;
override barriers_group_z: u32 = 1u;
struct barriers_arguments {
  range: quern_range,
  out_at: u32,
  in_at: u32,
  n: u32,
}
@group(0) @binding(0) var<uniform> barriers_args: barriers_arguments;
@group(0) @binding(1) var<storage, read_write> barriers_out: array<u32>;
@group(0) @binding(2) var<storage, read> barriers_in: array<u32>;
override barriers_t_length: u32 = 1u;
var<workgroup> barriers_t: array<u32, barriers_t_length>;

fn quern_same(value: u32, index: u32) -> u32 {
  if (index == 0u) {
    quern_shared = value;
  }
  return workgroupUniformLoad(&quern_shared);
}

@compute @workgroup_size(barriers_group_x, barriers_group_y, barriers_group_z)
fn barriers(@builtin(local_invocation_id) local_id: vec3<u32>, @builtin(workgroup_id) group_id: vec3<u32>,
    @builtin(global_invocation_id) global_id: vec3<u32>, @builtin(local_invocation_index) local_index: u32) {
  let out_from = barriers_args.out_at >> 2u;
  let in_from = barriers_args.in_at >> 2u;
  let n = barriers_args.n;
  var n_1 = n;
  let lid = local_id.x;
  if (quern_same(select(0u, 1u, n <= barriers_args.range.origin.x + global_id.x), local_index) != 0u) {
    return;
  }
  var i = 0u;
  loop {
    var skips = false;
    if (quern_same(select(0u, 1u, !(i32(i) < i32(barriers_in[in_from]))), local_index) != 0u) {
      break;
    }
    workgroupBarrier();
    barriers_t[lid] = i;
    if ((lid & 1u) == 0u) {
      barriers_t[lid] = barriers_t[lid] + barriers_in[in_from + lid];
      switch (barriers_in[in_from + (lid + i)] & 3u) {
        case 0u: {
          skips = true;
          break;
        }
        case 1u: {
          barriers_t[lid] = barriers_t[lid] + 1u;
        }
        default: {
        }
      }
      if (!skips) {
        barriers_t[lid] = barriers_t[lid] ^ 5u;
      }
    }
    continuing {
      i = i + 1u;
    }
  }
  loop {
    workgroupBarrier();
    n_1 = n_1 - 1u;
    continuing {
      break if quern_same(select(0u, 1u, !(i32(barriers_t[0u]) < i32(n_1))), local_index) != 0u;
    }
  }
  if (quern_same(select(0u, 1u, 4i < i32(barriers_in[in_from + 1u])), local_index) != 0u) {
    storageBarrier();
    barriers_out[out_from + lid] = barriers_t[(lid ^ 1u)];
  }
}
