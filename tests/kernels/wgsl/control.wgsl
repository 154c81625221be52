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
override control_group_x: u32 = 1u;
override control_group_y: u32 = 1u;
override control_group_z: u32 = 1u;
struct control_arguments {
  range: quern_range,
  out_at: u32,
  n: u32,
}
@group(0) @binding(0) var<uniform> control_args: control_arguments;
@group(0) @binding(1) var<storage, read_write> control_out: array<u32>;

@compute @workgroup_size(control_group_x, control_group_y, control_group_z)
fn control(@builtin(local_invocation_id) local_id: vec3<u32>, @builtin(workgroup_id) group_id: vec3<u32>,
    @builtin(global_invocation_id) global_id: vec3<u32>, @builtin(local_invocation_index) local_index: u32) {
  let out_from = control_args.out_at >> 2u;
  let n = control_args.n;
  var i = 0u;
  var sum = 0u;
  while (i32(i) < i32(n)) {
    if (i == 3u) {
      i = i + 2u;
      continue;
    }
    let end = u32(max(i32(i), 0i));
    for (var k = 0u; k < end; k = k + 1u) {
      if (k == 5u) {
        break;
      }
      sum = sum + k;
    }
    i = i + 1u;
  }
  loop {
    sum = sum - i;
    continuing {
      i = i - 1u;
      break if !(2i < i32(i));
    }
  }
  var group = 1u;
  var at = 2u;
  switch (n) {
    case 1u: {
      group = 0u;
      at = 0u;
    }
    case 2u: {
      group = 0u;
      at = 0u;
    }
    case 0xfffffffdu: {
      group = 1u;
      at = 1u;
    }
    default: {
    }
  }
  switch (group) {
    case 0u: {
      sum = 1u;
      break;
    }
    case 1u: {
      if (at <= 1u) {
        sum = 2u;
      }
      sum = sum + 3u;
    }
    default: {
    }
  }
  while ((sum & 1u) == 0u) {
    sum = u32(i32(sum) / 2i) + 7u;
    if (sum == 100u) {
      return;
    }
  }
  control_out[out_from + (control_args.range.origin.x + global_id.x)] = sum;
}
