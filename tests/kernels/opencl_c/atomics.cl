// model: atomics64
// Atomic functions of 32 and 64 bits, fences, barriers.
kernel void atomics(global int *i, global uint *u, local int *m, global float *f, global long *l, global ulong *ul) {
  atomic_add(i, 3);
  int old = atomic_max(&i[1], 4) + atomic_cmpxchg(&m[1], 0, 5);
  u[1] = atomic_min(u, 7u) + atomic_inc(&u[2]);
  f[1] = atomic_xchg(f, 2.5f);
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  l[1] = atom_add(l, 5L);
  ul[1] = atom_max(ul, 9UL) + atom_or(&ul[2], 1UL);
  mem_fence(CLK_GLOBAL_MEM_FENCE);
  atomic_sub(&m[0], old);
}
