// model: 32 half atomics64
// options: -cl-fast-relaxed-math -cl-std=CL2.0
__OPENCL_VERSION__ __OPENCL_C_VERSION__ CL_VERSION_1_2 CL_VERSION_2_0 __QUERN__ __ENDIAN_LITTLE__ __FAST_RELAXED_MATH__
cl_khr_fp64 cl_khr_fp16 cl_khr_int64_base_atomics __IMAGE_SUPPORT__
INT_MIN UINT_MAX LONG_MIN ULONG_MAX CHAR_MIN FLT_MAX DBL_EPSILON HALF_MAX M_PI_F M_PI M_PI_H
INFINITY NAN HUGE_VALF MAXFLOAT FP_ILOGB0 NULL true false CLK_LOCAL_MEM_FENCE
kernel_exec(64, float4) void f(void);
