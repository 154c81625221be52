@group(0) @binding(1) var<storage, read_write> sums: array<f32>;
@group(0) @binding(2) var<storage, read> source: array<f32>;

var<workgroup> part: array<f32, 256>;

@compute @workgroup_size(256)
fn reduction(@builtin(local_invocation_index) l: u32, @builtin(global_invocation_id) id: vec3u, @builtin(workgroup_id) group: vec3u) {
  part[l] = source[id.x];
  workgroupBarrier();
  for (var step = 128u; step > 0; step >>= 1) {
    if (l < step) {
      part[l] += part[l + step];
    }
    workgroupBarrier();
  }
  if (l == 0) {
    sums[group.x] = part[0];
  }
}
