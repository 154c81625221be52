# 13 "saxpy.cl"
typedef float4 real;





__kernel void saxpy(const __global float *x, __global float *y, const int n) {
  const int i = get_global_id(0);
  if (i * 4 >= n) return;
#pragma unroll WIDTH
  for (int k = 0; k < 1; k++)
    vstore4(2.5f * vload4(i, x) + vload4(i, y), i, y);
}
