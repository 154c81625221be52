/* Made by Quern. Build with: -cl-std=CL1.2 */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF

#pragma OPENCL FP_CONTRACT ON

kernel void inexact_double(global float *f, global float2 *v, global double *d) {
  f[0] = (float)((double)f[1] / (double)f[2]) + (float)sqrt((double)f[3]);
  v[0] = convert_float2(convert_double2(v[1]) / convert_double2(v[2]));
  d[0] = d[1] / d[2];
}
