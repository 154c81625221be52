// The barrier stands in a loop whose condition WGSL must find uniform: `step` starts from an override constant and is only
// halved. What our analysis proves and WGSL's doesn't goes through workgroupUniformLoad.
struct Args {
  in_: u32,
  out: u32,
}
@group(0) @binding(0) var<uniform> args: Args;
@group(0) @binding(1) var<storage, read> in_: array<f32>;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;

override local_x: u32 = 64;
override tile_length: u32 = 64;
var<workgroup> tile: array<f32, tile_length>;

@compute @workgroup_size(local_x, 1, 1)
fn barrier_loop(@builtin(global_invocation_id) global_id: vec3<u32>, @builtin(local_invocation_id) local_id: vec3<u32>,
                @builtin(workgroup_id) group_id: vec3<u32>) {
  let lid = i32(local_id.x);
  tile[lid] = in_[args.in_ / 4u + global_id.x];
  var step = i32(local_x / 2u);
  loop {
    if (0 < step) {
    } else {
      break;
    }
    workgroupBarrier();
    if (lid < step) {
      tile[lid] = tile[lid] + tile[lid + step];
    }
    continuing {
      step = step / 2;
    }
  }
  if (lid == 0) {
    out[args.out / 4u + group_id.x] = tile[0];
  }
}
