/* c = a b for matrices in row-major order; a is as high as c, b as wide. Tiles of both stand in local memory. */
#define TILE 16

kernel __attribute__((reqd_work_group_size(TILE, TILE, 1)))
void matmul(global const float *a, global const float *b, global float *c, int c_height, int c_width, int a_width) {
  local float tile_a[TILE][TILE];
  local float tile_b[TILE][TILE];
  const int lx = get_local_id(0), ly = get_local_id(1);
  const int column = get_global_id(0), row = get_global_id(1);
  float sum = 0;
  for (int base = 0; base < a_width; base += TILE) {
    tile_a[ly][lx] = row < c_height && base + lx < a_width ? a[row * a_width + base + lx] : 0;
    tile_b[ly][lx] = column < c_width && base + ly < a_width ? b[(base + ly) * c_width + column] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < TILE; i++) sum += tile_a[ly][i] * tile_b[i][lx];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (row < c_height && column < c_width) c[row * c_width + column] = sum;
}
