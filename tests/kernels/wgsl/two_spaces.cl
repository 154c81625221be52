float weigh(global const float *row, local const float *weights, int n) {
  float sum = 0;
  for (int k = 0; k < n; k++) sum += row[k] * weights[k];
  return sum;
}
kernel void two_spaces(global const float *in, global float *out, int n) {
  local float weights[64];
  int i = get_global_id(0), lid = get_local_id(0);
  weights[lid & 63] = in[lid];
  barrier(CLK_LOCAL_MEM_FENCE);
  out[i] = weigh(in + i * n, weights, n) + weigh(in + n, weights + 8, 8);
}
