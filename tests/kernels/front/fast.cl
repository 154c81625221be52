// options: -cl-fast-relaxed-math
float fused(float a, float b, float c) { return a * b + c; }
float split(float a, float b, float c) {
#pragma OPENCL FP_CONTRACT OFF
  return a * b + c;
}
kernel void k(global float *r) { r[0] = fused(r[1], r[2], r[3]) - split(r[1], r[2], r[3]); }
