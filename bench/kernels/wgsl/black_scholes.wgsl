struct Parameters { rate: f32, volatility: f32 }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read_write> call: array<f32>;
@group(0) @binding(2) var<storage, read_write> put: array<f32>;
@group(0) @binding(3) var<storage, read> price: array<f32>;
@group(0) @binding(4) var<storage, read> strike: array<f32>;
@group(0) @binding(5) var<storage, read> years: array<f32>;

fn normal(d: f32) -> f32 {
  let k = 1.0 / (1.0 + 0.2316419 * abs(d));
  let series = k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))));
  let tail = 0.39894228 * exp(-0.5 * d * d) * series;
  return select(tail, 1.0 - tail, d > 0.0);
}

@compute @workgroup_size(256)
fn black_scholes(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  let rate = parameters.rate;
  let volatility = parameters.volatility;
  let s = 5.0 + 25.0 * price[i];
  let x = 1.0 + 99.0 * strike[i];
  let t = 0.25 + 9.75 * years[i];
  let root = sqrt(t);
  let d1 = (log(s / x) + (rate + 0.5 * volatility * volatility) * t) / (volatility * root);
  let d2 = d1 - volatility * root;
  let n1 = normal(d1);
  let n2 = normal(d2);
  let discounted = x * exp(-rate * t);
  call[i] = s * n1 - discounted * n2;
  put[i] = discounted * (1.0 - n2) - s * (1.0 - n1);
}
