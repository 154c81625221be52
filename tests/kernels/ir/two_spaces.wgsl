// A pointer parameter is an index into the array that it can point into; the function is copied for each combination of
// arrays that it is called with. Here that is one: (in_, weights).
struct Args {
  in_: u32,
  out: u32,
  n: i32,
}
@group(0) @binding(0) var<uniform> args: Args;
@group(0) @binding(1) var<storage, read> in_: array<f32>;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;

override local_x: u32 = 64;
var<workgroup> weights: array<f32, 64>;

fn weigh_in_weights(row: u32, first: u32, n: i32) -> f32 {
  var sum = 0.0;
  var k = 0;
  loop {
    if (k < n) {
    } else {
      break;
    }
    sum = sum + in_[row + u32(k)] * weights[first + u32(k)];
    continuing {
      k = k + 1;
    }
  }
  return sum;
}

@compute @workgroup_size(local_x, 1, 1)
fn two_spaces(@builtin(global_invocation_id) global_id: vec3<u32>, @builtin(local_invocation_id) local_id: vec3<u32>) {
  let i = i32(global_id.x);
  let lid = i32(local_id.x);
  let base = args.in_ / 4u;
  weights[u32(lid & 63)] = in_[base + u32(lid)];
  workgroupBarrier();
  let row = weigh_in_weights(base + u32(i * args.n), 0u, args.n);
  out[args.out / 4u + u32(i)] = row + weigh_in_weights(base + u32(args.n), 8u, 8);
}
