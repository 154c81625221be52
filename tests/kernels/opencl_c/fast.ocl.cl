/* Made by Quern. Build with: -cl-std=CL1.2 -cl-fast-relaxed-math */
#pragma OPENCL FP_CONTRACT OFF

#pragma OPENCL FP_CONTRACT ON

kernel void fast(global float *x, int n) {
  float sum = 0.0f;
  for (int i = 0; i < n; i++) {
    sum += x[i] * x[i] / 3.0f;
  }
  x[0] = sqrt(sum);
}
