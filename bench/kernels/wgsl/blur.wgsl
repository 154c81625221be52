struct Parameters { width: i32 }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read_write> result: array<u32>;
@group(0) @binding(2) var<storage, read> source: array<u32>;

const weights = array<f32, 9>(0.028, 0.067, 0.124, 0.179, 0.204, 0.179, 0.124, 0.067, 0.028);

@compute @workgroup_size(64, 2)
fn blur(@builtin(global_invocation_id) id: vec3u) {
  let width = parameters.width;
  let at = vec2i(id.xy);
  var sum = vec4f();
  for (var i = -4; i <= 4; i++) {
    let pixel = source[at.y * width + clamp(at.x + i, 0, width - 1)];
    sum += weights[i + 4] * vec4f(unpack4xU8(pixel));
  }
  result[at.y * width + at.x] = pack4xU8Clamp(vec4u(round(sum)));
}
