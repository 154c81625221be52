@group(0) @binding(1) var<storage, read_write> data: array<u32>;

var<workgroup> part: array<u32, 256>;

// Sorts each work-group's values: a bitonic network in local memory.
@compute @workgroup_size(256)
fn sort_groups(@builtin(local_invocation_index) l: u32, @builtin(global_invocation_id) id: vec3u) {
  part[l] = (data[id.x] >> 1) ^ (l * 2654435761u);
  workgroupBarrier();
  for (var size = 2u; size <= 256; size *= 2) {
    for (var stride = size / 2; stride > 0; stride /= 2) {
      let other = l ^ stride;
      if (other > l) {
        let x = part[l];
        let y = part[other];
        let up = (l & size) == 0;
        if ((x > y) == up) {
          part[l] = y;
          part[other] = x;
        }
      }
      workgroupBarrier();
    }
  }
  data[id.x] = part[l];
}
