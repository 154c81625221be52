struct Parameters { n: u32 }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read_write> result: array<f32>;
@group(0) @binding(2) var<storage, read> source: array<f32>;

@compute @workgroup_size(64, 2, 1)
fn stencil7(@builtin(global_invocation_id) id: vec3u) {
  let n = parameters.n;
  let plane = n * n;
  let i = ((id.z + 1) * n + id.y + 1) * n + id.x + 1;
  result[i] = 0.4 * source[i] + 0.1 * (source[i - 1] + source[i + 1] + source[i - n] + source[i + n] + source[i - plane] + source[i + plane]);
}
