kernel void f(global int *x, local uint *y, global float *z) {
  x[1] = atomic_inc(x) + atomic_min(x, 3);
  y[1] = atomic_cmpxchg(y, 1u, 2u) + atomic_max(y, 5u);
  z[1] = atomic_xchg(z, 1.0f);
  barrier(CLK_LOCAL_MEM_FENCE);
  mem_fence(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
}
