/* Made by Quern. Build with: -cl-std=CL1.2 */
#pragma OPENCL FP_CONTRACT OFF

kernel void model32(global int *out, global uchar *in, uint n) {
  const uint i = get_global_id(0);
  if (i < n) {
    out[i / get_local_size(0)] = (int)in[i * 3 + 1] + ((int)(uint)in & 3);
  }
}
