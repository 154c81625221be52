@group(0) @binding(1) var<storage, read_write> result: array<vec4f>;
@group(0) @binding(2) var<storage, read> source: array<vec4f>;

@compute @workgroup_size(256)
fn copy(@builtin(global_invocation_id) id: vec3u) {
  result[id.x] = source[id.x];
}
