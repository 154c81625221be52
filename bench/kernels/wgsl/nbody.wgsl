struct Parameters { count: u32, softening: f32 }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read_write> result: array<vec4f>;
@group(0) @binding(2) var<storage, read> bodies: array<vec4f>;

@compute @workgroup_size(64)
fn nbody(@builtin(global_invocation_id) id: vec3u) {
  let me = bodies[id.x];
  var pull = vec3f();
  for (var j = 0u; j < parameters.count; j++) {
    let other = bodies[j];
    let d = other.xyz - me.xyz;
    let inverse = inverseSqrt(dot(d, d) + parameters.softening);
    pull += d * (other.w * inverse * inverse * inverse);
  }
  result[id.x] = vec4f(pull, me.w);
}
