// No 16-bit integers in memory: a struct with a short in it is an array of u32, and its fields are read and written by
// offset. A struct of 32-bit fields could stay a WGSL struct, when its layout is WGSL's as well.
struct World {
  gravity: vec4<f32>,
  step: f32,
}
struct Args {
  all: u32,
  w: World,
}
@group(0) @binding(0) var<uniform> args: Args;
@group(0) @binding(1) var<storage, read_write> all: array<u32>;

override local_x: u32 = 64;

struct Particle {
  position: vec4<f32>,
  mass: f32,
  tag: array<i32, 3>,
}

fn load_particle(at: u32) -> Particle {
  var p: Particle;
  p.position = bitcast<vec4<f32>>(vec4<u32>(all[at], all[at + 1u], all[at + 2u], all[at + 3u]));
  p.mass = bitcast<f32>(all[at + 4u]);
  p.tag[0] = i32(all[at + 5u] << 16u) >> 16u;
  p.tag[1] = i32(all[at + 5u]) >> 16u;
  p.tag[2] = i32(all[at + 6u] << 16u) >> 16u;
  return p;
}

fn store_particle(at: u32, p: Particle) {
  let position = bitcast<vec4<u32>>(p.position);
  all[at] = position.x;
  all[at + 1u] = position.y;
  all[at + 2u] = position.z;
  all[at + 3u] = position.w;
  all[at + 4u] = bitcast<u32>(p.mass);
  all[at + 5u] = (u32(p.tag[0]) & 0xffffu) | (u32(p.tag[1]) << 16u);
  // The two bytes of padding behind tag[2] belong to the struct: a copy may write them.
  all[at + 6u] = u32(p.tag[2]) & 0xffffu;
}

@compute @workgroup_size(local_x, 1, 1)
fn structs(@builtin(global_invocation_id) global_id: vec3<u32>) {
  let at = args.all / 4u + global_id.x * 8u;
  var p = load_particle(at);
  p.position = p.position + args.w.gravity * vec4<f32>(args.w.step);
  p.tag[1] = select(0, 1, 1.0 < p.mass);
  store_particle(at, p);
}
