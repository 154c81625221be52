/* The Mandelbrot set as a picture: how fast z -> z z + c grows, in colours. */
kernel void mandelbrot(global uchar4 *out, int width, int height, float centre_x, float centre_y, float scale, int limit) {
  const int px = get_global_id(0), py = get_global_id(1);
  if (px >= width || py >= height) return;
  const float cx = centre_x + scale * (px - 0.5f * width) / height;
  const float cy = centre_y + scale * (py - 0.5f * height) / height;
  float x = 0, y = 0;
  int n = 0;
  while (n < limit && x * x + y * y < 64.0f) {
    const float t = x * x - y * y + cx;
    y = 2 * x * y + cy;
    x = t;
    n++;
  }
  float3 colour = 0;
  if (n < limit) {
    const float smooth = n + 1 - log2(0.5f * log2(x * x + y * y));
    colour = 0.5f + 0.5f * cos(0.25f * smooth + (float3)(3.0f, 3.6f, 4.2f));
  }
  out[py * width + px] = (uchar4)(convert_uchar3_sat_rte(255 * colour), 255);
}
