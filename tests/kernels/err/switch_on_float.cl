__kernel void k(__global int *p, int n) {
  switch (1.0f) {
    case 1: p[0] = 1;
  }
}
