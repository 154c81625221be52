struct Parameters { count: u32 }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read_write> result: array<u32>;
@group(0) @binding(2) var<storage, read> points: array<vec4f>;
@group(0) @binding(3) var<storage, read> centres: array<vec4f>;

@compute @workgroup_size(64)
fn nearest(@builtin(global_invocation_id) id: vec3u) {
  let p = points[id.x];
  var best = 3.402823e38;
  var which = 0u;
  for (var c = 0u; c < parameters.count; c++) {
    let d = p - centres[c];
    let distance = dot(d, d);
    if (distance < best) {
      best = distance;
      which = c;
    }
  }
  result[id.x] = which;
}
