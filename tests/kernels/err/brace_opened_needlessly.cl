__kernel void a(__global int *p) {
  for (int i = 0; i < 3; i++) { {
    p[i] = i;
  }
}

__kernel void b(__global int *p) {
  for (int i = 0; i < 3; i++) {
    p[i] = i;
  }
}
