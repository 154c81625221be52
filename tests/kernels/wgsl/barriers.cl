// Conditions that barriers hang on, and that WGSL can't see to be uniform, are those of the group's first item.
kernel void barriers(global int *out, global const int *in, local int *t, int n) {
  int lid = get_local_id(0);
  if (get_global_id(0) >= (size_t)n) return;
  for (int i = 0; i < in[0]; i++) {
    barrier(CLK_LOCAL_MEM_FENCE);
    t[lid] = i;
    if (lid & 1) continue;
    t[lid] += in[lid];
    switch (in[lid + i] & 3) {
      case 0: continue;
      case 1: t[lid]++;
    }
    t[lid] ^= 5;
  }
  do {
    barrier(CLK_LOCAL_MEM_FENCE);
    n -= 1;
  } while (n > t[0]);
  if (in[1] > 4) {
    barrier(CLK_GLOBAL_MEM_FENCE);
    out[lid] = t[lid ^ 1];
  }
}
