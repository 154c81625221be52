struct Parameters { width: u32 }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read_write> result: array<f32>;
@group(0) @binding(2) var<storage, read> source: array<f32>;

@compute @workgroup_size(64, 2)
fn stencil5(@builtin(global_invocation_id) id: vec3u) {
  let width = parameters.width;
  let i = (id.y + 1) * width + id.x + 1;
  result[i] = 0.5 * source[i] + 0.125 * (source[i - 1] + source[i + 1] + source[i - width] + source[i + width]);
}
