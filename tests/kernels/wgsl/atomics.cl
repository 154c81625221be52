kernel void atomics(global int *a, global uint *b, volatile global float *f, local int *l) {
  int lid = get_local_id(0);
  a[0] = atomic_add(a + 1, 1) + atomic_sub(a + 2, 2) + atomic_xchg(a + 3, 3) + atomic_cmpxchg(a + 4, 4, 5);
  a[5] = atomic_min(a + 6, -1) + atomic_max(a + 7, 1) + atomic_and(a + 8, 3) + atomic_or(a + 9, 4) + atomic_xor(a + 10, 5);
  b[0] = atomic_min(b + 1, 3u) + atomic_max(b + 2, 4u) + atomic_inc(b + 3) + atomic_dec(b + 4);
  atomic_xchg(f, 2.0f);
  atomic_add(&l[lid & 3], lid);
  barrier(CLK_LOCAL_MEM_FENCE);
  a[11] = l[0];
}
