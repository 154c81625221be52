// options: -cl-fast-relaxed-math
kernel void fast(global float *x, int n) {
  float sum = 0;
  for (int i = 0; i < n; i++) sum += x[i] * x[i] / 3.0f;
  x[0] = sqrt(sum);
}
