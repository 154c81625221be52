// options: -cl-fast-relaxed-math
kernel void fast(global float *x) {
  size_t i = get_global_id(0);
  x[i] = exp(x[i]) + sin(x[i + 1]) / log(x[i + 2]);
}
