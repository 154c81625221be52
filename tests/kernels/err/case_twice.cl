__kernel void k(__global int *p, int n) {
  switch (n) {
    case 1: p[0] = 1; break;
    case 2 - 1: p[0] = 2; break;
  }
}
