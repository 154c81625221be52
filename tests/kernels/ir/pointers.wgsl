// A global pointer is (array, byte offset), with 32-bit offsets. The array that `bytes` names is touched as words of two
// sizes: it is an array of u32, and a load of 16 bits shifts and masks.
struct Args {
  bytes: u32,
  out: u32,
  n: i32,
}
@group(0) @binding(0) var<uniform> args: Args;
@group(0) @binding(1) var<storage, read> bytes: array<u32>;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;

override local_x: u32 = 64;

@compute @workgroup_size(local_x, 1, 1)
fn pointers(@builtin(global_invocation_id) global_id: vec3<u32>) {
  let words = args.bytes + 8u;
  let i = i32(global_id.x);
  if (args.n <= i) {
    return;
  }
  let p = words + u32(2 * i) * 4u;
  let second = bytes[(p + 4u) / 4u];
  let half_at = p + 2u;
  let half = (bytes[half_at / 4u] >> ((half_at & 2u) * 8u)) & 0xffffu;
  out[(args.out + u32(i) * 4u) / 4u] = bitcast<f32>(second) + f32(i32(half));
}
