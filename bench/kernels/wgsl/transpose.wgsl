struct Parameters { width: u32, height: u32 }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read_write> result: array<f32>;
@group(0) @binding(2) var<storage, read> source: array<f32>;

var<workgroup> part: array<array<f32, 17>, 16>;

@compute @workgroup_size(16, 16)
fn transpose(@builtin(local_invocation_id) local: vec3u, @builtin(workgroup_id) group: vec3u) {
  let at = group.xy * 16;
  part[local.y][local.x] = source[(at.y + local.y) * parameters.width + at.x + local.x];
  workgroupBarrier();
  result[(at.x + local.y) * parameters.height + at.y + local.x] = part[local.x][local.y];
}
