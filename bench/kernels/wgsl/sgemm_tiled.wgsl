struct Parameters { n: u32 }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read_write> c: array<f32>;
@group(0) @binding(2) var<storage, read> a: array<f32>;
@group(0) @binding(3) var<storage, read> b: array<f32>;

const TILE = 16u;
var<workgroup> ta: array<array<f32, TILE>, TILE>;
var<workgroup> tb: array<array<f32, TILE>, TILE>;

@compute @workgroup_size(TILE, TILE)
fn sgemm_tiled(@builtin(local_invocation_id) local: vec3u, @builtin(global_invocation_id) id: vec3u) {
  let n = parameters.n;
  var sum = 0.0;
  for (var t = 0u; t < n; t += TILE) {
    ta[local.y][local.x] = a[id.y * n + t + local.x];
    tb[local.y][local.x] = b[(t + local.y) * n + id.x];
    workgroupBarrier();
    for (var k = 0u; k < TILE; k++) {
      sum += ta[local.y][k] * tb[k][local.x];
    }
    workgroupBarrier();
  }
  c[id.y * n + id.x] = sum;
}
