/* Edges: the length of the brightness gradient by Sobel's operator. */
static float brightness(uchar4 p) { return 0.299f * p.x + 0.587f * p.y + 0.114f * p.z; }

static float at(global const uchar4 *src, int x, int y, int width, int height) {
  return brightness(src[clamp(y, 0, height - 1) * width + clamp(x, 0, width - 1)]);
}

kernel void edges(global const uchar4 *src, global uchar4 *dst, int width, int height) {
  const int x = get_global_id(0), y = get_global_id(1);
  if (x >= width || y >= height) return;
  float gx = 0, gy = 0;
  for (int d = -1; d <= 1; d++) {
    const float weight = d == 0 ? 2 : 1;
    gx += weight * (at(src, x + 1, y + d, width, height) - at(src, x - 1, y + d, width, height));
    gy += weight * (at(src, x + d, y + 1, width, height) - at(src, x + d, y - 1, width, height));
  }
  const uchar edge = convert_uchar_sat(sqrt(gx * gx + gy * gy));
  dst[y * width + x] = (uchar4)(edge, edge, edge, 255);
}
