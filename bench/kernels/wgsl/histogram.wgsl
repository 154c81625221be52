struct Parameters { each: u32 }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read_write> bins: array<atomic<u32>>;
@group(0) @binding(2) var<storage, read> source: array<u32>;

var<workgroup> mine: array<atomic<u32>, 256>;

@compute @workgroup_size(256)
fn histogram(@builtin(local_invocation_index) l: u32, @builtin(workgroup_id) group: vec3u) {
  atomicStore(&mine[l], 0u);
  workgroupBarrier();
  let start = group.x * 256 * parameters.each + l;
  for (var k = 0u; k < parameters.each; k++) {
    let at = start + k * 256;
    atomicAdd(&mine[extractBits(source[at >> 2], (at & 3) * 8, 8u)], 1u);
  }
  workgroupBarrier();
  let count = atomicLoad(&mine[l]);
  if (count != 0) {
    atomicAdd(&bins[l], count);
  }
}
