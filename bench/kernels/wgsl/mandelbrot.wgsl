struct Parameters { width: u32, scale: f32, limit: u32 }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read_write> result: array<u32>;

@compute @workgroup_size(64)
fn mandelbrot(@builtin(global_invocation_id) id: vec3u) {
  let c = vec2f(id.xy) * parameters.scale - vec2f(2.0, 1.25);
  var z = vec2f();
  var n = 0u;
  while (n < parameters.limit && z.x * z.x + z.y * z.y < 4.0) {
    z = vec2f(z.x * z.x - z.y * z.y + c.x, 2.0 * z.x * z.y + c.y);
    n++;
  }
  result[id.y * parameters.width + id.x] = n;
}
