#include "shift.h"
#pragma quern param(factor, int, 2, "what each element is multiplied by")

__kernel void scale(__global const int *in, __global int *out, int n) {
  int i = get_global_id(0);
  if (i < n) out[i] = in[i] * factor + SHIFT;
}
