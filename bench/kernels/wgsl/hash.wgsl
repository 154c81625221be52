struct Parameters { rounds: u32 }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read_write> result: array<u32>;
@group(0) @binding(2) var<storage, read> source: array<u32>;

@compute @workgroup_size(256)
fn hash(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  var h = source[i];
  for (var r = 0u; r < parameters.rounds; r++) {
    h ^= h >> 16;
    h *= 0x85ebca6bu;
    h = ((h << 13) | (h >> 19)) ^ i;
    h *= 0xc2b2ae35u;
  }
  result[i] = h;
}
