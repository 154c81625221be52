__kernel void k(__global int *p, int n) {
  switch (n) {
    case n: p[0] = 1;
  }
}
