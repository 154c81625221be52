#include "include/bad.h"
__kernel void k(__global int *p, int n) {
  p[0] = twice(n);
}
