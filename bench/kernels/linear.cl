// Linear algebra: memory-bound vectors, matrices in two ways, a sparse matrix.

kernel void saxpy(global float *y, global const float *x, float a) {
  size_t i = get_global_id(0);
  y[i] += a * x[i];
}

kernel void copy(global float4 *out, global const float4 *in) {
  size_t i = get_global_id(0);
  out[i] = in[i];
}

kernel void triad(global float4 *out, global const float4 *a, global const float4 *b, float k) {
  size_t i = get_global_id(0);
  out[i] = a[i] + k * b[i];
}

// C = A B, n by n, row after row: one work-item an element.
kernel void sgemm_naive(global float *c, global const float *a, global const float *b, int n) {
  int col = get_global_id(0), row = get_global_id(1);
  float sum = 0;
  for (int k = 0; k < n; k++) sum += a[row * n + k] * b[k * n + col];
  c[row * n + col] = sum;
}

#define TILE 16
kernel void sgemm_tiled(global float *c, global const float *a, global const float *b, int n) {
  local float ta[TILE][TILE], tb[TILE][TILE];
  int x = get_local_id(0), y = get_local_id(1);
  int col = get_global_id(0), row = get_global_id(1);
  float sum = 0;
  for (int t = 0; t < n; t += TILE) {
    ta[y][x] = a[row * n + t + x];
    tb[y][x] = b[(t + y) * n + col];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < TILE; k++) sum += ta[y][k] * tb[k][x];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[row * n + col] = sum;
}

// One row of the matrix a work-item.
kernel void matvec(global float *y, global const float *a, global const float *x, int columns) {
  int row = get_global_id(0);
  float sum = 0;
  for (int i = 0; i < columns; i++) sum += a[row * columns + i] * x[i];
  y[row] = sum;
}

// Compressed rows: values, columns, and where each row starts.
kernel void spmv(global float *y, global const float *values, global const int *columns, global const int *starts,
                 global const float *x) {
  int row = get_global_id(0);
  float sum = 0;
  for (int i = starts[row]; i < starts[row + 1]; i++) sum += values[i] * x[columns[i]];
  y[row] = sum;
}

kernel void transpose(global float *out, global const float *in, int width, int height) {
  local float tile[TILE][TILE + 1];
  int x = get_local_id(0), y = get_local_id(1);
  int gx = get_group_id(0) * TILE, gy = get_group_id(1) * TILE;
  tile[y][x] = in[(gy + y) * width + gx + x];
  barrier(CLK_LOCAL_MEM_FENCE);
  out[(gx + y) * height + gy + x] = tile[x][y];
}
