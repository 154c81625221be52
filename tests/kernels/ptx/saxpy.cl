// A kernel as most are: ids, a guard, the read-only path for what is const restrict, a product and a sum that may be fused.
kernel void saxpy(global const float *restrict x, global float *y, float a, int n) {
  int i = get_global_id(0);
  if (i < n) y[i] = a * x[i] + y[i];
}
