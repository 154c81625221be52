__kernel void a(__global int *p, int n) {
  for (int i = 0; i < n; i++) {
    int twice = 2 } * i;
    if (twice > 3) p[i] = twice;
    else p[i] = n;
  }
  p[0] = n;
}

__kernel void b(__global int *p) { p[0] = 1; }
