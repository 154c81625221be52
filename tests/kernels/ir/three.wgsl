// float3 has WGSL's own stride of 16; packed triples are arrays of f32. Two arrays may be one buffer at run time only if
// neither is written: WebGPU refuses such bindings, the runtime says so.
struct Args {
  packed: u32,
  padded: u32,
  out: u32,
}
@group(0) @binding(0) var<uniform> args: Args;
@group(0) @binding(1) var<storage, read> packed: array<f32>;
@group(0) @binding(2) var<storage, read_write> padded: array<vec3<f32>>;
@group(0) @binding(3) var<storage, read_write> out: array<f32>;

override local_x: u32 = 64;

@compute @workgroup_size(local_x, 1, 1)
fn three(@builtin(global_invocation_id) global_id: vec3<u32>) {
  let i = global_id.x;
  let from_ = args.packed / 4u + i * 3u;
  var v = vec3<f32>(packed[from_], packed[from_ + 1u], packed[from_ + 2u]);
  let doubled = v.xy * 2.0;
  v = vec3<f32>(doubled.y, v.y, doubled.x);
  let at = args.padded / 16u + i;
  padded[at].y = v.z;
  padded[at].z = v.y;
  let sum = v + padded[at];
  let to = args.out / 4u + i * 3u;
  out[to] = sum.x;
  out[to + 1u] = sum.y;
  out[to + 2u] = sum.z;
}
