/* A Gaussian blur in two passes over a tile that stands in local memory: along the rows, then along the columns.
 * -D RADIUS=8 blurs more. The picture's border is repeated outwards. */
#ifndef RADIUS
#define RADIUS 4
#endif
#define TILE 16
#define PADDED (TILE + 2 * RADIUS)

kernel __attribute__((reqd_work_group_size(TILE, TILE, 1)))
void blur(global const uchar4 *src, global uchar4 *dst, int width, int height) {
  local float4 tile[PADDED][PADDED];
  local float4 rows[PADDED][TILE];
  local float weights[2 * RADIUS + 1];

  const int lx = get_local_id(0), ly = get_local_id(1);
  const int x0 = get_group_id(0) * TILE - RADIUS, y0 = get_group_id(1) * TILE - RADIUS;

  const int item = ly * TILE + lx;
  if (item <= 2 * RADIUS) {
    const float d = item - RADIUS, sigma = 0.5f * RADIUS;
    weights[item] = exp(-d * d / (2 * sigma * sigma));
  }
  for (int y = ly; y < PADDED; y += TILE)
    for (int x = lx; x < PADDED; x += TILE) {
      const int sx = clamp(x0 + x, 0, width - 1), sy = clamp(y0 + y, 0, height - 1);
      tile[y][x] = convert_float4(src[sy * width + sx]);
    }
  barrier(CLK_LOCAL_MEM_FENCE);

  float total = 0;
  for (int i = 0; i <= 2 * RADIUS; i++) total += weights[i];
  for (int y = ly; y < PADDED; y += TILE) {
    float4 sum = 0;
    for (int i = 0; i <= 2 * RADIUS; i++) sum += weights[i] * tile[y][lx + i];
    rows[y][lx] = sum / total;
  }
  barrier(CLK_LOCAL_MEM_FENCE);

  float4 sum = 0;
  for (int i = 0; i <= 2 * RADIUS; i++) sum += weights[i] * rows[ly + i][lx];
  const int x = get_global_id(0), y = get_global_id(1);
  if (x < width && y < height) dst[y * width + x] = convert_uchar4_sat_rte(sum / total);
}
