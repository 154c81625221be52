// model: 64 half
kernel void k(global half4 *h, global float *f, half s) {
  h[0] = h[1] * s + 1.5h;
  f[0] = s * 2.0f;
  h[2].x = f[1];
}
