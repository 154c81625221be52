__kernel void k(__global int *p, int n) {
  case 1: p[0] = 1;
}
