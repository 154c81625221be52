/* c = a b for matrices in row-major order: a is m x k, b is k x n. Tiles of both stand in local memory. */
#define TILE 16

kernel __attribute__((reqd_work_group_size(TILE, TILE, 1)))
void matmul(global const float *a, global const float *b, global float *c, int m, int n, int k) {
  local float tile_a[TILE][TILE];
  local float tile_b[TILE][TILE];
  const int lx = get_local_id(0), ly = get_local_id(1);
  const int column = get_global_id(0), row = get_global_id(1);
  float sum = 0;
  for (int base = 0; base < k; base += TILE) {
    tile_a[ly][lx] = row < m && base + lx < k ? a[row * k + base + lx] : 0;
    tile_b[ly][lx] = column < n && base + ly < k ? b[(base + ly) * n + column] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < TILE; i++) sum += tile_a[ly][i] * tile_b[i][lx];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (row < m && column < n) c[row * n + column] = sum;
}
