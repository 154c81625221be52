#include "a.h
__kernel void k(__global int *p, int n) {
  p[0] = n;
}
