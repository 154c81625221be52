@group(0) @binding(1) var<storage, read_write> result: array<f32>;
@group(0) @binding(2) var<storage, read> source: array<f32>;

var<workgroup> part: array<array<f32, 256>, 2>;

// Inclusive sums within each work-group.
@compute @workgroup_size(256)
fn scan(@builtin(local_invocation_index) l: u32, @builtin(global_invocation_id) id: vec3u) {
  var side = 0u;
  part[0][l] = source[id.x];
  workgroupBarrier();
  for (var step = 1u; step < 256; step *= 2) {
    var sum = part[side][l];
    if (l >= step) {
      sum += part[side][l - step];
    }
    side = 1 - side;
    part[side][l] = sum;
    workgroupBarrier();
  }
  result[id.x] = part[side][l];
}
