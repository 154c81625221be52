// What makes gpu.cl a file in CUDA C.
typedef unsigned int uint;
#define __kernel extern "C" __global__
#define __global
#define __local __shared__
#define get_local_id(d) ((d) == 0 ? threadIdx.x : threadIdx.y)
#define get_group_id(d) ((d) == 0 ? blockIdx.x : blockIdx.y)
#define get_global_id(d) ((d) == 0 ? blockIdx.x * blockDim.x + threadIdx.x : blockIdx.y * blockDim.y + threadIdx.y)
#define barrier(fence) __syncthreads()
#define atomic_inc(at) atomicAdd(at, 1u)
#define atomic_add(at, by) atomicAdd(at, by)
#define FLOAT4(a, b, c, d) make_float4(a, b, c, d)
#define fma fmaf
#define sqrt sqrtf
#define rsqrt rsqrtf
#define exp expf
#define log logf
#define fabs fabsf
