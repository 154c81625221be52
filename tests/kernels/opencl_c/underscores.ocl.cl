/* Made by Quern. Build with: -cl-std=CL1.2 */
#pragma OPENCL FP_CONTRACT OFF

struct quern_launch_1 {
  ulong offset[1];
};

kernel void x3(global uint *out, uint x0, uint x1) {
  out[0] = x0 + x1;
}

kernel void quern_at_x3(global uint *out, uint x0, uint x1, struct quern_launch_1 launch) {
  out = (global uint *)((global char *)out + launch.offset[0]);
  out[0] = x0 + x1;
}

kernel void at_3(global uint *out) {
  out[0] = 1;
}

kernel void quern_at_at_3(global uint *out, struct quern_launch_1 launch) {
  out = (global uint *)((global char *)out + launch.offset[0]);
  out[0] = 1;
}
