struct Parameters { columns: u32 }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(0) @binding(2) var<storage, read> a: array<f32>;
@group(0) @binding(3) var<storage, read> x: array<f32>;

@compute @workgroup_size(64)
fn matvec(@builtin(global_invocation_id) id: vec3u) {
  let row = id.x;
  let columns = parameters.columns;
  var sum = 0.0;
  for (var i = 0u; i < columns; i++) {
    sum += a[row * columns + i] * x[i];
  }
  y[row] = sum;
}
