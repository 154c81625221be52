// Adds a constant that is chosen when the kernel is built:  quern build examples/add.cl -P offset=2 -o out
#pragma quern param(offset, int, 1, "what is added to each element")
#ifndef offset
#define offset 1
#endif

__kernel void add(__global const int *in, __global int *out, int n) {
  int i = get_global_id(0);
  if (i < n) out[i] = in[i] + offset;
}
