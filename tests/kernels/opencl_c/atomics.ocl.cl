/* Made by Quern. Build with: -cl-std=CL1.2 */
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
#pragma OPENCL FP_CONTRACT OFF

kernel void atomics(global int *i, global uint *u, local int *m, global float *f, global long *l, global ulong *ul) {
  atomic_add(i, 3);
  const int t = atomic_max(i + 1, 4);
  const int t_1 = atomic_cmpxchg(m + 1, 0, 5);
  const uint t_2 = atomic_min(u, 7u);
  const uint t_3 = atomic_add(u + 2, 1u);
  u[1] = t_2 + t_3;
  const float t_4 = as_float(atomic_xchg((global uint *)f, as_uint(2.5f)));
  f[1] = t_4;
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  const long t_5 = atom_add(l, 5L);
  l[1] = t_5;
  const ulong t_6 = atom_max(ul, 9UL);
  const ulong t_7 = atom_or(ul + 2, 1UL);
  ul[1] = t_6 + t_7;
  mem_fence(CLK_GLOBAL_MEM_FENCE);
  atomic_sub(m, t + t_1);
}
