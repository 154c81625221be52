// model: half
kernel void with_half(global half *h, global float *f, half x) {
  h[0] = h[1] * x + (half)f[0];
  f[1] = h[2];
}
