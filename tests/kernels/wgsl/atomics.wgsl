// Made by Quern.

override atomics_group_x: u32 = 1u;
override atomics_group_y: u32 = 1u;
override atomics_group_z: u32 = 1u;
struct atomics_arguments {
  a_at: u32,
  b_at: u32,
  f_at: u32,
}
@group(0) @binding(0) var<uniform> atomics_args: atomics_arguments;
@group(0) @binding(1) var<storage, read_write> atomics_a: array<atomic<u32>>;
@group(0) @binding(2) var<storage, read_write> atomics_b: array<atomic<u32>>;
@group(0) @binding(3) var<storage, read_write> atomics_f: array<atomic<u32>>;
override atomics_l_length: u32 = 1u;
var<workgroup> atomics_l: array<atomic<u32>, atomics_l_length>;

fn quern_atomic_cmpxchg_atomics_a(i: u32, expected: u32, v: u32) -> u32 {
  loop {
    let r = atomicCompareExchangeWeak(&atomics_a[i], expected, v);
    if (r.exchanged || r.old_value != expected) {
      return r.old_value;
    }
  }
  return 0u;
}

fn quern_atomic_smin_atomics_a(i: u32, v: u32) -> u32 {
  var old = atomicLoad(&atomics_a[i]);
  loop {
    let r = atomicCompareExchangeWeak(&atomics_a[i], old, u32(min(i32(old), i32(v))));
    if (r.exchanged) {
      return old;
    }
    old = r.old_value;
  }
  return old;
}

fn quern_atomic_smax_atomics_a(i: u32, v: u32) -> u32 {
  var old = atomicLoad(&atomics_a[i]);
  loop {
    let r = atomicCompareExchangeWeak(&atomics_a[i], old, u32(max(i32(old), i32(v))));
    if (r.exchanged) {
      return old;
    }
    old = r.old_value;
  }
  return old;
}

@compute @workgroup_size(atomics_group_x, atomics_group_y, atomics_group_z)
fn atomics(@builtin(local_invocation_id) local_id: vec3<u32>, @builtin(workgroup_id) group_id: vec3<u32>,
    @builtin(global_invocation_id) global_id: vec3<u32>, @builtin(local_invocation_index) local_index: u32) {
  let a_from = atomics_args.a_at >> 2u;
  let b_from = atomics_args.b_at >> 2u;
  let f_from = atomics_args.f_at >> 2u;
  let lid = local_id.x;
  let t = atomicAdd(&atomics_a[a_from + 1u], 1u);
  let t_1 = atomicSub(&atomics_a[a_from + 2u], 2u);
  let t_2 = atomicExchange(&atomics_a[a_from + 3u], 3u);
  let t_3 = quern_atomic_cmpxchg_atomics_a(a_from + 4u, 4u, 5u);
  atomicStore(&atomics_a[a_from], t + t_1 + t_2 + t_3);
  let t_4 = quern_atomic_smin_atomics_a(a_from + 6u, 0xffffffffu);
  let t_5 = quern_atomic_smax_atomics_a(a_from + 7u, 1u);
  let t_6 = atomicAnd(&atomics_a[a_from + 8u], 3u);
  let t_7 = atomicOr(&atomics_a[a_from + 9u], 4u);
  let t_8 = atomicXor(&atomics_a[a_from + 10u], 5u);
  atomicStore(&atomics_a[a_from + 5u], t_4 + t_5 + t_6 + t_7 + t_8);
  let t_9 = atomicMin(&atomics_b[b_from + 1u], 3u);
  let t_10 = atomicMax(&atomics_b[b_from + 2u], 4u);
  let t_11 = atomicAdd(&atomics_b[b_from + 3u], 1u);
  let t_12 = atomicSub(&atomics_b[b_from + 4u], 1u);
  atomicStore(&atomics_b[b_from], t_9 + t_10 + t_11 + t_12);
  _ = bitcast<f32>(atomicExchange(&atomics_f[f_from], bitcast<u32>(2.0f)));
  _ = atomicAdd(&atomics_l[(lid & 3u)], lid);
  workgroupBarrier();
  atomicStore(&atomics_a[a_from + 11u], atomicLoad(&atomics_l[0u]));
}
