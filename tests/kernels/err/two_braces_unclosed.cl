__kernel void k(__global int *p) {
  if (p[0]) {
    for (int i = 0; i < 3; i++) {
      p[i] = 1;
}
