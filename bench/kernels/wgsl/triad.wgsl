struct Parameters { k: f32 }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read_write> result: array<vec4f>;
@group(0) @binding(2) var<storage, read> a: array<vec4f>;
@group(0) @binding(3) var<storage, read> b: array<vec4f>;

@compute @workgroup_size(256)
fn triad(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  result[i] = a[i] + parameters.k * b[i];
}
