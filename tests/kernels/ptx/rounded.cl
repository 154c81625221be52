// ptx: rounded
kernel void rounded(global float *x) {
  size_t i = get_global_id(0);
  x[i] = x[i] / x[i + 1] + sqrt(x[i + 2]);
}
