// What may be fused is so marked for whole functions; where one operation may not be, none is.
float fused(float a, float b, float c) { return a * b + c; }
float apart(float a, float b, float c) {
#pragma OPENCL FP_CONTRACT OFF
  return a * b + c;
}
float mixed(float a, float b, float c) {
  float r = a * b + c;
  {
#pragma OPENCL FP_CONTRACT OFF
    r += a * c;
  }
  return r;
}
kernel void contraction(global float *x) {
  x[0] = fused(x[1], x[2], x[3]) + apart(x[4], x[5], x[6]) + mixed(x[7], x[8], x[9]);
}
