// Grids and pictures.

kernel void stencil5(global float *out, global const float *in, int width) {
  int x = get_global_id(0) + 1, y = get_global_id(1) + 1, i = y * width + x;
  out[i] = 0.5f * in[i] + 0.125f * (in[i - 1] + in[i + 1] + in[i - width] + in[i + width]);
}

kernel void stencil7(global float *out, global const float *in, int n) {
  int x = get_global_id(0) + 1, y = get_global_id(1) + 1, z = get_global_id(2) + 1;
  int i = (z * n + y) * n + x;
  out[i] = 0.4f * in[i] +
           0.1f * (in[i - 1] + in[i + 1] + in[i - n] + in[i + n] + in[i - n * n] + in[i + n * n]);
}

constant float weights[9] = {0.028f, 0.067f, 0.124f, 0.179f, 0.204f, 0.179f, 0.124f, 0.067f, 0.028f};

// One axis of a separable blur of RGBA pixels.
kernel void blur(global uchar4 *out, global const uchar4 *in, int width) {
  int x = get_global_id(0), y = get_global_id(1);
  float4 sum = (float4)(0.0f);
  for (int i = -4; i <= 4; i++) sum += weights[i + 4] * convert_float4(in[y * width + clamp(x + i, 0, width - 1)]);
  out[y * width + x] = convert_uchar4_sat_rte(sum);
}

kernel void sobel(global float *out, global const float *in, int width) {
  int x = get_global_id(0) + 1, y = get_global_id(1) + 1;
  global const float *p = in + y * width + x;
  float a = p[-width - 1], b = p[-width], c = p[-width + 1], d = p[-1], f = p[1];
  float g = p[width - 1], h = p[width], i = p[width + 1];
  float gx = c + 2 * f + i - a - 2 * d - g, gy = g + 2 * h + i - a - 2 * b - c;
  out[y * width + x] = sqrt(gx * gx + gy * gy);
}

kernel void mandelbrot(global uint *out, int width, float scale, int limit) {
  int x = get_global_id(0), y = get_global_id(1);
  float cx = x * scale - 2.0f, cy = y * scale - 1.25f, zx = 0, zy = 0;
  uint n = 0;
  while (n < limit && zx * zx + zy * zy < 4.0f) {
    float t = zx * zx - zy * zy + cx;
    zy = 2 * zx * zy + cy;
    zx = t;
    n++;
  }
  out[y * width + x] = n;
}
