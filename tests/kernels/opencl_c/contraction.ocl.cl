/* Made by Quern. Build with: -cl-std=CL1.2 */
#pragma OPENCL FP_CONTRACT OFF

#pragma OPENCL FP_CONTRACT ON

float fused(float a, float b, float c) {
  return a * b + c;
}

#pragma OPENCL FP_CONTRACT OFF

float apart(float a, float b, float c) {
  return a * b + c;
}

float mixed(float a, float b, float c) {
  return a * b + c + a * c;
}

#pragma OPENCL FP_CONTRACT ON

kernel void contraction(global float *x) {
  x[0] = fused(x[1], x[2], x[3]) + apart(x[4], x[5], x[6]) + mixed(x[7], x[8], x[9]);
}
