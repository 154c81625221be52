/* Made by Quern. Build with: -cl-std=CL1.2 */
#pragma OPENCL FP_CONTRACT OFF

typedef int quern_int_0[];

kernel void k(global int *p) {
  p[0] = (global const quern_int_0 *)p == (global quern_int_0 *)0;
}
